"""Bandwidth control on random scenarios, after every event: the invariants G1 to G5, G7 of the fact sheet.

rr is a cfs_rq's runtime_remaining, L the sum of max(0, rr) and D that of max(0, -rr) over CPUs; Q, B and P are quota,
burst and period.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from random_scenarios import FOREVER, LEGACY, Scenario, donors, kernels, scenarios

import schedlab as sl


def ledger(probe, g):
    """What the books of group `g` do not explain, in ns."""
    have = probe.group("runtime")[g] + probe.runtime_remaining[g].sum()
    gone = probe.group("charged")[g] + probe.group("expired")[g]
    return int(have + gone - probe.group("refilled")[g] - probe.group("created")[g])


@settings(max_examples=150)
@given(st.one_of(scenarios(writes=True, patches=LEGACY), donors()))
def test_g1__every_nanosecond_is_in_the_books(scenario):
    """G1: pool + sum of rr + charged + expired = refilled + created, exactly, also over writes of cpu.max."""
    for probe in scenario.walk():
        for g in probe.limited:
            assert ledger(probe, g) == 0


@settings(max_examples=60)
@given(st.one_of(scenarios(), donors()))
def test_g1__charged_is_what_the_members_ran(scenario):
    """G1: the charge of a group that is limited from the start is the CPU time booked to the entities in it."""
    for probe in scenario.walk():
        level = probe.state["rq_tg"][probe.state["se_rq"]]
        for g in probe.limited:
            assert probe.state["se_sum_exec"][level == g].sum() == probe.group("charged")[g]


@settings(max_examples=60)
@given(scenarios())
def test_g1__one_quota_a_boundary(scenario):
    """G1: refilled is Q for the write at the start and Q for each run of the period timer; the pool is 0 to Q + B."""
    refills = {}
    for probe in scenario.walk(log=("period",)):
        for _, _, _, g, pool in probe.drain().tolist():
            refills[g] = refills.get(g, 1) + 1
            assert 0 <= pool <= probe.group("quota")[g] + probe.group("burst")[g]
        for g in probe.limited:
            assert probe.group("refilled")[g] == probe.group("quota")[g] * refills.get(g, 1)
            assert probe.group("runtime")[g] >= 0


# ---- how much may be used --------------------------------------------------------------------------------------------


def history(scenario):
    """By limited group: rows (time, charged, L, D, number of refills, pool) after every event, and Q, B, P."""
    rows, facts = {}, {}
    for probe in scenario.walk():
        for g in probe.limited:
            rr = probe.runtime_remaining[g]
            spare, debt = np.maximum(rr, 0).sum(), np.maximum(-rr, 0).sum()
            charged, refills, pool = (probe.group(name)[g] for name in ("charged", "refill_seq", "runtime"))
            rows.setdefault(g, []).append((probe.now, charged, spare, debt, refills, pool))
            facts[g] = [int(probe.group(name)[g]) for name in ("quota", "burst", "period")]
    return [(np.array(rows[g]), *facts[g]) for g in rows]


@settings(max_examples=60)
@given(scenarios())
def test_g2__window_of_whole_periods(scenario):
    """G2: from just after a refill to just before the m-th after it: U <= m * Q + B + L(begin) + D(end)."""
    for rows, quota, burst, _ in history(scenario):
        refills = np.flatnonzero(np.diff(rows[:, 4])) + 1  # rows just after one
        for k, begin in enumerate(refills):
            for m, end in enumerate(refills[k + 1 :] - 1, start=1):
                used = rows[end, 1] - rows[begin, 1]
                assert used <= m * quota + burst + rows[begin, 2] + rows[end, 3]


@settings(max_examples=60)
@given(scenarios())
def test_g3__any_window(scenario):
    """G3: in a window of T: U <= (ceil(T / P) + 1) * Q + B + L(begin) + D(end), for each pair of events.

    Q + B is the most that the pool holds after a refill. Donations may put up to S - 1 ms a CPU on top of that before
    the window begins; what is there beyond Q + B counts too.
    """
    for rows, quota, burst, period in history(scenario):
        time, charged, spare, debt, _, pool = rows.T
        length = time[None, :] - time[:, None]
        used = charged[None, :] - charged[:, None]
        begin = np.maximum(pool, quota + burst) + spare
        most = -(-length // period) * quota + begin[:, None] + debt[None, :]
        assert (used <= most)[length >= 0].all()


# ---- the local runtime -----------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(scenarios())
def test_g4__local_runtime_is_a_slice_at_most(scenario):
    """G4: rr <= S always, and at most 1 ms on a CPU where the group has nothing queued."""
    slice_ns = scenario.kernel.cfs_bandwidth_slice_us * 1000
    for probe in scenario.walk():
        for g in probe.limited:
            rr = probe.runtime_remaining[g]
            assert (rr <= slice_ns).all()
            assert (rr[probe.nr[g] == 0] <= 1_000_000).all()


@settings(max_examples=60)
@given(scenarios())
def test_g5__debt_is_a_tick_at_most(scenario):
    """G5: rr was positive at the last charge: D <= a tick, and the flight of the interrupt that asks for a resched."""
    most = scenario.kernel.tick_ns + scenario.kernel.costs.ipi_ns
    for probe in scenario.walk():
        for g in probe.limited:
            assert (-probe.runtime_remaining[g] <= most).all()


# ---- in the long run -------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.integers(1, 4),
    st.sampled_from(((1000, 20_000), (3000, 20_000), (12_345, 25_000), (20_000, 50_000))),
    st.sampled_from((0, 1)),
    kernels(),
)
def test_g7__hungry_group_uses_its_quota(nr_cpus, limit, with_burst, kernel):
    """G7: abs(U - Q * t / P) <= Q + B + n * (S + tick) for hogs on all n CPUs, at any event of 40 periods.

    Periods are two ticks at least: in one of a single tick the refill comes before the use is booked, and the clamp
    takes what is then still in the pool.
    """
    quota_us, period_us = limit
    group = sl.Group("/g", quota_us=nr_cpus * quota_us, period_us=period_us, burst_us=with_burst * quota_us, phase_us=0)
    tasks = [sl.Task(f"hog{c}", FOREVER, group="/g", cpus=c) for c in range(nr_cpus)]
    work = sl.Workload([group], tasks)
    scenario = Scenario(sl.Machine.uniform(nr_cpus), kernel, work, until_ns=40 * period_us * 1000)
    ((rows, quota, burst, period),) = history(scenario)
    slack = quota + burst + nr_cpus * (kernel.cfs_bandwidth_slice_us * 1000 + kernel.tick_ns + kernel.costs.ipi_ns)
    assert (np.abs(rows[:, 1] - rows[:, 0] * quota // period) <= slack).all()
