"""The posted experiment: guests that compute, one that measures, and the kernels that are compared."""

import pandas as pd

from .gaps import CAUSES
from .measure import CAUSE_COLUMNS, measure_all
from .scenario import VARIANTS, Scenario
from .statistics import mean_interval, ratio_interval

#: Published noise, percent, by the variant that it stands beside. The text of the force-idle-aware balancing was not
#: found: its number stands beside each of its three readings.
PUBLISHED = {
    "baseline": 1.20, "push": 0.66, "lb_a": 0.63, "lb_b": 0.63, "lb_c": 0.63, "push+lb_a": 0.45, "push+lb_b": 0.45,
    "push+lb_c": 0.45,
}  # fmt: skip
#: Bursts of the VMM threads, us, over which the baseline's noise is shown, and runs of each at most.
BURST_RUNS = 6
BURSTS_US, QUICK_BURSTS_US = (100, 150, 200, 250, 300, 400), (100, 200, 400)


def df_runs(scenario: Scenario, variants=tuple(VARIANTS), *, progress: bool = True) -> pd.DataFrame:
    """Return every run of the experiment.

    Returns
    -------
    pandas.DataFrame
        variant, and the columns of `measure.summarise`.
    """
    work = scenario.workload()
    cases = [
        dict(
            machine=scenario.machine, kernel=scenario.kernel_with(variant), workload=work, seconds=scenario.seconds,
            seed=scenario.seed + k,
        )
        for variant in variants
        for k in range(scenario.runs_of(variant))
    ]  # fmt: skip
    table = pd.DataFrame(measure_all(cases, progress))
    table.insert(0, "variant", [variant for variant in variants for _ in range(scenario.runs_of(variant))])
    return table


def df_noise(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the noise of each variant with 95 % intervals over runs (Student's t), and what it is of the baseline's.

    Parameters
    ----------
    runs : pandas.DataFrame
        From `df_runs`.

    Returns
    -------
    pandas.DataFrame
        variant, runs; for n_max and n_sum: mean, _low, _high, _sd (percent) and _of_baseline with _of_low, _of_high
        (ratio of means); published (percent, of N_max).
    """
    base = runs[runs["variant"] == "baseline"]
    rows = []
    for variant, part in runs.groupby("variant", sort=False):
        row = {"variant": variant, "runs": len(part)}
        for name in ("n_max", "n_sum"):
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), mean_interval(part[name])))
            row[f"{name}_sd"] = part[name].std(ddof=1)
            found = ratio_interval(part[name], base[name]) if variant != "baseline" else (1.0, 1.0, 1.0)
            row |= dict(zip((f"{name}_of_baseline", f"{name}_of_low", f"{name}_of_high"), found))
        row["published"] = PUBLISHED.get(variant, float("nan"))
        rows.append(row)
    return pd.DataFrame(rows)


def df_causes(runs: pd.DataFrame) -> pd.DataFrame:
    """Return what the noise of each variant comes from.

    Returns
    -------
    pandas.DataFrame
        variant, cause, n_max (percent of the time sampled: the part of N_max whose longest gaps began by that cause).
    """
    means = runs.groupby("variant", sort=False)[list(CAUSE_COLUMNS)].mean()
    means.columns = list(CAUSES)
    return means.rename_axis(columns="cause").stack().rename("n_max").reset_index()


def df_work(runs: pd.DataFrame) -> pd.DataFrame:
    """Return what the kernels did: means over runs, per second of the whole machine.

    Returns
    -------
    pandas.DataFrame
        variant, stress_cpus (with _low, _high: 95 %), forced_idle_cpus, breached (percent of windows), steals, pushes,
        active_balances, migrations, callbacks, scanned, locked.
    """
    names = [
        "stress_cpus", "forced_idle_cpus", "breached", "steals", "pushes", "active_balances", "migrations",
        "callbacks", "scanned", "locked",
    ]  # fmt: skip
    table = runs.groupby("variant", sort=False)[names].mean()
    ends = {variant: mean_interval(part["stress_cpus"]) for variant, part in runs.groupby("variant", sort=False)}
    table.insert(1, "stress_cpus_low", [ends[variant][1] for variant in table.index])
    table.insert(2, "stress_cpus_high", [ends[variant][2] for variant in table.index])
    return table.reset_index()


def df_burst(scenario: Scenario, *, progress: bool = True) -> pd.DataFrame:
    """Return the noise of baseline and push against the burst of the VMM threads, the one number that is fitted.

    Returns
    -------
    pandas.DataFrame
        variant, burst_us, n_max, n_max_low, n_max_high (percent; 95 % over runs).
    """
    bursts = QUICK_BURSTS_US if scenario.quick else BURSTS_US
    cells = [(variant, burst) for variant in ("baseline", "push") for burst in bursts]
    count = max(2, min(scenario.runs, BURST_RUNS))
    cases = [
        dict(
            machine=scenario.machine, kernel=scenario.kernel_with(variant),
            workload=scenario.workload(vmm_burst=f"{burst}us"), seconds=scenario.seconds, seed=scenario.seed + k,
        )
        for variant, burst in cells
        for k in range(count)
    ]  # fmt: skip
    values = [row["n_max"] for row in measure_all(cases, progress)]
    rows = []
    for k, (variant, burst) in enumerate(cells):
        found = mean_interval(values[k * count : (k + 1) * count])
        rows.append((variant, burst, *found))
    return pd.DataFrame(rows, columns=["variant", "burst_us", "n_max", "n_max_low", "n_max_high"])
