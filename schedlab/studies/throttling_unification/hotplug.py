"""A limit bypassed through CPU hotplug: each rebuild of the domains gave every CPU a fresh start (to 6.13)."""

import numpy as np
import pandas as pd

from ...events import SetCpuOnline
from ...kernel import Kernel
from ...machine import Machine
from ...simulate import simulate
from ...steps import run as user_work
from ...units import NS_PER_MS, NS_PER_S
from ...workload import Group, Task, Workload
from .._threads import in_threads
from .scenario import Scenario

#: The published test (fact sheet F5): 8 hogs on 8 CPUs for 20 s with cpu.max 50000 100000.
CPUS, QUOTA_US, SECONDS = 8, 50_000, 20
#: What that should use, s.
IDEAL_S = SECONDS * QUOTA_US / 100_000
#: Time from one operation (a CPU off, or on again) to the next, ms. None keeps step with the period of 100 ms, in which
#: case all operations would fall into the same parts of it.
EVERY_MS = (1990, 970, 490, 310, 190, 130, 97, 71, 53, 31, 23)
QUICK_EVERY_MS = (970, 310, 97, 53)
#: Phases of the operations against the period, over which a rate is averaged, and in a quick run.
PHASES, QUICK_PHASES = 6, 2
#: The interval that the buggy kernel is judged at: the fact sheet expects more than 12 s at 100 ms or less.
JUDGED_MS = 97
FIX = "unthrottle-offline-only"
#: The row that the fix (December 2024) was made for.
RELEASE = "6.12"


def kernels() -> dict[str, Kernel]:
    """Return the kernel without the fix and with it."""
    buggy = Kernel.version(RELEASE)
    return {"buggy": buggy, "fixed": buggy.with_patch(FIX)}


def used_s(kernel: Kernel, every_ms: int | None, phase: float = 0.0, seed: int = 0) -> float:
    """Return the CPU time of the group in s, with an operation on the last CPU each `every_ms` (None: no hotplug).

    The period timer is in step with the start, so that the run is 200 whole periods. The first operation comes
    `phase` periods (0 to 1) after the first interval.
    """
    events = []
    if every_ms is not None:
        times = range(every_ms * NS_PER_MS + int(phase * 100 * NS_PER_MS), SECONDS * NS_PER_S, every_ms * NS_PER_MS)
        events = [SetCpuOnline(time_ns, CPUS - 1, bool(k % 2)) for k, time_ns in enumerate(times)]
    tasks = tuple(Task(f"hog{k}", user_work("1000s"), group="/g") for k in range(CPUS))
    work = Workload((Group("/g", quota_us=QUOTA_US, phase_us=0),), tasks, tuple(events))
    run = simulate(Machine.uniform(CPUS), kernel, work, f"{SECONDS}s", seed=seed)
    return run.cpu_stat().loc["/g", "usage_usec"] / 1e6


def df_hotplug(scenario: Scenario) -> pd.DataFrame:
    """Return the CPU time that the group gets against how often a CPU is taken off and put back.

    Each rate is averaged over phases of the operations against the period.

    Returns
    -------
    pandas.DataFrame
        kernel ("buggy" or "fixed"), every_ms (from one operation to the next; missing: no hotplug),
        operations_per_s, used_s (mean over phases), used_low_s, used_high_s, over_ideal (the ideal is quota times
        periods).
    """
    sweep = (None, *(QUICK_EVERY_MS if scenario.quick else EVERY_MS))
    count = QUICK_PHASES if scenario.quick else PHASES
    cases = [
        (name, every_ms, (k + 0.5) / count)
        for name in kernels()
        for every_ms in sweep
        for k in range(1 if every_ms is None else count)
    ]
    used = in_threads(lambda case: used_s(kernels()[case[0]], *case[1:], seed=scenario.seed), cases)
    runs = pd.DataFrame(cases, columns=["kernel", "every_ms", "phase"]).assign(used_s=used)
    by = runs.groupby(["kernel", "every_ms"], sort=False, dropna=False)["used_s"]
    table = by.agg(used_s="mean", used_low_s="min", used_high_s="max").reset_index()
    table.insert(2, "operations_per_s", (1000 / table["every_ms"]).fillna(0.0))
    return table.assign(over_ideal=table["used_s"] / IDEAL_S)


def implied_rate(table: pd.DataFrame, published_s: float) -> float:
    """Return the operations a second at which the buggy kernel uses `published_s` (missing where it never does).

    The mail does not say how fast its loop was.
    """
    part = table[table["kernel"] == "buggy"].sort_values("operations_per_s")
    used, rate = part["used_s"].cummax().to_numpy(), part["operations_per_s"].to_numpy()
    if not used[0] <= published_s <= used[-1]:
        return float("nan")
    return float(np.interp(published_s, used, rate))
