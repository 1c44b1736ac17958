"""Per-task throttling (v6.18): each task of a throttled group leaves the CPU at its return to user space, for limbo."""

from . import hierarchy, speed
from .resched import resched_curr
from .state import CfsRq, Flag, TaskRecord, TaskState

# ---- work at the return to user space --------------------------------------------------------------------------------


def setup_work(m, task: TaskRecord | None):
    """Let the task throttle itself when it next returns to user space; cf. task_throttle_setup_work().

    Not a kernel thread, nor one that exits. In the middle of user work that is as soon as the kernel has done its own.
    """
    if task is None or task.throttle_work or task.spec.kernel_thread or task.state is TaskState.EXITED:
        return
    task.throttle_work = True
    m.log("work", task.cpu, task.index, 0)
    cpu = m.cpus[task.cpu]
    if cpu.curr is task and task.in_user_step:
        speed.settle(m, cpu)
        speed.arm_step(m, cpu)


def returns_to_user(m, cpu) -> bool:
    """The CPU's task is about to return to user space; cf. exit_to_user_mode_loop(), v6.18.

    Returns False when it does not get there: it is to reschedule first, or it throttles itself.
    """
    task = cpu.curr
    if cpu.lazy or (cpu.need_resched and task.throttle_work):
        cpu.need_resched = True
        return False
    return not (task.throttle_work and run_work(m, task))


def run_work(m, task: TaskRecord) -> bool:
    """The task goes into limbo unless its group was let go meanwhile; cf. throttle_cfs_rq_work()."""
    task.throttle_work = False
    q = task.entity.cfs_rq
    if not q.throttle_count:
        return False
    m.cpus[task.cpu].nr_works += 1
    hierarchy.dequeue_fair(m, task, Flag.SLEEP | Flag.THROTTLE)
    q.limbo.insert(0, task)
    task.throttled = True
    m.log("limbo", task.cpu, task.index, q.group.index)
    resched_curr(m, task.cpu)
    return True


# ---- limbo -----------------------------------------------------------------------------------------------------------


def stays(m, task: TaskRecord) -> bool:
    """A task in limbo comes to a queue: whether it stays in limbo; cf. enqueue_throttled_task()."""
    q = task.entity.cfs_rq
    if q.throttle_count and m.cpus[q.cpu].curr is not task:
        q.limbo.insert(0, task)
        return True
    task.throttled = False
    return False


def release(m, q: CfsRq):
    """Enqueue the tasks in limbo, the latest first; cf. tg_unthrottle_up().

    An enqueue can throttle the hierarchy again. With limbo-local-list the rest then goes back to limbo; without it they
    are all enqueued.
    """
    if not m.kernel.has("limbo-local-list"):
        for task in list(q.limbo):
            q.limbo.remove(task)
            enqueue_released(m, task)
        return
    waiting, q.limbo = q.limbo, []
    while waiting and not q.throttle_count:
        enqueue_released(m, waiting.pop(0))
    q.limbo = waiting + q.limbo


def enqueue_released(m, task: TaskRecord):
    """The task is runnable again."""
    task.throttled = False
    hierarchy.enqueue_fair(m, task, Flag.WAKEUP)


def record_clocks(m, q: CfsRq):
    """A task of a throttled hierarchy leaves the queue: its clocks run from now on; cf. record_throttle_clock()."""
    if not q.throttle_count:
        return
    if q.throttled and q.throttled_clock is None:
        q.throttled_clock = m.now
    if q.throttled_clock_self is None:
        q.throttled_clock_self = m.now


def warn_unless_empty(m, q: CfsRq):
    """The kernel warns when a hierarchy is throttled while tasks of it are in limbo; cf. tg_throttle_down()."""
    if q.limbo:
        m.cpus[q.cpu].nr_warnings += 1
        m.log("warn", q.cpu, q.group.index, 1)
