"""Counts of the kernel's work: whole numbers, one set an operation."""

from dataclasses import dataclass, field

#: Every count, and what it counts.
COUNTS: dict[str, str] = {
    "rebuilds": "passes through partition_sched_domains()",
    "rq_attach_root": "rq_attach_root() calls",
    "rq_offline": "set_rq_offline() calls that found the run queue online",
    "rq_online": "set_rq_online() calls that found it offline",
    "clear_walks": "walks over all groups that take one CPU's load contributions out",
    "unthrottle_walks": "walks that unthrottle one CPU's groups and disable their quota",
    "resync_walks": "walks that set runtime_enabled of one CPU's groups from their quota",
    "fused_walks": "walks that clear and resync in one loop",
    "fused_dying_walks": "walks that unthrottle and clear in one loop",
    "group_visits": "groups touched by all walks",
    "rt_group_visits": "groups touched by the rt class's walks (RT_GROUP_SCHED)",
    "sched_domains": "sched domains built",
    "span_scan": "CPUs passed by the loops that look for groups",
    "get_group": "get_group() calls",
    "capacity_groups": "groups whose weight and cores init_sched_groups_capacity() counts",
    "capacity_cores": "cores that it passes in doing so",
    "capacity_words": "mask words that it touches: cores times words of a mask",
    "balance_iterations": "CPUs passed by build_balance_mask()",
    "distinct_groups": "groups that differ from each other",
    "span_checks": "comparisons of topology_span_sane()",
    "allocations": "objects that __sdt_alloc() and __sds_alloc() allocate, one a CPU",
    "percpu_allocations": "alloc_percpu() calls",
    "dl_updates": "writes of a run queue's extra_bw as servers are added",
    "dl_server_attach": "__dl_server_attach_root() calls",
    "dl_clear": "dl_clear_root_domain() calls",
    "vmstat_touches": "per-CPU threshold entries that a refresh touches",
    "vmstat_writes": "per-CPU threshold entries whose value changes",
    "grace_periods": "grace periods waited for",
    "rendezvous": "stop_machine() rendezvous",
    "rendezvous_cpus": "CPUs that take part in them",
    "mtrr_rendezvous": "rendezvous for the MTRRs",
    "mtrr_cpus": "CPUs that were online when they took part in them",
    "cmci_cpus": "CPUs that look for orphaned CMCI banks",
    "avoidable_cmci": "those of them that patch 3 takes away, the one peer not deducted",
    "wbinvd_online": "cache flushes that a starting CPU makes the operation wait for",
    "wbinvd_offline": "cache flushes of dead CPUs",
    "avoidable_wbinvd_offline": "those of them that patch 2 takes away",
    "avoidable_capacity": "cores and CPUs passed that patch 5 takes away: capacity and balance mask loops",
    "avoidable_dl": "writes of extra_bw that patch 6 takes away",
    "avoidable_scans": "CPUs passed that patch 7 takes away",
    "avoidable_vmstat": "online CPUs whose thresholds patch 8 leaves alone",
}


WALKS = ("clear", "unthrottle", "resync", "fused", "fused_dying")


@dataclass
class Work:
    """What one operation made the kernel do.

    Attributes
    ----------
    counts : dict
        By the names of COUNTS.
    attach_walks, hotplug_walks : tuple of int
        Walks (in the order of WALKS) of the rq_attach_root() call, and of the explicit set_rq_offline() or
        set_rq_online() call, that has most: each runs with interrupts off.
    other_cpus : int
        CPUs that are online beside the one that comes or goes.
    dl_clear_updates : int
        Most writes of one dl_clear_root_domain(), which runs with interrupts off too.
    attach_calls : list of (CPUs, walks of each)
        The rq_attach_root() calls in order: arrays of CPUs and, a row each, of their walks.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    attach_walks: tuple[int, ...] = (0,) * len(WALKS)
    hotplug_walks: tuple[int, ...] = (0,) * len(WALKS)
    other_cpus: int = 0
    dl_clear_updates: int = 0
    attach_calls: list = field(default_factory=list, compare=False, repr=False)

    def add(self, name: str, number) -> None:
        """Add to a count."""
        self.counts[name] += int(number)

    def walk(self, nr_groups: int, **walks: int) -> None:
        """Count walks by their kind, and the groups that they visit."""
        for kind, number in walks.items():
            self.add(f"{kind}_walks", number)
            self.add("group_visits", nr_groups * int(number))
