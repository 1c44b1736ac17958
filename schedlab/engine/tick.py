"""Ticks and hrticks: the only regular calls of update_curr, and so the grain of slices and throttling."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cfs61 import check_preempt_tick
from schedlab.engine.core_sched import sched_core_tick, task_tick_core
from schedlab.engine.entity import parent_entity, update_cfs_group, update_curr
from schedlab.engine.events import is_armed, set_timer
from schedlab.engine.newidle import sched_balance_trigger
from schedlab.engine.record import TICK, log_event
from schedlab.engine.resched import resched_curr, resched_curr_lazy, take_lazy_resched
from schedlab.engine.smt import arm_step_end, delay_work
from schedlab.engine.state import NEVER


@internal
def start_tick(s, cpu):
    """The next tick of a CPU is the first on its grid that is after now."""
    offset = s.cpu_tick_offset[cpu]
    ticks = (s.sys_now[0] - offset) // s.sys_tick_ns[0] + 1
    set_timer(s, s.sys_src_tick[0] + cpu, offset + ticks * s.sys_tick_ns[0])


@internal
def stop_tick(s, cpu):
    """A CPU goes idle (nohz)."""
    set_timer(s, s.sys_src_tick[0] + cpu, NEVER)
    set_timer(s, s.sys_src_hrtick[0] + cpu, NEVER)


@internal
def task_tick(s, cpu, queued):
    """cf. task_tick_fair(), entity_tick(): charge every level, leaf first; end slices."""
    e = s.cpu_curr[cpu]
    while e >= 0:
        q = s.se_rq[e]
        update_curr(s, q)
        update_cfs_group(s, e)
        if queued:
            if s.sys_lag_rules_7_2[0] != 0 or s.sys_eevdf[0] == 0:
                resched_curr(s, cpu)
            else:
                resched_curr_lazy(s, cpu)
        elif s.sys_eevdf[0] == 0 and s.rq_nr[q] > 1 and not is_armed(s, s.sys_src_hrtick[0] + cpu):
            check_preempt_tick(s, q, e)
        e = parent_entity(s, e)
    if s.sys_core_sched[0] != 0 and (not queued or s.sys_lag_rules_7_2[0] == 0):  # 7.2's hrtick returns before it
        task_tick_core(s, cpu)


@internal
def scheduler_tick(s, cpu):
    """cf. scheduler_tick()."""
    s.sys_this_cpu[0] = cpu
    start_tick(s, cpu)
    log_event(s, TICK, cpu, s.cpu_curr[cpu], 0)
    take_lazy_resched(s, cpu)
    task_tick(s, cpu, False)
    if s.sys_core_sched[0] != 0:
        sched_core_tick(s, cpu)
    if s.sys_balance_kernel[0] != 0:
        sched_balance_trigger(s, cpu)
    if s.sys_tick_cost_ns[0] > 0:
        delay_work(s, cpu, s.sys_tick_cost_ns[0])
        arm_step_end(s, cpu)


@internal
def hrtick(s, cpu):
    """cf. hrtick(): the slice's own timer."""
    s.sys_this_cpu[0] = cpu
    set_timer(s, s.sys_src_hrtick[0] + cpu, NEVER)
    if s.cpu_curr[cpu] >= 0:
        task_tick(s, cpu, True)
