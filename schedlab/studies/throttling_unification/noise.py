"""Can the published difference be told from noise? Only its summary was posted, not the number of runs."""

import pandas as pd

from .statistics import LEVEL, fewest_runs, power_of, runs_needed, welch

#: Numbers of runs a side for which the test is worked out; the mail does not say how many there were.
RUNS = (3, 5, 10, 20)


def summary(published: pd.DataFrame) -> pd.DataFrame:
    """Return the published summary by statistic: columns tip and tip_plus_series, seconds (amean_coefvar: percent)."""
    return published.set_index("statistic")[["tip", "tip_plus_series"]]


def df_noise(published: pd.DataFrame) -> pd.DataFrame:
    """Return Welch's test of the published means and standard deviations, for several numbers of runs.

    Parameters
    ----------
    published : pandas.DataFrame
        ``published.load("throttling_hackbench")``.

    Returns
    -------
    pandas.DataFrame
        runs (a side), possible (whether so many runs can have the published minimum, median, mean and maximum),
        difference_percent (of tip's mean), low_percent, high_percent (95 % confidence interval), t, df, p
        (two-sided), power_percent (chance that so many runs find a true difference of this size at 5 %).
    """
    table = summary(published)
    sds, percent = table.loc["amean_stddev"], 100 / table.loc["amean", "tip"]
    difference = table.loc["amean", "tip_plus_series"] - table.loc["amean", "tip"]
    fewest = published_fewest(published)
    rows = []
    for n in RUNS:
        test = welch(difference, sds["tip"], n, sds["tip_plus_series"], n)
        row = {"runs": n, "possible": n >= fewest}
        row |= {f"{name}_percent": percent * test[name] for name in ("difference", "low", "high")}
        row |= {name: test[name] for name in ("t", "df", "p")}
        row["power_percent"] = 100 * power_of(difference, sds["tip"], sds["tip_plus_series"], n)
        rows.append(row)
    return pd.DataFrame(rows)


def published_needed(published: pd.DataFrame) -> int:
    """Return the fewest runs a side that would show the published difference with 80 % power at 5 %."""
    table = summary(published)
    sds, means = table.loc["amean_stddev"], table.loc["amean"]
    return runs_needed(means["tip_plus_series"] - means["tip"], sds["tip"], sds["tip_plus_series"])


def significant_from(published: pd.DataFrame) -> int:
    """Return the fewest runs a side with which the published difference would have p below 5 %."""
    table = summary(published)
    sds, means = table.loc["amean_stddev"], table.loc["amean"]
    difference = means["tip_plus_series"] - means["tip"]
    return next(n for n in range(2, 1000) if welch(difference, *(v for sd in sds for v in (sd, n)))["p"] < LEVEL)


def published_fewest(published: pd.DataFrame) -> int:
    """Return the fewest runs that can have the published minimum, median, mean and maximum, of both kernels."""
    table = summary(published)
    return max(fewest_runs(*table.loc[["min", "median", "amean", "max"], kernel]) for kernel in table.columns)
