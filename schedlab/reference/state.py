"""What the kernel keeps: entities, run queues, groups, CPUs and tasks, as plain objects.

Counts and loads that the kernel updates step by step are computed here from the queues each time they are asked for.
"""

from dataclasses import dataclass, field
from enum import Enum, IntFlag

# weights of nice -20 .. 19 (fact sheet A1)
NICE_WEIGHTS = tuple(
    int(w)
    for w in """88761 71755 56483 46273 36291 29154 23254 18705 14949 11916 9548 7620 6100 4904 3906 3121 2501 1991 1586
    1277 1024 820 655 526 423 335 272 215 172 137 110 87 70 56 45 36 29 23 18 15""".split()
)
NICE_0_WEIGHT = 1024
MIN_SHARES = 2


class Flag(IntFlag):
    """How an entity is enqueued (first row) or dequeued (second row)."""

    NONE = 0
    WAKEUP, MIGRATED, INITIAL = 1, 2, 4
    SLEEP, SPECIAL, DELAYED, THROTTLE = 8, 16, 32, 64


class TaskState(Enum):
    """Where a task is in its life. A blocked task may still be queued: about to be dequeued, or delayed."""

    NEW, RUNNABLE, BLOCKED, EXITED = range(4)


@dataclass(eq=False)
class Entity:
    """A schedulable entity: a task's, or that of a group on one CPU (cf. struct sched_entity).

    `vlag` holds the lag while the entity is not queued, and in EEVDF up to 6.12 a copy of the deadline from the moment
    it was picked (slice protection). From 6.18 on `vprot` is the vruntime up to which it is protected.
    """

    weight: int
    task: "TaskRecord | None" = None
    my_q: "CfsRq | None" = None
    cfs_rq: "CfsRq | None" = None
    vruntime: int = 0
    deadline: int = 0
    slice: int = 0
    custom_slice: bool = False
    vlag: int = 0
    vprot: int = 0
    rel_deadline: bool = False
    on_rq: bool = False
    sched_delayed: bool = False
    exec_start: int = 0
    sum_exec: int = 0
    prev_sum_exec: int = 0

    @property
    def parent(self) -> "Entity | None":
        """The group entity whose queue this one is on; None at the root."""
        return self.cfs_rq.entity


def path_up(se: Entity | None) -> list[Entity]:
    """Return the entity and its ancestors, leaf first (cf. for_each_sched_entity())."""
    path = []
    while se is not None:
        path.append(se)
        se = se.parent
    return path


def matching_entities(se: Entity, pse: Entity) -> tuple[Entity, Entity]:
    """Return the ancestors of both that lie on one queue; cf. find_matching_se()."""
    others = {ancestor.cfs_rq: ancestor for ancestor in path_up(pse)}
    return next((mine, others[mine.cfs_rq]) for mine in path_up(se) if mine.cfs_rq in others)


@dataclass(eq=False)
class CfsRq:
    """The run queue of one group on one CPU (cf. struct cfs_rq).

    `tree` holds the queued entities but for `curr`, in the order of the policy's key; equal keys stay in the order of
    insertion. `limbo` holds the tasks that per-task throttling took off the queue, the latest first. `least_vruntime`,
    `zero_vruntime`, `fi_vruntime` and `fi_seq` are core scheduling's (priority.py).
    """

    group: "GroupRecord"
    cpu: int
    entity: Entity | None
    tree: list[Entity] = field(default_factory=list)
    curr: Entity | None = None
    next: Entity | None = None
    last: Entity | None = None
    skip: Entity | None = None
    min_vruntime: int = 0
    least_vruntime: int = 0
    zero_vruntime: int = 0
    fi_vruntime: int = 0
    fi_seq: int = 0
    runtime_enabled: bool = False
    runtime_remaining: int = 0
    runtime_epoch: int = 0
    throttled: bool = False
    throttle_count: int = 0
    throttled_clock: int | None = None
    throttled_clock_self: int | None = None
    throttled_clock_self_time: int = 0
    limbo: list["TaskRecord"] = field(default_factory=list)

    def queued(self) -> list[Entity]:
        """Return every queued entity: those of the tree, and curr while it is on the queue."""
        running = [self.curr] if self.curr is not None and self.curr.on_rq else []
        return self.tree + running

    @property
    def nr_queued(self) -> int:
        """Number of entities queued at this level."""
        return len(self.queued())

    @property
    def load(self) -> int:
        """Sum of the weights queued at this level."""
        return sum(se.weight for se in self.queued())

    @property
    def h_nr_queued(self) -> int:
        """Number of tasks queued here and in the groups below that are queued, delayed ones included."""
        return sum(1 if se.my_q is None else se.my_q.h_nr_queued for se in self.queued())

    @property
    def h_nr_runnable(self) -> int:
        """The same without delayed tasks."""
        return sum(int(not se.sched_delayed) if se.my_q is None else se.my_q.h_nr_runnable for se in self.queued())


