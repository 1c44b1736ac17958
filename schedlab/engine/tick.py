"""Ticks and hrticks: the only regular calls of update_curr, and so the grain of slices and throttling."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cfs61 import check_preempt_tick, sched_slice
from schedlab.engine.entity import parent_entity, update_cfs_group, update_curr
from schedlab.engine.events import set_timer
from schedlab.engine.resched import resched_curr
from schedlab.engine.smt import arm_step_end, delay_work
from schedlab.engine.state import NEVER

#: hrtick_start() arms no sooner than this (10 us).
MIN_HRTICK = 10_000


@internal
def start_tick(s, cpu):
    """A CPU leaves idle: its next tick is the first on its grid that is after now."""
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
            resched_curr(s, cpu)
        elif s.sys_eevdf[0] == 0 and s.rq_nr[q] > 1:
            check_preempt_tick(s, q, e)
        e = parent_entity(s, e)


@internal
def scheduler_tick(s, cpu):
    """cf. scheduler_tick()."""
    s.sys_this_cpu[0] = cpu
    set_timer(s, s.sys_src_tick[0] + cpu, s.sys_now[0] + s.sys_tick_ns[0])
    task_tick(s, cpu, False)
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


@internal
def hrtick_start(s, cpu):
    """cf. hrtick_start_fair(): arm it for the rest of the running task's slice, when another task waits."""
    task = s.cpu_curr[cpu]
    source = s.sys_src_hrtick[0] + cpu
    if task < 0 or s.rq_h_nr[cpu] <= 1 or s.se_on_rq[task] == 0:
        set_timer(s, source, NEVER)
        return
    slice_ns = s.se_slice[task]
    if s.sys_eevdf[0] == 0:
        slice_ns = sched_slice(s, s.se_rq[task], task)
    rest = slice_ns - (s.se_sum_exec[task] - s.se_prev_sum_exec[task])
    if rest < 0:
        resched_curr(s, cpu)
        return
    set_timer(s, source, s.sys_now[0] + max(rest, MIN_HRTICK))
