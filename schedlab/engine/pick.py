"""The pick on one CPU, down the levels of its hierarchy."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cfs61 import pick_next_entity_cfs
from schedlab.engine.entity import update_curr
from schedlab.engine.group import pick_next_entity
from schedlab.engine.put_set import put_prev_task
from schedlab.engine.throttle import check_cfs_rq_runtime
from schedlab.engine.throttled import task_throttle_setup_work


@internal
def pick_task_fair(s, cpu):
    """cf. pick_task_fair(), v6.12 and the pick of pick_next_task_fair(), v6.1: -1 when there is nothing to run.

    6.12 checks every level's runtime; before that, a level that has a `curr`, and when one is throttled the previous
    task is put on all levels before the pick starts again. 6.18 goes on into throttled levels and tells the task that
    it picks there; 7.2 does not look.
    """
    eevdf = s.sys_eevdf[0] != 0
    whole_check = s.sys_preempt_short[0] != 0
    per_task = s.sys_per_task[0] != 0
    checks = s.sys_at_account[0] == 0
    throttled = False
    nr_tasks = s.sys_nr_tasks[0]
    q = cpu
    while s.rq_nr[cpu] > 0:
        curr = s.rq_curr[q]
        if curr >= 0 and s.se_on_rq[curr] != 0:
            update_curr(s, q)
        if checks and (whole_check or curr >= 0) and check_cfs_rq_runtime(s, q):
            throttled = True
            if not per_task:
                if not whole_check and s.cpu_curr[cpu] >= 0:
                    put_prev_task(s, s.cpu_curr[cpu])
                    s.sys_prev_put[0] = 1
                q = cpu  # a level fell away: from the root again
                continue
        if eevdf:
            e = pick_next_entity(s, q, True)
            if e < 0:
                q = cpu
                throttled = False
                continue
        else:
            e = pick_next_entity_cfs(s, q)
        if e < nr_tasks:
            if per_task and throttled:
                task_throttle_setup_work(s, e)
            return e
        q = e - nr_tasks
    return -1
