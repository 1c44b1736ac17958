"""The hierarchy: an enqueue or dequeue walks from the task's level to the root."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cfs61 import place_entity_cfs, set_next_buddy
from schedlab.engine.cookie import sched_core_dequeue, sched_core_enqueue
from schedlab.engine.eevdf import entity_eligible, min_slice, pick_eevdf, place_entity, update_entity_lag
from schedlab.engine.entity import (
    DELAYED,
    DEQUEUE_THROTTLE,
    INITIAL,
    MIGRATED,
    SAVE,
    SLEEP,
    SPECIAL,
    WAKEUP,
    account_entity,
    count_runnable,
    dequeue_entity,
    parent_entity,
    tree_dequeue,
    tree_enqueue,
    update_cfs_group,
    update_curr,
)
from schedlab.engine.hrtick import hrtick_update
from schedlab.engine.pelt import update_task_load
from schedlab.engine.smt import update_idle
from schedlab.engine.throttle import check_enqueue_throttle
from schedlab.engine.throttled import UNSET, limbo_add, limbo_remove
from schedlab.engine.tree import tree_refresh


@internal
def enqueue_entity(s, q, e, flags):
    """cf. enqueue_entity(): place an entity on its level and queue it."""
    running = s.rq_curr[q] == e
    if s.sys_eevdf[0] != 0:
        if running:
            place_entity(s, q, e, flags & INITIAL != 0)
        update_curr(s, q)
        update_cfs_group(s, e)
        if not running:
            place_entity(s, q, e, flags & INITIAL != 0)
    else:
        renorm = flags & INITIAL == 0 and (flags & WAKEUP == 0 or flags & MIGRATED != 0)
        if renorm and running:
            s.se_vruntime[e] += s.rq_min_vruntime[q]
        update_curr(s, q)
        if renorm and not running:
            s.se_vruntime[e] += s.rq_min_vruntime[q]
        if flags & INITIAL != 0:
            place_entity_cfs(s, q, e, True)
        update_cfs_group(s, e)
    account_entity(s, q, e, 1)
    if s.sys_eevdf[0] == 0 and flags & WAKEUP != 0:
        place_entity_cfs(s, q, e, False)
    if not running:
        tree_enqueue(s, q, e)
    s.se_on_rq[e] = 1
    if s.rq_nr[q] == 1:
        check_enqueue_throttle(s, q)
        if s.rq_throttle_count[q] > 0 and s.sys_eevdf[0] != 0 and s.sys_per_task[0] == 0:
            # the clocks of a queue that was throttled while empty start with its first entity
            if s.rq_throttled[q] != 0 and s.rq_throttled_clock[q] == UNSET:
                s.rq_throttled_clock[q] = s.sys_now[0]
            if s.rq_throttled_clock_self[q] == UNSET:
                s.rq_throttled_clock_self[q] = s.sys_now[0]


@internal
def requeue_delayed_entity(s, e):
    """cf. requeue_delayed_entity(): a delayed entity is wanted again before it was dequeued."""
    q = s.se_rq[e]
    if s.sys_lag_rules_7_2[0] != 0:
        update_curr(s, q)
        place = update_entity_lag(s, q, e)
    else:
        update_entity_lag(s, q, e)
        place = s.se_vlag[e] > 0  # DELAY_ZERO
        if place:
            s.se_vlag[e] = 0
    if place:
        running = s.rq_curr[q] == e
        s.rq_nr[q] -= 1
        if not running:
            tree_dequeue(s, q, e)
        place_entity(s, q, e, False)
        if not running:
            tree_enqueue(s, q, e)
        s.rq_nr[q] += 1
    s.se_delayed[e] = 0
    if e < s.sys_nr_tasks[0]:
        count_runnable(s, e, 1)


@internal
def set_group_slice(s, e, slice_ns):
    """A queued group's entity asks for the shortest slice inside (6.12)."""
    if e >= s.sys_nr_tasks[0] and s.se_slice[e] != slice_ns:
        s.se_slice[e] = slice_ns
        if s.rq_curr[s.se_rq[e]] != e:
            tree_refresh(s, e)


