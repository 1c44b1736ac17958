"""Throttled queues, their lists, clocks and timers on random scenarios: the invariants G6, G8 to G12 and G14 to G17."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from random_scenarios import FOREVER, MS, Scenario, donors, kernels, limits, scenarios

import schedlab as sl
from schedlab.engine.state import NEVER


@settings(max_examples=100)
@given(scenarios())
def test_g6__throttled_with_an_empty_pool(scenario):
    """G6: a cfs_rq is throttled when the pool has nothing and -tick < rr <= 0.

    The pool may have got something since, in the same event, from another CPU's cfs_rq that became empty.
    """
    before = None
    most = scenario.kernel.tick_ns + scenario.kernel.costs.ipi_ns
    for probe in scenario.walk():
        after = probe.throttled.copy(), probe.nr.copy()
        if before is not None:
            for g in probe.limited:
                new = (after[0][g] == 1) & (before[0][g] == 0)
                rr = probe.runtime_remaining[g][new]
                assert ((rr <= 0) & (-most <= rr)).all()
                donated = ((after[1][g] == 0) & ~new).any()
                assert not new.any() or probe.group("runtime")[g] == 0 or donated
        before = after


@settings(max_examples=60)
@given(scenarios())
def test_g8__counters(scenario):
    """G8: counters grow; nr_throttled and nr_bursts <= nr_periods; burst time <= nr_bursts * B; without B no bursts."""
    names = ("nr_periods", "nr_throttled", "throttled_ns", "nr_bursts", "burst_ns")
    before = None
    for probe in scenario.walk():
        now = np.array([probe.group(name) for name in names])
        periods, throttled, _, bursts, burst_ns = now
        assert before is None or (now >= before).all()
        assert (throttled <= periods).all() and (bursts <= periods).all()
        assert (burst_ns <= bursts * probe.group("burst")).all()
        before = now


@settings(max_examples=60)
@given(scenarios())
def test_g9__refills_keep_their_phase(scenario):
    """G9: refills are at a group's phase + k * P, also after the timer was stopped, one period counted for each."""
    expires, counted = {}, {}
    for probe in scenario.walk(log=("period",)):
        if not expires:
            expires = {g: int(probe.group("expires")[g]) for g in probe.limited}
        for time, _, _, g, _ in probe.drain().tolist():
            assert (time - expires[g]) % probe.group("period")[g] == 0
            counted[g] = counted.get(g, 0) + 1
        for g in probe.limited:
            assert probe.group("nr_periods")[g] == counted.get(g, 0)
            assert probe.group("nr_periods")[g] <= probe.now // probe.group("period")[g] + 1


# ---- how long -------------------------------------------------------------------------------------------------------


