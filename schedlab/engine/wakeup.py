"""Wake-ups and forks: choose a CPU, enqueue, see whether the newcomer preempts."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.balance import migrate_waking, select_cpu_fork, select_cpu_wake, set_task_cpu
from schedlab.engine.cfs61 import NR_LATENCY, clear_buddies, set_last_buddy, set_next_buddy, wakeup_preempt_entity
from schedlab.engine.eevdf import (
    cancel_protect_slice,
    update_protect_slice,
    wakeup_preempt_eevdf,
    wakeup_preempt_vprot,
)
from schedlab.engine.entity import DELAYED, INITIAL, WAKEUP, parent_entity, update_curr
from schedlab.engine.group import enqueue_task, pick_next_entity
from schedlab.engine.pelt import attach_task_load
from schedlab.engine.record import START, WAKE, log_event
from schedlab.engine.resched import resched_curr, resched_curr_lazy
from schedlab.engine.select_cpu import select_task_rq_fork, select_task_rq_wake
from schedlab.engine.state import RUNNABLE


@internal
def entity_depth(s, e):
    """Levels between an entity and the root."""
    return s.tg_depth[s.rq_tg[s.se_rq[e]]]


@internal
def wakeup_preempt_7_2(s, q, curr, wakee, fork):
    """cf. wakeup_preempt_fair(), v7.2: a fork does not preempt, and the pick first ends delayed dequeues.

    Nor does a task that is blocked itself (it changed its group).
    """
    short = s.se_slice[wakee] < s.se_slice[curr]
    if (fork or s.se_delayed[wakee] != 0) and not short:
        return False
    while True:
        e = pick_next_entity(s, q, not short)
        if e == wakee:
            if short:
                cancel_protect_slice(s, curr)
                clear_buddies(s, curr)
            return True
        if e >= 0 or s.rq_nr[q] == 0:
            update_protect_slice(s, q, curr)
            return False


@internal
def check_preempt_wakeup(s, cpu, task, fork):
    """cf. check_preempt_wakeup(), v6.1 and check_preempt_wakeup_fair(), v6.12 (idle policies are left out)."""
    curr = s.cpu_curr[cpu]
    if curr < 0:
        resched_curr(s, cpu)
        return
    if s.sys_per_task[0] != 0:
        out_of_reach = s.task_throttled[task] != 0
    else:
        out_of_reach = s.rq_throttle_count[s.se_rq[task]] > 0
    if curr == task or out_of_reach or s.cpu_need_resched[cpu] != 0:
        return
    e = curr
    wakee = task
    while s.se_rq[e] != s.se_rq[wakee]:  # find_matching_se(): up to siblings
        deep = entity_depth(s, e) - entity_depth(s, wakee)
        if deep >= 0:
            e = parent_entity(s, e)
        if deep <= 0:
            wakee = parent_entity(s, wakee)
    q = s.se_rq[e]
    update_curr(s, q)
    if s.sys_eevdf[0] != 0:
        if s.sys_lag_rules_7_2[0] != 0:
            preempts = wakeup_preempt_7_2(s, q, e, wakee, fork)
        elif s.sys_vprot[0] != 0:
            preempts = wakeup_preempt_vprot(s, q, e, wakee)
        else:
            preempts = wakeup_preempt_eevdf(s, q, e, wakee)
        if preempts:
            resched_curr_lazy(s, cpu)
        return
    if wakeup_preempt_entity(s, e, wakee) != 1:
        return
    set_next_buddy(s, wakee)
    resched_curr(s, cpu)
    if s.se_on_rq[e] != 0 and s.rq_nr[s.se_rq[curr]] >= NR_LATENCY and e < s.sys_nr_tasks[0]:
        set_last_buddy(s, e)


@internal
def try_to_wake_up(s, task):
    """cf. try_to_wake_up(): a blocked task becomes runnable."""
    now = s.sys_now[0]
    s.task_state[task] = RUNNABLE
    s.task_wake_time[task] = now
    s.task_waking[task] = 1
    s.task_wait_since[task] = now
    s.task_nr_wakeups[task] += 1
    if s.se_on_rq[task] != 0:  # it blocked, but was kept queued
        log_event(s, WAKE, s.task_cpu[task], task, 0)
        enqueue_task(s, task, DELAYED)
    else:
        if s.sys_balance_kernel[0] != 0:
            cpu = select_task_rq_wake(s, task)
        else:
            cpu = select_cpu_wake(s, task)
        flags = WAKEUP | migrate_waking(s, task, cpu)
        log_event(s, WAKE, s.task_cpu[task], task, 0)
        enqueue_task(s, task, flags)
    check_preempt_wakeup(s, s.task_cpu[task], task, False)


@internal
def wake_up_new_task(s, task):
    """cf. wake_up_new_task(): a task begins."""
    now = s.sys_now[0]
    s.task_state[task] = RUNNABLE
    s.task_wake_time[task] = now
    s.task_wait_since[task] = now
    if s.sys_balance_kernel[0] != 0:
        set_task_cpu(s, task, select_task_rq_fork(s, task))
        attach_task_load(s, task, s.task_cpu[task])
    else:
        set_task_cpu(s, task, select_cpu_fork(s, task))
    s.sys_this_cpu[0] = s.task_cpu[task]
    log_event(s, START, s.task_cpu[task], task, 0)
    enqueue_task(s, task, INITIAL)
    check_preempt_wakeup(s, s.task_cpu[task], task, True)