@internal
def enqueue_hierarchy(s, e, queued, runnable, flags, unthrottling):
    """The walk of enqueue_task_fair() and unthrottle_cfs_rq(): queue up to the first level that is queued already.

    Counts are added on every level above, up to the root or (whole-queue model) a throttled cfs_rq. Returns whether
    the root was reached.
    """
    stops = s.sys_per_task[0] == 0
    slices = s.sys_preempt_short[0] != 0 and not unthrottling
    slice_ns = 0
    while e >= 0:
        q = s.se_rq[e]
        if unthrottling and s.se_delayed[e] != 0:
            dequeue_entity(s, q, e, SLEEP | DELAYED)
        if s.se_on_rq[e] != 0:
            break
        if slices and slice_ns > 0:
            s.se_slice[e] = slice_ns
            s.se_custom_slice[e] = 1
        enqueue_entity(s, q, e, flags)
        if slices:
            slice_ns = min_slice(s, q)
        s.rq_h_nr[q] += queued
        s.rq_h_nr_runnable[q] += runnable
        if stops and s.rq_throttled[q] != 0:
            return False
        flags = WAKEUP
        e = parent_entity(s, e)
    if e >= 0 and s.se_delayed[e] != 0:
        requeue_delayed_entity(s, e)
    while e >= 0:
        q = s.se_rq[e]
        if not unthrottling:
            update_cfs_group(s, e)
        if slices:
            set_group_slice(s, e, slice_ns)
            slice_ns = min_slice(s, q)
        s.rq_h_nr[q] += queued
        s.rq_h_nr_runnable[q] += runnable
        if stops and s.rq_throttled[q] != 0:
            return False
        e = parent_entity(s, e)
    return True


@internal
def enqueue_throttled_task(s, task):
    """cf. enqueue_throttled_task(), v6.18: a task in limbo goes to the limbo of its new cfs_rq; whether it did."""
    q = s.se_rq[task]
    if s.rq_throttle_count[q] > 0 and s.cpu_curr[s.rq_cpu[q]] != task:
        limbo_add(s, q, task)
        return True
    s.task_throttled[task] = 0
    return False


@internal
def enqueue_task_fair(s, task, flags):
    """cf. enqueue_task_fair()."""
    if s.task_throttled[task] != 0 and enqueue_throttled_task(s, task):
        return
    if flags & DELAYED != 0:
        requeue_delayed_entity(s, task)
    else:
        cpu = s.task_cpu[task]
        head = s.cpu_tasks_head[cpu]
        s.task_link_next[task] = head
        s.task_link_prev[task] = -1
        if head >= 0:
            s.task_link_prev[head] = task
        else:
            s.cpu_tasks_tail[cpu] = task
        s.cpu_tasks_head[cpu] = task
        runnable = 1 if s.se_delayed[task] == 0 else 0  # a delayed task that changes its group stays delayed
        enqueue_hierarchy(s, task, 1, runnable, flags, False)
        hrtick_update(s, cpu, True)
    if s.sys_balance_kernel[0] != 0:
        update_task_load(s, task, True)
    update_idle(s, s.task_cpu[task])


@internal
def enqueue_task(s, task, flags):
    """cf. enqueue_task(), core.c."""
    enqueue_task_fair(s, task, flags)
    if s.sys_core_sched[0] != 0:
        sched_core_enqueue(s, task)


@internal
def list_move_head(s, cpu, task):
    """A task moves to the head of its CPU's list of tasks: it is switched in, or balancing leaves it where it is."""
    head = s.cpu_tasks_head[cpu]
    if head == task:
        return
    before = s.task_link_prev[task]
    after = s.task_link_next[task]
    s.task_link_next[before] = after
    if after >= 0:
        s.task_link_prev[after] = before
    else:
        s.cpu_tasks_tail[cpu] = before
    s.task_link_prev[task] = -1
    s.task_link_next[task] = head
    s.task_link_prev[head] = task
    s.cpu_tasks_head[cpu] = task


@internal
def unlink_task(s, task):
    """Off the CPU's list of tasks (cf. rq.cfs_tasks)."""
    cpu = s.task_cpu[task]
    before = s.task_link_prev[task]
    after = s.task_link_next[task]
    if before >= 0:
        s.task_link_next[before] = after
    else:
        s.cpu_tasks_head[cpu] = after
    if after >= 0:
        s.task_link_prev[after] = before
    else:
        s.cpu_tasks_tail[cpu] = before


