"""What the kernel's placement and balancing see in a group of CPUs; cf. update_sg_lb_stats(), v6.18."""

from dataclasses import dataclass
from enum import IntEnum

from . import averages
from .averages import CAPACITY
from .domains import SchedGroup
from .idleness import counts_as_idle
from .state import CpuRecord


class Kind(IntEnum):
    """How busy a group is, the least first; cf. enum group_type (without what needs unequal CPUs)."""

    HAS_SPARE, FULLY_BUSY, SMT_BALANCE, IMBALANCED, OVERLOADED = range(5)


@dataclass
class GroupStats:
    """Sums over the CPUs of a group that take part; `weight` counts the others too.

    `nr_running` counts delayed tasks, `h_nr_runnable` does not; `smt_balance` says that a task of this core should
    rather run on another one.
    """

    group: SchedGroup
    load: int = 0
    util: int = 0
    runnable: int = 0
    nr_running: int = 0
    h_nr_runnable: int = 0
    idle_cpus: int = 0
    smt_balance: bool = False
    kind: Kind = Kind.HAS_SPARE
    avg_load: int = 0

    @property
    def weight(self) -> int:
        """Number of CPUs."""
        return len(self.group.cpus)

    @property
    def capacity(self) -> int:
        """What its CPUs can do together."""
        return CAPACITY * self.weight

    def load_of_capacity(self) -> int:
        """Return its load for each CPU's worth of capacity."""
        return self.load * CAPACITY // self.capacity


def sums(m, group: SchedGroup, cpus: list[CpuRecord]) -> GroupStats:
    """Return the sums over some CPUs of a group."""
    stats = GroupStats(group)
    for cpu in cpus:
        stats.load += averages.cpu_load(m, cpu)
        stats.util += averages.cpu_util(m, cpu)
        stats.runnable += averages.cpu_runnable(m, cpu)
        stats.nr_running += cpu.root.h_nr_queued
        stats.h_nr_runnable += cpu.root.h_nr_runnable
        stats.idle_cpus += counts_as_idle(m, cpu)
    return stats


def classify(stats: GroupStats, pct: int) -> Kind:
    """Return how busy the group is; cf. group_classify(), group_is_overloaded(), group_has_capacity()."""
    is_used_up = stats.capacity * 100 < stats.util * pct
    is_crowded = stats.capacity * pct < stats.runnable * 100
    if stats.nr_running > stats.weight and (is_used_up or is_crowded):
        return Kind.OVERLOADED
    if stats.group.imbalanced:
        return Kind.IMBALANCED
    if stats.smt_balance:
        return Kind.SMT_BALANCE
    has_capacity = not is_crowded and stats.capacity * 100 > stats.util * pct
    if stats.nr_running < stats.weight or has_capacity:
        return Kind.HAS_SPARE
    return Kind.FULLY_BUSY
