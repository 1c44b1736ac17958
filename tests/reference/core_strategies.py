"""Small random scenarios with core scheduling: cookies, siblings, and what disturbs them."""

import dataclasses

from hypothesis import strategies as st
from strategies import MS, Scenario, groups, kernels, limits, new_kernels, talks, tasks, without_lone_signals

from schedlab import steps
from schedlab.events import HoldCpu, SetAffinity, SetCookie, SetCpuMax, SetCpuOnline, SetGroup
from schedlab.kernel import Costs
from schedlab.machine import Machine
from schedlab.workload import Task, Workload

CORE_RELEASES = ("6.12", "6.18", "6.19", "7.2")
CORE_PATCHES = (
    "core-tree-sorted",
    "core-pick-on-drain",
    "no-forceidle-snapshot",
    "no-forceidle-tick",
    "cookie-not-enqueued",
    "no-force-idle-steal",
)
PUSH_PATCHES = ("push-recheck", "push-skip-core-pick", "push-skip-delayed", "push-by-quality")
COOKIES = (0, 1, 1, 2, 2, 3)


@st.composite
def smt_machines(draw):
    """Two to eight CPUs with two, seldom four, threads a core; now and then without siblings."""
    nr_cpus = draw(st.sampled_from((2, 2, 4, 4, 6, 8)))
    fits = [smt for smt in (2, 2, 2, 2, 2, 4, 1) if nr_cpus % smt == 0]
    smt = draw(st.sampled_from(fits))
    nr_cores = nr_cpus // smt
    nr_llcs = draw(st.sampled_from([n for n in (1, 1, 2) if nr_cores % n == 0]))
    numbering = draw(st.sampled_from(("adjacent", "split")))
    throughput = (1.0, 1.3, 1.4, 1.5)[:smt]
    return Machine.uniform(nr_cpus, smt, nr_llcs=nr_llcs, numbering=numbering, smt_throughput=throughput)


@st.composite
def core_kernels(draw, releases):
    """In most cases as released, else with some of the patches of core scheduling."""
    release = draw(st.sampled_from(releases))
    kernel = draw(kernels((release,)) if release == "6.12" else new_kernels((release,)))
    wanted = set()
    if draw(st.booleans()):
        wanted |= {name for name in CORE_PATCHES if draw(st.integers(0, 4)) == 0}
    if draw(st.booleans()):
        wanted |= {"force-idle-push", *(name for name in PUSH_PATCHES if draw(st.integers(0, 2)) == 0)}
    kernel = kernel.with_patch(*sorted(wanted))
    if draw(st.integers(0, 3)) == 0:
        kernel = kernel.with_(costs=Costs(ipi_ns=draw(st.sampled_from((2_000, 150_000, 1_200_000)))))
    if draw(st.integers(0, 3)) == 0:
        kernel = kernel.with_(forceidle_snapshot=draw(st.sampled_from(("min", "zero"))))
    return kernel.with_(core_newidle=draw(st.booleans())) if draw(st.integers(0, 4)) == 0 else kernel


@st.composite
def plain_tasks(draw, index, nr_cpus, paths):
    """A task that always runs, or that runs and sleeps; half of them stay on one CPU."""
    ns = st.one_of(st.integers(50_000, 9 * MS), st.sampled_from((MS, 4 * MS)))
    rest = [steps.sleep(draw(ns))] if draw(st.integers(0, 2)) else []
    cpus = (draw(st.integers(0, nr_cpus - 1)),) if draw(st.booleans()) else None
    return Task(
        f"t{index}",
        steps.repeat(None, steps.run(draw(ns)), *rest),
        draw(st.sampled_from(("/", "/", *paths))),
        cpus=cpus,
        nice=draw(st.sampled_from((0, 0, 0, 5, -5))),
        start_ns=draw(st.sampled_from((0, 0, MS, 5_432_101))),
    )