@internal
def dequeue_entities(s, e, flags):
    """cf. dequeue_entities(), v6.12 and dequeue_task_fair(), v6.1: walk up from a task's or a delayed group's entity.

    Returns False when a task stayed queued (delayed).
    """
    task = e if e < s.sys_nr_tasks[0] else -1
    task_sleep = flags & SLEEP != 0
    queued = 0
    runnable = 0
    if task >= 0:
        queued = 1
        # a delayed task left the count of runnable ones when it blocked
        runnable = 1 if s.se_delayed[task] == 0 else 0
    slices = s.sys_preempt_short[0] != 0
    stops = s.sys_per_task[0] == 0
    throttling = flags & DEQUEUE_THROTTLE != 0
    slice_ns = 0
    walking = True
    while e >= 0 and walking:
        q = s.se_rq[e]
        if not dequeue_entity(s, q, e, flags):
            if e == task:
                return False
            slice_ns = min_slice(s, q) if slices else 0
            break
        s.rq_h_nr[q] -= queued
        s.rq_h_nr_runnable[q] -= runnable
        if e == task:
            unlink_task(s, task)
        if stops and s.rq_throttled[q] != 0:
            return True
        if throttling:
            record_throttle_clock(s, q)
        parent = parent_entity(s, e)
        if s.rq_load[q] != 0:
            walking = False
            slice_ns = min_slice(s, q) if slices else 0
            if task_sleep and parent >= 0 and (s.rq_throttle_count[q] == 0 or not stops):
                set_next_buddy(s, parent)
        flags = (flags | SLEEP) & ~(DELAYED | SPECIAL)
        e = parent
    while e >= 0:
        q = s.se_rq[e]
        update_cfs_group(s, e)
        if slices:
            set_group_slice(s, e, slice_ns)
            slice_ns = min_slice(s, q)
        s.rq_h_nr[q] -= queued
        s.rq_h_nr_runnable[q] -= runnable
        if stops and s.rq_throttled[q] != 0:
            return True
        if throttling:
            record_throttle_clock(s, q)
        e = parent_entity(s, e)
    return True


@internal
def record_throttle_clock(s, q):
    """cf. record_throttle_clock(), v6.18: the clocks of a throttled level start with its first task that leaves."""
    if s.rq_throttle_count[q] == 0:
        return
    if s.rq_throttled[q] != 0 and s.rq_throttled_clock[q] == UNSET:
        s.rq_throttled_clock[q] = s.sys_now[0]
    if s.rq_throttled_clock_self[q] == UNSET:
        s.rq_throttled_clock_self[q] = s.sys_now[0]


@internal
def dequeue_task(s, task, flags):
    """cf. dequeue_task(), core.c; False when the task stayed queued (delayed)."""
    if s.sys_core_sched[0] != 0:
        sched_core_dequeue(s, task, flags & SAVE != 0)
    return dequeue_task_fair(s, task, flags & ~SAVE)


@internal
def dequeue_task_fair(s, task, flags):
    """cf. dequeue_task_fair(); False when the task stayed queued (delayed)."""
    if s.task_throttled[task] != 0:  # cf. dequeue_throttled_task(): it is in limbo, not queued
        limbo_remove(s, s.se_rq[task], task)
        if flags & SLEEP != 0:
            s.task_throttled[task] = 0
        return True
    done = dequeue_entities(s, task, flags)
    if s.sys_balance_kernel[0] != 0:
        update_task_load(s, task, s.se_on_rq[task] != 0)
    update_idle(s, s.task_cpu[task])
    if done:
        hrtick_update(s, s.task_cpu[task], False)
    return done


@internal
def pick_next_entity(s, q, protect):
    """cf. pick_next_entity(), v6.12: `next` when it is eligible, else the pick of EEVDF; -1 after a delayed dequeue.

    6.6 looks at `next` only with NEXT_BUDDY, which is off; 7.2 within its pick.
    """
    buddy = s.rq_next[q]
    early = s.sys_preempt_short[0] != 0 and s.sys_lag_rules_7_2[0] == 0
    if early and buddy >= 0 and entity_eligible(s, q, buddy):
        e = buddy
    else:
        e = pick_eevdf(s, q, protect)
    if s.se_delayed[e] != 0:
        dequeue_entities(s, e, SLEEP | DELAYED)
        if s.sys_balance_kernel[0] != 0 and e < s.sys_nr_tasks[0]:
            update_task_load(s, e, False)
        update_idle(s, s.rq_cpu[q])
        return -1
    return e
