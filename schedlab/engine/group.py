"""The hierarchy: an enqueue or dequeue walks from the task's level to the root."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cfs61 import place_entity_cfs, set_next_buddy
from schedlab.engine.eevdf import entity_eligible, min_slice, place_entity, update_entity_lag
from schedlab.engine.entity import (
    DELAYED,
    INITIAL,
    MIGRATED,
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
from schedlab.engine.smt import update_idle
from schedlab.engine.throttle import UNSET, check_enqueue_throttle
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
        if s.rq_throttle_count[q] > 0 and s.sys_eevdf[0] != 0:
            # the clocks of a queue that was throttled while empty start with its first entity
            if s.rq_throttled[q] != 0 and s.rq_throttled_clock[q] == UNSET:
                s.rq_throttled_clock[q] = s.sys_now[0]
            if s.rq_throttled_clock_self[q] == UNSET:
                s.rq_throttled_clock_self[q] = s.sys_now[0]


@internal
def requeue_delayed_entity(s, e):
    """cf. requeue_delayed_entity(): a delayed entity is wanted again before it was dequeued."""
    q = s.se_rq[e]
    update_entity_lag(s, q, e)
    if s.se_vlag[e] > 0:  # DELAY_ZERO
        running = s.rq_curr[q] == e
        s.rq_nr[q] -= 1
        if not running:
            tree_dequeue(s, q, e)
        s.se_vlag[e] = 0
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

    Counts are added on every level above, up to the root or a throttled cfs_rq. Returns whether the root was reached.
    """
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
        if s.rq_throttled[q] != 0:
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
        if s.rq_throttled[q] != 0:
            return False
        e = parent_entity(s, e)
    return True


@internal
def enqueue_task(s, task, flags):
    """cf. enqueue_task_fair()."""
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
        enqueue_hierarchy(s, task, 1, 1, flags, False)
        hrtick_update(s, cpu)
    update_idle(s, s.task_cpu[task])


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
        if s.rq_throttled[q] != 0:
            return True
        parent = parent_entity(s, e)
        if s.rq_load[q] != 0:
            walking = False
            slice_ns = min_slice(s, q) if slices else 0
            if task_sleep and parent >= 0 and s.rq_throttle_count[q] == 0:
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
        if s.rq_throttled[q] != 0:
            return True
        e = parent_entity(s, e)
    return True


@internal
def dequeue_task(s, task, flags):
    """cf. dequeue_task_fair(); False when the task stayed queued (delayed)."""
    done = dequeue_entities(s, task, flags)
    update_idle(s, s.task_cpu[task])
    if done:
        hrtick_update(s, s.task_cpu[task])
    return done


@internal
def pick_next_entity(s, q, picked):
    """cf. pick_next_entity(), v6.12: `next` when it is eligible, else the pick of EEVDF; -1 after a delayed dequeue.

    6.6 looks at `next` only with NEXT_BUDDY, which is off.
    """
    e = picked
    if s.sys_preempt_short[0] != 0 and s.rq_next[q] >= 0 and entity_eligible(s, q, s.rq_next[q]):
        e = s.rq_next[q]
    if s.se_delayed[e] != 0:
        dequeue_entities(s, e, SLEEP | DELAYED)
        update_idle(s, s.rq_cpu[q])
        return -1
    return e
