"""Per-task throttling (6.18, 7.2) on random trees up to four deep: G5k, G12, G13, G14 and G25 after every event."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_scenarios import FOREVER, MS, Scenario, kernels, limits, scenarios, tasks

import schedlab as sl

SERIES = ("local-csd-unthrottle", "update-curr-before-unthrottle", "limbo-local-list", "throttle-at-account")
PICK_TIME = ("6.18",)
BOTH = ("6.18", "7.2")


@st.composite
def deep(draw, releases=BOTH, patches=(), costs=True):
    """A chain of limited groups up to four deep, with a side branch, and tasks at every level."""
    paths, path = [], ""
    for name in "abcd"[: draw(st.integers(2, 4))]:
        path += f"/{name}"
        paths.append(path)
    paths.append(draw(st.sampled_from(paths[:-1])) + "/side")
    groups = [draw(limits(p)) if draw(st.integers(0, 3)) else sl.Group(p) for p in paths]
    groups[0] = draw(limits(paths[0]))
    nr_cpus = draw(st.sampled_from((1, 2, 4)))
    made = draw(tasks([*paths[1:], *paths], nr_cpus))
    events = [sl.SetGroup(draw(st.integers(0, 90 * MS)), made[0].name, draw(st.sampled_from(paths)))]
    if nr_cpus > 1 and draw(st.booleans()):
        events += [sl.SetCpuOnline(30 * MS, 1, False), sl.SetCpuOnline(70 * MS, 1, True)]
    kernel = draw(kernels(releases, costs=costs, patches=patches))
    return Scenario(sl.Machine.uniform(nr_cpus), kernel, sl.Workload(groups, made, events), draw(st.integers(0, 9)))


anything = st.one_of(deep(patches=SERIES), scenarios(BOTH, writes=True))


def limbo_of(probe, q):
    """Tasks in the limbo list of a cfs_rq."""
    found, task = [], int(probe.state["rq_limbo"][q])
    while task >= 0:
        found.append(task)
        task = int(probe.state["task_limbo_next"][task])
    return found


@settings(max_examples=80)
@given(anything)
def test_g12__throttle_count(scenario):
    """G12: throttle_count of a group on a CPU is the number of throttled queues among it and its ancestors there."""
    for probe in scenario.walk():
        parents = probe.group("parent")
        for g in range(1, len(parents)):
            assert (probe.throttle_count[g] == probe.throttled[g] + probe.throttle_count[parents[g]]).all()


@settings(max_examples=80)
@given(anything)
def test_g13__limbo(scenario):
    """G13: a throttled task is in the limbo of its own queue and nowhere else; limbo only in throttled hierarchies."""
    for probe in scenario.walk():
        listed = []
        count = probe.state["rq_throttle_count"]
        for q in np.flatnonzero(probe.state["rq_limbo"] >= 0).tolist():
            assert count[q] > 0
            for task in limbo_of(probe, q):
                assert probe.state["se_rq"][task] == q
                listed.append(task)
        throttled = np.flatnonzero(probe.state["task_throttled"]).tolist()
        assert sorted(listed) == throttled
        assert (probe.state["se_on_rq"][throttled] == 0).all()


@settings(max_examples=80)
@given(deep(("7.2",)))
def test_g13__limbo_is_empty_when_a_group_is_throttled(scenario):
    """G13: with the whole series nobody is in limbo when a group becomes throttled."""
    assert scenario.run().violations() == []


@settings(max_examples=80)
@given(st.one_of(deep(PICK_TIME, costs=False), scenarios(PICK_TIME, costs=False)))
def test_g14__user_mode_in_a_throttled_hierarchy_only_with_work_pending(scenario):
    """G14: told by the pick, a task of a throttled hierarchy is in the kernel, or about to leave (work is pending)."""
    for probe in scenario.walk():
        for cpu, task in enumerate(probe.curr.tolist()):
            if task < 0 or probe.throttle_count[probe.state["task_group"][task], cpu] == 0:
                continue
            in_kernel = probe.state["task_mode"][task] == 1 or probe.state["task_fetch"][task] == 1
            assert in_kernel or probe.state["task_work_pending"][task] == 1


@settings(max_examples=60)
@given(deep())
def test_g15__no_cpu_idles_with_work(scenario):
    """G15: a CPU that runs nothing has no task queued, unless it was asked to reschedule and is about to.

    An empty group may be left, delayed, when its last task was taken away: an idle CPU does not pick then (SM_IDLE).
    """
    for probe in scenario.walk():
        idle = (probe.curr < 0) & (probe.state["cpu_need_resched"] == 0)
        assert (probe.h_nr[0][idle] == 0).all()


@st.composite
def kernel_sections(draw):
    """Tasks on one CPU, each over and over in the kernel for at most so long, and in user mode a little."""
    longest = draw(st.sampled_from((200_000, 3 * MS, 20 * MS)))
    made = []
    for k in range(draw(st.integers(1, 4))):
        section = draw(st.integers(1_000, longest))
        made.append(sl.Task(f"t{k}", sl.repeat(None, sl.kernel(section), sl.run(draw(st.integers(1, MS)))), group="/g"))
    return draw(limits("/g")), made


@settings(max_examples=60)
@given(kernel_sections(), st.sampled_from(BOTH), st.sampled_from((250, 1000)))
def test_g5k__debt_is_a_tick_and_a_kernel_section_of_each_task(drawn, release, hz):
    """G5k: D <= tick + the sum of one kernel section of each task."""
    group, made = drawn
    kernel = sl.Kernel.version(release, hz=hz)
    most = kernel.tick_ns + sum(task.program[0].steps[0].duration.low_ns for task in made)
    scenario = Scenario(sl.Machine.uniform(1), kernel, sl.Workload([group], made))
    for probe in scenario.walk():
        assert -probe.runtime_remaining[1, 0] <= most


@st.composite
def hog_sets(draw):
    """User-only hogs, each pinned, in one limited group on a few CPUs."""
    nr_cpus = draw(st.integers(1, 4))
    hogs = [
        sl.Task(f"h{k}", FOREVER, group="/g", cpus=draw(st.integers(0, nr_cpus - 1)))
        for k in range(draw(st.integers(1, 6)))
    ]
    return nr_cpus, sl.Workload([draw(limits("/g"))], hogs)


def told_without_a_schedule(events):
    """Throttles at which the running task leaves without a __schedule on its CPU at that instant before."""
    found = 0
    for _, here in events.groupby(["time_ns", "cpu"], sort=False):
        kinds = here["kind"].tolist()
        if "throttle" in kinds and "limbo" in kinds:
            between = kinds[kinds.index("throttle") : kinds.index("limbo")]
            found += "schedule" not in between
    return found


@pytest.mark.parametrize("hz", [100, 250, 1000])
@settings(max_examples=60)
@given(hog_sets())
def test_g25__a_schedule_less_for_each_throttle_at_a_tick(hz, drawn):
    """G25: 7.2 with 6.18's EEVDF: the same usage in each period, and a schedule less for each running task throttled.

    Where the tick at which the quota ends also ends a slice, both reschedule: such throttles do not count.
    """
    nr_cpus, work = drawn
    old = sl.Kernel.version("6.18", hz=hz)
    runs = [
        sl.simulate(sl.Machine.uniform(nr_cpus), kernel, work, "400ms", log=("throttle", "work", "limbo", "schedule"))
        for kernel in (old, old.with_patch(*SERIES))
    ]
    usage = [run.cpu_stat()["usage_usec"].loc["/g"] for run in runs]
    assert abs(usage[0] - usage[1]) <= nr_cpus * old.tick_ns / 1000
    schedules = [run.cpus()["nr_schedules"].sum() for run in runs]
    assert schedules[0] - schedules[1] == told_without_a_schedule(runs[1].events())
