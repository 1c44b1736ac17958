"""A throttled cfs_rq has runtime again: put its group back on the levels above."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.entity import WAKEUP
from schedlab.engine.events import set_timer
from schedlab.engine.group import enqueue_hierarchy
from schedlab.engine.record import UNTHROTTLE, log_event
from schedlab.engine.resched import resched_curr
from schedlab.engine.smt import update_idle
from schedlab.engine.throttle import UNSET, unlist_throttled


@internal
def tg_unthrottle_up(s, g, cpu):
    """cf. tg_unthrottle_up(), over the subtree, children first: one throttled level less above."""
    for child in range(g + s.tg_size[g] - 1, g - 1, -1):
        q = child * s.sys_nr_cpus[0] + cpu
        s.rq_throttle_count[q] -= 1
        if s.rq_throttle_count[q] == 0 and s.rq_throttled_clock_self[q] != UNSET:
            s.rq_throttled_self_ns[q] += s.sys_now[0] - s.rq_throttled_clock_self[q]
            s.rq_throttled_clock_self[q] = UNSET


@internal
def unthrottle_cfs_rq(s, q):
    """cf. unthrottle_cfs_rq(), v6.1 and v6.12 (no wake-up preemption: the group waits its turn)."""
    g = s.rq_tg[q]
    cpu = s.rq_cpu[q]
    s.rq_throttled[q] = 0
    if s.rq_throttled_clock[q] != UNSET:
        s.tg_throttled_ns[g] += s.sys_now[0] - s.rq_throttled_clock[q]
        s.rq_throttled_clock[q] = UNSET
    unlist_throttled(s, g, q)
    tg_unthrottle_up(s, g, cpu)
    log_event(s, UNTHROTTLE, cpu, g, 0)
    if s.rq_load[q] != 0:
        enqueue_hierarchy(s, s.sys_nr_tasks[0] + q, s.rq_h_nr[q], s.rq_h_nr_runnable[q], WAKEUP, True)
    update_idle(s, cpu)
    if s.cpu_curr[cpu] < 0 and s.rq_nr[cpu] > 0:
        resched_curr(s, cpu)


@internal
def unthrottle_cfs_rq_async(s, q):
    """cf. __unthrottle_cfs_rq_async(): ask the cfs_rq's CPU to do it (6.3 and later)."""
    cpu = s.rq_cpu[q]
    s.rq_on_csd[q] = 1
    s.rq_csd_next[q] = -1
    tail = s.cpu_csd_tail[cpu]
    s.cpu_csd_tail[cpu] = q
    if tail >= 0:
        s.rq_csd_next[tail] = q
    else:
        s.cpu_csd_head[cpu] = q
        set_timer(s, s.sys_src_csd[0] + cpu, s.sys_now[0] + s.sys_ipi_ns[0])


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
