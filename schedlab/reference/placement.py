"""Which CPU a task goes to: at a fork, at a wake-up, when a CPU has nothing to do, and when its affinity changes."""

from . import averages, force_idle, fork_choice, hierarchy, hrtick, load_times, schedule, speed, wake_choice
from .resched import resched_curr
from .state import CpuRecord, Flag, TaskRecord, TaskState


def is_idle(cpu: CpuRecord) -> bool:
    """Whether the CPU runs nothing and has nothing runnable (throttled groups aside)."""
    return cpu.curr is None and cpu.root.h_nr_runnable == 0


def cyclic(m, cpu: int) -> list[int]:
    """Return all CPU numbers, from the one after `cpu` round to `cpu` itself."""
    n = m.machine.nr_cpus
    return [(cpu + 1 + k) % n for k in range(n)]


def first_active(m) -> int:
    """Return the lowest CPU that is online: timers of a CPU that went offline run there; cf. hrtimers_cpu_dying()."""
    return next(cpu.number for cpu in m.cpus if cpu.active)


# ---- choosing a CPU --------------------------------------------------------------------------------------------------


def allowed_cpus(m, task: TaskRecord) -> list[int]:
    """Return the CPUs that a task may go to. One that may run nowhere now may run anywhere, from now on.

    cf. select_fallback_rq()
    """
    if not any(m.cpus[c].active for c in task.allowed):
        task.allowed = tuple(range(m.machine.nr_cpus))
    return [c for c in task.allowed if m.cpus[c].active]


def select_fork(m, task: TaskRecord) -> int:
    """An idle CPU on the least busy core, or else the CPU with the fewest runnable tasks."""
    allowed = allowed_cpus(m, task)
    idle = [c for c in allowed if is_idle(m.cpus[c])]
    if idle:
        return min(idle, key=lambda c: (busy_siblings(m, c), c))
    return min(allowed, key=lambda c: (m.cpus[c].root.h_nr_runnable, c))


def busy_siblings(m, cpu: int) -> int:
    """Return how many CPUs of that CPU's core are not idle."""
    return sum(not is_idle(m.cpus[c]) for c in m.machine.siblings(cpu))


def select_wake(m, task: TaskRecord) -> int:
    """The previous CPU if idle, an idle core, an idle CPU of the same LLC, the previous CPU, or as at a fork."""
    prev = task.cpu
    llc_of = m.machine.llc_of
    allowed = [c for c in task.allowed if m.cpus[c].active]
    if prev in allowed and is_idle(m.cpus[prev]):
        return prev
    near = [c for c in cyclic(m, prev) if c in allowed and llc_of[c] == llc_of[prev] and is_idle(m.cpus[c])]
    on_idle_cores = [c for c in near if all(is_idle(m.cpus[s]) for s in m.machine.siblings(c))]
    if on_idle_cores or near:
        return (on_idle_cores or near)[0]
    return prev if prev in allowed else select_fork(m, task)


def kernels_choice(m, task: TaskRecord) -> int:
    """Where the kernel puts a task that starts or wakes; where it may not run there, the rule of a fork holds."""
    if task.state is TaskState.NEW:
        cpu = fork_choice.select(m, task, m.cpus[first_active(m)])
    else:
        cpu = wake_choice.select(m, task)
    return cpu if cpu in task.allowed and m.cpus[cpu].active else select_fork(m, task)


# ---- start and wake-up -----------------------------------------------------------------------------------------------


def set_cpu(m, task: TaskRecord, cpu: int):
    """Note the task's CPU and queue; cf. set_task_cpu()."""
    if task.state is not TaskState.NEW and cpu != task.cpu:
        task.nr_migrations += 1
        if m.balance is not None:
            averages.bring_load(m, task, m.cpus[task.cpu], m.cpus[cpu])
    task.cpu = cpu
    task.entity.cfs_rq = task.group.cfs_rqs[cpu]


def start_task(m, task: TaskRecord):
    """Fork a task; cf. wake_up_new_task()."""
    cpu = select_fork(m, task) if m.balance is None else kernels_choice(m, task)
    set_cpu(m, task, cpu)
    if m.balance is not None:
        averages.bring_first_load(m, task, m.cpus[cpu])
    m.this_cpu = cpu
    task.state = TaskState.RUNNABLE
    m.log("start", cpu, task.index, 0)
    task.waits_since = m.now
    hierarchy.enqueue_task(m, task, m.policy.start_task(m, task))
    schedule.after_enqueue(m, task, is_fork=True)


