"""Small random scenarios: a machine, a kernel, a workload and a duration."""

import dataclasses
from dataclasses import dataclass

from hypothesis import strategies as st

from schedlab import durations, steps
from schedlab.channels import Channel, read, write
from schedlab.events import HoldCpu, SetAffinity, SetCpuMax, SetCpuOnline, SetGroup
from schedlab.kernel import Costs, Kernel
from schedlab.machine import Machine
from schedlab.patches import PATCHES, THROTTLE_SERIES
from schedlab.workload import Group, Task, Workload

US = 1_000
MS = 1_000_000

RELEASES = ("6.1", "6.3", "6.4", "6.6", "6.12")
NEW_RELEASES = ("6.18", "7.2")
THROTTLE_PATCHES = ("per-task-throttle", *sorted(THROTTLE_SERIES), "unthrottle-offline-only", "zero-runtime-at-write")
LEGACY = ("expire-local-slices", "slack-timer-pushed-back", "lifo-throttle-list")
PHASES = ("interleave-timers", "staggered", "golden")
NAMES = ("x", "y")
# round times make events coincide, odd ones keep them apart
WORK_NS = (10 * US, 50 * US, 123_457, 400 * US, 1 * MS, 1_700_003, 3 * MS, 5 * MS, 12 * MS, 40_000_001)
SLEEP_NS = (20 * US, 100 * US, 765_431, 1 * MS, 2_500_001, 4 * MS, 10 * MS, 33_333_333)
QUOTAS_US = (1_000, 2_000, 3_000, 5_000, 7_500, 10_000, 20_000, 33_000, 60_000, 120_000)
PERIODS_US = (5_000, 10_000, 20_000, 25_000, 50_000, 100_000)


@dataclass(frozen=True)
class Scenario:
    """What `simulate` takes, in one piece."""

    machine: Machine
    kernel: Kernel
    workload: Workload
    duration_ns: int
    seed: int


@st.composite
def machines(draw):
    nr_cpus = draw(st.sampled_from((1, 2, 3, 4)))
    smt = draw(st.sampled_from((1, 2))) if nr_cpus % 2 == 0 else 1
    nr_llcs = draw(st.sampled_from((1, 2))) if nr_cpus // smt % 2 == 0 else 1
    numbering = draw(st.sampled_from(("adjacent", "split")))
    throughput = (1.0, 1.3) if smt == 2 else (1.0,)
    machine = Machine.uniform(nr_cpus, smt, nr_llcs=nr_llcs, numbering=numbering, smt_throughput=throughput)
    if draw(st.booleans()):
        speeds = st.sampled_from((1.0, 1.0, 0.7, 0.33333))
        machine = machine.replace(speed=tuple(draw(speeds) for _ in range(nr_cpus)))
    return machine


@st.composite
def kernels(draw, releases=RELEASES):
    hz = draw(st.sampled_from((100, 250, 300, 1000)))
    tunables = {"hz": hz}
    if draw(st.booleans()):
        tunables["tick_offset_us"] = draw(st.sampled_from((0, 1, 500, 999)))
        tunables["skew_tick"] = draw(st.booleans())
    if draw(st.integers(0, 3)) == 0:
        tunables["cfs_bandwidth_slice_us"] = draw(st.sampled_from((1_000, 3_000, 10_000)))
    if draw(st.integers(0, 3)) == 0:
        tunables["costs"] = draw(costs())
    if draw(st.integers(0, 3)) == 0:
        tunables["wake_late_us"] = 50
    tunables["hrtick"] = draw(st.integers(0, 4)) == 0
    tunables["pipe_wake_on_free"] = draw(st.booleans())
    kernel = Kernel.version(draw(st.sampled_from(releases)), **tunables)
    if not kernel.patches:
        patch = draw(st.sampled_from((None, *PHASES)))
        kernel = kernel.with_patch(patch) if patch else kernel
    if draw(st.integers(0, 3)) == 0:
        kernel = kernel.with_patch(draw(st.sampled_from(LEGACY)))
    return kernel


