"""Who is `curr` on each level: put the previous task's entities back, set the next one's."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.entity import parent_entity, set_next_entity, tree_enqueue, update_curr
from schedlab.engine.runtime import account_cfs_rq_runtime
from schedlab.engine.throttle import check_cfs_rq_runtime
from schedlab.engine.throttled import task_throttle_setup_work
from schedlab.engine.wakeup import entity_depth


@internal
def put_prev_entity(s, q, e):
    """cf. put_prev_entity(): back into the tree, unless it left or its queue is throttled now (to 7.1)."""
    if s.se_on_rq[e] != 0:
        update_curr(s, q)
    if s.sys_at_account[0] == 0:
        check_cfs_rq_runtime(s, q)
    if s.se_on_rq[e] != 0:
        tree_enqueue(s, q, e)
    s.rq_curr[q] = -1


@internal
def put_prev_task(s, prev):
    """cf. put_prev_task_fair(): all levels, leaf first."""
    e = prev
    while e >= 0:
        put_prev_entity(s, s.se_rq[e], e)
        e = parent_entity(s, e)


@internal
def set_next_task(s, task, first):
    """cf. set_next_task_fair(): leaf first, a charge of 0 on each level (6.12), up to a level that has a `curr`.

    From 7.2 a task that is set on a throttled level is told to leave.
    """
    throttled = False
    e = task
    while e >= 0:
        q = s.se_rq[e]
        if first and s.rq_curr[q] >= 0:
            break
        set_next_entity(s, q, e, first)
        if s.sys_preempt_short[0] != 0 and account_cfs_rq_runtime(s, q, 0):  # to 6.11 the pick passes this by
            throttled = True
        e = parent_entity(s, e)
    if throttled and s.sys_at_account[0] != 0:
        task_throttle_setup_work(s, task)


@internal
def put_prev_set_next(s, prev, task):
    """The end of pick_next_task_fair(), to 7.1: change `curr` only on the levels where the two paths differ."""
    e = task
    old = prev
    while s.se_rq[e] != s.se_rq[old]:
        deep = entity_depth(s, e) - entity_depth(s, old)
        if deep <= 0:
            put_prev_entity(s, s.se_rq[old], old)
            old = parent_entity(s, old)
        if deep >= 0:
            set_next_entity(s, s.se_rq[e], e, True)
            e = parent_entity(s, e)
    put_prev_entity(s, s.se_rq[old], old)
    set_next_entity(s, s.se_rq[e], e, True)


@internal
def put_prev_set_next_core(s, prev, task):
    """cf. put_prev_set_next_task() after a core-wide pick, to 7.1: put all levels of one, set all of the other."""
    if prev >= 0:
        put_prev_task(s, prev)
    if task >= 0:
        set_next_task(s, task, True)


@internal
def put_up_to_common(s, prev, task):
    """cf. put_prev_task_fair(), v7.2, with a next task: put up to the level that both paths share."""
    e = task
    old = prev
    while True:
        q = s.se_rq[old]
        if s.rq_curr[q] >= 0:
            put_prev_entity(s, q, old)
        if q == s.se_rq[e]:
            return
        deep = entity_depth(s, e) - entity_depth(s, old)
        if deep >= 0:
            e = parent_entity(s, e)
        if deep <= 0:
            old = parent_entity(s, old)


@internal
def switch_entities(s, prev, task):
    """cf. put_prev_set_next_task(), v7.2: put, then set the levels without a `curr`."""
    if prev >= 0:
        if task >= 0:
            put_up_to_common(s, prev, task)
        else:
            put_prev_task(s, prev)
    if task >= 0:
        set_next_task(s, task, True)
