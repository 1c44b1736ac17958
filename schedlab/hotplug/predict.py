"""hotplug(): what one operation on a machine's CPUs makes the kernel do, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _check
from .._html import html_table
from ..kernel import Kernel
from ..machine import Machine
from .costs import CostTable, attach_calls, irq_off, price
from .fit import cost_table, machines_with_costs
from .invariants import violations
from .operations import Offline, Online, Operation, SetQuota, parse_operation
from .state import State
from .work import Work


@dataclass(frozen=True, eq=False)
class Prediction:
    """What one operation takes.

    Attributes
    ----------
    operation
    work : Work
        Exact.
    price_ns : dict of float or None
        By components (see `costs.price`): fitted or assumed, as ``costs.how`` says. None without a cost table.
    irq_off_ns : dict of float or None
        The longest time with interrupts off of each kind (see `costs.irq_off`).
    attach_calls : tuple of (int, int) or None
        The rq_attach_root() calls in order: the CPU that is moved, and for how many ns interrupts are off.
    violations : tuple of str
        Invariants that do not hold afterwards: none in a sound kernel.
    state : State
        Afterwards, for the next operation.
    costs : CostTable or None
    """

    operation: Operation
    work: Work
    price_ns: dict[str, float] | None
    irq_off_ns: dict[str, float] | None
    attach_calls: tuple[tuple[int, int], ...] | None
    violations: tuple[str, ...]
    state: State
    costs: CostTable | None

    @property
    def counts(self) -> dict[str, int]:
        """The counts by the names of COUNTS."""
        return self.work.counts

    @property
    def total_ns(self) -> int | None:
        """Predicted duration of the operation in ns, None without a cost table."""
        return None if self.price_ns is None else round(sum(self.price_ns.values()))

    @property
    def irq_off_max_ns(self) -> int | None:
        """Longest time with interrupts off in ns, None without a cost table."""
        return None if self.irq_off_ns is None else round(max(self.irq_off_ns.values()))

    def _repr_html_(self) -> str:
        rows = [(name, f"{number:,}") for name, number in self.counts.items() if number]
        if self.price_ns is not None:
            rows += [(f"{name} (cost)", f"{ns / 1e6:.3f} ms") for name, ns in self.price_ns.items() if ns]
            rows.append(("total (cost)", f"{self.total_ns / 1e6:.3f} ms"))
        rows += [("violated", line) for line in self.violations]
        return html_table(str(self.operation), rows)


def hotplug(
    machine: Machine,
    kernel: Kernel,
    operation: Operation | str,
    *,
    groups=1,
    rt_groups: int = 0,
    state: State | None = None,
    costs: CostTable | str | None = None,
    linear: float = 0.0,
    locality: float | None = None,
    legacy_two_pass: bool = False,
) -> Prediction:
    """Predict what a CPU offline, a CPU online or a cpuset partition switch takes.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
        Its patches and ``rcu_expedited`` matter; see `mechanisms.Mechanisms`.
    operation : Offline, Online, Partition, Isolate, Member, SetQuota or str
        As a text for example ``"offline cpu 3"`` or ``"partition 28-31"``.
    groups : int or sequence of str
        Task groups, the root group among them (4000 cgroups are 4001); or names of groups beside it.
    rt_groups : int
        Task groups of the rt class, 0 unless RT_GROUP_SCHED is on.
    state : State, optional
        Where to begin; it is left as it is. Default: all CPUs online, no partitions.
    costs : CostTable or str, optional
        A table, or the name of the machine whose table to take. Default: the machine's own, where there is one.
    linear, locality : float, optional
        As in `costs.price`.
    legacy_two_pass : bool
        As in `State.apply`.

    Returns
    -------
    Prediction

    Raises
    ------
    ValueError
        For what is impossible: the last CPU, a CPU that is offline or cannot be hotplugged, a partition without CPUs or
        one that overlaps another, a quota of a group that does not exist.

    Examples
    --------
    >>> done = hotplug(Machine.uniform(32), Kernel.version("6.12"), "offline cpu 31", groups=4001)
    >>> done.counts["rq_attach_root"], done.total_ns
    (63, None)
    """
    step = parse_operation(operation) if isinstance(operation, str) else operation
    if state is None:
        after = State(machine, kernel, groups=groups, rt_groups=rt_groups)
    else:
        for name, given, has in (("machine", machine, state.machine), ("kernel", kernel, state.kernel)):
            if given != has:
                raise _check.wrong(name, given, f"the state is that of another {name}")
        for name, given, default in (("groups", groups, 1), ("rt_groups", rt_groups, 0)):
            if given != default:
                raise _check.wrong(name, given, "the state has its own: give them when it is made")
        after = state.copy()
    table = _table(machine, costs)
    work = after.apply(step, legacy_two_pass=legacy_two_pass)
    prices = windows = calls = None
    if table is not None:
        kind = _kind(step)
        expedited = after.mechanisms.expedited
        prices = price(work, kind, after.nr_groups, table, expedited=expedited, linear=linear, locality=locality)
        windows = irq_off(work, kind, after.nr_groups, table, locality)
        calls = tuple(attach_calls(work, kind, after.nr_groups, table, locality))
        if isinstance(step, SetQuota):
            prices, windows = dict.fromkeys(prices, 0.0), dict.fromkeys(windows, 0.0)
    return Prediction(step, work, prices, windows, calls, tuple(violations(after)), after, table)


def _kind(step: Operation) -> str:
    return {Offline: "offline", Online: "online"}.get(type(step), "partition")


def _table(machine, costs) -> CostTable | None:
    if costs is None:
        return cost_table(machine.name) if machine.name in machines_with_costs() else None
    if isinstance(costs, str):
        return cost_table(costs)
    if not isinstance(costs, CostTable):
        raise _check.wrong("costs", costs, "a CostTable, or the name of a machine that has one")
    return costs
