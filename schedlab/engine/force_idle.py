"""What a CPU that was forced idle does about it: steal a task that fits its core, or push away one that does not."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.balance import allowed, move_task
from schedlab.engine.cookie import sched_core_find, sched_core_next, task_is_throttled
from schedlab.engine.idle import idle_cpu, others_idle
from schedlab.engine.record import PUSH, STEAL, log_event
from schedlab.engine.resched import resched_curr
from schedlab.engine.wakeup import check_preempt_wakeup


@internal
def try_steal_cookie(s, this, that):
    """cf. try_steal_cookie(): take a waiting task of this core's cookie, unless its last core was busier."""
    cookie = s.core_cookie[s.cpu_core[this]]
    if cookie == 0 or s.cpu_curr[this] >= 0:
        return False
    task = sched_core_find(s, that, cookie, s.core_fi_count[s.cpu_core[that]] != 0)
    while task >= 0:
        running = task == s.cpu_core_pick[that] or task == s.cpu_curr[that]
        busier = s.task_occupation[task] > s.cpu_idle_occupation[this]
        if not running and not busier and allowed(s, task, this) and not task_is_throttled(s, task, this):
            log_event(s, STEAL, this, task, that)
            s.cpu_nr_steals[this] += 1
            move_task(s, task, this)
            resched_curr(s, this)
            return True
        task = sched_core_next(s, that, task, cookie)
    return False


@internal
def steal_cookie_task(s, cpu, d):
    """cf. steal_cookie_task(): over a domain, from cpu + 1."""
    first = s.dom_first[d]
    end = first + s.dom_nr[d]
    k = s.dom_pos[d]
    for _ in range(s.dom_nr[d] - 1):
        k += 1
        if k == end:
            k = first
        if s.cpu_need_resched[cpu] != 0:
            return False
        s.cpu_nr_scanned[cpu] += 1
        if try_steal_cookie(s, cpu, s.span_cpu[k]):
            return True
    return False


@internal
def _may_push(s, task, this, that, check):
    if not allowed(s, task, that) or task_is_throttled(s, task, that):
        return False
    if s.sys_push_skip_pick[0] != 0 and task == s.cpu_core_pick[this]:
        return False
    if s.sys_push_skip_delayed[0] != 0 and s.se_delayed[task] != 0:
        return False
    return not check or s.core_cookie[s.cpu_core[that]] == s.task_cookie[task]


@internal
def forceidle_try_push_task(s, this, that, check):
    """The patch's forceidle_try_push_task(): the task that ran longest ago goes to an idle CPU.

    `check`: a sibling of that CPU is not idle, so that the cookie must be its core's. Nothing happens between that
    test and the locks here, so that testing again (`push_recheck`) finds the same.
    """
    s.cpu_nr_locked[this] += 1
    if s.sys_push_recheck[0] != 0 and (not idle_cpu(s, that) or check == others_idle(s, that)):
        return False
    task = s.cpu_tasks_tail[this]
    while task >= 0:
        if _may_push(s, task, this, that, check):
            log_event(s, PUSH, that, task, this)
            s.cpu_nr_pushes[this] += 1
            move_task(s, task, that)
            check_preempt_wakeup(s, that, task, False)
            return True
        task = s.task_link_prev[task]
    return False


@internal
def forceidle_push_tasks(s, cpu, d, wanted):
    """The patch's forceidle_push_tasks(): over a domain, from cpu + 1, the own core left out.

    `wanted`: CPUs of cores that are busy in part (1), wholly idle (0), or both (-1).
    """
    first = s.dom_first[d]
    end = first + s.dom_nr[d]
    k = s.dom_pos[d]
    for _ in range(s.dom_nr[d] - 1):
        k += 1
        if k == end:
            k = first
        that = s.span_cpu[k]
        if s.cpu_core[that] == s.cpu_core[cpu]:
            continue
        if s.cpu_need_resched[cpu] != 0:
            return False
        s.cpu_nr_scanned[cpu] += 1
        if not idle_cpu(s, that):
            continue
        check = not others_idle(s, that)
        if wanted >= 0 and check != (wanted == 1):
            continue
        if forceidle_try_push_task(s, cpu, that, check):
            return True
    return False


@internal
def sched_core_balance(s, cpu):
    """cf. sched_core_balance(), and the patch's second half: push where no domain had anything to steal."""
    s.cpu_nr_core_balances[cpu] += 1
    nr_cpus = s.sys_nr_cpus[0]
    steals = s.sys_nr_domains[0] if s.sys_no_steal[0] == 0 else 0
    for level in range(steals):
        if s.cpu_need_resched[cpu] != 0 or steal_cookie_task(s, cpu, level * nr_cpus + cpu):
            return
    if s.sys_push[0] == 0:
        return
    for level in range(s.sys_nr_domains[0]):
        d = level * nr_cpus + cpu
        if s.cpu_need_resched[cpu] != 0:
            return
        if s.sys_push_quality[0] != 0:
            if forceidle_push_tasks(s, cpu, d, 1) or forceidle_push_tasks(s, cpu, d, 0):
                return
        elif forceidle_push_tasks(s, cpu, d, -1):
            return