def wake_task(m, task: TaskRecord):
    """Wake a blocked task; cf. try_to_wake_up()."""
    task.state = TaskState.RUNNABLE
    task.nr_wakeups += 1
    task.waits_since = m.now
    if task.entity.on_rq:
        # delayed: it stays where it is
        m.log("wake", task.cpu, task.index, 0)
        hierarchy.wake_delayed(m, task)
        schedule.after_enqueue(m, task)
        return
    cpu = select_wake(m, task) if m.balance is None else kernels_choice(m, task)
    flags = Flag.WAKEUP
    if cpu != task.cpu:
        m.policy.leave_cpu(m, task)
        flags |= Flag.MIGRATED
    set_cpu(m, task, cpu)
    m.log("wake", cpu, task.index, 0)
    hierarchy.enqueue_task(m, task, flags)
    schedule.after_enqueue(m, task)


def end_sleep(m, task: TaskRecord):
    """The timer of a sleeping task: it fires on the task's last CPU, or the first one if that is offline."""
    m.this_cpu = task.cpu if m.cpus[task.cpu].active else first_active(m)
    wake_task(m, task)


# ---- pull ------------------------------------------------------------------------------------------------------------


def pull(m, cpu: CpuRecord) -> bool:
    """A CPU that is about to idle takes a task from another; cf. newidle_balance(). Returns whether it did."""
    if m.balance is not None:
        return load_times.pull(m, cpu)
    if not cpu.active:
        return False
    order = [c for c in cyclic(m, cpu.number) if c != cpu.number]
    near = [c for c in order if m.machine.llc_of[c] == m.machine.llc_of[cpu.number]]
    for number in near + [c for c in order if c not in near]:
        source = m.cpus[number]
        if source.root.h_nr_runnable < 2:
            continue
        for task in reversed(source.tasks):
            if may_pull(m, source, cpu, task):
                move_queued(m, task, cpu.number)
                return True
    return False


def may_pull(m, source: CpuRecord, cpu: CpuRecord, task: TaskRecord) -> bool:
    """Whether the task may go from one CPU to the other; cf. can_migrate_task()."""
    if cpu.number not in task.allowed or source.curr is task or task.entity.sched_delayed:
        return False
    # from 6.18 on only the destination counts: a task that waits can run there as here
    places = (cpu.number,) if m.per_task else (source.number, cpu.number)
    return not any(task.group.cfs_rqs[c].throttle_count for c in places)


def move_queued(m, task: TaskRecord, cpu: int):
    """Take a queued task, or one in limbo, to another CPU."""
    m.log("migrate", cpu, task.index, task.cpu)
    hierarchy.dequeue_task(m, task, Flag.NONE)
    set_cpu(m, task, cpu)
    hierarchy.enqueue_task(m, task, Flag.NONE)


# ---- affinity --------------------------------------------------------------------------------------------------------


def set_allowed(m, task: TaskRecord, cpus: tuple[int, ...]) -> bool:
    """Change the CPUs that a task may use, and move it at once where it is queued on another.

    One that is blocked but still queued, delayed, is dequeued for good: it finds its CPU when it wakes. Without a CPU
    that is online the kernel refuses (EINVAL) and nothing changes. Returns whether the task had to leave its CPU.
    """
    if not any(m.cpus[c].active for c in cpus):
        return False
    task.allowed = cpus
    if task.cpu in cpus or not (task.entity.on_rq or task.throttled):
        return False
    leave(m, task)
    return True


def take_off(m, cpu: CpuRecord, task: TaskRecord):
    """A running task is put, as the stopper runs in its place: only then can it be moved."""
    if m.core_scheduling:
        # the stopper's pick does, while the task is still there
        force_idle.charge(m, cpu.sibling.core)
    schedule.put_prev_all(m, task)
    speed.set_running(m, cpu, None)
    hrtick.leave_cpu(m, cpu)
    cpu.left = task
    resched_curr(m, cpu.number)


def leave(m, task: TaskRecord):
    """A queued or running task, or one in limbo, leaves its CPU for another."""
    if task.entity.sched_delayed:
        hierarchy.dequeue_task(m, task, Flag.SLEEP | Flag.DELAYED)
        return
    source = m.cpus[task.cpu]
    target = select_fork(m, task)
    if source.curr is task:
        take_off(m, source, task)
    move_queued(m, task, target)
    task.waits_since = m.now
    schedule.after_enqueue(m, task)
