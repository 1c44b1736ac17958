"""How fast a running task gets on beside its busy siblings, and when its present step ends."""

from .events import Source
from .state import CpuRecord, TaskRecord

# work is kept in millionths of a ns, so that speeds in millionths stay whole numbers
PPM = 1_000_000


def settle(m, cpu: CpuRecord):
    """Bring the running task's work and CPU times up to now."""
    elapsed = m.now - cpu.settled_at
    cpu.settled_at = m.now
    task = cpu.curr
    if task is None or elapsed == 0:
        return
    if task.in_kernel:
        task.kernel_ns += elapsed
        task.group.kernel_ns += elapsed
    else:
        task.user_ns += elapsed
        task.group.user_ns += elapsed
    worked = max(0, m.now - max(cpu.held_until, m.now - elapsed))
    task.work = max(0, task.work - worked * cpu.speed_ppm)


def arm_step(m, cpu: CpuRecord):
    """Set the time at which the running task's step ends: the first whole ns at which its work is done.

    A task that has a step to fetch fetches it when it is no longer delayed. One that is to be throttled in the middle
    of user work is so then.
    """
    task = cpu.curr
    held = max(0, cpu.held_until - m.now)
    if task is None:
        m.queue.cancel(Source.STEP, cpu.number)
    elif task.fetch or (task.throttle_work and task.in_user_step):
        m.queue.set(Source.STEP, cpu.number, m.now + held)
    elif task.spin_until is not None:
        # the clock that the task looks at does not stop while it is not running
        m.queue.set(Source.STEP, cpu.number, max(m.now, task.spin_until))
    else:
        m.queue.set(Source.STEP, cpu.number, m.now + held - (-task.work // cpu.speed_ppm))


def has_work(m, task: TaskRecord) -> bool:
    """Whether there is something left to do of the running task's step."""
    return task.spin_until > m.now if task.spin_until is not None else task.work > 0


def hold(m, cpu: CpuRecord, cost: int):
    """The kernel's own work holds the CPU for `cost` ns more: the work of whoever runs waits."""
    if cost:
        settle(m, cpu)
        cpu.held_until = max(cpu.held_until, m.now) + cost
        arm_step(m, cpu)


def set_running(m, cpu: CpuRecord, task: TaskRecord | None):
    """The CPU runs another task, or none: its siblings become slower or faster."""
    core = [m.cpus[number] for number in m.machine.siblings(cpu.number)]
    for sibling in core:
        settle(m, sibling)
    cpu.curr = task
    busy = sum(sibling.curr is not None for sibling in core)
    for sibling in core:
        if sibling.curr is not None:
            sibling.speed_ppm = m.machine.thread_speed_ppm(sibling.number, busy)
        arm_step(m, sibling)
