"""When interleaving pays: the gain over how much of the time groups run, and how many there are."""

import numpy as np
import pandas as pd

from ...simulate import simulate
from ...steps import repeat, run, sample
from ...units import NS_PER_MS, NS_PER_US
from ...workload import Group, Task, Workload
from .._threads import in_threads
from .scenario import Scenario

#: Utilisations (percent of the time that its quota lets a group run) and numbers of groups of the map.
UTILISATIONS, GROUPS = tuple(range(10, 101, 10)), (2, 4, 8, 16)
QUICK_UTILISATIONS, QUICK_GROUPS = (10, 40, 70, 100), (2, 16)
#: Simulated periods of a run, seeds of random phases, phases of the tick for the others.
PERIODS, SEEDS, TICKS = 20, 8, 2
QUICK_SEEDS, QUICK_TICKS = 2, 1
#: Work of an operation in ns at speed 1; operations done measure the speed.
OPERATION_NS = NS_PER_MS
#: From this gain on it "pays", percent of the time.
PAYS_PERCENT = 1.0


def df_payoff(scenario: Scenario) -> pd.DataFrame:
    """Return the time that other phases save against aligned timers, over utilisation and number of groups.

    All CPUs have one worker that never rests; the workers are split evenly into groups, and each group's quota lets its
    workers run for the given part of the period, which is then the machine's utilisation too. What counts is work a
    CPU second (quota is paid in time, not in work): ``time saved = 1 - speed when aligned / speed``.

    Returns
    -------
    pandas.DataFrame
        groups, utilisation_percent, phases (rule), time_saved_percent (mean), time_saved_low_percent,
        time_saved_high_percent (over seeds or phases of the tick), runs.
    """
    counts = QUICK_GROUPS if scenario.quick else GROUPS
    used = QUICK_UTILISATIONS if scenario.quick else UTILISATIONS
    seeds, ticks = (QUICK_SEEDS, QUICK_TICKS) if scenario.quick else (SEEDS, TICKS)
    cases = []
    for groups in (n for n in counts if n <= scenario.machine.nr_cpus):
        for percent in used:
            for phase in scenario.phases:
                drawn = [(scenario.kernel_with(phase), scenario.seed + k) for k in range(seeds)]
                fixed = [(kernel, scenario.seed) for kernel in scenario.kernels(phase, ticks)]
                chosen = drawn if phase == "random" else fixed
                cases += [(groups, percent, phase, *case) for case in chosen]
    speeds = in_threads(lambda case: _speed(scenario, case[0], case[1], *case[3:]), cases)
    runs = pd.DataFrame([case[:3] for case in cases], columns=["groups", "utilisation_percent", "phases"])
    runs["speed"] = speeds
    aligned = runs[runs["phases"] == "aligned"].groupby(["groups", "utilisation_percent"])["speed"].mean()
    others = runs[runs["phases"] != "aligned"].join(aligned.rename("aligned"), on=["groups", "utilisation_percent"])
    others = others.assign(saved=100 * (1 - others["aligned"] / others["speed"]))
    by_cell = others.groupby(["groups", "utilisation_percent", "phases"], sort=False)["saved"]
    return by_cell.agg(
        time_saved_percent="mean", time_saved_low_percent="min", time_saved_high_percent="max", runs="count"
    ).reset_index()


def _speed(scenario, groups, percent, kernel, seed):
    """Return the mean speed of the workers while they run (1: alone on a core)."""
    workers = scenario.machine.nr_cpus // groups
    quota_us = max(1000, workers * scenario.period_us * percent // 100)
    program = repeat(None, run(OPERATION_NS), sample())
    made = [Group(f"/cg{g}", quota_us=quota_us, period_us=scenario.period_us) for g in range(groups)]
    tasks = [Task(f"{group.path}-{w}", program, group=group.path, label="op") for group in made for w in range(workers)]
    work = Workload(groups=tuple(made), tasks=tuple(tasks))
    duration_ns = PERIODS * scenario.period_us * NS_PER_US
    done = simulate(scenario.machine, kernel, work, duration_ns, seed=seed).tasks()
    return done["nr_samples"].sum() * OPERATION_NS / done["exec_ns"].sum()


def df_payoff_limit(payoff: pd.DataFrame) -> pd.DataFrame:
    """Return where each rule stops paying.

    Parameters
    ----------
    payoff : pandas.DataFrame
        From `df_payoff`.

    Returns
    -------
    pandas.DataFrame
        groups, phases, best_saved_percent, best_at_percent (utilisation), saved_at_50_percent, pays_below_percent: the
        utilisation at which the time saved falls to PAYS_PERCENT (a straight line between cells; missing where it
        never rises above it).
    """
    rows = []
    for (groups, phase), part in payoff.groupby(["groups", "phases"], sort=False):
        used, saved = (part[name].to_numpy(float) for name in ("utilisation_percent", "time_saved_percent"))
        pays = np.flatnonzero(saved > PAYS_PERCENT)
        limit = np.nan
        if len(pays) and pays[-1] == len(saved) - 1:
            limit = used[-1]
        elif len(pays):
            k = pays[-1]
            limit = np.interp(-PAYS_PERCENT, -saved[k : k + 2], used[k : k + 2])
        best = int(saved.argmax())
        row = {"groups": groups, "phases": phase, "best_saved_percent": saved[best], "best_at_percent": used[best]}
        row |= {"saved_at_50_percent": float(np.interp(50, used, saved)), "pays_below_percent": float(limit)}
        rows.append(row)
    return pd.DataFrame(rows)


def df_full_utilisation(scenario: Scenario) -> pd.DataFrame:
    """Return the time of the two-group job when the quota does not limit it: the control.

    Returns
    -------
    pandas.DataFrame
        phases, runs, time_s (mean), over_aligned (ratio of the means).
    """
    from . import stress

    full = scenario.at_full_utilisation()
    count = stress.QUICK_TICKS if scenario.quick else stress.TICKS
    rows = []
    for phase in (p for p in scenario.phases if p in ("aligned", "random")):
        drawn = [(scenario.kernel_with(phase), scenario.seed + k) for k in range(count)]
        fixed = [(kernel, scenario.seed) for kernel in scenario.kernels(phase, count)]
        rows += [(phase, *case) for case in (drawn if phase == "random" else fixed)]
    runs = pd.DataFrame(in_threads(lambda case: stress.run_job(full, 2, *case), rows))
    table = runs.groupby("phases", sort=False)["time_s"].agg(runs="count", time_s="mean").reset_index()
    aligned_s = table.loc[table["phases"] == "aligned", "time_s"].iloc[0]
    return table.assign(over_aligned=table["time_s"] / aligned_s)
