"""A task moves to another group, by somebody's write of cgroup.threads."""

from . import hierarchy, schedule, speed
from .bandwidth import account
from .resched import resched_curr
from .state import Flag, GroupRecord, TaskRecord, TaskState, path_up


def move_to_group(m, task: TaskRecord, group: GroupRecord):
    """Move the task; cf. sched_move_task(). One that is delayed stays so, one in limbo may stay there.

    Only 7.2 looks then whether a task that waits should preempt.
    """
    if task.group is group or task.state is TaskState.EXITED:
        return
    cpu = m.cpus[task.cpu]
    runs = cpu.curr is task
    is_queued = task.entity.on_rq or task.throttled
    speed.settle(m, cpu)
    if is_queued:
        hierarchy.dequeue_task(m, task, Flag.NONE, save=True)
    if runs:
        schedule.put_prev_all(m, task)
    task.group = group
    task.entity.cfs_rq = group.cfs_rqs[task.cpu]
    if is_queued:
        hierarchy.enqueue_task(m, task, Flag.NONE)
    if runs:
        set_running_again(m, task)
        resched_curr(m, task.cpu)
    elif is_queued and m.kernel.lag_rules_7_2:
        schedule.after_enqueue(m, task)


def set_running_again(m, task: TaskRecord):
    """Set the task on every level of its new path; cf. set_next_task_fair() with first=False. Each level accounts."""
    if m.throttles_at_account:
        schedule.set_next_all(m, task, first=False)
        return
    for se in path_up(task.entity):
        m.policy.set_next_entity(m, se.cfs_rq, se, first=False)
        account(m, se.cfs_rq, 0)
