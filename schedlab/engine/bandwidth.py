"""The group's side of CFS bandwidth control: period timer, refill, burst, distribution, slack timer, limits written.

The local side (charging, slices, donations) is runtime.py.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.entity import update_curr
from schedlab.engine.events import set_timer
from schedlab.engine.irqoff import served
from schedlab.engine.record import OVERRUN_HIST, PERIOD, SLACK, log_event, observe
from schedlab.engine.runtime import (
    MIN_BANDWIDTH_EXPIRATION,
    NO_QUOTA,
    arm_period_timer,
    hrtimer_forward,
    runtime_refresh_within,
    start_cfs_bandwidth,
)
from schedlab.engine.smt import arm_step_end, delay_work
from schedlab.engine.state import NEVER
from schedlab.engine.unthrottle import cfsb_csd_unthrottle, list_csd, unthrottle_cfs_rq, unthrottle_cfs_rq_async

#: Largest period (max_cfs_quota_period, 1 s).
MAX_PERIOD = 1_000_000_000
#: Give up on a period timer whose handler never catches up with its period (the kernel would lock up).
MAX_PERIOD_LOOPS = 100_000
ERROR_PERIOD_LOOP = 1


@internal
def refill_cfs_bandwidth_runtime(s, g):
    """cf. __refill_cfs_bandwidth_runtime(): add a quota, count burst, clamp the pool to quota + burst."""
    quota = s.tg_quota[g]
    if quota == NO_QUOTA:
        return
    runtime = s.tg_runtime[g] + quota
    over = s.tg_runtime_snap[g] - runtime
    if over > 0:
        s.tg_burst_ns[g] += over
        s.tg_nr_bursts[g] += 1
    most = quota + s.tg_burst[g]
    if runtime > most:
        s.tg_expired[g] += runtime - most
        runtime = most
    s.tg_runtime[g] = runtime
    s.tg_runtime_snap[g] = runtime
    s.tg_refilled[g] += quota
    s.tg_refill_seq[g] += 1


@internal
def observe_overrun(s, g, q):
    """The first grant since a throttle: what the group used beyond its quota in the meantime."""
    debt = -s.rq_runtime_remaining[q]
    s.tg_overrun_max[g] = max(s.tg_overrun_max[g], debt)  # it may grow while a grant does not cover it
    if s.rq_indebted[q] == 0:
        return
    s.rq_indebted[q] = 0
    s.tg_overrun_ns[g] += debt
    observe(s, s.sys_hist_throttle[0] + OVERRUN_HIST, debt)


@internal
def distribute_cfs_runtime(s, g):
    """cf. distribute_cfs_runtime(): pay the debts of the throttled cfs_rqs, first throttled first.

    Returns whether one is still throttled for want of runtime.
    """
    remaining = 1
    local = -1
    drain = False
    q = s.tg_thr_head[g]
    while q >= 0:
        after = s.rq_thr_next[q]  # an inline unthrottle unlinks q
        if remaining == 0:
            break
        served(s)
        if s.rq_on_csd[q] == 0:
            if s.sys_update_first[0] != 0:
                update_curr(s, q)
            observe_overrun(s, g, q)
            grant = min(s.tg_runtime[g], 1 - s.rq_runtime_remaining[q])
            s.tg_runtime[g] -= grant
            remaining = s.tg_runtime[g]
            s.rq_runtime_remaining[q] += grant
            s.rq_expires_seq[q] = s.tg_refill_seq[g]
            if s.rq_runtime_remaining[q] > 0:
                if s.sys_async_unthrottle[0] == 0:
                    unthrottle_cfs_rq(s, q)
                elif s.rq_cpu[q] != s.sys_this_cpu[0]:
                    unthrottle_cfs_rq_async(s, q)
                elif s.sys_local_csd[0] != 0:
                    drain = list_csd(s, q)  # else the interrupt that is under way serves it
                else:
                    local = q  # a group has one cfs_rq here: a list of one
        q = after
    still = q >= 0
    if s.sys_async_unthrottle[0] == 0:
        still = s.tg_thr_head[g] >= 0
    if local >= 0:
        unthrottle_cfs_rq(s, local)
    if drain:
        cfsb_csd_unthrottle(s, s.sys_this_cpu[0])
    return still


@internal
def do_sched_cfs_period_timer(s, g, overrun):
    """cf. do_sched_cfs_period_timer(): refill, count, distribute; returns whether the timer goes idle."""
    if s.tg_quota[g] == NO_QUOTA:
        return True
    throttled = s.tg_thr_head[g] >= 0
    s.tg_nr_periods[g] += overrun
    refill_cfs_bandwidth_runtime(s, g)
    log_event(s, PERIOD, -1, g, s.tg_runtime[g])
    if s.tg_idle[g] != 0 and not throttled:
        return True
    if not throttled:
        s.tg_idle[g] = 1
        return False
    s.tg_nr_throttled[g] += overrun
    while throttled and s.tg_runtime[g] > 0:
        throttled = distribute_cfs_runtime(s, g)
    s.tg_idle[g] = 0
    return False


@internal
def scale_period(s, g):
    """The loop guard of sched_cfs_period_timer(): a period shorter than its handler is doubled (147/128 before 5.4)."""
    old = s.tg_period[g]
    if s.sys_scale_147_128[0] != 0:
        new = old * 147 // 128
        if new > MAX_PERIOD:
            new = MAX_PERIOD
        s.tg_period[g] = new
        s.tg_quota[g] = s.tg_quota[g] * new // old
        return
    new = old * 2
    if new < MAX_PERIOD:
        s.tg_period[g] = new
        s.tg_quota[g] *= 2
        s.tg_burst[g] *= 2


@internal
def sched_cfs_period_timer(s, g):
    """cf. sched_cfs_period_timer(): the handler, again while whole periods passed during it."""
    set_timer(s, g, NEVER)
    s.sys_this_cpu[0] = s.tg_timer_cpu[g]
    s.sys_period_running[0] = g
    clock = s.sys_now[0]
    idle = False
    loops = 0
    while True:
        overrun = hrtimer_forward(s, g, clock)
        if overrun == 0:
            break
        idle = do_sched_cfs_period_timer(s, g, overrun)
        clock += s.sys_period_cost_ns[0]
        loops += 1
        if loops % 4 == 0:
            scale_period(s, g)
        if loops > MAX_PERIOD_LOOPS:
            s.sys_error[0] = ERROR_PERIOD_LOOP
            s.sys_error_a[0] = g
            s.sys_error_b[0] = s.tg_period[g]
            break
    if clock > s.sys_now[0]:
        delay_work(s, s.tg_timer_cpu[g], clock - s.sys_now[0])
        arm_step_end(s, s.tg_timer_cpu[g])
    s.sys_period_running[0] = -1
    if idle:
        s.tg_period_active[g] = 0
    else:
        arm_period_timer(s, g)


@internal
def do_sched_cfs_slack_timer(s, g):
    """cf. do_sched_cfs_slack_timer(): hand out what was donated, when it is more than a slice and no refill is near."""
    set_timer(s, s.sys_src_slack[0] + g, NEVER)
    s.sys_this_cpu[0] = s.tg_slack_cpu[g]
    s.tg_slack_started[g] = 0
    if runtime_refresh_within(s, g, MIN_BANDWIDTH_EXPIRATION):
        return
    if s.tg_quota[g] != NO_QUOTA and s.tg_runtime[g] > s.sys_bw_slice[0]:
        log_event(s, SLACK, -1, g, s.tg_runtime[g])
        distribute_cfs_runtime(s, g)


@internal
def tg_set_cfs_bandwidth(s, g, quota, period, burst):
    """cf. tg_set_cfs_bandwidth(): a write of cpu.max refills at once and forgives debts.

    Each online CPU starts with a local runtime of 0, with per-task throttling of 1 ns.
    """
    s.tg_period[g] = period
    s.tg_quota[g] = quota
    s.tg_burst[g] = burst
    refill_cfs_bandwidth_runtime(s, g)
    if quota != NO_QUOTA:
        start_cfs_bandwidth(s, g)
    fresh = 1 if s.sys_per_task[0] != 0 and s.sys_zero_at_write[0] == 0 else 0
    for cpu in range(s.sys_nr_cpus[0]):
        if s.cpu_active[cpu] == 0:
            continue
        q = g * s.sys_nr_cpus[0] + cpu
        s.rq_runtime_enabled[q] = 1 if quota != NO_QUOTA else 0
        s.tg_created[g] += fresh - s.rq_runtime_remaining[q]
        s.rq_runtime_remaining[q] = fresh
        s.rq_expires_seq[q] = s.tg_refill_seq[g]
        if s.rq_throttled[q] != 0:
            unthrottle_cfs_rq(s, q)