@st.composite
def core_happenings(draw, drawn_groups, drawn_tasks, nr_cpus):
    """Up to four events: cookies, affinities, moves between groups, writes of cpu.max, CPUs held or gone or back."""
    events, online = [], set(range(nr_cpus))
    kinds = ["cookie", "cookie", "affinity", "hold", "cpu", *(("group", "write") if drawn_groups else ())]
    for k, ms in enumerate(draw(st.lists(st.integers(0, 60), max_size=4).map(sorted))):
        at_ns = ms * MS + draw(st.sampled_from((0, k + 1)))
        kind = draw(st.sampled_from(kinds))
        task = draw(st.sampled_from(drawn_tasks))
        if kind == "cookie":
            events.append(SetCookie(at_ns, task.name, 0 if task.kernel_thread else draw(st.sampled_from(COOKIES))))
        elif kind == "affinity":
            cpus = draw(st.sets(st.integers(0, nr_cpus - 1), min_size=1).map(sorted))
            events.append(SetAffinity(at_ns, task.name, tuple(cpus)))
        elif kind == "hold":
            length = draw(st.sampled_from((188_000, 2 * MS, 6 * MS)))
            events.append(HoldCpu(at_ns, draw(st.integers(0, nr_cpus - 1)), length))
        elif kind == "cpu":
            cpu = draw(st.integers(0, nr_cpus - 1))
            if online != {cpu}:
                events.append(SetCpuOnline(at_ns, cpu, cpu not in online))
                online ^= {cpu}
        elif kind == "group":
            events.append(SetGroup(at_ns, task.name, draw(st.sampled_from(("/", *(g.path for g in drawn_groups))))))
        else:
            quota, period, burst = draw(limits())
            path = draw(st.sampled_from(drawn_groups)).path
            events.append(SetCpuMax(at_ns, path, draw(st.sampled_from((quota, quota, None))), period, burst))
    return tuple(sorted(events, key=lambda event: event.at_ns))


@st.composite
def core_tasks(draw, index, nr_cpus, paths, custom_slice):
    """A task of either kind, with or without a cookie; a few are kernel threads."""
    is_plain = draw(st.integers(0, 2)) > 0
    task = draw(plain_tasks(index, nr_cpus, paths) if is_plain else tasks(index, nr_cpus, paths, custom_slice))
    if draw(st.integers(0, 9)) == 0:
        return dataclasses.replace(task, kernel_thread=True)
    return dataclasses.replace(task, cookie=draw(st.sampled_from((None, *COOKIES))))


@st.composite
def core_load(draw, machine, kernel, counts):
    """Groups or none, as many tasks as one of `counts`, the first with a cookie, and what happens to them."""
    drawn_groups = draw(groups()) if draw(st.booleans()) else ()
    drawn_groups = tuple(dataclasses.replace(g, cookie=draw(st.sampled_from((0, 0, 0, 1, 2)))) for g in drawn_groups)
    paths = [g.path for g in drawn_groups]
    nr_tasks = draw(st.sampled_from(counts))
    drawn = [draw(core_tasks(k, machine.nr_cpus, paths, kernel.custom_slice)) for k in range(nr_tasks)]
    drawn[0] = dataclasses.replace(drawn[0], cookie=1, kernel_thread=False)
    drawn = without_lone_signals(drawn)
    return drawn_groups, drawn, draw(core_happenings(drawn_groups, drawn, machine.nr_cpus))


@st.composite
def core_scenarios(draw, releases=CORE_RELEASES):
    """A whole scenario of 40 to 150 ms: 2 to 12 tasks with up to three cookies or none, in groups or not."""
    machine = draw(smt_machines())
    kernel = draw(core_kernels(releases))
    drawn_groups, drawn, events = draw(core_load(machine, kernel, (2, 3, 3, 4, 5, 6, 8, 12)))
    channels, talkers = draw(talks([g.path for g in drawn_groups])) if draw(st.integers(0, 5)) == 0 else ((), ())
    workload = Workload(drawn_groups, (*drawn, *talkers), events, channels=channels)
    return Scenario(machine, kernel, workload, draw(st.sampled_from((40, 80, 150))) * MS, draw(st.integers(0, 3)))
