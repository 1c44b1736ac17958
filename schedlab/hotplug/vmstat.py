"""Thresholds of the per-CPU zone and node statistics, which CPU hotplug refreshes (fact sheet E)."""

import numpy as np

from ..machine import Machine

_HIGHEST = 125  # cf. calculate_normal_threshold(), mm/vmstat.c
_UNIT_MB = 128


def zones_of(machine: Machine) -> tuple[tuple[int, ...], ...]:
    """Return the managed MB of each node's zones: those of the machine, or DMA, DMA32 and 32 GB a node."""
    if machine.memory_zones_mb:
        return machine.memory_zones_mb
    return ((15, 2048, 32768), *((32768,) for _ in range(machine.nr_nodes - 1)))


def threshold(nr_online: int, managed_mb: int) -> int:
    """Return the normal threshold of a zone: min(125, 2 * fls(CPUs) * (1 + fls(MB / 128))).

    Examples
    --------
    >>> [threshold(n, 3072) for n in (64, 128, 256, 512)]
    [84, 96, 108, 120]
    """
    return min(_HIGHEST, 2 * int(nr_online).bit_length() * (1 + (int(managed_mb) // _UNIT_MB).bit_length()))


class Thresholds:
    """The thresholds of each zone and node on each CPU; a dead CPU keeps what it had.

    Attributes
    ----------
    of_cpu : (CPUs, zones + nodes) int64
    """

    def __init__(self, machine: Machine):
        nodes = zones_of(machine)
        self.zones_mb = tuple(mb for node in nodes for mb in node)
        self.node_of_zone = tuple(node for node, zones in enumerate(nodes) for _ in zones)
        self.nr_nodes = len(nodes)
        self.of_cpu = np.zeros((machine.nr_cpus, len(self.zones_mb) + self.nr_nodes), dtype=np.int64)
        self.refresh(np.ones(machine.nr_cpus, dtype=bool))

    @property
    def touches_a_cpu(self) -> int:
        """Lines that a refresh touches on each online CPU: one a node and two a zone."""
        return self.nr_nodes + 2 * len(self.zones_mb)

    def values(self, nr_online: int) -> np.ndarray:
        """Return the thresholds of all zones, then of all nodes (the highest of a node's zones)."""
        zones = [threshold(nr_online, mb) for mb in self.zones_mb]
        nodes = [max(v for v, n in zip(zones, self.node_of_zone) if n == node) for node in range(self.nr_nodes)]
        return np.array(zones + nodes)

    def refresh(self, online: np.ndarray) -> np.ndarray:
        """Set the thresholds of the online CPUs, and return how many of each CPU's entries that changed.

        cf. refresh_zone_stat_thresholds(), mm/vmstat.c.
        """
        new = self.values(np.count_nonzero(online))
        changed = (self.of_cpu != new) & online[:, None]
        self.of_cpu[online] = new
        return np.count_nonzero(changed, axis=1)
