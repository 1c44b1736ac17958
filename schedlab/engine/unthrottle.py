"""A throttled cfs_rq has runtime again: let its group, or its tasks, back on the levels above."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.entity import WAKEUP, update_curr
from schedlab.engine.events import set_timer
from schedlab.engine.group import enqueue_hierarchy, enqueue_task_fair
from schedlab.engine.irqoff import requeued, walked
from schedlab.engine.record import UNTHROTTLE, log_event
from schedlab.engine.resched import resched_curr
from schedlab.engine.smt import update_idle
from schedlab.engine.throttled import UNSET, unlist_throttled


@internal
def requeue_limbo(s, q):
    """The end of tg_unthrottle_up(), v6.18: queue the tasks in limbo again, the latest throttled first.

    From 7.2 (limbo-local-list) they are taken off first, and when a charge on the way throttles the group again, the
    rest goes back. Before, the list is walked as it is.
    """
    task = s.rq_limbo[q]
    levels = s.tg_depth[s.rq_tg[q]] + 1
    if s.sys_limbo_local[0] != 0:
        s.rq_limbo[q] = -1
    while task >= 0:
        if s.sys_limbo_local[0] != 0 and s.rq_throttle_count[q] != 0:
            _put_back(s, q, task)
            return
        after = s.task_limbo_next[task]
        if s.sys_limbo_local[0] == 0:
            s.rq_limbo[q] = after
        if after >= 0:
            s.task_limbo_prev[after] = -1
        s.task_throttled[task] = 0
        enqueue_task_fair(s, task, WAKEUP)
        requeued(s, levels)
        task = after


@internal
def _put_back(s, q, first):
    """Splice tasks back to the head of the limbo list."""
    last = first
    while s.task_limbo_next[last] >= 0:
        last = s.task_limbo_next[last]
    head = s.rq_limbo[q]
    s.task_limbo_next[last] = head
    if head >= 0:
        s.task_limbo_prev[head] = last
    s.rq_limbo[q] = first


@internal
def tg_unthrottle_up(s, g, cpu):
    """cf. tg_unthrottle_up(), over the subtree, children first: one throttled level less above."""
    walked(s, s.tg_size[g])
    for child in range(g + s.tg_size[g] - 1, g - 1, -1):
        q = child * s.sys_nr_cpus[0] + cpu
        if s.sys_update_first[0] != 0:
            update_curr(s, q)
        s.rq_throttle_count[q] -= 1
        if s.rq_throttle_count[q] != 0:
            continue
        if s.rq_throttled_clock_self[q] != UNSET:
            s.rq_throttled_self_ns[q] += s.sys_now[0] - s.rq_throttled_clock_self[q]
            s.rq_throttled_clock_self[q] = UNSET
        if s.sys_per_task[0] != 0:
            requeue_limbo(s, q)


@internal
def unthrottle_cfs_rq(s, q):
    """cf. unthrottle_cfs_rq() (no wake-up preemption: the group waits its turn).

    From 6.18 it gives up when the runtime is used up again before it came to this.
    """
    g = s.rq_tg[q]
    cpu = s.rq_cpu[q]
    per_task = s.sys_per_task[0] != 0
    if s.sys_update_first[0] != 0:
        update_curr(s, q)
    if per_task and s.sys_zero_at_write[0] == 0:
        if s.rq_runtime_enabled[q] != 0 and s.rq_runtime_remaining[q] <= 0:
            return
    s.rq_throttled[q] = 0
    s.rq_ungranted[q] = 1
    if s.rq_throttled_clock[q] != UNSET:
        s.tg_throttled_ns[g] += s.sys_now[0] - s.rq_throttled_clock[q]
        s.rq_throttled_clock[q] = UNSET
    unlist_throttled(s, g, q)
    if per_task:
        log_event(s, UNTHROTTLE, cpu, g, 0)
        tg_unthrottle_up(s, g, cpu)
    else:
        tg_unthrottle_up(s, g, cpu)
        log_event(s, UNTHROTTLE, cpu, g, 0)
        if s.rq_load[q] == 0:
            return
        requeued(s, s.tg_depth[g])
        enqueue_hierarchy(s, s.sys_nr_tasks[0] + q, s.rq_h_nr[q], s.rq_h_nr_runnable[q], WAKEUP, True)
    update_idle(s, cpu)
    if s.cpu_curr[cpu] < 0 and s.rq_nr[cpu] > 0:
        resched_curr(s, cpu)


@internal
def unthrottle_cfs_rq_async(s, q):
    """cf. __unthrottle_cfs_rq_async(): ask the cfs_rq's CPU to do it (6.3 and later)."""
    cpu = s.rq_cpu[q]
    if list_csd(s, q):
        set_timer(s, s.sys_src_csd[0] + cpu, s.sys_now[0] + s.sys_ipi_ns[0])


@internal
def list_csd(s, q):
    """Append to the CPU's list of cfs_rqs to unthrottle (cf. cfsb_csd_list); whether it was empty."""
    cpu = s.rq_cpu[q]
    s.rq_on_csd[q] = 1
    s.rq_csd_next[q] = -1
    tail = s.cpu_csd_tail[cpu]
    s.cpu_csd_tail[cpu] = q
    if tail >= 0:
        s.rq_csd_next[tail] = q
        return False
    s.cpu_csd_head[cpu] = q
    return True


@internal
def cfsb_csd_unthrottle(s, cpu):
    """cf. __cfsb_csd_unthrottle(): the interrupt arrives; serve every cfs_rq listed for this CPU."""
    q = s.cpu_csd_head[cpu]
    s.cpu_csd_head[cpu] = -1
    s.cpu_csd_tail[cpu] = -1
    while q >= 0:
        after = s.rq_csd_next[q]
        s.rq_on_csd[q] = 0
        if s.rq_throttled[q] != 0:
            unthrottle_cfs_rq(s, q)
        q = after
