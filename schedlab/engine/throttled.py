"""The throttled state of a cfs_rq: the group's list, the counts below it, and what its tasks are told (6.18 and later).

Who throttles, and when, is throttle.py (whole queue, per task) and runtime.py (at the charge, 7.2).
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.irqoff import walked
from schedlab.engine.record import DETECTION_HIST, THROTTLE, WARN, WORK, log_event, observe
from schedlab.engine.smt import arm_step_end, sync_work
from schedlab.engine.state import EXITED

UNSET = -1
#: What a "warn" record says: a group was throttled anew while tasks of it were still in limbo (fact sheet G13).
LIMBO_NOT_EMPTY = 1


@internal
def list_throttled(s, g, q):
    """Put a cfs_rq on the group's list of throttled ones: at the tail, so that the first throttled is served first."""
    if s.sys_lifo_throttle[0] != 0:  # 3.17 to 5.7
        head = s.tg_thr_head[g]
        s.rq_thr_prev[q] = -1
        s.rq_thr_next[q] = head
        if head >= 0:
            s.rq_thr_prev[head] = q
        else:
            s.tg_thr_tail[g] = q
        s.tg_thr_head[g] = q
        return
    tail = s.tg_thr_tail[g]
    s.rq_thr_next[q] = -1
    s.rq_thr_prev[q] = tail
    if tail >= 0:
        s.rq_thr_next[tail] = q
    else:
        s.tg_thr_head[g] = q
    s.tg_thr_tail[g] = q


@internal
def unlist_throttled(s, g, q):
    """Take a cfs_rq off the list."""
    before = s.rq_thr_prev[q]
    after = s.rq_thr_next[q]
    if before >= 0:
        s.rq_thr_next[before] = after
    else:
        s.tg_thr_head[g] = after
    if after >= 0:
        s.rq_thr_prev[after] = before
    else:
        s.tg_thr_tail[g] = before


@internal
def tg_throttle_down(s, g, cpu):
    """cf. tg_throttle_down(), over the subtree, parents first: one more throttled level above."""
    walked(s, s.tg_size[g])
    for child in range(g, g + s.tg_size[g]):
        q = child * s.sys_nr_cpus[0] + cpu
        if s.rq_throttle_count[q] == 0:
            if s.sys_per_task[0] != 0:
                if s.rq_limbo[q] >= 0:
                    if s.sys_limbo_warnings[0] == 0:
                        s.sys_limbo_warned_at[0] = s.sys_now[0]
                    s.sys_limbo_warnings[0] += 1
                    log_event(s, WARN, cpu, child, LIMBO_NOT_EMPTY)
            elif s.rq_nr[q] > 0:
                s.rq_throttled_clock_self[q] = s.sys_now[0]
        s.rq_throttle_count[q] += 1


@internal
def count_throttle(s, g, q):
    """The books of a throttle: how late it came, and whether the last unthrottle was of any use."""
    s.tg_nr_marks[g] += 1
    s.tg_nr_rethrottled[g] += s.rq_ungranted[q]
    s.rq_indebted[q] = 1
    observe(s, s.sys_hist_throttle[0] + DETECTION_HIST, -s.rq_runtime_remaining[q])


@internal
def task_throttle_setup_work(s, task):
    """cf. task_throttle_setup_work(): the task is to leave at its return to user space; not the idle task (-1)."""
    if task < 0:
        return
    if s.task_work_pending[task] != 0 or s.task_kernel_thread[task] != 0 or s.task_state[task] == EXITED:
        return
    s.task_work_pending[task] = 1
    log_event(s, WORK, s.task_cpu[task], task, 0)
    cpu = s.task_cpu[task]
    if s.cpu_curr[cpu] == task:
        sync_work(s, cpu)
        arm_step_end(s, cpu)


@internal
def mark_throttled(s, q):
    """The end of throttle_cfs_rq(), v6.18: list the cfs_rq and tell the levels below; nothing is dequeued."""
    g = s.rq_tg[q]
    cpu = s.rq_cpu[q]
    list_throttled(s, g, q)
    tg_throttle_down(s, g, cpu)
    s.rq_throttled[q] = 1
    count_throttle(s, g, q)
    log_event(s, THROTTLE, cpu, g, 0)


@internal
def limbo_add(s, q, task):
    """Put a throttled task at the head of its cfs_rq's limbo list."""
    head = s.rq_limbo[q]
    s.task_limbo_prev[task] = -1
    s.task_limbo_next[task] = head
    if head >= 0:
        s.task_limbo_prev[head] = task
    s.rq_limbo[q] = task


@internal
def limbo_remove(s, q, task):
    """Take a throttled task off the limbo list."""
    before = s.task_limbo_prev[task]
    after = s.task_limbo_next[task]
    if before >= 0:
        s.task_limbo_next[before] = after
    else:
        s.rq_limbo[q] = after
    if after >= 0:
        s.task_limbo_prev[after] = before
