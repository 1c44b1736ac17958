"""Scheduling domains, and what each CPU and task keeps for the kernel's balancing."""

from dataclasses import dataclass, field

from ..machine import levels_of
from .averages import Average, CpuAverages

#: (imbalance_pct, cache_nice_tries) of each level; cf. sd_init(), v6.18, topology.c
TRAITS = {"SMT": (110, 0), "MC": (117, 1), "PKG": (117, 1), "NUMA": (117, 2)}


@dataclass(eq=False)
class SchedGroup:
    """The CPUs of a domain one level down (cf. struct sched_group), shared by all CPUs of the domain above.

    `imbalanced` says that affinities kept the domain of these CPUs from balancing; `is_core` that they are siblings,
    `prefers_siblings` that tasks should rather spread over its sister groups.
    """

    cpus: tuple[int, ...]
    nr_cores: int
    is_core: bool
    prefers_siblings: bool
    imbalanced: bool = False


@dataclass(eq=False)
class Domain:
    """A scheduling domain of one CPU (cf. struct sched_domain); its own group comes first.

    `interval` is in ms, `last_balance` in jiffies.
    """

    name: str
    span: tuple[int, ...]
    groups: list[SchedGroup]
    interval: int
    last_balance: int = 0
    nr_failed: int = 0
    child: "Domain | None" = None
    parent: "Domain | None" = None

    @property
    def imbalance_pct(self) -> int:
        """How many percent more count as more."""
        return TRAITS[self.name][0]

    @property
    def cache_nice_tries(self) -> int:
        """After how many failures tasks move though they are hot."""
        return TRAITS[self.name][1]

    @property
    def is_core(self) -> bool:
        """Whether its CPUs are siblings (SD_SHARE_CPUCAPACITY)."""
        return self.name == "SMT"

    @property
    def shares_llc(self) -> bool:
        """Whether its CPUs share the last-level cache (SD_SHARE_LLC)."""
        return self.name in ("SMT", "MC")

    @property
    def weight(self) -> int:
        """Number of its CPUs; also its shortest interval in ms."""
        return len(self.span)


@dataclass(eq=False)
class WakerRecord:
    """Whom a task, or a CPU's idle task, last woke, and how often it changed (cf. task_struct.wakee_flips)."""

    last_wakee: object = None
    flips: int = 0
    decayed_at: int = 0


@dataclass(eq=False)
class CpuBalance:
    """What a CPU keeps for balancing. `next_balance` is in jiffies."""

    averages: CpuAverages
    domains: list[Domain] = field(default_factory=list)
    next_balance: int = 0
    waker: WakerRecord = field(default_factory=WakerRecord)


@dataclass(eq=False)
class TaskBalance:
    """What a task keeps for balancing. `recent_cpu` is where it ran before its last CPU."""

    load: Average
    recent_cpu: int = 0
    waker: WakerRecord = field(default_factory=WakerRecord)


@dataclass(eq=False)
class LlcRecord:
    """What is known of the CPUs of a last-level cache (cf. struct sched_domain_shared)."""

    cpus: tuple[int, ...]
    has_idle_cores: bool = False
    nr_idle_scan: int = 0


@dataclass(eq=False)
class MachineBalance:
    """What the whole machine keeps: its caches, and the round of the idle CPUs (`nohz_next` in jiffies).

    `active` are pairs of CPUs, from which and to which a stopper is asked to move a task.
    """

    llcs: list[LlcRecord]
    overloaded: bool = False
    nohz_next: int = 0
    active: list[tuple[int, int]] = field(default_factory=list)


def jiffies(m, now: int | None = None) -> int:
    """Return the number of ticks of CPU 0 so far."""
    offset = m.kernel.tick_offset_us * 1_000
    return ((m.now if now is None else now) - offset) // m.kernel.tick_ns


def set_up(m):
    """Give the machine, its CPUs and tasks what balancing needs."""
    llcs = [LlcRecord(tuple(sorted(cpus))) for cpus in m.machine.llcs or (range(m.machine.nr_cpus),)]
    m.balance = MachineBalance(llcs)
    for cpu in m.cpus:
        cpu.balance = CpuBalance(CpuAverages(Average(), Average(), Average()))
    for task in m.tasks:
        task.balance = TaskBalance(Average())
    build(m, 0)


def llc_of(m, cpu: int) -> LlcRecord:
    """Return the record of the CPU's last-level cache."""
    return next(llc for llc in m.balance.llcs if cpu in llc.cpus)


def build(m, last_balance: int):
    """Build the domains over the CPUs that are online; cf. build_sched_domains(), build_sched_groups()."""
    online = {cpu.number for cpu in m.cpus if cpu.active}
    groups: dict[tuple, SchedGroup] = {}
    for cpu in m.cpus:
        child, domains = None, []
        for level in levels_of(m.machine):
            whole = next(span for span in level.spans if cpu.number in span)
            span = tuple(c for c in whole if c in online)
            if cpu.number not in online:
                continue
            parts = groups_of(m, level.name, span, child, cpu.number, groups)
            domain = Domain(level.name, span, parts, len(span), last_balance, child=child)
            if child is not None:
                child.parent = domain
            domains.append(domain)
            child = domain
        cpu.balance.domains = domains


def groups_of(m, name: str, span, child: Domain | None, cpu: int, known: dict) -> list[SchedGroup]:
    """Return the groups of a domain, the domains one level down: the own first, then as a walk from the CPU meets them.

    `known` keeps those made for other CPUs of the domain.
    """
    parts = []
    below = [level for level in levels_of(m.machine) if child is not None and level.name == child.name]
    for k in range(m.machine.nr_cpus):
        c = (cpu + k) % m.machine.nr_cpus
        if c not in span or any(c in part.cpus for part in parts):
            continue
        whole = next(s for s in below[0].spans if c in s) if below else (c,)
        cpus = tuple(i for i in whole if i in span)
        if (name, cpus) not in known:
            # a domain of one CPU is none, and its group has no traits
            is_one = child is None or len(cpus) == 1
            nr_cores = len({m.machine.core_of[i] for i in cpus})
            prefers_siblings = not is_one and child.name != "NUMA"
            known[name, cpus] = SchedGroup(cpus, nr_cores, not is_one and child.is_core, prefers_siblings)
        parts.append(known[name, cpus])
    return parts
