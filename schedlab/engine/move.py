"""Tasks that are moved from outside: another affinity, another group."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.balance import allowed, mask_is_active, move_task, select_cpu_fork
from schedlab.engine.entity import DELAYED, SAVE, SLEEP
from schedlab.engine.events import set_timer
from schedlab.engine.group import dequeue_task, enqueue_task
from schedlab.engine.idle import account_forceidle
from schedlab.engine.put_set import put_prev_task, set_next_task
from schedlab.engine.resched import resched_curr
from schedlab.engine.smt import account_mode, arm_step_end, set_running, sync_work
from schedlab.engine.state import EXITED, NEVER
from schedlab.engine.wakeup import check_preempt_wakeup


@internal
def move_running(s, cpu, task):
    """cf. migration_cpu_stop(): a running task leaves a CPU that its affinity no longer holds.

    It is put first, as the stopper's thread preempts it: only a queued task can be moved.
    """
    move_running_to(s, cpu, task, select_cpu_fork(s, task))


@internal
def move_running_to(s, cpu, task, dst):
    """Put a running task and move it to another CPU.

    Under core scheduling the stopper's pick charges forced idle time first, while the task still runs.
    """
    if s.sys_core_sched[0] != 0:
        account_forceidle(s, s.cpu_core[cpu])
    account_mode(s, cpu)
    put_prev_task(s, task)
    s.cpu_curr[cpu] = -1
    s.cpu_left[cpu] = task
    set_running(s, cpu, -1)
    move_task(s, task, dst)
    s.task_wait_since[task] = s.sys_now[0]
    resched_curr(s, cpu)
    check_preempt_wakeup(s, s.task_cpu[task], task, False)


@internal
def move_off(s, task):
    """Move a task that is queued, in limbo or running to a CPU of the fork rule; one that is blocked is dequeued."""
    cpu = s.task_cpu[task]
    if s.se_delayed[task] != 0:  # blocked: it finds its CPU when it wakes
        dequeue_task(s, task, SLEEP | DELAYED)
    elif s.cpu_curr[cpu] == task:
        sync_work(s, cpu)
        set_timer(s, s.sys_src_cpu[0] + cpu, NEVER)
        move_running(s, cpu, task)
    else:
        move_task(s, task, select_cpu_fork(s, task))
        check_preempt_wakeup(s, s.task_cpu[task], task, False)


@internal
def set_cpus_allowed(s, task, mask):
    """cf. set_cpus_allowed_ptr(): another affinity, from outside the task; refused when none of its CPUs is online."""
    if not mask_is_active(s, mask):
        return
    s.task_mask[task] = mask
    queued = s.se_on_rq[task] != 0 or s.task_throttled[task] != 0
    if queued and not allowed(s, task, s.task_cpu[task]):
        move_off(s, task)


@internal
def leave_usage(s, task, g):
    """What a task used so far stays with the group that it leaves."""
    exec_ns = s.se_sum_exec[task] - s.task_left_exec[task]
    user_ns = s.task_user_ns[task] - s.task_left_user[task]
    kernel_ns = s.task_kernel_ns[task] - s.task_left_kernel[task]
    s.tg_left_exec[g] += exec_ns
    s.tg_left_user[g] += user_ns
    s.tg_left_kernel[g] += kernel_ns
    s.task_left_exec[task] += exec_ns
    s.task_left_user[task] += user_ns
    s.task_left_kernel[task] += kernel_ns


@internal
def sched_move_task(s, task, g):
    """cf. sched_move_task(), v6.18: another group. A blocked task changes it and no more; a delayed one stays so.

    Only 7.2 looks then whether a task that waits should preempt.
    """
    if s.task_group[task] == g or s.task_state[task] == EXITED:
        return
    cpu = s.task_cpu[task]
    running = s.cpu_curr[cpu] == task
    queued = s.se_on_rq[task] != 0 or s.task_throttled[task] != 0
    if running:
        sync_work(s, cpu)
        account_mode(s, cpu)
    if queued:
        dequeue_task(s, task, SAVE)
    if running:
        put_prev_task(s, task)
    leave_usage(s, task, s.task_group[task])
    s.task_group[task] = g
    s.se_rq[task] = g * s.sys_nr_cpus[0] + cpu
    if queued:
        enqueue_task(s, task, 0)
    if running:
        set_next_task(s, task, False)
        resched_curr(s, cpu)
        arm_step_end(s, cpu)
    elif queued and s.sys_lag_rules_7_2[0] != 0:
        check_preempt_wakeup(s, cpu, task, False)
