"""The runs: every kernel with every seed, and what is read off each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import pandas as pd

from ...simulate import simulate
from ...units import NS_PER_MS, NS_PER_S, NS_PER_US
from .._threads import in_threads
from . import follow, host
from .factors import FACTORS, Cell
from .scope import Scope


@dataclass(frozen=True)
class Response:
    """What is asked of a run: its column, what it is called, its unit, and whether more of it is better."""

    column: str
    title: str
    unit: str
    more_is_better: bool
    digits: int


#: The questions, in the order of tables and figures.
RESPONSES = (
    Response("throughput", "work of batch sandboxes", "CPUs", True, 2),
    Response("late_us", "p99.9 wake-up latency", "us", False, 0),
    Response("watts", "power", "W", False, 2),
    Response("irq_off_max_us", "longest time with IRQs off", "us", False, 0),
    Response("irq_off_ms_per_s", "time with IRQs off", "ms/s", False, 1),
)
#: One cycle of the load.
DURATION_NS = host.CYCLE_MS * NS_PER_MS
_BARE = host.workload()


@lru_cache(maxsize=256)
def _workload(plain, seed):
    return _BARE.replace(events=follow.events(plain, seed, DURATION_NS))


def scenario(cell: Cell, seed: int):
    """Return the kernel and the workload of a run; the seed also moves the ticks, which are nobody's choice.

    Parameters
    ----------
    cell : Cell
    seed : int
    """
    kernel = cell.kernel
    tick_us = seed * 618_034 % 1_000_000 * (kernel.tick_ns // NS_PER_US) // 1_000_000
    return kernel.with_(tick_offset_us=tick_us), _workload(follow.plain(kernel), seed)


def measure(cell: Cell, seed: int) -> dict[str, float]:
    """Return the responses of one run, and what explains them; see `df_runs`."""
    kernel, work = scenario(cell, seed)
    run = simulate(host.machine(), kernel, work, DURATION_NS, seed=seed)
    seconds = DURATION_NS / NS_PER_S
    tasks, cpus, forced = run.tasks(), run.cpus(), run.forced_idle()
    batch = tasks["name"].str.startswith("t")
    held = follow.irq_off(kernel, seed, DURATION_NS)
    return {
        "throughput": float(tasks.loc[batch, "nr_samples"].sum()) * host.OPERATION_NS / DURATION_NS,
        "late_us": run.percentile_ns("front", 99.9, "wakeup") / 1000,
        "watts": run.power()["mean_w"],
        "irq_off_max_us": max(held["longest_ns"], int(cpus["irqoff_max_ns"].max())) / 1000,
        "irq_off_ms_per_s": (held["total_ns"] + int(cpus["irqoff_ns"].sum())) / NS_PER_MS / seconds,
        "throttle_irq_off_max_us": int(cpus["irqoff_max_ns"].max()) / 1000,
        "wakeups": int(tasks.loc[tasks["name"].str.startswith("front"), "nr_wakeups"].sum()),
        "batch_cpus": float(tasks.loc[batch, "exec_ns"].sum()) / DURATION_NS,
        "guest_cpus": float(tasks.loc[tasks["name"].str.startswith("vm"), "exec_ns"].sum()) / DURATION_NS,
        "forced_idle_cpus": float(forced["forced_idle_ns"].sum()) / DURATION_NS,
        "steals": int(forced["nr_steals"].sum()),
        "pushes": int(forced["nr_pushes"].sum()),
        "ramps_ms": follow.ramps_ns(kernel, seed) / NS_PER_MS,
        "violations": len(run.violations()),
    }


def df_runs(scope: Scope) -> pd.DataFrame:
    """Run all cells with all seeds.

    Parameters
    ----------
    scope : Scope

    Returns
    -------
    pandas.DataFrame
        cell (factors that are on), label (another patch, "" for none), design (whether effects are estimated from
        it), one boolean a factor, seed; throughput (work that batch sandboxes did, in CPUs of speed 1), late_us,
        watts, irq_off_max_us, irq_off_ms_per_s; throttle_irq_off_max_us (without hotplug), wakeups (of the front
        tasks), batch_cpus and guest_cpus (CPU time over time), forced_idle_cpus (CPUs idle on a cookie's account),
        steals, pushes, ramps_ms (how long both ramps take),
        violations (invariants broken).
    """
    design = set(scope.design)
    cases = [(cell, seed) for cell in scope.cells for seed in scope.all_seeds]
    for plain, seed in {(follow.plain(cell.kernel), seed): None for cell, seed in cases}:
        _workload(plain, seed)  # here, so that no two threads make the same one
    rows = []
    for (cell, seed), found in zip(cases, in_threads(lambda case: measure(*case), cases), strict=True):
        head = {"cell": cell.name, "label": cell.label, "design": cell in design}
        rows.append(head | {name: name in cell.on for name in FACTORS} | {"seed": seed} | found)
    return pd.DataFrame(rows)
