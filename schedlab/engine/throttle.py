"""Who stops whom when a group's runtime is used up, as far as the pick and the enqueue decide it.

To 6.17 the whole cfs_rq is dequeued at once. From 6.18 it is only marked, and each of its tasks leaves at its return to
user space (task_work.py). From 7.2 it is marked when the runtime is charged (throttle_at_account() in runtime.py).
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.entity import DELAYED, SLEEP, SPECIAL, dequeue_entity, parent_entity
from schedlab.engine.irqoff import requeued
from schedlab.engine.record import THROTTLE, log_event
from schedlab.engine.runtime import account_cfs_rq_runtime, assign_cfs_rq_runtime
from schedlab.engine.smt import update_idle
from schedlab.engine.throttled import count_throttle, list_throttled, mark_throttled, tg_throttle_down


@internal
def throttle_cfs_rq(s, q):
    """cf. throttle_cfs_rq(), v6.12 and v6.18: when the pool has not even 1 ns, stop the group.

    The whole-queue model dequeues its entity from the levels above. Returns False when the pool had something.
    """
    if assign_cfs_rq_runtime(s, q, 1):
        return False
    if s.sys_per_task[0] != 0:
        mark_throttled(s, q)
        return True
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
            requeued(s, 1)
        s.rq_h_nr[above] -= queued
        s.rq_h_nr_runnable[above] -= runnable
        emptied = emptied and s.rq_load[above] == 0
        e = parent_entity(s, e)
    s.rq_throttled[q] = 1
    if s.rq_nr[q] > 0 or s.sys_eevdf[0] == 0:  # before 6.6 an empty queue's clock runs too
        s.rq_throttled_clock[q] = s.sys_now[0]
    update_idle(s, cpu)
    count_throttle(s, g, q)
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
    if s.sys_at_account[0] == 0 and s.rq_runtime_remaining[q] <= 0:
        throttle_cfs_rq(s, q)
