"""Where a new task goes, with the kernel's balancing; cf. sched_balance_find_dst_cpu(), v6.18."""

from .averages import cpu_load
from .domains import Domain, SchedGroup
from .group_stats import GroupStats, Kind, classify, sums
from .idleness import core_cookie_matches, is_idle
from .state import CpuRecord, TaskRecord


def select(m, task: TaskRecord, this: CpuRecord) -> int:
    """Return a CPU for a task that starts, down the levels from the widest domain; its affinity may not hold it."""
    task.balance.recent_cpu = this.number
    if len(task.allowed) == 1:
        return task.allowed[0]
    domains = this.balance.domains
    if not domains or not set(domains[-1].span) & set(task.allowed):
        return this.number
    cpu, domain, choice = this, domains[-1], this
    while domain is not None:
        group = find_group(m, domain, task, cpu)
        if group is not None:
            choice = find_cpu(m, group, task, cpu)
        if group is None or choice is cpu:
            domain = domain.child
            continue
        narrower = [other for other in choice.balance.domains if other.weight < domain.weight]
        cpu, domain = choice, (narrower[-1] if narrower else None)
    return choice.number


# ---- which group -----------------------------------------------------------------------------------------------------


def find_group(m, domain: Domain, task: TaskRecord, cpu: CpuRecord) -> SchedGroup | None:
    """Return the idlest group other than the CPU's own, None when the own is as idle.

    cf. sched_balance_find_dst_group()
    """
    local, idlest = None, None
    for group in domain.groups:
        allowed = [m.cpus[c] for c in group.cpus if c in task.allowed and m.cpus[c].active]
        if not any(core_cookie_matches(m, other, task) for other in allowed):
            continue
        stats = sums(m, group, [m.cpus[c] for c in group.cpus])
        stats.kind = classify(stats, domain.imbalance_pct)
        if stats.kind in (Kind.FULLY_BUSY, Kind.OVERLOADED):
            stats.avg_load = stats.load_of_capacity()
        if cpu.number in group.cpus:
            local = stats
        elif idlest is None or is_idler(stats, idlest):
            idlest = stats
    if idlest is None:
        return None
    if local is not None and stays(domain, local, idlest):
        return None
    return idlest.group


def is_idler(stats: GroupStats, idlest: GroupStats) -> bool:
    """Whether a group is idler than the idlest so far; cf. update_pick_idlest()."""
    if stats.kind is not idlest.kind:
        return stats.kind < idlest.kind
    if stats.kind in (Kind.OVERLOADED, Kind.FULLY_BUSY):
        return stats.avg_load < idlest.avg_load
    if stats.kind is Kind.HAS_SPARE:
        return (-stats.idle_cpus, stats.util) < (-idlest.idle_cpus, idlest.util)
    return False


def stays(domain: Domain, local: GroupStats, idlest: GroupStats) -> bool:
    """Whether the task stays in the group where it starts."""
    if local.kind is not idlest.kind:
        return local.kind < idlest.kind
    if local.kind in (Kind.OVERLOADED, Kind.FULLY_BUSY):
        allowed = 1024 * (domain.imbalance_pct - 100) // 100
        if domain.name == "NUMA" and idlest.avg_load + allowed >= local.avg_load:
            return True
        if idlest.avg_load >= local.avg_load + allowed:
            return True
        return 100 * local.avg_load <= domain.imbalance_pct * idlest.avg_load
    if local.kind is Kind.HAS_SPARE:
        return local.idle_cpus >= idlest.idle_cpus
    return True


# ---- which CPU of it -------------------------------------------------------------------------------------------------


def find_cpu(m, group: SchedGroup, task: TaskRecord, cpu: CpuRecord) -> CpuRecord:
    """Return the first idle CPU, or the one with the least load; cf. sched_balance_find_dst_group_cpu().

    Of idle ones the kernel takes the one that is idle for the shortest time (docs/model.md).
    """
    if len(group.cpus) == 1:
        return m.cpus[group.cpus[0]]
    allowed = [m.cpus[c] for c in group.cpus if c in task.allowed and m.cpus[c].active]
    fits = [other for other in allowed if core_cookie_matches(m, other, task)]
    idle = next((other for other in fits if is_idle(other)), None)
    return idle or min(fits, key=lambda other: (cpu_load(m, other), other.number), default=cpu)
