"""Load balancing, where to: the busiest group of a domain, how much is to move, and the CPU it moves from.

cf. sched_balance_find_src_group(), calculate_imbalance(), sched_balance_find_src_rq(), v6.18
"""

from dataclasses import dataclass, field
from enum import Enum

from . import averages
from .averages import CAPACITY
from .domains import Domain, llc_of
from .group_stats import GroupStats, Kind, classify, sums
from .state import CpuRecord


class Occasion(Enum):
    """Why a CPU balances: it is idle, about to idle, or at a tick while it runs something."""

    IDLE, NEWLY_IDLE, NOT_IDLE = range(3)


class Move(Enum):
    """What an imbalance is counted in; cf. enum migration_type."""

    LOAD, UTIL, TASK = range(3)


@dataclass(eq=False)
class Attempt:
    """One attempt to balance one domain (cf. struct lb_env).

    `cpus` take part; `target` is where tasks go, at first the CPU that balances. `new_target` is another CPU of its
    group for a task that may not go to the first. `active` says that it is the stopper of the source that moves.
    """

    domain: Domain
    target: CpuRecord
    occasion: Occasion
    cpus: set[int]
    source: CpuRecord | None = None
    move: Move = Move.LOAD
    imbalance: int = 0
    tried: int = 0
    new_target: CpuRecord | None = None
    some_pinned: bool = False
    all_pinned: bool = False
    active: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether the CPU that balances runs nothing, or is about to."""
        return self.occasion is not Occasion.NOT_IDLE


@dataclass
class DomainStats:
    """A domain as the CPU that balances sees it (cf. struct sd_lb_stats)."""

    local: GroupStats | None = None
    busiest: GroupStats | None = None
    groups: list[GroupStats] = field(default_factory=list)

    def avg_load(self) -> int:
        """Return the load of all its CPUs for each CPU's worth of capacity."""
        return sum(s.load for s in self.groups) * CAPACITY // sum(s.capacity for s in self.groups)


def find_source(m, attempt: Attempt) -> CpuRecord | None:
    """Return the CPU from which tasks are to move, None when the domain is in balance; sets the imbalance."""
    stats = look_around(m, attempt)
    attempt.imbalance = 0
    if stats.busiest is None or not is_out_of_balance(attempt, stats):
        return None
    set_imbalance(attempt, stats)
    if not attempt.imbalance:
        return None
    return busiest_cpu(m, attempt, stats.busiest)


# ---- statistics ------------------------------------------------------------------------------------------------------


def look_around(m, attempt: Attempt) -> DomainStats:
    """Gather the statistics of the domain; cf. update_sd_lb_stats()."""
    stats, domain = DomainStats(), attempt.domain
    for group in domain.groups:
        cpus = [m.cpus[c] for c in group.cpus if c in attempt.cpus]
        found = sums(m, group, cpus)
        is_local = attempt.target.number in group.cpus
        found.smt_balance = not is_local and attempt.is_idle and group.is_core and found.h_nr_runnable > 1
        found.kind = classify(found, domain.imbalance_pct)
        if found.kind is Kind.OVERLOADED:
            found.avg_load = found.load_of_capacity()
        if is_local:
            stats.local = found
        elif found.h_nr_runnable and (stats.busiest is None or is_busier(found, stats.busiest)):
            stats.busiest = found
        stats.groups.append(found)
    if domain.parent is None:
        taking_part = [m.cpus[c] for c in domain.span if c in attempt.cpus]
        m.balance.overloaded = any(cpu.root.h_nr_queued > 1 for cpu in taking_part)
    if attempt.occasion is not Occasion.NEWLY_IDLE:
        note_idle_scan(m, attempt, sum(s.util for s in stats.groups))
    return stats