@st.composite
def new_kernels(draw, releases=NEW_RELEASES):
    """Kernels with per-task throttling: in most cases as released, else with a random set of its patches."""
    kernel = draw(kernels(releases))
    if draw(st.integers(0, 2)) == 0:
        wanted = {name for name in THROTTLE_PATCHES if draw(st.booleans())}
        chosen = {name for name in wanted if PATCHES[name].needs <= wanted}
        kernel = dataclasses.replace(kernel, patches=kernel.patches - set(THROTTLE_PATCHES) | chosen)
    return kernel.with_(lazy_resched=draw(st.sampled_from((True, True, True, False))))


@st.composite
def costs(draw):
    return Costs(
        context_switch_ns=draw(st.sampled_from((0, 1_500))),
        ipi_ns=draw(st.sampled_from((0, 2_000, 30_000))),
        tick_ns=draw(st.sampled_from((0, 700))),
        period_timer_ns=draw(st.sampled_from((0, 3_000))),
    )


@st.composite
def groups(draw):
    """One to three groups, up to three deep."""
    paths = []
    for name in "abc"[: draw(st.integers(1, 3))]:
        # the latest first: nested groups tell more than siblings
        parent = draw(st.sampled_from([*reversed(paths), ""]))
        paths.append(f"{parent}/{name}")
    return tuple(draw(group(path)) for path in paths)


@st.composite
def nested_groups(draw):
    """A chain of two to four limited groups, with a sibling at one level."""
    paths = ["/a", "/a/b", "/a/b/c", "/a/b/c/d"][: draw(st.integers(2, 4))]
    paths.append(draw(st.sampled_from(["", *paths[:-1]])) + "/s")
    return tuple(Group(path, 100, *draw(limits()), phase_us=draw(st.sampled_from((None, 0)))) for path in paths)


@st.composite
def group(draw, path):
    weight = draw(st.sampled_from((100, 100, 1, 37, 300, 10_000)))
    if draw(st.integers(0, 3)) == 0:
        return Group(path, weight=weight)
    quota, period, burst = draw(limits())
    phase = draw(st.sampled_from((None, None, 0, 1_500, 12_345.678)))
    return Group(path, weight, quota, period, burst, phase)


