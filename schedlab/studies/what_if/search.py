"""The smallest quota without throttling and the smallest burst that removes it, by bisection over simulations."""

from __future__ import annotations

import pandas as pd

from ...cgroup import MIN_QUOTA_US
from .question import Limit, Question
from .runs import Runs


def df_quota(runs: Runs, question: Question, resolution_us: int = 1000) -> pd.DataFrame:
    """Return the smallest quota under which no seed throttles the group.

    It is at most what the CPUs of the machine can use in a period, and at least what the kernel takes (or the burst, if
    that is more). The bisection takes it that a larger quota throttles no more.

    Returns
    -------
    pandas.DataFrame
        period_us, burst_us, phase, quota_us (missing: even the largest is throttled), cpus, resolution_us, tried
        (quotas that were simulated), seeds, demand.
    """
    rows = []
    cells = dict.fromkeys((limit.period_us, limit.burst_us) for limit in question.limits)
    for period_us, burst_us in cells:
        largest = max(runs.host.machine.nr_cpus * period_us, MIN_QUOTA_US, burst_us)
        for phase in question.phases:

            def fails(quota_us, period_us=period_us, burst_us=burst_us, phase=phase):
                return runs.throttles(Limit(quota_us, period_us, burst_us), phase)

            quota_us, tried = _bisect(fails, max(MIN_QUOTA_US, burst_us), largest, resolution_us)
            row = {"period_us": period_us, "burst_us": burst_us, "phase": phase, "quota_us": quota_us}
            row["cpus"] = float("nan") if quota_us is None else quota_us / period_us
            rows.append(row | _how(runs, resolution_us, tried))
    columns = ["period_us", "burst_us", "phase", "quota_us", "cpus", "resolution_us", "tried", "seeds", "demand"]
    return pd.DataFrame(rows, columns=columns).astype({"quota_us": "Int64"})


def df_burst(runs: Runs, question: Question, resolution_us: int = 1000) -> pd.DataFrame:
    """Return the smallest burst with which no seed throttles the group, for each quota and period that was asked.

    Returns
    -------
    pandas.DataFrame
        quota_us, period_us, phase, burst_us (0: none is needed; missing: not even one as large as the quota, which is
        the largest that the kernel takes), resolution_us, tried, seeds, demand. Without a quota there is no row.
    """
    rows = []
    cells = dict.fromkeys((limit.quota_us, limit.period_us) for limit in question.limits if limit.quota_us is not None)
    for quota_us, period_us in cells:
        for phase in question.phases:

            def fails(burst_us, quota_us=quota_us, period_us=period_us, phase=phase):
                return runs.throttles(Limit(quota_us, period_us, burst_us), phase)

            burst_us, tried = _bisect(fails, 0, quota_us, resolution_us)
            row = {"quota_us": quota_us, "period_us": period_us, "phase": phase, "burst_us": burst_us}
            rows.append(row | _how(runs, resolution_us, tried))
    columns = ["quota_us", "period_us", "phase", "burst_us", "resolution_us", "tried", "seeds", "demand"]
    return pd.DataFrame(rows, columns=columns).astype({"burst_us": "Int64"})


def _how(runs, resolution_us, tried):
    return {"resolution_us": resolution_us, "tried": tried, "seeds": runs.seeds, "demand": runs.host.demand}


def _bisect(fails, low: int, high: int, step: int) -> tuple[int | None, int]:
    """Return the smallest value on the grid low, low + step, .. high that does not fail, and how many were tried."""
    if not fails(low):
        return low, 1
    if fails(high):
        return None, 2
    tried, first, last = 2, 0, -(-(high - low) // step)  # on the grid: `first` fails, `last` does not
    while last - first > 1:
        middle = (first + last) // 2
        tried += 1
        first, last = (middle, last) if fails(low + middle * step) else (first, middle)
    return min(high, low + last * step), tried
