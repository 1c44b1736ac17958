"""Who stops whom when a group's runtime is used up: the whole cfs_rq at once (to 6.17)."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.entity import DELAYED, SLEEP, SPECIAL, dequeue_entity, parent_entity
from schedlab.engine.record import THROTTLE, log_event
from schedlab.engine.runtime import account_cfs_rq_runtime, assign_cfs_rq_runtime
from schedlab.engine.smt import update_idle

UNSET = -1


@internal
def list_throttled(s, g, q):
    """Put a cfs_rq on the group's list of throttled ones: at the tail, so that the first throttled is served first."""
    if s.sys_lifo_throttle[0] != 0:  # 3.17 to 5.7
        head = s.tg_thr_head[g]
        s.rq_thr_prev[q] = -1
        s.rq_thr_next[q] = head
        if head >= 0:
            s.rq_thr_prev[head] = q
        else:
            s.tg_thr_tail[g] = q
        s.tg_thr_head[g] = q
        return
    tail = s.tg_thr_tail[g]
    s.rq_thr_next[q] = -1
    s.rq_thr_prev[q] = tail
    if tail >= 0:
        s.rq_thr_next[tail] = q
    else:
        s.tg_thr_head[g] = q
    s.tg_thr_tail[g] = q


@internal
def unlist_throttled(s, g, q):
    """Take a cfs_rq off the list."""
    before = s.rq_thr_prev[q]
    after = s.rq_thr_next[q]
    if before >= 0:
        s.rq_thr_next[before] = after
    else:
        s.tg_thr_head[g] = after
    if after >= 0:
        s.rq_thr_prev[after] = before
    else:
        s.tg_thr_tail[g] = before


@internal
def tg_throttle_down(s, g, cpu):
    """cf. tg_throttle_down(), over the subtree, parents first: one more throttled level above."""
    for child in range(g, g + s.tg_size[g]):
        q = child * s.sys_nr_cpus[0] + cpu
        if s.rq_throttle_count[q] == 0 and s.rq_nr[q] > 0:
            s.rq_throttled_clock_self[q] = s.sys_now[0]
        s.rq_throttle_count[q] += 1


@internal
def throttle_cfs_rq(s, q):
    """cf. throttle_cfs_rq(), v6.1 and v6.12: list the cfs_rq and dequeue its group from the levels above.

    Returns False when the pool had something after all.
    """
    if assign_cfs_rq_runtime(s, q, 1):
        return False
    g = s.rq_tg[q]
    cpu = s.rq_cpu[q]
    list_throttled(s, g, q)
    tg_throttle_down(s, g, cpu)
    queued = s.rq_h_nr[q]
    runnable = s.rq_h_nr_runnable[q]
    e = s.sys_nr_tasks[0] + q
    emptied = True  # whether every level so far lost its last entity
    while e >= 0 and s.se_on_rq[e] != 0:
        above = s.se_rq[e]
        if emptied:
            flags = SLEEP | SPECIAL
            if s.se_delayed[e] != 0:
                flags |= DELAYED
            dequeue_entity(s, above, e, flags)
        s.rq_h_nr[above] -= queued
        s.rq_h_nr_runnable[above] -= runnable
        emptied = emptied and s.rq_load[above] == 0
        e = parent_entity(s, e)
    s.rq_throttled[q] = 1
    if s.rq_nr[q] > 0 or s.sys_eevdf[0] == 0:  # before 6.6 an empty queue's clock runs too
        s.rq_throttled_clock[q] = s.sys_now[0]
    update_idle(s, cpu)
    log_event(s, THROTTLE, cpu, g, 0)
    return True


@internal
def check_cfs_rq_runtime(s, q):
    """cf. check_cfs_rq_runtime(), at put and pick: throttle when nothing is left."""
    if s.rq_runtime_enabled[q] == 0 or s.rq_runtime_remaining[q] > 0:
        return False
    if s.rq_throttled[q] != 0:
        return True
    return throttle_cfs_rq(s, q)


@internal
def check_enqueue_throttle(s, q):
    """cf. check_enqueue_throttle(): the first entity on an empty cfs_rq needs runtime."""
    if s.rq_runtime_enabled[q] == 0 or s.rq_curr[q] >= 0 or s.rq_throttled[q] != 0:
        return
    account_cfs_rq_runtime(s, q, 0)
    if s.rq_runtime_remaining[q] <= 0:
        throttle_cfs_rq(s, q)
