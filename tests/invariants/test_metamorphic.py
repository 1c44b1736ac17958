"""Runs that must relate to each other: the metamorphic relations G24 of the fact sheet."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from random_scenarios import ALL_RELEASES, FOREVER, MS, Scenario, kernels, limits, programs, scenarios

import schedlab as sl
from schedlab.engine.record import KINDS

US = 1000
THROTTLING = ("switch", "throttle", "unthrottle", "period")


def rows(run, kinds=None, cpus=None):
    """The log as a list (time, kind, CPU, a, b), of some kinds and CPUs."""
    log = ((time, KINDS[kind], *rest) for time, kind, *rest in run.log.tolist())
    return [row for row in log if (kinds is None or row[1] in kinds) and (cpus is None or row[2] in cpus)]


def hogs_under(group, nr_cpus, **scenario):
    """One hog pinned to each CPU, in one group."""
    tasks = [sl.Task(f"hog{c}", FOREVER, group=group.path, cpus=c) for c in range(nr_cpus)]
    return Scenario(sl.Machine.uniform(nr_cpus), workload=sl.Workload([group], tasks), **scenario)


# ---- (i) scale -------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.sampled_from(ALL_RELEASES), st.integers(1, 4), st.integers(1, 60), st.sampled_from((10, 20, 25)), st.booleans()
)
def test_g24__all_times_four_times_as_long(release, nr_cpus, quota_ms, period_ms, with_burst):
    """G24 i: Q, P, B, slice and tick times 4: the same trace, times 4.

    Hogs never donate, so that the constants of the kernel (1, 5, 2 and 7 ms) do not come in.
    """
    traces = []
    for k, hz in ((1, 1000), (4, 250)):
        quota_us, period_us = k * quota_ms * 1000, k * period_ms * 1000
        group = sl.Group("/g", quota_us=quota_us, period_us=period_us, burst_us=quota_us * with_burst, phase_us=0)
        kernel = sl.Kernel.version(release, hz=hz, cfs_bandwidth_slice_us=k * 5000)
        run = hogs_under(group, nr_cpus, kernel=kernel, until_ns=k * 150 * MS).run(log=THROTTLING)
        traces.append([(time * 4 // k, kind, cpu, a) for time, kind, cpu, a, _ in rows(run)])
    assert traces[0] == traces[1]


# ---- (ii) more quota -------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(limits("/g"), kernels(), st.integers(1, 4))
def test_g24__twice_the_quota_throttles_no_more(group, kernel, nr_cpus):
    """G24 ii: with twice Q a group of hogs is never throttled at more boundaries, and does not run less."""
    until_ns = 12 * group.period_us * US
    counts = []
    for quota_us in (group.quota_us, 2 * group.quota_us):
        run = hogs_under(replace(group, quota_us=quota_us), nr_cpus, kernel=kernel, until_ns=until_ns).run()
        counts.append((run.groups[1]["nr_throttled"], run.groups[1]["usage_ns"]))
    assert counts[1][0] <= counts[0][0] and counts[1][1] >= counts[0][1]


# ---- (iii) an unrelated group ----------------------------------------------------------------------------------------


@st.composite
def neighbours(draw):
    """Two workloads on CPUs 0, 1 and on CPUs 2, 3 of one machine."""
    halves = []
    for path, cpus in (("/a", (0, 1)), ("/b", (2, 3))):
        programs_ = [draw(programs(1).filter(stays)) for _ in range(draw(st.integers(1, 4)))]
        tasks = [sl.Task(f"{path[1]}{k}", program, group=path, cpus=cpus) for k, program in enumerate(programs_)]
        halves.append(sl.Workload([draw(limits(path))], tasks))
    return halves, draw(kernels())


def stays(program):
    """Whether a program leaves its task's affinity alone."""
    return not any(step == sl.affinity(0) for step in program.steps)


@settings(max_examples=60)
@given(neighbours())
def test_g24__unrelated_group_changes_nothing(halves_and_kernel):
    """G24 iii: a second group on other CPUs leaves the events of the first as they were."""
    (mine, other), kernel = halves_and_kernel
    machine = sl.Machine.uniform(4)
    alone, together = (Scenario(machine, kernel, work).run(log=True) for work in (mine, mine + other))
    # events of the pool have CPU -1 and group 1, the first
    assert rows(alone, cpus=(0, 1)) == rows(together, cpus=(0, 1))
    pool = [[row for row in rows(run, ("period", "slack")) if row[3] == 1] for run in (alone, together)]
    assert pool[0] == pool[1]


# ---- (iv) shift ------------------------------------------------------------------------------------------------------

BEGIN = 200 * MS


def shifted(scenario, shift_us):
    """The same with all timers, ticks and starts later by so much."""
    kernel, work = scenario.kernel, scenario.workload
    offset = (kernel.tick_offset_us + shift_us) % (kernel.tick_ns // US)
    groups = [
        group if group.quota_us is None else replace(group, phase_us=(group.phase_us + shift_us) % group.period_us)
        for group in work.groups
    ]
    tasks = [replace(task, start_ns=task.start_ns + BEGIN + shift_us * US) for task in work.tasks]
    until_ns = scenario.until_ns + BEGIN + shift_us * US
    return replace(
        scenario, kernel=kernel.with_(tick_offset_us=offset), workload=sl.Workload(groups, tasks), until_ns=until_ns
    )


@st.composite
def with_phases(draw):
    """A scenario whose timers have phases of their own."""
    scenario = draw(scenarios())
    phases = [draw(st.integers(0, 9_999)) for _ in scenario.workload.groups]
    groups = [replace(group, phase_us=phase) for group, phase in zip(scenario.workload.groups, phases)]
    return replace(scenario, workload=scenario.workload.replace(groups=groups))


@settings(max_examples=60)
@given(with_phases(), st.integers(1, 49_999))
def test_g24__shift_of_everything(scenario, shift_us):
    """G24 iv: timers, ticks and tasks later by the same time: the same trace, later by that.

    Tasks begin 200 ms after the limits were written, when pools are full and timers have stopped.
    """
    traces = []
    for shift in (0, shift_us):
        begin = BEGIN + shift * US
        run = shifted(scenario, shift).run(log=True)
        traces.append([(time - begin, *rest) for time, *rest in rows(run) if time >= begin])
    assert traces[0] == traces[1]


# ---- (v) no limit ----------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(scenarios())
def test_g24__quota_that_is_never_used_up_is_none(scenario):
    """G24 v: with a quota beyond what the machine can use tasks run as without the code of bandwidth control."""
    traces = []
    for quota_us in (None, 1 << 40):
        groups = [replace(group, quota_us=quota_us, burst_us=0) for group in scenario.workload.groups]
        run = replace(scenario, workload=scenario.workload.replace(groups=groups)).run(log=True)
        traces.append([row for row in rows(run) if row[1] not in ("period", "slack")])
    assert traces[0] == traces[1]
