"""The benchmark of the large-systems series: all CPUs offline one by one, then online again, and a result to read."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from .. import _check
from .._html import html_table
from ..kernel import Kernel
from ..machine import Machine
from .costs import CostTable, price
from .grace import Pace
from .mechanisms import Mechanisms
from .operations import Offline, Online
from .state import State
from .work import COUNTS, Work


@dataclass(frozen=True, eq=False)
class Ramp:
    """The work of a whole ramp, operation by operation.

    Attributes
    ----------
    machine, kernel
    nr_groups : int
    operations : tuple of (str, int)
        ``("offline", cpu)``, in the order in which they were done.
    work : tuple of Work
    nr_online : int
        CPUs online after the last operation.
    """

    machine: Machine
    kernel: Kernel
    nr_groups: int
    operations: tuple[tuple[str, int], ...]
    work: tuple[Work, ...]
    nr_online: int

    def counts(self, count: str, direction: str | None = None) -> np.ndarray:
        """Return one count of each operation (of one direction alone, where given), in order."""
        _check.choice("count", count, COUNTS)
        pairs = zip(self.operations, self.work, strict=True)
        return np.array([w.counts[count] for (kind, _), w in pairs if direction in (None, kind)], dtype=np.int64)

    def total(self, count: str, direction: str | None = None) -> int:
        """Return the sum of a count over the ramp, or over one direction."""
        return int(self.counts(count, direction).sum())

    def with_groups(self, nr_groups: int) -> Ramp:
        """Return the same ramp with another number of task groups, which nothing but group visits depends on."""
        nr_groups = _check.whole("nr_groups", nr_groups, 1)
        work = []
        for one in self.work:
            visits = one.counts["group_visits"] // self.nr_groups * nr_groups
            work.append(dataclasses.replace(one, counts=one.counts | {"group_visits": visits}))
        return dataclasses.replace(self, nr_groups=nr_groups, work=tuple(work))

    def priced(self, table: CostTable, *, linear: float = 0.0, locality: float | None = None) -> dict:
        """Return the sums of the components of `costs.price` in ns, by ``"offline"`` and ``"online"``."""
        expedited = is_expedited(self.kernel)
        sums: dict[str, dict[str, float]] = {"offline": {}, "online": {}}
        for (kind, _), work in zip(self.operations, self.work, strict=True):
            parts = price(work, kind, self.nr_groups, table, expedited=expedited, linear=linear, locality=locality)
            for name, ns in parts.items():
                sums[kind][name] = sums[kind].get(name, 0.0) + ns
        return sums

    def _repr_html_(self) -> str:
        shown = ("rq_attach_root", "group_visits", "capacity_cores", "dl_updates", "grace_periods")
        rows = [("operations", str(len(self.operations)))] + [(name, f"{self.total(name):,}") for name in shown]
        return html_table(f"Ramp of {self.machine.name}", rows)


def is_expedited(kernel: Kernel) -> bool:
    """Return whether a kernel's hotplug waits for expedited grace periods."""
    return Mechanisms.of(kernel).expedited


def ramp(
    machine: Machine,
    kernel: Kernel,
    *,
    groups: int = 1,
    cpus: tuple[int, ...] | None = None,
    directions: tuple[str, ...] = ("offline", "online"),
    pace: Pace | None = None,
    state: State | None = None,
) -> Ramp:
    """Take CPUs offline one by one, then bring them online in the same order, and count the work of each operation.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
    groups : int
        Task groups, the root group among them.
    cpus : tuple of int, optional
        Which, in which order. Default: all but CPU 0 and those that cannot be hotplugged, ascending, as in the mail.
    directions : tuple of str
        Default offline, then online.
    pace : Pace, optional
        Default: a tight loop of operations that are shorter than a callback of RCU takes.
    state : State, optional
        Where to begin, for example with partitions; its groups and pace count. It is left as it is. Default: all CPUs
        online.

    Returns
    -------
    Ramp

    Examples
    --------
    >>> done = ramp(Machine.uniform(16), Kernel.version("6.12"))
    >>> done.total("rq_attach_root", "offline"), done.total("rq_attach_root", "online")
    (255, 255)
    """
    now = state.copy() if state else State(machine, kernel, groups=groups, pace=pace or Pace.tight())
    staying = {0, *machine.not_hotplugged}
    order = tuple(c for c in range(machine.nr_cpus) if c not in staying) if cpus is None else _check_order(cpus)
    kinds = {"offline": Offline, "online": Online}
    operations, done = [], []
    for direction in directions:
        _check.choice("directions", direction, kinds)
        for cpu in order:
            operations.append((direction, cpu))
            done.append(now.apply(kinds[direction](cpu)))
    return Ramp(machine, now.kernel, now.nr_groups, tuple(operations), tuple(done), int(now.online.sum()))


def _check_order(cpus) -> tuple[int, ...]:
    order = tuple(_check.whole("cpus", cpu, 0) for cpu in cpus)
    if len(set(order)) < len(order):
        raise _check.wrong("cpus", order, "each CPU once")
    return order
