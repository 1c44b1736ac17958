"""Core scheduling: one pick for all siblings of a core, so that only tasks of one cookie run on it at a time."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cookie import prio_less, sched_core_find, task_vruntime_update
from schedlab.engine.idle import NO_PICK, account_forceidle
from schedlab.engine.newidle import balance_newidle
from schedlab.engine.pick import pick_task_fair
from schedlab.engine.resched import resched_curr


@internal
def prev_is_idle(s, cpu):
    """Whether the idle task called __schedule (not a task that has just been moved off)."""
    return s.cpu_curr[cpu] < 0 and s.cpu_left[cpu] < 0


@internal
def sched_core_tick(s, cpu):
    """cf. sched_core_tick()."""
    core = s.cpu_core[cpu]
    if s.core_fi_count[core] > 0:
        account_forceidle(s, core)


@internal
def task_tick_core(s, cpu):
    """cf. task_tick_core(): a lone task opposite a forced-idle sibling gives it a turn after half a slice."""
    task = s.cpu_curr[cpu]
    if s.sys_no_fi_tick[0] != 0 or s.core_fi_count[s.cpu_core[cpu]] == 0 or s.rq_nr[cpu] != 1:
        return
    if 2 * (s.se_sum_exec[task] - s.se_prev_sum_exec[task]) > s.se_slice[task]:
        resched_curr(s, cpu)


@internal
def _best_of_each(s, cpu, core, fi_before):
    """Each sibling's own pick, from `cpu` on; the one of highest priority (at a tie the first)."""
    first = s.core_first[core]
    nr = s.core_nr[core]
    best = -1
    k = s.pos_in_core[cpu]
    for n in range(nr):
        sibling = s.map_core_cpu[k]
        task = pick_task_fair(s, sibling)
        s.cpu_core_pick[sibling] = task
        if n == 0 or prio_less(s, core, best, task, fi_before):
            best = task
        k += 1
        if k == first + nr:
            k = first
    return best


@internal
def _match_cookie(s, core, fi_before):
    """Whoever has another cookie than the core makes way, for a task of that cookie or for idle."""
    cookie = s.core_cookie[core]
    busy = 0
    for k in range(s.core_first[core], s.core_first[core] + s.core_nr[core]):
        sibling = s.map_core_cpu[k]
        task = s.cpu_core_pick[sibling]
        if task >= 0 and s.task_cookie[task] != cookie:
            task = sched_core_find(s, sibling, cookie, fi_before) if cookie != 0 else -1
            s.cpu_core_pick[sibling] = task
        if task >= 0:
            busy += 1
        elif s.rq_h_nr[sibling] > 0:
            s.core_fi_count[core] += 1
            if not fi_before:
                s.core_fi_seq[core] += 1
    if s.core_fi_count[core] > 0:
        s.core_fi_start[core] = s.sys_now[0]
        s.core_fi_started[core] = 1
        s.core_fi_occupation[core] = busy
    return busy


@internal
def _tell_siblings(s, cpu, core, fi_before, busy):
    """Leave the picks to the siblings, and interrupt those who are to switch."""
    in_fi = s.core_fi_count[core] > 0
    for k in range(s.core_first[core], s.core_first[core] + s.core_nr[core]):
        sibling = s.map_core_cpu[k]
        task = s.cpu_core_pick[sibling]
        if not (fi_before and in_fi):
            task_vruntime_update(s, core, task, in_fi)
        if task >= 0:
            s.task_occupation[task] = busy
        else:
            s.cpu_idle_occupation[sibling] = busy
        if sibling == cpu or s.cpu_curr[sibling] == task:
            s.cpu_core_pick[sibling] = NO_PICK
        else:
            resched_curr(s, sibling)


@internal
def _prev_balance(s, cpu):
    """cf. prev_balance(): balance before the pick, when the CPU has no fair task left (to 6.18)."""
    if s.sys_core_newidle[0] != 0 and not prev_is_idle(s, cpu) and s.rq_nr[cpu] == 0:
        balance_newidle(s, cpu)


@internal
def _end_episode(s, core):
    """A pick ends the force idle so far; whether there was one."""
    if s.core_fi_count[core] == 0:
        return False
    account_forceidle(s, core)
    s.core_fi_started[core] = 0
    s.core_fi_count[core] = 0
    s.core_fi_occupation[core] = 0
    return True


@internal
def pick_next_task_core(s, cpu):
    """cf. pick_next_task() of core scheduling: -1 for idle. A CPU that goes offline picks for itself alone."""
    if s.cpu_active[cpu] == 0:
        s.cpu_core_pick[cpu] = NO_PICK
        return pick_task_fair(s, cpu)
    core = s.cpu_core[cpu]
    seq = s.core_pick_seq[core]
    if seq == s.core_task_seq[core] and seq != s.cpu_core_sched_seq[cpu] and s.cpu_core_pick[cpu] != NO_PICK:
        s.cpu_core_sched_seq[cpu] = seq
        s.cpu_nr_fast_picks[cpu] += 1
        task = s.cpu_core_pick[cpu]
        s.cpu_core_pick[cpu] = NO_PICK
        return task
    _prev_balance(s, cpu)
    need_sync = s.core_cookie[core] != 0
    s.core_cookie[core] = 0
    fi_before = _end_episode(s, core)
    s.core_task_seq[core] += 1
    if not need_sync and not fi_before:
        task = pick_task_fair(s, cpu)
        if task < 0 or s.task_cookie[task] == 0:
            s.cpu_core_pick[cpu] = NO_PICK
            task_vruntime_update(s, core, task, False)
            return task
    s.cpu_nr_core_picks[cpu] += 1
    best = _best_of_each(s, cpu, core, fi_before)
    s.core_cookie[core] = s.task_cookie[best] if best >= 0 else 0
    busy = _match_cookie(s, core, fi_before)
    s.core_pick_seq[core] = s.core_task_seq[core]
    s.cpu_core_sched_seq[cpu] = s.core_task_seq[core]
    task = s.cpu_core_pick[cpu]
    _tell_siblings(s, cpu, core, fi_before, busy)
    return task


@internal
def wants_core_balance(s, cpu):
    """cf. queue_core_balance(): a pick has left the CPU forced idle, beside a task with a cookie."""
    core = s.cpu_core[cpu]
    return s.core_fi_count[core] > 0 and s.core_cookie[core] != 0 and s.rq_h_nr[cpu] > 0


@internal
def sched_core_cpu_deactivate(s, cpu):
    """cf. sched_core_cpu_deactivate() and take_cpu_down(), v6.18: a CPU has left its core, which keeps its state.

    Every CPU switches to its stopper and back when one is taken down (stop_machine()): the siblings pick anew. The
    stoppers' picks end the charging of forced idle time; a sibling that is held begins it again when it picks.
    """
    core = s.cpu_core[cpu]
    account_forceidle(s, core)
    s.core_fi_started[core] = 0
    s.cpu_core_pick[cpu] = NO_PICK
    s.core_task_seq[core] += 1
    used = False
    for k in range(s.core_first[core], s.core_first[core] + s.core_nr[core]):
        sibling = s.map_core_cpu[k]
        if s.cpu_curr[sibling] >= 0 or s.rq_h_nr[sibling] > 0:
            used = True
            resched_curr(s, sibling)
    if not used:
        _end_episode(s, core)
        s.core_cookie[core] = 0