def note_idle_scan(m, attempt: Attempt, util: int):
    """How many CPUs of the cache wake-ups may look at until the next time; cf. update_idle_cpu_scan()."""
    domain, llc = attempt.domain, llc_of(m, attempt.target.number)
    mine = [d for d in attempt.target.balance.domains if d.shares_llc]
    if not mine or domain.weight != mine[-1].weight:
        return
    mean = util // domain.weight
    used = min(mean * mean * domain.imbalance_pct**2 // (10_000 * CAPACITY), CAPACITY)
    llc.nr_idle_scan = (CAPACITY - used) * domain.weight // CAPACITY


def is_busier(found: GroupStats, busiest: GroupStats) -> bool:
    """Whether a group is busier than the busiest so far; cf. update_sd_pick_busiest()."""
    if found.kind is not busiest.kind:
        return found.kind > busiest.kind
    if found.kind is Kind.OVERLOADED:
        return found.avg_load > busiest.avg_load
    if found.kind is Kind.IMBALANCED:
        return False
    if found.kind is Kind.HAS_SPARE and found.group.is_core is not busiest.group.is_core:
        return not (found.group.is_core and found.h_nr_runnable <= 1)
    has_idle = found.idle_cpus or busiest.idle_cpus
    if found.kind is Kind.HAS_SPARE or (found.kind is Kind.SMT_BALANCE and has_idle):
        return (-found.idle_cpus, found.nr_running) > (-busiest.idle_cpus, busiest.nr_running)
    # no average is known of these: the last one found, but of cores the first
    return not busiest.group.is_core


# ---- is it out of balance? -------------------------------------------------------------------------------------------


def is_out_of_balance(attempt: Attempt, stats: DomainStats) -> bool:
    """Whether something should move from the busiest group to the own one."""
    local, busiest, pct = stats.local, stats.busiest, attempt.domain.imbalance_pct
    if busiest.kind is Kind.IMBALANCED:
        return True
    if local.kind > busiest.kind:
        return False
    if local.kind is Kind.OVERLOADED:
        if local.avg_load >= busiest.avg_load or local.avg_load >= stats.avg_load():
            return False
        if 100 * busiest.avg_load <= pct * local.avg_load:
            return False
    spreads = busiest.group.prefers_siblings and local.kind is Kind.HAS_SPARE
    if spreads and sibling_imbalance(attempt, busiest, local) > 1:
        return True
    if busiest.kind is Kind.OVERLOADED:
        return True
    if not attempt.is_idle:
        return False
    if busiest.kind is Kind.SMT_BALANCE and local.group.is_core is not busiest.group.is_core:
        return True
    if busiest.weight > 1 and local.idle_cpus <= busiest.idle_cpus + 1:
        return False
    return busiest.h_nr_runnable != 1


def sibling_imbalance(attempt: Attempt, busiest: GroupStats, local: GroupStats) -> int:
    """Return how many more tasks, for as many cores, run in the busiest group; cf. sibling_imbalance()."""
    if not attempt.is_idle or not busiest.nr_running:
        return 0
    theirs, ours = busiest.group.nr_cores, local.group.nr_cores
    if theirs == ours:
        return max(0, busiest.nr_running - local.nr_running)
    imbalance = max(0, ours * busiest.nr_running - theirs * local.nr_running)
    imbalance = (2 * imbalance + ours + theirs) // (ours + theirs)
    if imbalance <= 1 and not local.nr_running and busiest.nr_running > 1:
        return 2
    return imbalance


def set_imbalance(attempt: Attempt, stats: DomainStats):
    """Say how much is to move, and of what; cf. calculate_imbalance()."""
    local, busiest = stats.local, stats.busiest
    attempt.move = Move.TASK
    if busiest.kind in (Kind.SMT_BALANCE, Kind.IMBALANCED):
        attempt.imbalance = 1
    elif local.kind is Kind.HAS_SPARE:
        set_imbalance_of_spare(attempt, local, busiest)
    else:
        set_imbalance_of_load(attempt, stats)


def set_imbalance_of_spare(attempt: Attempt, local: GroupStats, busiest: GroupStats):
    """The own group has capacity to spare: fill it, or even out the tasks or the idle CPUs."""
    if busiest.kind > Kind.FULLY_BUSY and not attempt.domain.shares_llc:
        attempt.move = Move.UTIL
        attempt.imbalance = max(local.capacity, local.util) - local.util
        if attempt.is_idle and not attempt.imbalance:
            attempt.move, attempt.imbalance = Move.TASK, 1
    elif busiest.weight == 1 or busiest.group.prefers_siblings:
        attempt.imbalance = sibling_imbalance(attempt, busiest, local) // 2
    else:
        attempt.imbalance = max(0, local.idle_cpus - busiest.idle_cpus) // 2


def set_imbalance_of_load(attempt: Attempt, stats: DomainStats):
    """The own group is full: it takes load up to the mean, and leaves the busiest group as much."""
    local, busiest = stats.local, stats.busiest
    attempt.move, attempt.imbalance = Move.LOAD, 0
    mean = stats.avg_load()
    if local.kind < Kind.OVERLOADED:
        local.avg_load = local.load_of_capacity()
        if local.avg_load >= busiest.avg_load or local.avg_load >= mean:
            return
    ours = (mean - local.avg_load) * local.capacity
    # where other groups with fewer but heavier tasks lift the mean above the busiest one, the kernel's unsigned
    # difference is huge
    theirs = (busiest.avg_load - mean) * busiest.capacity if busiest.avg_load >= mean else ours
    attempt.imbalance = min(theirs, ours) // CAPACITY


# ---- which CPU -------------------------------------------------------------------------------------------------------


def busiest_cpu(m, attempt: Attempt, busiest: GroupStats) -> CpuRecord | None:
    """Return the CPU of the group with the most of what is to move, at a tie the first."""
    best, most = None, 0
    for cpu in (m.cpus[c] for c in busiest.group.cpus if c in attempt.cpus):
        amount = amount_on(m, attempt, cpu)
        if amount > most:
            best, most = cpu, amount
    return best


def amount_on(m, attempt: Attempt, cpu: CpuRecord) -> int:
    """Return how much of what is to move a CPU has; 0 when it is passed over."""
    nr = cpu.root.h_nr_runnable
    if attempt.move is Move.TASK:
        return nr
    if attempt.move is Move.UTIL:
        return averages.cpu_util_boosted(m, cpu) if nr > 1 else 0
    load = averages.cpu_load(m, cpu)
    return 0 if not nr or (nr == 1 and load > attempt.imbalance) else load
