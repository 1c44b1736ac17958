"""The runs behind the answers: one limit, one rule for the phases, many seeds; each is simulated once."""

from __future__ import annotations

import dataclasses
import os

import numpy as np

from ...simulate import simulate
from ...units import NS_PER_US
from .._threads import in_threads
from .host import Host
from .question import Limit

#: Latencies by the name of their histogram, and their percentiles.
LATENCIES = {"wakeup": "wakeup", "completion": "sample"}
PERCENTILES = (50, 99, 99.9)
#: Purpose of the draws of phases (the engine's own streams have others).
_STREAM = 0x77_68_61_74


class Runs:
    """Simulations of a host with other limits of its group; those that were done are remembered.

    Parameters
    ----------
    host : Host
    seeds : int
        A seed draws where the period timers and the ticks lie against the demand, which a recording does not tell.
    on_run : callable, optional
        Called with the number of runs so far.
    """

    def __init__(self, host: Host, seeds: int, on_run=None):
        self.host, self.seeds, self.on_run = host, seeds, on_run
        self._rows: dict[tuple, dict] = {}

    def __len__(self):
        return len(self._rows)

    def rows(self, limit: Limit, phase: str, seeds=None) -> list[dict]:
        """Return one row of numbers a seed."""
        seeds = range(self.seeds) if seeds is None else seeds
        missing = [seed for seed in seeds if (limit, phase, seed) not in self._rows]
        for seed, row in zip(missing, in_threads(lambda seed: self._run(limit, phase, seed), missing)):
            self._rows[limit, phase, seed] = row
        return [self._rows[limit, phase, seed] for seed in seeds]

    def throttles(self, limit: Limit, phase: str) -> bool:
        """Return whether the group is throttled under any seed; the first that is ends the look."""
        together = len(os.sched_getaffinity(0))
        for first in range(0, self.seeds, together):
            some = range(first, min(self.seeds, first + together))
            if any(row["nr_throttled"] for row in self.rows(limit, phase, some)):
                return True
        return False

    def _run(self, limit, phase, seed) -> dict:
        host = self.host
        kernel, work = scenario(host, limit, phase, seed)
        run = simulate(host.machine, kernel, work, host.duration_ns, seed=seed)
        row = _row(run, host)
        if self.on_run is not None:
            self.on_run(len(self._rows) + 1)
        return row


def scenario(host: Host, limit: Limit, phase: str, seed: int):
    """Return the kernel and the workload of one run.

    "random": each limited group's timer has a phase of its own. "aligned": all expire at multiples of their period of
    one clock, whose place against the demand is drawn. The tick's place is drawn in both.
    """
    draw = np.random.default_rng((_STREAM, seed))
    clock_us, tick_us = draw.integers(1_000_000), int(draw.integers(host.kernel.tick_ns // NS_PER_US))
    kernel = host.kernel.with_(tick_offset_us=tick_us)
    if phase == "random" and kernel.timer_phase == "aligned":
        kernel = kernel.with_patch("interleave-timers")
    groups = []
    for group in host.workload.groups:
        if group.path == host.group:
            group = dataclasses.replace(
                group, quota_us=limit.quota_us, period_us=limit.period_us, burst_us=limit.burst_us
            )
        if phase == "aligned":
            group = dataclasses.replace(group, phase_us=float(clock_us))
        groups.append(group)
    return kernel, host.workload.with_limits(*groups)


def _row(run, host) -> dict:
    stat = run.groups[host.workload.group_paths.index(host.group)]
    row = {name: int(stat[name]) for name in ("nr_periods", "nr_throttled", "nr_bursts")}
    row |= {f"{name}_ms": int(stat[f"{name}_ns"]) // 1000 / 1000 for name in ("throttled", "usage")}
    row["throttled_percent"] = 100 * row["nr_throttled"] / max(1, row["nr_periods"])
    for name, kind in LATENCIES.items():
        for percentile in PERCENTILES:
            row[f"{name}_p{percentile}_ms"] = run.percentile_ns(host.labels, percentile, kind) / 1e6
    mine = [task.group in host.labels for task in host.workload.tasks]
    row["nr_completed"] = int(run.task_table["nr_samples"][mine].sum())
    return row
