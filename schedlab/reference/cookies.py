"""Core scheduling: cookies, and each CPU's list of the queued tasks that have one (cf. rq.core_tree).

A list in the order of cookie and priority, in place of the kernel's red-black tree (docs/model.md). A task finds its
place when it is queued and keeps it, whatever becomes of its priority.
"""

from .core_state import SiblingRecord
from .priority import gives_way
from .resched import resched_curr
from .state import CpuRecord, TaskRecord


def enqueue(m, task: TaskRecord):
    """The task has been queued; cf. sched_core_enqueue()."""
    if task.entity.sched_delayed:
        return
    sibling = m.cpus[task.cpu].sibling
    sibling.core.task_seq += 1
    if task.cookie:
        insert(m, sibling, task, sibling.core.fi_count > 0)


def dequeue(m, task: TaskRecord, save: bool = False):
    """The task is about to leave its queue and the list, with `save` for a moment; cf. sched_core_dequeue().

    A CPU that is idle by force and loses its last task is asked to reschedule.
    """
    if task.entity.sched_delayed:
        return
    cpu = m.cpus[task.cpu]
    core = cpu.sibling.core
    core.task_seq += 1
    if task in cpu.sibling.cookied:
        cpu.sibling.cookied.remove(task)
    if not save and cpu.root.h_nr_queued == 1 and core.fi_count and cpu.curr is None:
        resched_curr(m, cpu.number)


def insert(m, sibling: SiblingRecord, task: TaskRecord, in_fi: bool):
    """Insert before the first task of the same cookie that gives way to this one."""
    place = 0
    for other in sibling.cookied:
        if other.cookie > task.cookie:
            break
        if other.cookie == task.cookie and gives_way(m, sibling.core, other, task, in_fi):
            break
        place += 1
    sibling.cookied.insert(place, task)


def find(m, cpu: CpuRecord, cookie: int, in_fi: bool) -> list[TaskRecord]:
    """Return the CPU's tasks of a cookie that are not throttled, in order; cf. sched_core_find(), sched_core_next()."""
    if m.kernel.has("core-tree-sorted"):
        same = [task for task in cpu.sibling.cookied if task.cookie == cookie]
        cpu.sibling.cookied = [task for task in cpu.sibling.cookied if task.cookie != cookie]
        for task in same:
            insert(m, cpu.sibling, task, in_fi)
    return [task for task in cpu.sibling.cookied if task.cookie == cookie and not is_throttled(task, cpu)]


def is_throttled(task: TaskRecord, cpu: CpuRecord) -> bool:
    """Whether the task's group is throttled there, or one above it; cf. task_is_throttled_fair()."""
    return task.group.cfs_rqs[cpu.number].throttle_count > 0


def set_cookie(m, task: TaskRecord, cookie: int):
    """Somebody gives the task another cookie; cf. sched_core_update_cookie().

    Up to 5.19 (cookie-not-enqueued) a task that was not in the list did not come into it.
    """
    m.log("cookie", task.cpu, task.index, cookie)
    cpu = m.cpus[task.cpu]
    was_listed = m.core_scheduling and task in cpu.sibling.cookied
    if was_listed:
        dequeue(m, task, save=True)
    task.cookie = cookie
    is_queued = task.entity.on_rq or task.throttled
    if cookie and is_queued and (was_listed or not m.kernel.has("cookie-not-enqueued")):
        enqueue(m, task)
    if cpu.curr is task:
        resched_curr(m, cpu.number)
