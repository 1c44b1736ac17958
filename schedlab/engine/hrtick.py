"""Arming the hrtick: a timer for the end of the running task's slice, when another task waits."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cfs61 import NR_LATENCY, sched_slice
from schedlab.engine.events import set_timer
from schedlab.engine.resched import resched_curr
from schedlab.engine.state import NEVER

#: hrtick_start() arms no sooner than this (10 us).
MIN_HRTICK = 10_000


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
def hrtick_update(s, cpu):
    """cf. hrtick_update(), after an enqueue or a dequeue (6.1: while the running task's level has few tasks)."""
    if s.sys_hrtick[0] == 0 or s.cpu_curr[cpu] < 0:
        return
    if s.sys_eevdf[0] == 0 and s.rq_nr[s.se_rq[s.cpu_curr[cpu]]] >= NR_LATENCY:
        return
    hrtick_start_fair(s, cpu, False)
