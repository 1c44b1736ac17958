"""What core scheduling keeps: for a core as a whole, and for each of its siblings."""

from collections import Counter
from dataclasses import dataclass, field

from .state import CpuRecord, TaskRecord


@dataclass(eq=False)
class CoreRecord:
    """A core (cf. the core_* fields of the leader's struct rq). `cpus` are its siblings online, lowest first.

    `fi_start` is the time up to which forced idle time is charged, None when there is none to charge.
    """

    cpus: list[CpuRecord]
    cookie: int = 0
    task_seq: int = 0
    pick_seq: int = 0
    fi_count: int = 0
    fi_seq: int = 0
    fi_occupation: int = 0
    fi_start: int | None = None

    def from_cpu(self, cpu: CpuRecord) -> list[CpuRecord]:
        """Return the siblings from one of them on, round to the one before it."""
        first = self.cpus.index(cpu)
        return self.cpus[first:] + self.cpus[:first]


@dataclass(eq=False)
class SiblingRecord:
    """One CPU of a core (cf. the core_* fields of its own struct rq).

    `pick_waits` says that a sibling has chosen `pick` for this CPU (None: idle) and it has not switched yet. `cookied`
    is the list of queued tasks that have a cookie. `forced_since` is when the CPU last became forced idle, None while
    it is not; `forced_ns` and `counts` are the books of it.
    """

    core: CoreRecord
    pick: TaskRecord | None = None
    pick_waits: bool = False
    sched_seq: int = 0
    cookied: list[TaskRecord] = field(default_factory=list)
    idle_occupation: int = 0
    forced_since: int | None = None
    forced_ns: int = 0
    counts: Counter = field(default_factory=Counter)


def make_cores(machine, cpus: list[CpuRecord]):
    """Give every CPU its record of core scheduling."""
    for numbers in machine.cores:
        core = CoreRecord([cpus[number] for number in sorted(numbers)])
        for cpu in core.cpus:
            cpu.sibling = SiblingRecord(core)
