"""Hotplug that follows the load: when each CPU goes and comes, whom that holds up, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from ...events import HoldCpu
from ...hotplug import as_events, hotplug
from ...hotplug.fit import cost_table
from ...patches_hotplug import HOTPLUG_ONLY, LARGE_SYSTEMS, REBUILD_OF_6_18
from ...units import NS_PER_MS
from . import host
from .factors import FACTORS, Cell, base_kernel

#: Whose unit costs: the server of series B on which all eight patches act.
COSTS = "xeon_6985p_c"
#: What of the rest and of the MTRR rendezvous grows with CPUs: all of it, the end of the bracket that is less here.
LINEAR = 1.0
#: The CPU on which the operations are executed.
EXECUTOR = 0
#: CPUs that go in the trough, core by core; they come back in reverse.
LEAVING = (31, 15, 30, 14, 29, 13)
#: The trough's ramp begins after the guests have ended, the other one when they begin.
DOWN_MS, UP_MS = 50, host.CYCLE_MS // 2
#: Seeds move both ramps by up to a period of the limits.
SPREAD_MS = 100
_PATCHES = frozenset(FACTORS["walks"] + FACTORS["large"]) | REBUILD_OF_6_18 | {HOTPLUG_ONLY}
_MTRR = LARGE_SYSTEMS[3]


@dataclass(frozen=True)
class Operation:
    """What one operation takes, in ns.

    Attributes
    ----------
    text : str
    rest_ns : int
        What is neither a call nor the explicit one.
    calls_ns : tuple of int
        Length of each rq_attach_root() call, in order.
    explicit_ns : int
        The explicit call for the CPU that comes or goes.
    rendezvous_ns, dl_ns : int
        The MTRR rendezvous of all CPUs, and dl_clear_root_domain().
    online : tuple of int
        CPUs that are online before it.
    """

    text: str
    rest_ns: int
    calls_ns: tuple[int, ...]
    explicit_ns: int
    rendezvous_ns: int
    dl_ns: int
    online: tuple[int, ...]

    @property
    def comes(self) -> bool:
        """Whether its CPU comes."""
        return self.text.startswith("online")

    @property
    def held_ns(self) -> int:
        """How long calls hold CPUs."""
        return sum(self.calls_ns) + self.explicit_ns


@dataclass(frozen=True)
class Step:
    """An operation in time: begin_ns, active_ns (when the CPU is on or off for the scheduler) and end_ns."""

    operation: Operation
    begin_ns: int
    active_ns: int
    end_ns: int


def plain(kernel):
    """Return the kernel with those patches alone on which the operations depend: few differ."""
    bare = base_kernel()
    return bare.without_patch(*bare.patches).with_patch(*(kernel.patches & _PATCHES))


def shift_ns(seed: int) -> int:
    """Return by how much a seed moves the ramps: evenly spread over SPREAD_MS."""
    return seed * 618_034 % 1_000_000 * SPREAD_MS * NS_PER_MS // 1_000_000


@lru_cache(maxsize=64)
def _operations(kernel) -> tuple[Operation, ...]:
    texts = [f"offline cpu {c}" for c in LEAVING] + [f"online cpu {c}" for c in reversed(LEAVING)]
    online, begin, made = tuple(range(host.CPUS)), {"groups": host.CGROUPS + 1}, []
    for text in texts:
        done = hotplug(host.machine(), kernel, text, costs=cost_table(COSTS), linear=LINEAR, **begin)
        sections = {name: round(float(ns)) for name, ns in done.irq_off_ns.items()}
        made.append(
            Operation(
                text,
                rest_ns=done.total_ns - round(float(done.price_ns["walks"])),
                calls_ns=tuple(ns for _, ns in done.attach_calls),
                explicit_ns=sections["sched_set_rq"],
                rendezvous_ns=round(float(done.price_ns[_MTRR])),
                dl_ns=sections["dl_clear_root_domain"],
                online=online,
            )
        )
        begin, online = {"state": done.state}, tuple(np.flatnonzero(done.state.online).tolist())
    return tuple(made)


def operations(kernel) -> tuple[Operation, ...]:
    """Return the operations of both ramps, in order."""
    return _operations(plain(kernel))


def steps(kernel, seed: int) -> list[Step]:
    """Return the operations of one cycle, one after the other as fast as the kernel makes them.

    A CPU that goes is off for the scheduler from the beginning; one that comes is on when all but the rebuild is done.

    Parameters
    ----------
    kernel : Kernel
    seed : int
    """
    now, came, made = DOWN_MS * NS_PER_MS + shift_ns(seed), False, []
    for operation in operations(kernel):
        if operation.comes and not came:
            now, came = max(now, UP_MS * NS_PER_MS + shift_ns(seed)), True
        active = now + (operation.rest_ns if operation.comes else 0)
        end = now + operation.rest_ns + operation.held_ns
        made.append(Step(operation, now, active, end))
        now = end
    return made


def ramps_ns(kernel, seed: int) -> int:
    """Return how long both ramps take together, ns."""
    return sum(step.end_ns - step.begin_ns for step in steps(kernel, seed))


def events(kernel, seed: int, until_ns: int) -> tuple:
    """Return the ramps as events of the workload: CPUs that change, and CPUs that are held.

    Beside what `as_events` makes of each operation, the MTRR rendezvous holds all CPUs that are online just before a
    coming one is on, and dl_clear_root_domain() holds the executing CPU after the last call.

    Parameters
    ----------
    kernel : Kernel
    seed : int
    until_ns : int
        CPUs that would change later do not.
    """
    done = [step for step in steps(kernel, seed) if step.active_ns < until_ns]
    made = list(
        as_events(
            host.machine(),
            plain(kernel),
            [(step.active_ns, step.operation.text) for step in done],
            groups=host.CGROUPS + 1,
            executor=EXECUTOR,
            costs=cost_table(COSTS),
            core_scheduling=True,
        )
    )
    for step in done:
        operation = step.operation
        if operation.rendezvous_ns:
            at = step.active_ns - operation.rendezvous_ns
            made += [HoldCpu(at, cpu, operation.rendezvous_ns) for cpu in operation.online]
        if operation.dl_ns:
            made.append(HoldCpu(step.active_ns + sum(operation.calls_ns), EXECUTOR, operation.dl_ns))
    return tuple(sorted(made, key=lambda event: event.at_ns))


def irq_off(kernel, seed: int, until_ns: int) -> dict[str, int]:
    """Return what the operations keep off: longest_ns of one section, and total_ns over all CPUs, before `until_ns`.

    Counted where interrupts are off by themselves: the executing CPU in each call and in dl_clear_root_domain(), the
    CPU that comes or goes in the explicit call, all CPUs in a rendezvous. A CPU whose lock is held meanwhile is not.
    """
    longest = total = 0
    for step in steps(kernel, seed):
        one = step.operation
        if step.active_ns < until_ns:
            longest = max(longest, *one.calls_ns, one.explicit_ns, one.dl_ns, one.rendezvous_ns)
            total += one.held_ns + one.dl_ns + len(one.online) * one.rendezvous_ns
    return {"longest_ns": longest, "total_ns": total}


def df_follow(seed: int = 0) -> pd.DataFrame:
    """Return when CPUs go and come, with each series of hotplug patches, with both and with neither.

    Returns
    -------
    pandas.DataFrame
        cell, operation, begin_ms, active_ms (when the scheduler loses or gets the CPU), end_ms, online (CPUs
        afterwards), call_us (one rq_attach_root() call), rendezvous_us.
    """
    rows = []
    for on in (set(), {"walks"}, {"large"}, {"walks", "large"}):
        cell = Cell(frozenset(on))
        for step in steps(cell.kernel, seed):
            one = step.operation
            times = {f"{name}_ms": getattr(step, f"{name}_ns") / NS_PER_MS for name in ("begin", "active", "end")}
            online = len(one.online) + (1 if one.comes else -1)
            row = {"cell": cell.name, "operation": one.text} | times | {"online": online}
            rows.append(row | {"call_us": max(one.calls_ns) / 1000, "rendezvous_us": one.rendezvous_ns / 1000})
    return pd.DataFrame(rows)
