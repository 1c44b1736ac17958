"""Core scheduling, on one core: whose turn it is between siblings, and each CPU's list of tasks with a cookie.

The kernel keeps those tasks in a red-black tree, ordered by cookie and then by priority at the time of insertion; here
it is a list of the same order. A list differs where keys have gone stale: the walk of an insertion starts at the head.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.entity import parent_entity
from schedlab.engine.record import COOKIE, log_event
from schedlab.engine.resched import resched_curr


@internal
def se_fi_update(s, e, core, in_fi):
    """cf. se_fi_update(): take the level's reference of virtual time, in force idle once an episode.

    In 6.12.117 and 7.2 it is v0: V as of the last placement, departure, change of weight or end of a request.
    """
    if s.sys_no_snapshot[0] != 0:
        in_fi = False
    while e >= 0:
        q = s.se_rq[e]
        if in_fi:
            if s.rq_fi_seq[q] == s.core_fi_seq[core]:
                return
            s.rq_fi_seq[q] = s.core_fi_seq[core]
        noted = s.sys_fi_min[0] + s.sys_fi_tree[0] != 0
        s.rq_fi_snapshot[q] = s.rq_fi_ref[q] if noted else s.rq_min_vruntime[q]
        e = parent_entity(s, e)


@internal
def cfs_prio_less(s, core, a, b, in_fi):
    """cf. cfs_prio_less(): whether task `a` has run more than `b`, each against its own queue's reference."""
    while s.rq_tg[s.se_rq[a]] != s.rq_tg[s.se_rq[b]]:
        deep = s.tg_depth[s.rq_tg[s.se_rq[a]]] - s.tg_depth[s.rq_tg[s.se_rq[b]]]
        if deep >= 0:
            a = parent_entity(s, a)
        if deep <= 0:
            b = parent_entity(s, b)
    se_fi_update(s, a, core, in_fi)
    se_fi_update(s, b, core, in_fi)
    run = s.se_vruntime[a] - s.se_vruntime[b]
    return run + s.rq_fi_snapshot[s.se_rq[b]] - s.rq_fi_snapshot[s.se_rq[a]] > 0


@internal
def prio_less(s, core, a, b, in_fi):
    """cf. prio_less(): whether `a` gives way to `b`; -1 is the idle task."""
    if a < 0 or b < 0:
        return a < 0 and b >= 0
    return cfs_prio_less(s, core, a, b, in_fi)


@internal
def task_vruntime_update(s, core, task, in_fi):
    """cf. task_vruntime_update()."""
    if task >= 0:
        se_fi_update(s, task, core, in_fi)


@internal
def _insert(s, cpu, task, in_fi):
    core = s.cpu_core[cpu]
    cookie = s.task_cookie[task]
    before = -1
    at = s.cpu_core_head[cpu]
    while at >= 0 and s.task_cookie[at] <= cookie:
        if s.task_cookie[at] == cookie and prio_less(s, core, at, task, in_fi):
            break
        before = at
        at = s.task_core_next[at]
    s.task_core_prev[task] = before
    s.task_core_next[task] = at
    if before >= 0:
        s.task_core_next[before] = task
    else:
        s.cpu_core_head[cpu] = task
    if at >= 0:
        s.task_core_prev[at] = task
    s.task_core_listed[task] = 1


@internal
def _remove(s, cpu, task):
    before = s.task_core_prev[task]
    after = s.task_core_next[task]
    if before >= 0:
        s.task_core_next[before] = after
    else:
        s.cpu_core_head[cpu] = after
    if after >= 0:
        s.task_core_prev[after] = before
    s.task_core_listed[task] = 0


@internal
def sched_core_enqueue(s, task):
    """cf. sched_core_enqueue()."""
    if s.se_delayed[task] != 0:
        return
    cpu = s.task_cpu[task]
    s.core_task_seq[s.cpu_core[cpu]] += 1
    if s.task_cookie[task] != 0:
        _insert(s, cpu, task, s.core_fi_count[s.cpu_core[cpu]] != 0)


@internal
def sched_core_dequeue(s, task, save):
    """cf. sched_core_dequeue(); `save`: it is back at once."""
    if s.se_delayed[task] != 0:
        return
    cpu = s.task_cpu[task]
    core = s.cpu_core[cpu]
    s.core_task_seq[core] += 1
    if s.task_core_listed[task] != 0:
        _remove(s, cpu, task)
    if not save and s.rq_h_nr[cpu] == 1 and s.core_fi_count[core] != 0 and s.cpu_curr[cpu] < 0:
        resched_curr(s, cpu)


@internal
def task_is_throttled(s, task, cpu):
    """cf. task_is_throttled_fair(): whether the task's group is in a throttled hierarchy there."""
    return s.rq_throttle_count[s.task_group[task] * s.sys_nr_cpus[0] + cpu] > 0


@internal
def _next_of(s, cpu, at, cookie):
    while at >= 0 and s.task_cookie[at] <= cookie:
        if s.task_cookie[at] == cookie and not task_is_throttled(s, at, cpu):
            return at
        at = s.task_core_next[at]
    return -1


@internal
def _sort(s, cpu, cookie, in_fi):
    """Take the tasks of a cookie out and insert them anew, in their order, by their present keys."""
    at = s.cpu_core_head[cpu]
    while at >= 0 and s.task_cookie[at] < cookie:
        at = s.task_core_next[at]
    if at < 0 or s.task_cookie[at] != cookie:
        return
    before = s.task_core_prev[at]
    end = at
    while end >= 0 and s.task_cookie[end] == cookie:
        end = s.task_core_next[end]
    if before >= 0:
        s.task_core_next[before] = end
    else:
        s.cpu_core_head[cpu] = end
    if end >= 0:
        s.task_core_prev[end] = before
    while at != end:
        after = s.task_core_next[at]
        _insert(s, cpu, at, in_fi)
        at = after


@internal
def sched_core_find(s, cpu, cookie, in_fi):
    """cf. sched_core_find(): the first task of a cookie that is not throttled, -1 when there is none.

    `in_fi` is for the order of core-tree-sorted: whether the core is (in a pick: was) in force idle.
    """
    if s.sys_core_sorted[0] != 0:
        _sort(s, cpu, cookie, in_fi)
    return _next_of(s, cpu, s.cpu_core_head[cpu], cookie)


@internal
def sched_core_next(s, cpu, task, cookie):
    """cf. sched_core_next()."""
    return _next_of(s, cpu, s.task_core_next[task], cookie)


@internal
def sched_core_update_cookie(s, task, cookie):
    """cf. sched_core_update_cookie(): another cookie. To 5.19 (`unlisted`) it did not list who was not in the list."""
    cpu = s.task_cpu[task]
    log_event(s, COOKIE, cpu, task, cookie)
    listed = s.task_core_listed[task] != 0
    queued = s.se_on_rq[task] != 0 or s.task_throttled[task] != 0
    if listed:
        sched_core_dequeue(s, task, True)
    s.task_cookie[task] = cookie
    if cookie != 0 and queued and (listed or s.sys_unlisted[0] == 0):
        sched_core_enqueue(s, task)
    if s.cpu_curr[cpu] == task:
        resched_curr(s, cpu)
