"""One run of the hypervisor, and what is counted of it."""

import numpy as np

from ...simulate import simulate
from ...units import NS_PER_S
from ...workloads.hypervisor import Hwlat, noise, stress_throughput, windows_and_gaps
from .._threads import in_threads
from .gaps import CAUSES, causes_of, longest

#: Log kinds that the measures need.
LOG = ("switch", "block")
#: Columns with the share of N_max that each cause has, percent of the time sampled.
CAUSE_COLUMNS = tuple(f"n_max: {cause}" for cause in CAUSES)


def measure(machine, kernel, workload, seconds: float, seed: int, hwlat: Hwlat | None = None) -> dict:
    """Run once; return noise, forced idle time and what balancing did, per second of the whole machine."""
    run = simulate(machine, kernel, workload, round(seconds * NS_PER_S), seed=seed, log=LOG)
    return summarise(run, hwlat)


def summarise(run, hwlat: Hwlat | None = None) -> dict:
    """Return what is counted of a run.

    Returns
    -------
    dict
        seed; n_max, n_sum (noise, percent), breached (percent of windows), windows; one column for each cause, which
        add up to n_max; stress_cpus (CPUs' worth of time of the guests that compute); forced_idle_cpus (mean number of
        CPUs forced idle); steals, pushes, active_balances, migrations, callbacks (attempts to steal and push), scanned
        and locked (CPUs), each per second.
    """
    table, gaps = windows_and_gaps(run, hwlat)
    found = noise(run, hwlat, table)
    row = {"seed": run.seed, **{name: found[name] for name in ("n_max", "n_sum", "breached", "windows")}}
    row |= dict(zip(CAUSE_COLUMNS, _by_cause(run, gaps, found["n_max"])))
    seconds = run.duration_ns / NS_PER_S
    counts = run.core_table
    row["stress_cpus"] = stress_throughput(run)
    row["forced_idle_cpus"] = float(counts["forced_idle_ns"].sum() / run.duration_ns)
    for name, column in (
        ("steals", "nr_steals"), ("pushes", "nr_pushes"), ("active_balances", "nr_active_balances"),
        ("callbacks", "nr_core_balances"), ("scanned", "nr_scanned"), ("locked", "nr_locked"),
    ):  # fmt: skip
        row[name] = float(counts[column].sum() / seconds)
    row["migrations"] = float(run.task_table["nr_migrations"].sum() / seconds)
    return row


def _by_cause(run, gaps, n_max):
    """Return N_max split by the cause of the longest gap of each window."""
    most = gaps[longest(gaps)]
    ns = np.bincount(causes_of(run, most), weights=most["gap_ns"], minlength=len(CAUSES))
    return n_max * ns / max(1.0, ns.sum())


def measure_all(cases, progress: bool = True) -> list[dict]:
    """Return `measure` of each case (a dict of its arguments), in threads."""
    return in_threads(lambda case: measure(**case), list(cases), progress=progress)