@dataclass(eq=False)
class Bandwidth:
    """The limit of one group (cf. struct cfs_bandwidth). `quota` None is no limit.

    The last three fields are no part of the kernel: they count for the conservation law (G1).
    """

    period: int
    quota: int | None = None
    burst: int = 0
    runtime: int = 0
    runtime_snap: int = 0
    idle: bool = False
    period_active: bool = False
    in_callback: bool = False
    slack_started: bool = False
    phase: int = 0
    expiry: int | None = None
    period_cpu: int = 0
    slack_cpu: int = 0
    epoch: int = 0
    throttled_list: list[CfsRq] = field(default_factory=list)
    nr_periods: int = 0
    nr_throttled: int = 0
    throttled_time: int = 0
    nr_burst: int = 0
    burst_time: int = 0
    charged: int = 0
    refilled: int = 0
    dropped: int = 0


@dataclass(eq=False)
class GroupRecord:
    """A cgroup: its shares, its limit and one run queue for each CPU (cf. struct task_group).

    `user_ns` and `kernel_ns` are what its own tasks used while they belonged to it.
    """

    index: int
    path: str
    parent: "GroupRecord | None"
    shares: int
    bandwidth: Bandwidth
    children: list["GroupRecord"] = field(default_factory=list)
    cfs_rqs: list[CfsRq] = field(default_factory=list)
    user_ns: int = 0
    kernel_ns: int = 0

    def subtree(self) -> list["GroupRecord"]:
        """Return this group and those below it, parents first."""
        return [self] + [group for child in self.children for group in child.subtree()]


@dataclass(eq=False)
class CpuRecord:
    """A CPU (cf. struct rq).

    `asked` says that another CPU wants it to reschedule, by an interrupt that is on its way, `lazy` that it is to do so
    at the return to user space; `active` is False while it is offline. `tasks` is the list that balancing scans, `left`
    a task that was moved away while it ran, `prev_put` whether the pick has put the previous task already, `settled_at`
    the time up to which the running task's work is counted, and `held_until` the time up to which the kernel's own work
    holds the CPU, `off_until` the time up to which its interrupts are off. `sibling` is a SiblingRecord, with core
    scheduling alone, `balance` a CpuBalance, with the kernel's balancing alone. The last three fields count.
    """

    number: int
    root: CfsRq
    curr: "TaskRecord | None" = None
    left: "TaskRecord | None" = None
    need_resched: bool = False
    asked: bool = False
    lazy: bool = False
    active: bool = True
    tasks: list["TaskRecord"] = field(default_factory=list)
    csd_list: list[CfsRq] = field(default_factory=list)
    speed_ppm: int = 0
    settled_at: int = 0
    held_until: int = 0
    off_until: int = 0
    prev_put: bool = False
    sibling: object = None
    balance: object = None
    nr_schedules: int = 0
    nr_works: int = 0
    nr_warnings: int = 0


@dataclass(eq=False)
class TaskRecord:
    """A task: its entity, where its program stands, and what it has used.

    `work` is what is left of the present step in units of 1e-6 ns at speed 1; `fetch` says that the next step is to be
    fetched once it runs. `throttle_work` says that it is to be throttled at its return to user space, `throttled` that
    it is in limbo. `core_occupation` is how many CPUs of its core were given something to run when it last was.
    `balance` is a TaskBalance, with the kernel's balancing alone.
    """

    index: int
    spec: object
    group: GroupRecord
    entity: Entity
    allowed: tuple[int, ...]
    streams: tuple
    frames: list
    state: TaskState = TaskState.NEW
    cpu: int = 0
    fetch: bool = True
    in_kernel: bool = False
    throttle_work: bool = False
    throttled: bool = False
    cookie: int = 0
    core_occupation: int = 0
    balance: object = None
    forceidle_ns: int = 0
    work: int = 0
    spin_until: int | None = None
    batch: int = 0
    batch_step: object = None
    batch_began: int = 0
    call: object = None
    activations: dict = field(default_factory=dict)
    stamp: int = 0
    end_ns: int = -1
    user_ns: int = 0
    kernel_ns: int = 0
    wait_ns: int = 0
    waits_since: int = 0
    nr_switches: int = 0
    nr_wakeups: int = 0
    nr_migrations: int = 0
    samples: list[int] = field(default_factory=list)

    @property
    def in_user_step(self) -> bool:
        """Whether it is in the middle of user work, so that the exit of an interrupt is a return to user space."""
        return not self.fetch and not self.in_kernel
