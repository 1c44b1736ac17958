"""The return to user space: where a lazy resched and the throttle work of a task take place (6.18 and later).

A task returns to user space whenever it is about to fetch its next step, and in the middle of a user step at the exit
of every interrupt.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.entity import DEQUEUE_THROTTLE, SLEEP
from schedlab.engine.group import dequeue_task_fair
from schedlab.engine.record import LIMBO, log_event
from schedlab.engine.resched import resched_curr, take_lazy_resched
from schedlab.engine.throttled import limbo_add


@internal
def throttle_cfs_rq_work(s, cpu, task):
    """cf. throttle_cfs_rq_work(): the running task leaves its throttled group's queue; whether it did.

    It did not when the group got runtime in the meantime, or the task left the group.
    """
    s.task_work_pending[task] = 0
    q = s.se_rq[task]
    if s.rq_throttle_count[q] == 0:
        return False
    s.cpu_nr_works[cpu] += 1
    s.tg_nr_works[s.rq_tg[q]] += 1
    dequeue_task_fair(s, task, SLEEP | DEQUEUE_THROTTLE)
    limbo_add(s, q, task)
    s.task_throttled[task] = 1
    log_event(s, LIMBO, cpu, task, s.rq_tg[q])
    resched_curr(s, cpu)
    return True


@internal
def in_user_step(s, task):
    """Whether a task is in the middle of a step in user mode."""
    return s.task_fetch[task] == 0 and s.task_mode[task] == 0


@internal
def exit_to_user_mode(s, cpu, task):
    """cf. exit_to_user_mode_loop(): reschedule first, then do the task's work; whether the task stops running."""
    if take_lazy_resched(s, cpu):
        return True
    return s.task_work_pending[task] != 0 and throttle_cfs_rq_work(s, cpu, task)


@internal
def interrupt_exit(s, cpu):
    """The end of an event on `cpu`: a task in user mode heeds a lazy resched."""
    if s.cpu_lazy[cpu] != 0:
        task = s.cpu_curr[cpu]
        if task >= 0 and in_user_step(s, task):
            take_lazy_resched(s, cpu)
