"""HRTICK: a timer that ends the running task's slice."""

from .events import Source
from .resched import resched_curr
from .state import CpuRecord, TaskRecord

MIN_HRTICK = 10_000
# a new time that differs by no more than this from the one that is set is not set (7.2)
HARDLY_LATER = 5_000


def is_deferred(m) -> bool:
    """Whether `__schedule` leaves a timer that is set alone (7.2)."""
    return m.kernel.lag_rules_7_2


def begin_schedule(m, cpu: CpuRecord):
    """`__schedule` begins; cf. hrtick_clear(), v6.18."""
    if not is_deferred(m):
        m.queue.cancel(Source.HRTICK, cpu.number)


def end_schedule(m, cpu: CpuRecord, changed: bool):
    """`__schedule` has chosen what runs; `changed` when it is another task. An idle CPU needs no timer.

    cf. set_next_task_fair(), hrtick_schedule_exit(), v7.2
    """
    if not is_deferred(m) or cpu.curr is None:
        m.queue.cancel(Source.HRTICK, cpu.number)
    if cpu.curr is not None and (changed or m.kernel.policy == "cfs"):
        start(m, cpu, from_pick=True)


def leave_cpu(m, cpu: CpuRecord):
    """The running task was taken off the CPU, which will schedule."""
    begin_schedule(m, cpu)


def queue_changed(m, cpu: CpuRecord, is_enqueue: bool):
    """A task came to the queue or left it; cf. hrtick_update(). In 7.2 only the first counts while none is set."""
    if cpu.curr is None:
        return
    if is_deferred(m) and not (is_enqueue and m.queue.time_of(Source.HRTICK, cpu.number) is None):
        return
    if m.kernel.policy == "cfs" and cpu.curr.entity.cfs_rq.nr_queued >= m.policy.NR_LATENCY:
        return
    start(m, cpu, from_pick=False)


def start(m, cpu: CpuRecord, from_pick: bool):
    """Arm the timer for the end of the running task's slice; cf. hrtick_start_fair().

    A slice that is over asks for a resched, unless `__schedule` itself is at work.
    """
    if not m.kernel.hrtick or cpu.root.h_nr_queued < 2:
        return
    if is_deferred(m):
        left = left_7_2(cpu.curr)
    elif cpu.curr.entity.on_rq:
        left = left_6_18(m, cpu.curr)
    else:
        return
    if left >= 0:
        arm(m, cpu, m.now + max(MIN_HRTICK, left))
    elif not from_pick:
        resched_curr(m, cpu.number)


def left_6_18(m, task: TaskRecord) -> int:
    """Return what the task may still run in ns: its slice but for what it ran."""
    ran = task.entity.sum_exec - task.entity.prev_sum_exec
    return m.policy.hrtick_slice(m, task) - ran


def left_7_2(task: TaskRecord) -> int:
    """Return what it may still run in ns: up to its deadline."""
    vdelta = task.entity.deadline - task.entity.vruntime
    return task.entity.weight * vdelta // 1024 if vdelta >= 0 else -1


def arm(m, cpu: CpuRecord, expires: int):
    """Set the timer, unless 7.2 finds that it is set to almost that time; cf. hrtick_needs_rearm()."""
    pending = m.queue.time_of(Source.HRTICK, cpu.number)
    if is_deferred(m) and pending is not None and abs(expires - pending) <= HARDLY_LATER:
        return
    m.queue.set(Source.HRTICK, cpu.number, expires)
