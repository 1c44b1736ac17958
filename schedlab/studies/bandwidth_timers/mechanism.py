"""The mechanism: when the two groups run, and how many threads each core has to share itself among."""

import numpy as np
import pandas as pd

from ...phases import group_phases
from ...simulate import simulate
from ...units import NS_PER_MS, NS_PER_US
from ...workloads import stress_ng
from .scenario import Scenario

#: Periods shown, and those before them (a group's first period begins before its timer's first expiry).
SHOWN, BEFORE = 3, 2


def df_run_windows(scenario: Scenario) -> pd.DataFrame:
    """Return when each CPU ran which group, over three periods, with aligned and with interleaved timers.

    Returns
    -------
    pandas.DataFrame
        timers ("aligned" or "interleaved"), phase_ms (second timer after the first), cpu, group ("cg1", "cg2"),
        start_ms, end_ms (from the beginning of the periods shown).
    """
    tables = []
    for timers, phase in (("aligned", "aligned"), ("interleaved", "random")):
        kernel = scenario.kernel_with(phase)
        work = stress_ng.in_groups(2, scenario.quota_us, scenario.period_us, cpu=scenario.workers, cpu_ops=None)
        period_ns = scenario.period_us * NS_PER_US
        begin_ns, end_ns = BEFORE * period_ns, (BEFORE + SHOWN) * period_ns
        run = simulate(scenario.machine, kernel, work, end_ns, seed=scenario.seed, log="switch")
        windows = _windows(run, begin_ns, end_ns)
        one, two = group_phases(kernel, work, scenario.seed)[1:]
        windows.insert(0, "phase_ms", (two - one) % period_ns / NS_PER_MS)
        windows.insert(0, "timers", timers)
        tables.append(windows)
    return pd.concat(tables, ignore_index=True)


def _windows(run, begin_ns, end_ns):
    """Return the intervals in which a CPU ran a group, cut to what is shown; switches inside a group do not end one."""
    group_of = {task.name: task.group.lstrip("/") for task in run.workload.tasks} | {"idle": ""}
    switches = run.switches().sort_values(["cpu", "time_ns"], kind="stable")
    switches["group"] = switches["next"].map(group_of)
    changed = switches["group"] != switches.groupby("cpu")["group"].shift()
    windows = switches[changed].copy()
    windows["end_ns"] = windows.groupby("cpu")["time_ns"].shift(-1, fill_value=end_ns)
    windows = windows[(windows["group"] != "") & (windows["end_ns"] > begin_ns)]
    return pd.DataFrame(
        {
            "cpu": windows["cpu"].to_numpy(),
            "group": windows["group"].to_numpy(),
            "start_ms": (windows["time_ns"].clip(lower=begin_ns) - begin_ns).to_numpy() / NS_PER_MS,
            "end_ms": (windows["end_ns"] - begin_ns).to_numpy() / NS_PER_MS,
        }
    )


def df_threads_per_core(scenario: Scenario, windows: pd.DataFrame) -> pd.DataFrame:
    """Return how many threads of each group run on a core, on the mean over cores, as it changes.

    Parameters
    ----------
    scenario : Scenario
    windows : pandas.DataFrame
        From `df_run_windows`.

    Returns
    -------
    pandas.DataFrame
        timers, time_ms, cg1, cg2 (busy threads a core from this time on until the next row's).
    """
    tables = []
    for timers, part in windows.groupby("timers", sort=False):
        steps = pd.concat(
            [
                pd.DataFrame({"time_ms": part["start_ms"], "group": part["group"], "change": 1}),
                pd.DataFrame({"time_ms": part["end_ms"], "group": part["group"], "change": -1}),
            ]
        )
        busy = steps.pivot_table(index="time_ms", columns="group", values="change", aggfunc="sum", fill_value=0)
        busy = busy.reindex(columns=["cg1", "cg2"], fill_value=0).cumsum() / len(scenario.machine.cores)
        tables.append(busy.reset_index().assign(timers=timers))
    return pd.concat(tables, ignore_index=True)[["timers", "time_ms", "cg1", "cg2"]]


def df_time_shares(scenario: Scenario, threads: pd.DataFrame) -> pd.DataFrame:
    """Return how much of the time nobody, one group and both groups run.

    Parameters
    ----------
    scenario : Scenario
    threads : pandas.DataFrame
        From `df_threads_per_core`.

    Returns
    -------
    pandas.DataFrame
        timers, nobody_percent, one_group_percent, both_percent (a group runs while it has a busy thread),
        threads_per_core_when_busy (mean over the time in which anybody runs).
    """
    rows = []
    for timers, part in threads.groupby("timers", sort=False):
        until = np.append(part["time_ms"].to_numpy()[1:], SHOWN * scenario.period_ms)
        lasts = until - part["time_ms"].to_numpy()
        groups = (part[["cg1", "cg2"]].to_numpy() > 0).sum(axis=1)
        total = SHOWN * scenario.period_ms
        share = [lasts[groups == n].sum() for n in range(3)]
        share[0] += total - sum(share)  # before the first window
        names = ("nobody_percent", "one_group_percent", "both_percent")
        row = {"timers": timers} | {name: 100 * value / total for name, value in zip(names, share)}
        busy = (part[["cg1", "cg2"]].sum(axis=1).to_numpy() * lasts).sum()
        row["threads_per_core_when_busy"] = busy / (total - share[0])
        rows.append(row)
    return pd.DataFrame(rows)
