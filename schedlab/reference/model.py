"""The whole model: its state from the three nouns, and the loop over events."""

from ..events import HoldCpu, SetAffinity, SetCookie, SetCpuMax, SetCpuOnline, SetGroup
from ..phases import group_phases
from ..units import NS_PER_US, us
from . import (
    bandwidth,
    cookies,
    domains,
    eevdf,
    fair61,
    hotplug,
    hrtick,
    moves,
    placement,
    program,
    schedule,
    speed,
    throttle,
)
from .channel import ChannelRecord
from .core_state import make_cores
from .events import EventQueue, Source
from .resched import leave_interrupt
from .rng import RUN_LIKE, SLEEP_LIKE, Stream
from .state import NICE_0_WEIGHT, NICE_WEIGHTS, Bandwidth, CfsRq, CpuRecord, Entity, GroupRecord, TaskRecord, TaskState


class Model:
    """One run of the model.

    Attributes
    ----------
    now : int
        Time in ns.
    this_cpu : int
        The CPU that executes the present event; CPU 0 for what is done from outside.
    events : list of (time_ns, kind, cpu, a, b)
        The log.
    per_task, throttles_at_account : bool
        Whether tasks are throttled one by one, and whether a charge throttles (patches of the kernel).
    """

    def __init__(self, machine, kernel, workload, seed: int, log_all: bool = False):
        workload.check(kernel)
        workload.check_machine(machine)
        refuse_unknown(kernel)
        self.machine, self.kernel, self.workload = machine, kernel, workload
        self.core_scheduling = workload.core_scheduling
        self.per_task = kernel.has("per-task-throttle")
        self.throttles_at_account = kernel.has("throttle-at-account")
        self.log_all = log_all
        self.policy = fair61 if kernel.policy == "cfs" else eevdf
        self.now = 0
        self.this_cpu = 0
        self.queue = EventQueue()
        self.events: list[tuple[int, str, int, int, int]] = []
        self.waiters: dict[str, list[TaskRecord]] = {}
        self.posts: dict[str, list[int]] = {}
        self.barriers: dict[str, list[TaskRecord]] = {}
        self.channels = {spec.name: ChannelRecord(spec, kernel.pipe_wake_on_free) for spec in workload.channels}
        self.bandwidth_slice = kernel.cfs_bandwidth_slice_us * NS_PER_US
        self.wake_late = us(kernel.wake_late_us)
        self.set_tunables(machine.nr_cpus)
        self.groups = self._make_groups()
        self.cpus = [CpuRecord(c, self.groups[0].cfs_rqs[c]) for c in range(machine.nr_cpus)]
        if self.core_scheduling:
            make_cores(machine, self.cpus)
        self.tasks = [self._make_task(index, spec, seed) for index, spec in enumerate(workload.tasks)]
        self.balance = None
        if kernel.balance == "kernel":
            domains.set_up(self)
        self._set_limits(group_phases(kernel, workload, seed))
        for index, event in enumerate(workload.events):
            self.queue.set(Source.SCENARIO, index, event.at_ns)

    def set_tunables(self, nr_online: int):
        """Scale slices and granularities by the number of CPUs; cf. update_sysctl()."""
        kernel = self.kernel
        factor = kernel.scaling_factor(nr_online)
        self.base_slice = kernel.base_slice_ns * factor
        self.latency = kernel.latency_ns * factor
        self.min_granularity = kernel.min_granularity_ns * factor
        self.wakeup_granularity = kernel.wakeup_granularity_ns * factor

    def _make_groups(self) -> list[GroupRecord]:
        groups: dict[str, GroupRecord] = {}
        for index, path in enumerate(self.workload.group_paths):
            spec = self.workload.group_of.get(path)
            parent = groups[spec.parent] if spec else None
            # cpu.weight 100 is nice 0; rounded to the nearest
            shares = (spec.weight * NICE_0_WEIGHT + 50) // 100 if spec else NICE_0_WEIGHT
            period = spec.period_us * NS_PER_US if spec else 0
            group = GroupRecord(index, path, parent, shares, Bandwidth(period))
            for cpu in range(self.machine.nr_cpus):
                group.cfs_rqs.append(self._make_queue(group, cpu))
            if parent is not None:
                parent.children.append(group)
            groups[path] = group
        return list(groups.values())

    def _make_queue(self, group: GroupRecord, cpu: int) -> CfsRq:
        if group.parent is None:
            return CfsRq(group, cpu, None)
        entity = Entity(weight=group.shares, cfs_rq=group.parent.cfs_rqs[cpu], slice=self.base_slice)
        entity.my_q = CfsRq(group, cpu, entity)
        return entity.my_q

    def _make_task(self, index: int, spec, seed: int) -> TaskRecord:
        group = next(g for g in self.groups if g.path == spec.group)
        entity = Entity(weight=NICE_WEIGHTS[spec.nice + 20], slice=self.base_slice)
        if spec.slice_us is not None:
            entity.slice, entity.custom_slice = spec.slice_us * NS_PER_US, True
        allowed = spec.cpus if spec.cpus is not None else tuple(range(self.machine.nr_cpus))
        streams = tuple(Stream(seed, index, purpose) for purpose in (RUN_LIKE, SLEEP_LIKE))
        task = TaskRecord(index, spec, group, entity, allowed, streams, program.new_frames(spec.program))
        entity.task = task
        task.cookie = self.workload.cookie_of(spec)
        entity.cfs_rq = group.cfs_rqs[0]
        self.queue.set(Source.TASK, index, spec.start_ns)
        return task

    def _set_limits(self, phases: tuple[int, ...]):
        self.this_cpu = 0
        for group in self.groups[1:]:
            spec = self.workload.group_of[group.path]
            quota = None if spec.quota_us is None else spec.quota_us * NS_PER_US
            period, burst = spec.period_us * NS_PER_US, spec.burst_us * NS_PER_US
            bandwidth.write_first_limit(self, group, quota, period, burst, phases[group.index])

    # ---- services ----------------------------------------------------------------------------------------------------

    def log(self, kind: str, cpu: int, a: int, b: int):
        """Append to the log."""
        self.events.append((self.now, kind, cpu, a, b))

    def log_detail(self, kind: str, cpu: int, a: int, b: int):
        """Append what is logged only where everything is."""
        if self.log_all:
            self.log(kind, cpu, a, b)

    def next_tick(self, cpu: int) -> int:
        """Return the time of the CPU's first tick after now."""
        tick = self.kernel.tick_ns
        offset = self.kernel.tick_offset_us * NS_PER_US
        if self.kernel.skew_tick:
            offset += cpu * tick // (2 * self.machine.nr_cpus)
        return offset + ((self.now - offset) // tick + 1) * tick

    def hold(self, cpu: int, cost: int):
        """Delay what a CPU runs by the kernel's own work."""
        speed.hold(self, self.cpus[cpu], cost)

    def queue_changed(self, cpu: int, is_enqueue: bool):
        """A task came to the CPU's queue or left it."""
        hrtick.queue_changed(self, self.cpus[cpu], is_enqueue)

    # ---- the loop ----------------------------------------------------------------------------------------------------

    def run(self, until: int):
        """Run all events before `until`."""
        while (time_ns := self.queue.next_time()) is not None and time_ns < until:
            self.now, source, number = self.queue.pop()
            cpu = self.handler_of(source, number)
            if cpu is not None and cpu.off_until > self.now:
                self.queue.set(source, number, cpu.off_until)
                continue
            self.dispatch(source, number)
            leave_interrupt(self)
            self.reschedule()
        self.now = until
        for cpu in self.cpus:
            speed.settle(self, cpu)

    def handler_of(self, source: Source, number: int) -> CpuRecord | None:
        """Return the CPU that handles an event, None for starts of tasks and what is done from outside."""
        if source is Source.PERIOD:
            return self.cpus[self.groups[number].bandwidth.period_cpu]
        if source is Source.SLACK:
            return self.cpus[self.groups[number].bandwidth.slack_cpu]
        if source is Source.TASK:
            task = self.tasks[number]
            return None if task.state is TaskState.NEW else self.cpus[task.cpu]
        return None if source is Source.SCENARIO else self.cpus[number]

    def hold_interrupts_off(self, cpu: CpuRecord, length: int):
        """Interrupts are off on a CPU for so long, after what holds it already."""
        cpu.off_until = max(cpu.off_until, self.now) + length
        self.hold(cpu.number, length)

    def dispatch(self, source: Source, number: int):
        """Run one event."""
        if source is Source.PERIOD:
            bandwidth.run_period_timer(self, self.groups[number])
        elif source is Source.SLACK:
            bandwidth.run_slack_timer(self, self.groups[number])
        elif source is Source.CSD:
            throttle.serve_requests(self, number)
        elif source is Source.RESCHED:
            self.this_cpu = number
            self.cpus[number].need_resched |= self.cpus[number].asked
        elif source is Source.HRTICK:
            schedule.run_hrtick(self, self.cpus[number])
        elif source is Source.TICK:
            schedule.tick(self, self.cpus[number])
        elif source is Source.STEP:
            program.end_step(self, self.cpus[number])
        elif source is Source.TASK:
            self.task_timer(self.tasks[number])
        else:
            self.scenario_event(self.workload.events[number])

    def task_timer(self, task: TaskRecord):
        """A task starts or its sleep ends."""
        if task.state is TaskState.NEW:
            placement.start_task(self, task)
        else:
            placement.end_sleep(self, task)

    def scenario_event(self, event: SetCpuMax | SetAffinity | SetGroup | SetCookie | SetCpuOnline | HoldCpu):
        """Something is done to the workload, by somebody on CPU 0."""
        self.this_cpu = 0
        if isinstance(event, SetCpuMax):
            self.write_cpu_max(event)
        elif isinstance(event, SetAffinity):
            placement.set_allowed(self, self.task_of(event), event.cpus)
        elif isinstance(event, SetGroup):
            moves.move_to_group(self, self.task_of(event), self.group_of(event))
        elif isinstance(event, SetCookie):
            cookies.set_cookie(self, self.task_of(event), event.cookie)
        elif isinstance(event, HoldCpu):
            self.hold_interrupts_off(self.cpus[event.cpu], event.duration_ns)
        else:
            hotplug.set_online(self, self.cpus[event.cpu], event.online)

    def task_of(self, event: SetAffinity | SetGroup | SetCookie) -> TaskRecord:
        """Return the task that an event names."""
        return next(task for task in self.tasks if task.spec.name == event.task)

    def group_of(self, event: SetCpuMax | SetGroup) -> GroupRecord:
        """Return the group that an event names."""
        return next(group for group in self.groups if group.path == event.group)

    def write_cpu_max(self, event: SetCpuMax):
        """A write of cpu.max; what it does not name stays."""
        group = self.group_of(event)
        b = group.bandwidth
        quota = None if event.quota_us is None else event.quota_us * NS_PER_US
        period = b.period if event.period_us is None else event.period_us * NS_PER_US
        burst = b.burst if event.burst_us is None else event.burst_us * NS_PER_US
        bandwidth.write_limit(self, group, quota, period, burst)

    def reschedule(self):
        """Let every CPU that was asked to reschedule do so: one whose task is gone first, then the lowest number."""
        while asked := [cpu for cpu in self.cpus if cpu.need_resched]:
            schedule.schedule(self, min(asked, key=lambda cpu: (not is_gone(cpu.curr), cpu.number)))


def refuse_unknown(kernel):
    """Raise NotImplementedError for what the reference does not know."""
    if kernel.timer_late_probability:
        raise NotImplementedError("the reference has no late period timers")
    for patch in ("lb-force-idle-source", "lb-keep-cookies-together"):
        if kernel.has(patch):
            raise NotImplementedError(f"the reference has no patch={patch!r}")


def is_gone(task: TaskRecord | None) -> bool:
    """Whether a CPU's task has blocked or exited, so that the CPU has to find another before anybody wakes it."""
    return task is not None and task.state in (TaskState.BLOCKED, TaskState.EXITED)
