"""Recordings of real kernels: what ran, and what the kernel did, as the nouns of a simulation.

The files are data/recordings/*.jsonl.gz (SOURCES.md there says how each was made); `schedlab record` makes more in the
same form.
"""

import dataclasses
import gzip
import json
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from .. import _check
from .._resources import data_path
from ..kernel import Kernel
from ..machine import Machine
from ..workload import Group, Workload
from ._recorded_programs import channels_of, tasks_of

KINDS = ("quota", "phases", "cookies", "rebuild", "hole")
#: The share of a timer's expiries that came later than the phase taken for it: a handler is late, never early.
_LATE = 0.9


@dataclass(frozen=True, eq=False)
class Recording:
    """What one run on a real kernel was, and what it gave.

    Attributes
    ----------
    name : str
        Such as "host/i_1thr_pin.r2" or "d-6.18.15-ic3/busy2_60_40_25".
    kind : {"quota", "phases", "cookies", "rebuild", "hole"}
    what : str
    raw : dict
        The record: times in us after `zero_ns` of CLOCK_MONOTONIC.
    """

    name: str
    kind: str
    what: str
    raw: dict = field(repr=False)

    @property
    def is_guest(self) -> bool:
        """Whether it ran in virtual time (QEMU), where work per CPU second is not constant and IPIs are slow."""
        return "QEMU" in self.raw["machine"]["is"]

    @property
    def is_loaded(self) -> bool:
        """Whether other load was on the machine: load average above 4 on 2 CPUs."""
        return self.raw.get("loadavg", 0.0) > 4.0

    @property
    def measured(self) -> dict[str, dict[str, int]]:
        """Counters by group: nr_periods, nr_throttled, throttled_us, nr_bursts, burst_us, usage_us where reported."""
        return self.raw.get("measured", {})

    @cached_property
    def machine(self) -> Machine:
        """CPUs and SMT siblings, all of speed 1 (a sibling costs nothing in virtual time)."""
        cores = tuple(tuple(core) for core in self.raw["machine"]["siblings"])
        throughput = tuple(float(k + 1) for k in range(max(map(len, cores))))
        return Machine(
            name=self.raw["machine"]["is"], cores=cores, smt_throughput=throughput if len(throughput) > 1 else ()
        )

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel as it reported itself, its tick where the recording's tick was."""
        said = self.raw["kernel"]
        tunables = {"hz": said["hz"], "cgroup": said["cgroup"], "tick_offset_us": round(self.tick_phase_us) % 4000}
        cpus = self.raw["machine"]["cpus"]
        names = {"nr_cpus": cpus, "base_slice_ns": said["base_slice_ns"]}
        return Kernel.from_features(said["version"], said["features"] or (), **names, **tunables)

    @property
    def tick_phase_us(self) -> float:
        """Where in its period the tick of CPU 0 lay, us; 0 where it is not known."""
        return self.raw.get("tick_phase_us", 0.0)

    @property
    def start_us(self) -> float:
        """When the first program started."""
        return min(program["start_us"] for program in self.raw["programs"])

    @cached_property
    def timer_phases_us(self) -> dict[str, float]:
        """Phase of each group's period timer in us after zero, for the groups of which it is known.

        The trace tells most. A kernel before 6.4 draws none: its timers are at multiples of their period of the boot
        clock, told or not.
        """
        periods = {group["path"]: group["period_us"] for group in self.raw.get("groups", ())}
        told = {path: phase_of(times, periods[path]) for path, times in self.raw.get("timers_us", {}).items()}
        if self.kernel.timer_phase != "aligned":
            return told
        return {path: -self.raw["zero_ns"] / 1000 % period for path, period in periods.items()} | told

    def workload(self, phases: str = "given", shift_us: float = 0.0, placement: str = "free") -> Workload:
        """Return its groups and tasks.

        Parameters
        ----------
        phases : {"given", "unknown"}
            With the timer phases that were recorded, or as the kernel draws them.
        shift_us : float
            The programs start that much later.
        placement : {"free", "recorded"}
            "recorded" pins each thread to the CPU on which it ran longest.
        """
        _check.choice("phases", phases, ("given", "unknown"))
        _check.choice("placement", placement, ("free", "recorded"))
        known = self.timer_phases_us if phases == "given" else {}
        groups = tuple(
            Group(
                one["path"],
                quota_us=one["quota_us"],
                period_us=one["period_us"],
                burst_us=one["burst_us"],
                phase_us=known.get(one["path"]),
            )
            for one in self.raw["groups"]
        )
        programs = [one | {"start_us": one["start_us"] + shift_us} for one in self.raw["programs"]]
        usage = {path: row["usage_us"] for path, row in self.measured.items() if "usage_us" in row}
        tasks = tasks_of(programs, usage)
        if placement == "recorded":
            homes = self._homes()
            tasks = tuple(dataclasses.replace(task, cpus=homes.get(task.name, task.cpus)) for task in tasks)
        return Workload(groups, tasks, name=self.name, channels=channels_of(programs))

    def _homes(self) -> dict[str, int]:
        """The CPU on which each thread ran longest."""
        lengths: dict[str, dict[int, float]] = {}
        for cpu, thread, start, end in self.raw.get("runs_us", ()):
            of_thread = lengths.setdefault(thread, {})
            of_thread[cpu] = of_thread.get(cpu, 0.0) + end - start
        return {thread: max(of_cpu, key=of_cpu.get) for thread, of_cpu in lengths.items()}

    def runs(self, group: str) -> np.ndarray:
        """Return the run intervals of the programs of a group: rows of (start, end) in us after zero, in order."""
        names = {program["name"] for program in self.raw["programs"] if program["group"] == group}
        rows = [(a, b) for _, name, a, b in self.raw.get("runs_us", ()) if name.rpartition(".")[0] in names]
        return np.array(sorted(rows), dtype=float).reshape(-1, 2)


def phase_of(times, period_us: int) -> float:
    """Return the phase of a timer from the times (us) at which its handler began, in [0, period).

    Examples
    --------
    >>> phase_of([100_010.0, 200_003.0, 300_004.0, 400_090.0], 100_000)
    4.0
    """
    turns = np.exp(2j * np.pi * np.asarray(times) / period_us)
    middle = np.angle(turns.sum()) / (2 * np.pi) * period_us
    apart = (np.asarray(times) - middle + period_us / 2) % period_us - period_us / 2
    early = float(np.quantile(apart, 1 - _LATE, method="lower" if len(apart) > 10 else "higher"))
    return round(float(middle + early) % period_us, 1) % period_us


@lru_cache
def _shipped() -> tuple[Recording, ...]:
    return tuple(one for path in sorted(data_path("recordings").glob("*.jsonl.gz")) for one in read(path))


def read(path: str | Path) -> list[Recording]:
    """Return the recordings of a file, as `schedlab record` leaves them.

    Raises
    ------
    ValueError
        When a line is no recording.
    """
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        _check.choice("kind", row.get("kind"), KINDS)
    return [Recording(row["name"], row["kind"], row["what"], row) for row in rows]


def load(kind: str | None = None, name: str = "") -> list[Recording]:
    """Return the shipped recordings of a kind, or all, whose name begins so.

    Examples
    --------
    >>> [one.name for one in load("quota", "host/i_1thr_pin")]
    ['host/i_1thr_pin.r0', 'host/i_1thr_pin.r2']
    """
    if kind is not None:
        _check.choice("kind", kind, KINDS)
    return [one for one in _shipped() if (kind is None or one.kind == kind) and one.name.startswith(name)]