@st.composite
def limits(draw):
    quota = draw(st.sampled_from(QUOTAS_US))
    burst = draw(st.sampled_from((0, 0, quota // 2, quota)))
    return quota, draw(st.sampled_from(PERIODS_US)), burst


def times(values):
    """A fixed time or a random one."""
    fixed = st.sampled_from(values)
    short = st.sampled_from(values[:7])
    return st.one_of(
        fixed,
        fixed,
        short.map(durations.exponential),
        short.map(lambda ns: durations.uniform(ns // 2, 2 * ns)),
        short.map(lambda ns: durations.lognormal(ns, 0.5)),
    )


def steps_of(nr_cpus):
    """A step of a program, in most cases one by which time passes."""
    cpus = st.sets(st.integers(0, nr_cpus - 1), min_size=1).map(sorted)
    name = st.sampled_from(NAMES)
    timed = st.one_of(
        times(WORK_NS).map(steps.run),
        times(WORK_NS).map(steps.run),
        times(WORK_NS[:6]).map(steps.kernel),
        times(WORK_NS).map(steps.spin),
        times(SLEEP_NS).map(steps.sleep),
        times(SLEEP_NS).map(steps.sleep),
        st.sampled_from((3 * MS, 10 * MS, 16 * MS)).map(steps.timer),
        st.sampled_from((2 * MS, 11 * MS, 30 * MS)).map(steps.until),
    )
    signal = st.one_of(
        name.map(steps.wait),
        st.builds(steps.wake, name, st.sampled_from((1, 2, steps.ALL)), st.sampled_from((0, 1, 3)), st.just(0)),
        st.builds(steps.wake, name, st.sampled_from((1, 2, steps.ALL)), st.just(0), st.sampled_from((0, 5 * US))),
        st.just(steps.barrier("b", 2)),
    )
    other = st.one_of(st.just(steps.yield_()), cpus.map(steps.affinity), st.just(steps.mark()), st.just(steps.sample()))
    return st.one_of(timed, timed, timed, signal, other)


@st.composite
def programs(draw, nr_cpus):
    """Loops over a few steps; the first takes CPU time, so that no loop stands still."""
    body = [steps.run(draw(times(WORK_NS))), *draw(st.lists(steps_of(nr_cpus), max_size=5))]
    if draw(st.integers(0, 3)) == 0:
        body.append(steps.repeat(draw(st.integers(1, 4)), *draw(st.lists(steps_of(nr_cpus), min_size=1, max_size=3))))
    return (steps.repeat(draw(st.sampled_from((None, None, None, 1, 30))), *body),)


@st.composite
def tasks(draw, index, nr_cpus, paths, custom_slice):
    cpus = draw(st.one_of(st.none(), st.none(), st.sets(st.integers(0, nr_cpus - 1), min_size=1).map(sorted)))
    return Task(
        f"t{index}",
        draw(programs(nr_cpus)),
        group=draw(st.sampled_from(("/", *paths, *paths))),
        nice=draw(st.sampled_from((0, 0, 0, -5, 5, 19, -20))),
        cpus=cpus,
        start_ns=draw(st.sampled_from((0, 0, 0, 1, 3 * MS, 7_654_321))),
        slice_us=draw(st.sampled_from((None, None, 100, 1_000, 20_000))) if custom_slice else None,
    )


def without_lone_signals(drawn):
    """Give every name that somebody waits on a task that wakes it now and then, and a barrier two visitors."""
    walked = [step for task in drawn for step in steps.walk(task.program)]
    visitors = sum(any(isinstance(s, steps.Barrier) for s in steps.walk(task.program)) for task in drawn)
    extra = []
    waited = {step.name for step in walked if isinstance(step, steps.Wait)}
    for k, name in enumerate(sorted(waited)):
        program = steps.repeat(None, steps.sleep((3 + k) * MS), steps.wake(name, n=steps.ALL))
        extra.append(Task(f"waker-{name}", program))
    if visitors == 1:
        extra.append(Task("visitor", steps.repeat(None, steps.sleep(2 * MS), steps.barrier("b", 2))))
    return (*drawn, *extra)


@st.composite
def talks(draw, paths):
    """Channels with one to three tasks on either side that do nothing else: whoever blocks blocks nobody else.

    Costs are long and channels small enough that they run full and empty within the scenario.
    """
    channels, tasks = [], []
    cost = st.sampled_from((50 * US, 123_457, 300 * US, 1 * MS))
    for name in "pq"[: draw(st.sampled_from((0, 0, 0, 1, 2)))]:
        kind = draw(st.sampled_from(("pipe", "pipe", "socket")))
        channels.append(Channel(name, kind, draw(st.sampled_from((100, 1000, 2000, 4096, 5000, 20_000, 65_536)))))
        for make in (write, read):
            for k in range(draw(st.integers(1, 3))):
                body = [make(name, draw(cost), draw(st.sampled_from((1, 1, 1, 3, 20))))]
                body += [steps.run(draw(times(WORK_NS[:4])))] if draw(st.booleans()) else []
                rounds = draw(st.sampled_from((None, None, 40)))
                group = draw(st.sampled_from(("/", *paths)))
                tasks.append(Task(f"{name}-{make.__name__}-{k}", steps.repeat(rounds, *body), group=group))
    return tuple(channels), tuple(tasks)


@st.composite
def happenings(draw, drawn_groups, drawn_tasks, nr_cpus):
    """Up to two writes of cpu.max or of an affinity."""
    events = []
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        at_ns = draw(st.sampled_from((0, 10 * MS, 20 * MS, 33_333_333, 50 * MS)))
        if draw(st.booleans()):
            quota, period, burst = draw(limits())
            path = draw(st.sampled_from(drawn_groups)).path
            events.append(SetCpuMax(at_ns, path, draw(st.sampled_from((quota, quota, None))), period, burst))
        else:
            cpus = draw(st.sets(st.integers(0, nr_cpus - 1), min_size=1).map(sorted))
            events.append(SetAffinity(at_ns, draw(st.sampled_from(drawn_tasks)).name, tuple(cpus)))
    return tuple(events)


@st.composite
def new_happenings(draw, drawn_groups, drawn_tasks, nr_cpus):
    """Up to four events: writes of cpu.max or an affinity, moves between groups, CPUs that leave or come back."""
    events, online = [], set(range(nr_cpus))
    times = draw(st.lists(st.integers(0, 60), max_size=4).map(sorted))
    for k, ms in enumerate(times):
        # an odd ns keeps it apart from ticks, a round one does not
        at_ns = ms * MS + draw(st.sampled_from((0, k + 1)))
        kind = draw(st.sampled_from(("write", "affinity", "group", "group", "cpu", "hold")))
        task = draw(st.sampled_from(drawn_tasks)).name
        if kind == "write":
            quota, period, burst = draw(limits())
            path = draw(st.sampled_from(drawn_groups)).path
            events.append(SetCpuMax(at_ns, path, draw(st.sampled_from((quota, quota, None))), period, burst))
        elif kind == "affinity":
            cpus = draw(st.sets(st.integers(0, nr_cpus - 1), min_size=1).map(sorted))
            events.append(SetAffinity(at_ns, task, tuple(cpus)))
        elif kind == "group":
            events.append(SetGroup(at_ns, task, draw(st.sampled_from(("/", *(g.path for g in drawn_groups))))))
        elif kind == "hold":
            length = draw(st.sampled_from((10 * US, 188_000, 4 * MS, 15 * MS)))
            events.append(HoldCpu(at_ns, draw(st.integers(0, nr_cpus - 1)), length))
        else:
            cpu = draw(st.integers(0, nr_cpus - 1))
            if online != {cpu}:
                events.append(SetCpuOnline(at_ns, cpu, cpu not in online))
                online ^= {cpu}
    # of one time they happen in the order given, which is the order in which the CPUs were counted
    return tuple(sorted(events, key=lambda event: event.at_ns))


@st.composite
def with_kernel_section(draw, task):
    """The same task, in some cases with a long system call in its loop, or as a kernel thread."""
    if draw(st.booleans()):
        (loop,) = task.program
        section = steps.kernel(draw(times(WORK_NS)))
        task = dataclasses.replace(task, program=(steps.repeat(loop.times, section, *loop.steps),))
    return dataclasses.replace(task, kernel_thread=draw(st.integers(0, 5)) == 0)


@st.composite
def new_scenarios(draw, releases=NEW_RELEASES):
    """A whole scenario for the rows with per-task throttling, with all kinds of tasks and events."""
    machine = draw(machines())
    kernel = draw(new_kernels(releases))
    drawn_groups = draw(st.one_of(groups(), nested_groups()))
    # deep groups more often: they tell more
    paths = [g.path for g in drawn_groups for _ in range(g.path.count("/"))]
    nr_tasks = draw(st.sampled_from((1, 2, 3, 4, 5, 6)))
    drawn = [draw(tasks(k, machine.nr_cpus, paths, kernel.custom_slice)) for k in range(nr_tasks)]
    drawn = [draw(with_kernel_section(task)) for task in drawn]
    drawn = without_lone_signals(drawn)
    events = draw(new_happenings(drawn_groups, drawn, machine.nr_cpus))
    workload = Workload(drawn_groups, tuple(drawn), events)
    duration = draw(st.sampled_from((50 * MS, 100 * MS, 200 * MS)))
    return Scenario(machine, kernel, workload, duration, draw(st.integers(0, 3)))


@st.composite
def scenarios(draw, releases=RELEASES):
    """A whole scenario of 50 to 400 ms."""
    machine = draw(machines())
    kernel = draw(kernels(releases))
    drawn_groups = draw(groups())
    paths = [g.path for g in drawn_groups]
    # from 8 tasks on, CFS lengthens its period and sets last buddies
    nr_tasks = draw(st.sampled_from((1, 2, 3, 4, 5, 6, 11)))
    drawn = [draw(tasks(k, machine.nr_cpus, paths, kernel.custom_slice)) for k in range(nr_tasks)]
    drawn = without_lone_signals(drawn)
    events = draw(happenings(drawn_groups, drawn, machine.nr_cpus))
    channels, talkers = draw(talks(paths))
    workload = Workload(drawn_groups, (*drawn, *talkers), events, channels=channels)
    duration = draw(st.sampled_from((50 * MS, 100 * MS, 150 * MS, 400 * MS)))
    return Scenario(machine, kernel, workload, duration, draw(st.integers(0, 3)))