def latest_release(probe, g, q):
    """When `q`, the last of the list, is let go at the latest: at the first boundary that pays it and those before."""
    owed, at = 0, probe.group("thr_head")[g]
    while at >= 0:
        owed += 1 - int(probe.state["rq_runtime_remaining"][at])
        last, at = at, probe.state["rq_thr_next"][at]
    assert last == q
    boundaries = -(-owed // int(probe.group("quota")[g]))
    return int(probe.group("expires")[g]) + (boundaries - 1) * int(probe.group("period")[g])


def check_releases(scenario):
    """No throttled cfs_rq stays so beyond `latest_release`. Returns how many were throttled."""
    due, seen, async_ns = {}, 0, scenario.kernel.costs.ipi_ns
    for probe in scenario.walk():
        throttled = np.flatnonzero(probe.state["rq_throttled"]).tolist()
        due = {q: time for q, time in due.items() if q in throttled}
        assert all(probe.now <= time + async_ns for time in due.values())
        new = [q for q in throttled if q not in due]
        for g in {int(probe.state["rq_tg"][q]) for q in new}:
            mine = [q for q in new if probe.state["rq_tg"][q] == g]
            # of several in one event only the last of the list has all before it
            last = max(mine, key=lambda q: position(probe, g, q))
            due[last] = latest_release(probe, g, last)
            due |= {q: due[last] for q in mine}
        seen += len(new)
    return seen


def position(probe, g, q):
    """Place of a cfs_rq in its group's list."""
    place, at = 0, probe.group("thr_head")[g]
    while at != q:
        place, at = place + 1, probe.state["rq_thr_next"][at]
    return place


@settings(max_examples=100)
@given(scenarios())
def test_g10__first_throttled_first_served(scenario):
    """G10: the k-th of the list is let go by the first boundary j with j * Q >= sum of (D_i + 1 ns) for i <= k."""
    check_releases(scenario)


@settings(max_examples=60)
@given(limits("/g"), kernels(), st.integers(1, 3))
def test_g11__stall_of_one_cpu(group, kernel, nr_hogs):
    """G11: on one CPU a throttling lasts at most P * ceil((D + 1 ns) / Q)."""
    work = sl.Workload([group], [sl.Task(f"hog{k}", FOREVER, group="/g") for k in range(nr_hogs)])
    scenario = Scenario(sl.Machine.uniform(1), kernel, work, until_ns=8 * group.period_us * 1000)
    debt = begin = None
    for probe in scenario.walk():
        if probe.throttled[1, 0] and begin is None:
            begin, debt = probe.now, -int(probe.runtime_remaining[1, 0])
        elif begin is not None and not probe.throttled[1, 0]:
            most = group.period_us * 1000 * -(-(debt + 1) // (group.quota_us * 1000))
            assert probe.now - begin <= most + kernel.costs.ipi_ns
            begin = None


# ---- who is stopped --------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(scenarios(writes=True))
def test_g12__throttle_count(scenario):
    """G12: throttle_count of a group on a CPU is the number of throttled queues among it and its ancestors there."""
    for probe in scenario.walk():
        parents = probe.group("parent")
        for g in range(1, len(parents)):
            assert (probe.throttle_count[g] == probe.throttled[g] + probe.throttle_count[parents[g]]).all()


@settings(max_examples=100)
@given(scenarios(writes=True))
def test_g14__no_task_of_a_throttled_hierarchy_runs(scenario):
    """G14: to 6.17 a task below a throttled queue is never picked."""
    groups = None
    for probe in scenario.walk():
        groups = probe.state["task_group"]
        for cpu, task in enumerate(probe.curr.tolist()):
            assert task < 0 or probe.throttle_count[groups[task], cpu] == 0


@settings(max_examples=100)
@given(scenarios(writes=True))
def test_g15__no_cpu_idles_with_work(scenario):
    """G15: a CPU that runs nothing has no task queued, unless it was asked to reschedule and is about to.

    An empty group may be left, delayed, when its last task was taken away: an idle CPU does not pick then (SM_IDLE).
    """
    for probe in scenario.walk():
        idle = (probe.curr < 0) & (probe.state["cpu_need_resched"] == 0)
        assert (probe.h_nr[0][idle] == 0).all()


@settings(max_examples=60)
@given(scenarios(writes=True))
def test_g15__time_adds_up(scenario):
    """G15: CPU time of the tasks, user and kernel, is the time that CPUs were busy; a task runs, waits or sleeps."""
    run = scenario.run()
    tasks = run.tasks()
    assert tasks["exec_ns"].sum() == run.thread_busy_ns
    assert (tasks["user_ns"] + tasks["kernel_ns"] == tasks["exec_ns"]).all()
    alive = (scenario.until_ns - tasks["start_ns"]).clip(lower=0)
    assert (tasks["exec_ns"] + tasks["wait_ns"] <= alive).all()


# ---- timers ----------------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(scenarios(writes=True))
def test_g16__throttled_group_has_an_active_timer(scenario):
    """G16: while the period timer is off no queue of the group is throttled; while it is on it is armed."""
    for probe in scenario.walk():
        active, head = probe.group("period_active"), probe.group("thr_head")
        assert (active[head >= 0] == 1).all()
        armed = probe.state["ev_key"][: len(active)] != NEVER
        assert (armed == (active == 1)).all()


@settings(max_examples=150)
@given(st.one_of(donors(), donors(), scenarios()))
def test_g17__slack_timer(scenario):
    """G17: armed 5 ms ahead, not within 7 ms of a refill, never moved; hands out more than a slice, 2 ms before one."""
    due = {}
    first = None
    for probe in scenario.walk(log=("slack",)):
        first = int(probe.state["sys_src_slack"][0]) if first is None else first
        for time, _, _, g, pool in probe.drain().tolist():
            assert pool > probe.state["sys_bw_slice"][0]
            assert probe.group("expires")[g] - time >= 2 * MS
            assert due[g] == time
        for g in probe.limited:
            key = int(probe.state["ev_key"][first + g])
            if not probe.group("slack_started")[g]:
                assert key == NEVER
                due.pop(g, None)
            elif due.get(g, 0) <= probe.now:
                assert key >> 20 == probe.now + 5 * MS
                assert probe.group("expires")[g] - probe.now >= 7 * MS
                due[g] = key >> 20
            else:
                assert key >> 20 == due[g]
