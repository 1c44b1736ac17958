"""A cfs_rq's local runtime: charge it, refill it from the group's pool, give back what is left.

The pool side (timers, distribution, limits) is bandwidth.py; what happens when nothing is left is throttle.py.
"""

from __future__ import annotations

import numpy as np

from schedlab._jit import internal
from schedlab.engine.events import set_timer
from schedlab.engine.resched import resched_curr
from schedlab.engine.rng import RUN, next_u64
from schedlab.engine.throttled import mark_throttled, task_throttle_setup_work

#: An idle cfs_rq keeps this much (min_cfs_rq_runtime, 1 ms); fact: bandwidth B1.
MIN_CFS_RQ_RUNTIME = 1_000_000
#: From the donation that arms the slack timer to the redistribution (cfs_bandwidth_slack_period, 5 ms).
SLACK_PERIOD = 5_000_000
#: No redistribution this close to a refill (min_bandwidth_expiration, 2 ms).
MIN_BANDWIDTH_EXPIRATION = 2_000_000
NO_QUOTA = -1
#: Lateness is drawn from 31 random bits: `late_below` is the probability times 2^31.
_LATE_SHIFT = np.uint64(33)


@internal
def hrtimer_forward(s, g, now):
    """cf. hrtimer_forward(): move the period timer past `now` by whole periods; returns how many."""
    expires = s.tg_expires[g]
    if now < expires:
        return 0
    overrun = (now - expires) // s.tg_period[g] + 1
    s.tg_expires[g] = expires + overrun * s.tg_period[g]
    return overrun


@internal
def arm_period_timer(s, g):
    """Queue the period timer's event, late by `late_ns` with the kernel's lateness probability."""
    at = s.tg_expires[g]
    if s.sys_late_below[0] > 0:
        draw = next_u64(s, s.sys_nr_tasks[0] + g, RUN)
        if np.int64(draw >> _LATE_SHIFT) < s.sys_late_below[0]:
            at += s.sys_late_ns[0]
    set_timer(s, g, at)


@internal
def start_cfs_bandwidth(s, g):
    """cf. start_cfs_bandwidth(): start the period timer, keeping its phase; skipped periods are not counted.

    The phase was set when the group was made, long before: the first expiry is the next at phase + k * period.
    """
    if s.tg_period_active[g] != 0:
        return
    s.tg_period_active[g] = 1
    now = s.sys_now[0]
    if s.tg_started[g] == 0:
        s.tg_started[g] = 1
        s.tg_expires[g] = now + s.tg_period[g] - (now - s.tg_phase[g]) % s.tg_period[g]
    else:
        hrtimer_forward(s, g, now)
    s.tg_timer_cpu[g] = s.sys_this_cpu[0]
    arm_period_timer(s, g)


@internal
def assign_cfs_rq_runtime(s, q, target):
    """cf. __assign_cfs_rq_runtime(): bring the local runtime up to `target` from the pool; whether it is positive."""
    g = s.rq_tg[q]
    want = target - s.rq_runtime_remaining[q]
    grant = want
    if s.tg_quota[g] != NO_QUOTA:
        start_cfs_bandwidth(s, g)
        grant = 0
        if s.tg_runtime[g] > 0:
            grant = min(s.tg_runtime[g], want)
            s.tg_runtime[g] -= grant
            s.tg_idle[g] = 0
    else:
        s.tg_created[g] += grant
    s.rq_runtime_remaining[q] += grant
    s.rq_expires_seq[q] = s.tg_refill_seq[g]
    if s.rq_runtime_remaining[q] > 0:
        s.rq_ungranted[q] = 0
        return True
    return False


@internal
def account_cfs_rq_runtime(s, q, delta):
    """cf. account_cfs_rq_runtime(): charge, and take a slice when the local runtime is used up.

    To 7.1 a failure asks for a resched, whose pick throttles; from 7.2 it throttles here. Returns whether the cfs_rq
    is throttled (7.2).
    """
    if s.rq_runtime_enabled[q] == 0:
        return False
    g = s.rq_tg[q]
    s.tg_charged[g] += delta
    remaining = s.rq_runtime_remaining[q] - delta
    if s.sys_expire_local[0] != 0 and remaining > 0 and s.rq_expires_seq[q] != s.tg_refill_seq[g]:
        # 4.18 to 5.3: local runtime expired with the period it was taken in
        s.tg_expired[g] += remaining
        remaining = 0
    s.rq_runtime_remaining[q] = remaining
    if remaining > 0:
        return False
    if s.rq_throttled[q] != 0:
        return True
    if s.sys_at_account[0] != 0:
        return throttle_at_account(s, q)
    if not assign_cfs_rq_runtime(s, q, s.sys_bw_slice[0]) and s.rq_curr[q] >= 0:
        resched_curr(s, s.rq_cpu[q])
    return False


@internal
def throttle_at_account(s, q):
    """cf. throttle_cfs_rq(), v7.2: take a slice for the running entity (1 ns without one), else throttle.

    The task that runs on this CPU leaves at its return to user space, without a resched.
    """
    curr = s.rq_curr[q]
    runs = curr >= 0 and s.se_on_rq[curr] != 0
    if assign_cfs_rq_runtime(s, q, s.sys_bw_slice[0] if runs else 1):
        return False
    mark_throttled(s, q)
    if runs:
        task_throttle_setup_work(s, s.cpu_curr[s.rq_cpu[q]])
    return True


@internal
def runtime_refresh_within(s, g, interval):
    """cf. runtime_refresh_within(): whether the refill runs now or is due within `interval`."""
    return s.sys_period_running[0] == g or s.tg_expires[g] - s.sys_now[0] < interval


@internal
def start_cfs_slack_bandwidth(s, g):
    """cf. start_cfs_slack_bandwidth(): redistribute what idle CPUs gave back, 5 ms from now."""
    if runtime_refresh_within(s, g, SLACK_PERIOD + MIN_BANDWIDTH_EXPIRATION):
        return
    if s.tg_slack_started[g] != 0 and s.sys_slack_pushed_back[0] == 0:
        return
    s.tg_slack_started[g] = 1
    s.tg_slack_cpu[g] = s.sys_this_cpu[0]
    set_timer(s, s.sys_src_slack[0] + g, s.sys_now[0] + SLACK_PERIOD)


@internal
def return_cfs_rq_runtime(s, q):
    """cf. return_cfs_rq_runtime(): a cfs_rq that became empty gives back all but 1 ms."""
    if s.rq_runtime_enabled[q] == 0 or s.rq_nr[q] != 0:
        return
    slack = s.rq_runtime_remaining[q] - MIN_CFS_RQ_RUNTIME
    if slack <= 0:
        return
    g = s.rq_tg[q]
    fresh = s.sys_expire_local[0] == 0 or s.rq_expires_seq[q] == s.tg_refill_seq[g]
    if s.tg_quota[g] != NO_QUOTA and fresh:
        s.tg_runtime[g] += slack
        if s.tg_runtime[g] > s.sys_bw_slice[0] and s.tg_thr_head[g] >= 0:
            start_cfs_slack_bandwidth(s, g)
    else:
        s.tg_expired[g] += slack
    s.rq_runtime_remaining[q] -= slack
