"""The answers as tables: each combination, the smallest quota and burst, and the host as it was. `demand` is in all."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .question import Question
from .runs import LATENCIES, PERCENTILES, Runs

#: Usage follows from the demand; what was recorded and what cpu.stat counted differ by the window's ends and by
#: interrupts.
USAGE_PERCENT = 2.0
#: What is predicted for each combination: name, and unit where it is not in the name.
MEASURES = (
    "nr_periods", "nr_throttled", "throttled_percent", "throttled_ms", "usage_ms",
    *(f"{name}_p{percentile}_ms" for name in LATENCIES for percentile in PERCENTILES), "nr_completed",
)  # fmt: skip


def df_combinations(runs: Runs, question: Question) -> pd.DataFrame:
    """Return what is predicted for each combination of limit and phase.

    Returns
    -------
    pandas.DataFrame
        quota_us (missing: no limit), period_us, burst_us, phase, cpus, seeds; for each of MEASURES its mean over the
        seeds and the least and most of them (_low, _high); demand. nr_throttled counts periods, throttled_ms is summed
        over CPUs, nr_completed counts activations that were done by the end (latencies are of those).
    """
    rows = []
    for limit in question.limits:
        for phase in question.phases:
            row = _head(limit, phase) | {"seeds": runs.seeds}
            rows.append(row | _spread(runs.rows(limit, phase)) | {"demand": runs.host.demand})
    return pd.DataFrame(rows).astype({"quota_us": "Int64"})


def _head(limit, phase) -> dict:
    head = {"quota_us": limit.quota_us, "period_us": limit.period_us, "burst_us": limit.burst_us}
    return head | {"phase": phase, "cpus": limit.cpus}


def _spread(rows) -> dict:
    spread = {}
    for name in MEASURES:
        values = np.array([row[name] for row in rows], float)
        values = values[~np.isnan(values)]
        ends = (values.mean(), values.min(), values.max()) if len(values) else (np.nan,) * 3
        spread |= dict(zip((name, f"{name}_low", f"{name}_high"), ends))
    return spread


def df_replay(runs: Runs) -> pd.DataFrame:
    """Return the host as it was: what its cpu.stat and its recording say, and what the model makes of it.

    Returns
    -------
    pandas.DataFrame
        measure, unit, measured, predicted, low, high (mean, least and most over the seeds), slack (by how much the
        measured may lie outside: a count by one, since the ends of the window are not the periods', and usage by
        USAGE_PERCENT, since no seed changes the work), inside (whether it lies from low to high, or within the slack),
        source ("cpu.stat" or "recording"), demand.
        Counters are for the time between the two readings of cpu.stat, to which the model's are scaled.
    """
    host = runs.host
    model = pd.DataFrame(runs.rows(host.now, host.default_phase))
    scale = host.measured_ns / host.duration_ns
    rows = []
    for name, value in host.measured.items():
        column, unit, factor, slack = name, "", scale, 1.0
        if name.endswith("_usec"):
            column, unit, value = name.replace("_usec", "_ms"), "ms", value / 1000
            slack = USAGE_PERCENT / 100 * value if name == "usage_usec" else 0.0
        rows.append(_held(column, unit, value, model[column] * factor, slack, "cpu.stat"))
    for name, seen in host.seen_ns.items():
        for percentile in PERCENTILES if len(seen) else ():
            rank = max(1, -(-len(seen) * percentile // 100))
            value = float(np.sort(seen)[int(rank) - 1]) / 1e6
            column = f"{name}_p{percentile}_ms"
            rows.append(_held(column, "ms", value, model[column], 0.0, "recording"))
    columns = ["measure", "unit", "measured", "predicted", "low", "high", "slack", "inside", "source"]
    return pd.DataFrame(rows, columns=columns).assign(demand=host.demand)


def _held(name, unit, measured, predicted, slack, source):
    low, high = float(predicted.min()), float(predicted.max())
    inside = bool(low - slack <= measured <= high + slack)
    return (name, unit, float(measured), float(predicted.mean()), low, high, float(slack), inside, source)
