"""What the counted work costs: a table of unit costs, and the price of one operation by components.

Counts are exact and live in `work.py`; costs are fitted or assumed, and each says in `how` which. They meet here alone.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from types import MappingProxyType

from .. import _check
from ..patches_hotplug import LARGE_SYSTEMS
from .work import WALKS, Work

OPERATIONS = ("partition", "offline", "online")


@dataclass(frozen=True)
class CostTable:
    """Unit costs of one machine, in ns; what is not known is 0 and missing from `how`.

    Attributes
    ----------
    machine : str
    fixed_ns : dict of float
        Cost of a partition switch, an offline and an online that nothing else explains.
    clear_ns, resync_ns : float
        One visit of a group by a clear walk and by a resync walk whose data the CPU has at hand.
    unthrottle_share : float
        A visit by the unthrottle walk, relative to a clear visit.
    locality : dict of float
        By how much visits are dearer in each operation, whose executing CPU is another each time in hotplug.
    fuse_phi : float
        A fused visit relative to its two parts one after the other.
    attach_ns : float
        An rq_attach_root() call without group walks.
    patch_ns : dict of float
        By patch of the series for large systems: what a unit of the work costs that the patch takes away (see UNITS).
    mean_cpus : float
        Mean number of other CPUs online in the ramp from which `fixed_ns` and the cost of the MTRR rendezvous come.
    groups_in_fixed : int
        Groups whose walks `fixed_ns` holds already; `price` adds those of further groups alone.
    grace_ns : float
        A normal grace period. 0 where it is part of `fixed_ns`.
    how : dict of str
        How each number was obtained.
    """

    machine: str
    fixed_ns: dict = field(default_factory=dict)
    clear_ns: float = 0.0
    resync_ns: float = 0.0
    unthrottle_share: float = 0.5
    locality: dict = field(default_factory=lambda: dict.fromkeys(OPERATIONS, 1.0))
    fuse_phi: float = 1.0
    attach_ns: float = 0.0
    patch_ns: dict = field(default_factory=dict)
    mean_cpus: float = 0.0
    groups_in_fixed: int = 0
    grace_ns: float = 0.0
    how: dict = field(default_factory=dict)

    def replace(self, **fields) -> CostTable:
        """Return a copy with other values of some fields."""
        known = [f.name for f in dataclasses.fields(self)]
        for name in fields:
            _check.choice("field", name, known)
        return dataclasses.replace(self, **fields)


#: The count that each patch of the series for large systems takes away.
UNITS = MappingProxyType(
    dict(
        zip(
            LARGE_SYSTEMS,
            (
                "wbinvd_online",
                "avoidable_wbinvd_offline",
                "avoidable_cmci",
                "mtrr_rendezvous",
                "avoidable_capacity",
                "avoidable_dl",
                "avoidable_scans",
                "avoidable_vmstat",
            ),
            strict=True,
        )
    )
)


def walk_ns(table: CostTable, walks: tuple[int, ...], nr_groups: int, locality: float) -> float:
    """Return the cost in ns of walks (in the order of WALKS) over that many groups."""
    clear, resync = table.clear_ns, table.resync_ns
    unthrottle = table.unthrottle_share * clear
    both = {"fused": (clear, resync), "fused_dying": (clear, unthrottle)}
    unit = {"clear": clear, "unthrottle": unthrottle, "resync": resync}
    # one loop saves at most the cheaper of its two visits
    unit |= {kind: max(table.fuse_phi * sum(parts), *parts) for kind, parts in both.items()}
    return nr_groups * locality * sum(number * unit[kind] for kind, number in zip(WALKS, walks, strict=True))


def price(
    work: Work,
    operation: str,
    nr_groups: int,
    table: CostTable,
    *,
    expedited: bool = False,
    linear: float = 0.0,
    locality: float | None = None,
) -> dict[str, float]:
    """Return what an operation costs in ns, by components.

    Parameters
    ----------
    work : Work
    operation : {"partition", "offline", "online"}
    nr_groups : int
        Task groups, the root group among them.
    table : CostTable
    expedited : bool
        Grace periods are expedited; they then cost nothing of their own.
    linear : float
        0 to 1: which share of what is not explained, and of the MTRR rendezvous, grows with the number of CPUs. The
        published ladder gives sums alone and so cannot tell; 0 and 1 are the brackets.
    locality : float, optional
        In place of the table's.

    Returns
    -------
    dict of float
        ``fixed``, ``walks``, ``grace_periods`` and one component for each patch of the series for large systems, by its
        name; a component is 0 where the kernel has the patch.
    """
    counts = work.counts
    share = _check.real("linear", linear, 0, 1)
    factor = table.locality[operation] if locality is None else _check.real("locality", locality, 0)
    grown = 1 - share + share * work.other_cpus / table.mean_cpus if table.mean_cpus else 1.0
    parts = {"fixed": table.fixed_ns.get(operation, 0.0) * grown}
    walks = tuple(counts[f"{kind}_walks"] for kind in WALKS)
    parts["walks"] = walk_ns(table, walks, max(0, nr_groups - table.groups_in_fixed), factor)
    for patch, count in UNITS.items():
        parts[patch] = counts[count] * table.patch_ns.get(patch, 0.0)
    parts["skip-mtrr-rendezvous"] *= grown
    parts["grace_periods"] = 0.0 if expedited else counts["grace_periods"] * table.grace_ns
    return parts


def irq_off(work: Work, operation: str, nr_groups: int, table: CostTable, locality: float | None = None) -> dict:
    """Return the longest time in ns with interrupts off of each kind.

    ``rq_attach_root`` (one call), ``sched_set_rq`` (the explicit call for the CPU that comes or goes) and
    ``dl_clear_root_domain``. The stop_machine() rendezvous is not priced: nothing published tells its length.
    """
    factor = table.locality[operation] if locality is None else locality
    update_ns = table.patch_ns.get("linear-dl-server-accounting", 0.0)
    attached = table.attach_ns if work.counts["rq_attach_root"] else 0.0
    return {
        "rq_attach_root": attached + walk_ns(table, work.attach_walks, nr_groups, factor),
        "sched_set_rq": walk_ns(table, work.hotplug_walks, nr_groups, factor),
        "dl_clear_root_domain": work.dl_clear_updates * update_ns,
    }


def attach_calls(
    work: Work, operation: str, nr_groups: int, table: CostTable, locality: float | None = None
) -> list[tuple[int, int]]:
    """Return the rq_attach_root() calls in order: the CPU that each moves, and its length in whole ns.

    The longest is the one of `irq_off`; a patch can leave most of the others without a walk.
    """
    factor = table.locality[operation] if locality is None else locality
    lengths: dict[tuple, int] = {}
    calls = []
    for cpus, walks in work.attach_calls:
        for cpu, row in zip(cpus.tolist(), map(tuple, walks.tolist()), strict=True):
            if row not in lengths:
                lengths[row] = round(table.attach_ns + walk_ns(table, row, nr_groups, factor))
            calls.append((cpu, lengths[row]))
    return calls
