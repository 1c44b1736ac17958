"""Where the machine's and the job's numbers are from: the calibration, done again from the published tables."""

import numpy as np
import pandas as pd

from ...machine import Machine
from ...workloads import stress_ng
from .scenario import Scenario

#: Idle power that `df_idle_sensitivity` tries, W.
IDLE_WATTS = tuple(range(36, 49, 2))
#: The tolerance of the power of the published interleaved runs, percent.
POWER_PERCENT = 5.0


def df_calibration(
    scenario: Scenario, runs: pd.DataFrame, stress_ng_table: pd.DataFrame, rfc_table: pd.DataFrame
) -> pd.DataFrame:
    """Return each calibrated parameter as it is in use and as it follows from the published runs.

    Nothing here looks at a run with interleaved timers: the throughput of a full core follows from the times of one
    group and of two aligned ones, the watts from the power of the same runs and (idle) from unpatched runs of an
    earlier posting, the rate of a worker from the time of one group.

    Parameters
    ----------
    scenario : Scenario
    runs : pandas.DataFrame
        From `df_stress_runs`.
    stress_ng_table, rfc_table : pandas.DataFrame
        ``published.load("bandwidth_stress_ng")`` and ``published.load("bandwidth_rfc_v2")``.

    Returns
    -------
    pandas.DataFrame
        parameter, unit, in_use, recomputed, off_percent, published_from.
    """
    machine, mean = scenario.machine, _unpatched_means(stress_ng_table)
    half, full = max(1, machine.threads_per_core // 2), machine.threads_per_core
    speed = [machine.thread_speed_ppm(0, n) / 1e6 for n in (half, full)]
    found = [
        (
            "throughput of a full core over a half full one",
            "",
            2 * speed[1] / speed[0],
            2 * mean["time_s", 1] / mean["time_s", 2],
            "time of 1 group over time of 2 aligned",
        )
    ]
    if machine.watts is not None:
        idle_w = idle_watts(rfc_table)
        core_w, thread_w = fitted_watts(idle_w, mean["power_w", 1], mean["power_w", 2], machine)
        source = "power of 1 group and of 2 aligned, given idle_w"
        found += [
            ("idle_w", "W", machine.watts.idle_w, idle_w, "RFC v2, unpatched, extrapolated to no core"),
            ("core_w", "W", machine.watts.core_w, core_w, source),
            ("thread_w", "W", machine.watts.thread_w, thread_w, source),
        ]
    rate = stress_ng.OPS_PER_SECOND
    found.append(("operations of a worker alone", "1/s", rate, rate * _too_slow(runs, mean), "time of 1 group"))
    table = pd.DataFrame(found, columns=["parameter", "unit", "in_use", "recomputed", "published_from"])
    table.insert(4, "off_percent", 100 * (table["in_use"] / table["recomputed"] - 1))
    return table


def _unpatched_means(table):
    """Return the mean of the unpatched runs by column and number of groups."""
    means = table[table["kernel"] == "aligned"].groupby("cgroups")[["time_s", "power_w"]].mean()
    return {(column, groups): means.loc[groups, column] for column in means.columns for groups in means.index}


def _too_slow(runs, mean):
    """Return by how much the model's single group takes too long.

    Midway between the tick that falls on period boundaries, the kernel model's default, and the mean over its phases.
    """
    alone = runs[(runs["groups"] == 1) & (runs["phases"] == "aligned")]
    on_boundary = alone.loc[alone["tick_offset_us"] == 0, "time_s"].mean()
    return np.sqrt(on_boundary * alone["time_s"].mean()) / mean["time_s", 1]


def idle_watts(rfc_table: pd.DataFrame) -> float:
    """Return the power of no busy core that the unpatched runs of RFC v2 on 1 to 8 cores extrapolate to, W.

    The mean of two straight lines, through the runs of one group and of two.

    Examples
    --------
    >>> from schedlab import published
    >>> round(idle_watts(published.load("bandwidth_rfc_v2")), 3)
    40.707
    """
    table = rfc_table[(rfc_table["series"] == "rfc_v2") & (rfc_table["kernel"] == "aligned")]
    table = table.assign(power_w=(table["power_low_w"] + table["power_high_w"]) / 2)
    ends = []
    for _, part in table.groupby("cgroups"):
        by_cores = part.groupby("cores")["power_w"].mean()
        ends.append(np.polyfit(by_cores.index, by_cores, 1)[1])
    return float(np.mean(ends))


def fitted_watts(idle_w: float, one_w: float, two_w: float, machine: Machine) -> tuple[float, float]:
    """Return the power of a busy core and of a busy thread that give the two published powers.

    Half of each period is idle; in the other half all cores are busy, with half of their threads when one group runs
    and with all of them when two aligned ones do.

    Parameters
    ----------
    idle_w, one_w, two_w : float
        Power of the idle machine, and mean power with one group and with two, W.
    machine : Machine

    Returns
    -------
    tuple of float
        core_w, thread_w.

    Examples
    --------
    >>> fitted_watts(40.0, 80.0, 96.0, Machine.load("power-8core-smt8"))
    (6.0, 1.0)
    """
    thread_w = (2 * two_w - 2 * one_w) / (machine.nr_cpus / 2)
    core_w = (2 * one_w - 2 * idle_w - machine.nr_cpus / 2 * thread_w) / len(machine.cores)
    return core_w, thread_w


def df_idle_sensitivity(scenario: Scenario, phases: pd.DataFrame, stress_ng_table: pd.DataFrame) -> pd.DataFrame:
    """Return what another idle power would have predicted for the published interleaved runs.

    The two powers that may be used do not fix idle_w: core_w and thread_w are fitted again for each value of it, so
    that one group and two aligned ones stay where they are.

    Parameters
    ----------
    scenario : Scenario
    phases : pandas.DataFrame
        From `df_published_phases`.
    stress_ng_table : pandas.DataFrame
        ``published.load("bandwidth_stress_ng")``.

    Returns
    -------
    pandas.DataFrame
        idle_w, run, power_w (model), published_power_w, error_percent, agrees (within POWER_PERCENT), in_use
        (whether it is the machine's own idle_w).
    """
    mean, machine = _unpatched_means(stress_ng_table), scenario.machine
    known = [] if machine.watts is None else [machine.watts.idle_w]
    rows = []
    for idle_w in sorted({*map(float, IDLE_WATTS), *known}):
        core_w, thread_w = fitted_watts(idle_w, mean["power_w", 1], mean["power_w", 2], machine)
        table = phases[["run", "published_power_w"]].copy()
        table.insert(0, "idle_w", idle_w)
        table.insert(2, "power_w", idle_w + core_w * phases["busy_cores"] + thread_w * phases["busy_threads"])
        table["error_percent"] = 100 * (table["power_w"] / table["published_power_w"] - 1)
        table["agrees"] = table["error_percent"].abs() <= POWER_PERCENT
        table["in_use"] = idle_w in known
        rows.append(table)
    return pd.concat(rows, ignore_index=True)
