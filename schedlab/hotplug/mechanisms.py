"""Which of the alternatives a Kernel has where CPUs come and go: the one place that reads its patches."""

from dataclasses import dataclass

from ..kernel import Kernel
from ..patches_hotplug import (
    EXPEDITE,
    FUSE_DYING,
    FUSE_REBUILD,
    HOTPLUG_ONLY,
    HOTPLUG_ONLY_NAIVE,
    LARGE_SYSTEMS,
    LINEAR_SPAN_CHECK,
    SERVERS_IN_ACCOUNTING,
    SKIP_NODE_LOCK,
    SKIP_OFFLINE_WALKS,
    SKIP_VALID_RESYNC,
)

# Rows of Kernel without clear walk (it came to 6.12.y as a fix) and without deadline servers.
_BEFORE_6_12 = ("6.1", "6.3", "6.4", "6.6")


@dataclass(frozen=True)
class Mechanisms:
    """How one kernel takes CPUs offline and online and rebuilds domains.

    Attributes
    ----------
    clear_walk : bool
        rq_offline_fair() takes the CPU's load out of all groups (6.12.y and later).
    unthrottle_active : bool
        Its unthrottle walk runs for CPUs that stay active too: 6.12's third walk.
    skip_offline_walks, skip_valid_resync : bool
        Patches 1 and 2 of the series about group walks.
    fuse_rebuild, fuse_dying, hotplug_only, naive : bool
        The reviewer's variants: V1a, V1b, V2 in the right order, V2 in the old order.
    linear_span_check : bool
        topology_span_sane() looks at each CPU (6.18), not at each pair.
    dl_servers, dl_in_accounting, dl_linear : bool
        Run queues have a deadline server (6.12); dl_clear_root_domain() adds the servers again (6.18); patch 6 of the
        series for large systems.
    wbinvd_online, wbinvd_offline, cmci_everywhere, mtrr_rendezvous : bool
        What its patches 1 to 4 take away.
    cache_capacity, skip_scans, changed_thresholds : bool
        Its patches 5, 7 and 8.
    expedited, skip_node_lock : bool
        Grace periods are expedited; none is waited for on behalf of memory hotplug.
    """

    clear_walk: bool
    unthrottle_active: bool
    skip_offline_walks: bool
    skip_valid_resync: bool
    fuse_rebuild: bool
    fuse_dying: bool
    hotplug_only: bool
    naive: bool
    linear_span_check: bool
    dl_servers: bool
    dl_in_accounting: bool
    dl_linear: bool
    wbinvd_online: bool
    wbinvd_offline: bool
    cmci_everywhere: bool
    mtrr_rendezvous: bool
    cache_capacity: bool
    skip_scans: bool
    changed_thresholds: bool
    expedited: bool
    skip_node_lock: bool

    @classmethod
    def of(cls, kernel: Kernel) -> "Mechanisms":
        """Return the mechanisms of a kernel."""
        large = dict(zip(range(1, 9), (kernel.has(name) for name in LARGE_SYSTEMS)))
        dl_servers = kernel.release not in _BEFORE_6_12
        return cls(
            clear_walk=kernel.release not in _BEFORE_6_12,
            unthrottle_active=not kernel.has("unthrottle-offline-only"),
            skip_offline_walks=kernel.has(SKIP_OFFLINE_WALKS),
            skip_valid_resync=kernel.has(SKIP_VALID_RESYNC),
            fuse_rebuild=kernel.has(FUSE_REBUILD),
            fuse_dying=kernel.has(FUSE_DYING),
            hotplug_only=kernel.has(HOTPLUG_ONLY),
            naive=kernel.has(HOTPLUG_ONLY_NAIVE),
            linear_span_check=kernel.has(LINEAR_SPAN_CHECK),
            dl_servers=dl_servers,
            dl_in_accounting=dl_servers and kernel.has(SERVERS_IN_ACCOUNTING),
            dl_linear=large[6],
            wbinvd_online=not large[1],
            wbinvd_offline=not large[2],
            cmci_everywhere=not large[3],
            mtrr_rendezvous=not large[4],
            cache_capacity=large[5],
            skip_scans=large[7],
            changed_thresholds=large[8],
            expedited=kernel.rcu_expedited or kernel.has(EXPEDITE),
            skip_node_lock=kernel.has(SKIP_NODE_LOCK),
        )
