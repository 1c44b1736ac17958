"""Small random scenarios with the kernel's balancing: more CPUs, free tasks, and what pins some of them."""

from core_strategies import core_kernels, core_load
from hypothesis import strategies as st
from strategies import MS, Scenario, groups, kernels, new_happenings, new_kernels, talks, tasks, without_lone_signals

from schedlab import steps
from schedlab.machine import Machine
from schedlab.workload import Task, Workload

BALANCE_RELEASES = ("6.1", "6.6", "6.12", "6.18", "7.2")
NEW_EVENTS = ("6.12", "6.18", "7.2")
CORE_BALANCE_PATCHES = ("wake-cookie-check", "lb-force-idle-destination", "lb-no-active-balance")


@st.composite
def balance_machines(draw):
    """Two to eight CPUs with one to four threads a core, in up to four last-level caches and up to two nodes."""
    nr_cpus = draw(st.sampled_from((2, 4, 4, 6, 8, 8)))
    if draw(st.integers(0, 9)) == 0:
        # two threads on some cores alone
        cores = ((0, 1), *((cpu,) for cpu in range(2, nr_cpus)))
        return Machine.uniform(nr_cpus).replace(cores=cores, smt_throughput=(1.0, 1.3))
    smt = draw(st.sampled_from([n for n in (1, 1, 2, 2, 2, 4) if nr_cpus % n == 0]))
    nr_cores = nr_cpus // smt
    nr_llcs = draw(st.sampled_from([n for n in (1, 1, 2, 2, 4) if nr_cores % n == 0]))
    nr_nodes = draw(st.sampled_from([n for n in (1, 1, 2) if nr_llcs % n == 0]))
    numbering = draw(st.sampled_from(("adjacent", "split")))
    throughput = (1.0, 1.3, 1.4, 1.5)[:smt]
    return Machine.uniform(
        nr_cpus, smt, nr_llcs=nr_llcs, nr_nodes=nr_nodes, numbering=numbering, smt_throughput=throughput
    )


@st.composite
def balance_kernels(draw, release):
    """A kernel of the release, in most cases as released."""
    kernel = draw(new_kernels((release,)) if release in ("6.18", "7.2") else kernels((release,)))
    kernel = kernel.with_(balance="kernel")
    return kernel.with_patch("lb-no-active-balance") if draw(st.integers(0, 7)) == 0 else kernel


@st.composite
def free_tasks(draw, index, nr_cpus, paths):
    """A task that runs on and on, or that runs and sleeps; one in four may use some CPUs alone."""
    ns = st.one_of(st.integers(50_000, 9 * MS), st.sampled_from((MS, 4 * MS)))
    rest = [steps.sleep(draw(ns))] if draw(st.integers(0, 2)) else []
    some = st.sets(st.integers(0, nr_cpus - 1), min_size=1).map(sorted)
    return Task(
        f"t{index}",
        steps.repeat(None, steps.run(draw(ns)), *rest),
        draw(st.sampled_from(("/", "/", *paths))),
        cpus=draw(st.one_of(st.none(), st.none(), st.none(), some)),
        nice=draw(st.sampled_from((0, 0, 0, 5, -5, -20))),
        start_ns=draw(st.sampled_from((0, 0, MS, 5_432_101))),
    )


@st.composite
def any_task(draw, index, nr_cpus, paths, custom_slice):
    """A free task, or one of any kind."""
    is_free = draw(st.integers(0, 2)) > 0
    return draw(free_tasks(index, nr_cpus, paths) if is_free else tasks(index, nr_cpus, paths, custom_slice))


@st.composite
def balance_scenarios(draw, release):
    """A whole scenario of 60 to 300 ms: 2 to 16 tasks, in groups or not, and up to four events."""
    machine = draw(balance_machines())
    kernel = draw(balance_kernels(release))
    drawn_groups = draw(groups()) if draw(st.booleans()) else ()
    paths = [g.path for g in drawn_groups]
    nr_tasks = draw(st.sampled_from((2, 3, 4, 5, 6, 8, 12, 16)))
    drawn = [draw(any_task(k, machine.nr_cpus, paths, kernel.custom_slice)) for k in range(nr_tasks)]
    drawn = without_lone_signals(drawn)
    may_happen = drawn_groups and release in NEW_EVENTS
    events = draw(new_happenings(drawn_groups, drawn, machine.nr_cpus)) if may_happen else ()
    channels, talkers = draw(talks(paths)) if draw(st.integers(0, 4)) == 0 else ((), ())
    workload = Workload(drawn_groups, (*drawn, *talkers), events, channels=channels)
    return Scenario(machine, kernel, workload, draw(st.sampled_from((60, 120, 300))) * MS, draw(st.integers(0, 3)))


@st.composite
def balance_core_scenarios(draw, release):
    """The same with cookies: core scheduling, what disturbs it, and the patches of both that the reference knows."""
    machine = draw(balance_machines())
    kernel = draw(core_kernels((release,))).with_(balance="kernel")
    wanted = [name for name in CORE_BALANCE_PATCHES if draw(st.integers(0, 5)) == 0]
    drawn_groups, drawn, events = draw(core_load(machine, kernel, (2, 3, 4, 5, 6, 8, 12, 16)))
    workload = Workload(drawn_groups, tuple(drawn), events)
    duration = draw(st.sampled_from((40, 80, 150))) * MS
    return Scenario(machine, kernel.with_patch(*wanted), workload, duration, draw(st.integers(0, 3)))
