"""Arming the hrtick: a timer for the end of the running task's slice, when another task waits."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cfs61 import NR_LATENCY, sched_slice
from schedlab.engine.events import SOURCE_BITS, is_armed, set_timer
from schedlab.engine.resched import resched_curr
from schedlab.engine.state import NEVER

#: hrtick_start() arms no sooner than this (10 us).
MIN_HRTICK = 10_000
#: A time this near to the one that is armed is not worth the write (7.2, hrtick_needs_rearm(): 5 us).
NEAR_ENOUGH = 5_000
NICE_0 = 1024


@internal
def hrtick_clear(s, cpu):
    """cf. hrtick_clear(): __schedule disarms it."""
    set_timer(s, s.sys_src_hrtick[0] + cpu, NEVER)


@internal
def hrtick_start_fair(s, cpu, picked):
    """cf. hrtick_start_fair(): arm it for the rest of the slice.

    A slice that is over asks for a resched, but not while `__schedule` picks: it clears such a request at its end.
    """
    task = s.cpu_curr[cpu]
    if task < 0 or s.rq_h_nr[cpu] <= 1 or s.se_on_rq[task] == 0:
        return
    slice_ns = s.se_slice[task]
    if s.sys_eevdf[0] == 0:
        slice_ns = sched_slice(s, s.se_rq[task], task)
    rest = slice_ns - (s.se_sum_exec[task] - s.se_prev_sum_exec[task])
    if rest >= 0:
        set_timer(s, s.sys_src_hrtick[0] + cpu, s.sys_now[0] + max(rest, MIN_HRTICK))
    elif not picked:
        resched_curr(s, cpu)


@internal
def hrtick_start_7_2(s, cpu, picked):
    """cf. hrtick_start_fair(), v7.2: arm it for the end of the request, unless it is armed for within 5 us of that."""
    task = s.cpu_curr[cpu]
    if task < 0 or s.rq_h_nr[cpu] <= 1:
        return
    rest = s.se_deadline[task] - s.se_vruntime[task]
    if rest < 0:
        if not picked:
            resched_curr(s, cpu)
        return
    at = s.sys_now[0] + max(s.se_weight[task] * rest // NICE_0, MIN_HRTICK)
    source = s.sys_src_hrtick[0] + cpu
    if not is_armed(s, source) or abs(at - (s.ev_key[source] >> SOURCE_BITS)) > NEAR_ENOUGH:
        set_timer(s, source, at)


@internal
def hrtick_after_schedule(s, cpu, switched):
    """What __schedule leaves of the hrtick: to 6.18 it starts clear; from 7.2 it stays until the CPU is idle."""
    if s.sys_lag_rules_7_2[0] != 0:
        if switched:
            hrtick_start_7_2(s, cpu, True)
        if s.cpu_curr[cpu] < 0 and s.rq_nr[cpu] == 0:
            hrtick_clear(s, cpu)
        return
    hrtick_clear(s, cpu)
    if switched or s.sys_eevdf[0] == 0:
        hrtick_start_fair(s, cpu, True)


@internal
def hrtick_update(s, cpu, enqueued):
    """cf. hrtick_update(), after an enqueue or a dequeue (6.1: while the running task's level has few tasks).

    7.2 has it at an enqueue alone, and only where none is armed.
    """
    if s.sys_hrtick[0] == 0 or s.cpu_curr[cpu] < 0:
        return
    if s.sys_lag_rules_7_2[0] != 0:
        if enqueued and not is_armed(s, s.sys_src_hrtick[0] + cpu):
            hrtick_start_7_2(s, cpu, False)
        return
    if s.sys_eevdf[0] == 0 and s.rq_nr[s.se_rq[s.cpu_curr[cpu]]] >= NR_LATENCY:
        return
    hrtick_start_fair(s, cpu, False)
