"""Run time per period and alignment: what a group ran between two expiries of its timer."""

import numpy as np
import pandas as pd

from ...io.recordings import Recording, load
from ...units import NS_PER_MS, NS_PER_US
from .._threads import in_threads
from .runs import Scenario, run_as

#: Two run times of a period agree when they differ by less (us).
NEAR_US = 250.0


def per_period_us(spans, begin_us: float, end_us: float, period_us: int) -> np.ndarray:
    """Return how much of the spans (rows of start and end, us) lies in each whole period from begin_us on.

    Examples
    --------
    >>> per_period_us(np.array([[10.0, 25.0], [100.0, 130.0]]), 0, 200, 100)
    array([15., 30.])
    """
    edges = np.arange(begin_us, end_us - period_us + 1e-6, period_us)
    spans = np.asarray(spans, dtype=float).reshape(-1, 2)
    inside = np.minimum(spans[:, 1], edges[:, None] + period_us) - np.maximum(spans[:, 0], edges[:, None])
    return inside.clip(min=0).sum(axis=1)


def df_run_per_period(scenario: Scenario, placement: str = "recorded") -> pd.DataFrame:
    """Return the run time of each period of each traced group, measured and in the model with the phases given.

    Periods are those between two expiries of the group's timer, from the first after its start to the last before its
    end. Columns: recording, group, period, at_ms (start of the period), measured_ms, model_ms, near (whether they
    differ by less than 0.25 ms).
    """
    found = [one for one in load("quota") if one.raw.get("runs_us") and one.timer_phases_us]
    tables = in_threads(lambda one: _of(scenario, one, placement), found)
    return pd.concat([table for each in tables for table in each], ignore_index=True)


def _of(scenario: Scenario, one: Recording, placement: str):
    run = run_as(scenario, one, "given", 0, placement, log="switch")
    spans = run.spans()
    limits = {group["path"]: group["period_us"] for group in one.raw["groups"]}
    for path in one.raw["timers_us"]:
        programs = [p for p in one.raw["programs"] if p["group"] == path or p["group"].startswith(path + "/")]
        period_us, phase = limits[path], one.timer_phases_us[path]
        start, end = min(p["start_us"] for p in programs), max(p["end_us"] for p in programs)
        begin = phase + np.ceil((start - phase) / period_us) * period_us
        mine = spans[spans["group"].isin({p["group"] for p in programs})][["start_ns", "end_ns"]].to_numpy() / NS_PER_US
        theirs = np.concatenate([one.runs(group) for group in dict.fromkeys(p["group"] for p in programs)])
        measured, model = (per_period_us(each, begin, end, period_us) / 1000 for each in (theirs, mine))
        at = (begin + np.arange(len(measured)) * period_us) / 1000
        yield pd.DataFrame(
            {
                "recording": one.name,
                "group": path,
                "period": np.arange(len(measured)),
                "at_ms": at,
                "measured_ms": measured,
                "model_ms": model,
                "near": np.abs(measured - model) * NS_PER_MS < NEAR_US * NS_PER_US,
            }
        )


def df_alignment(periods: pd.DataFrame) -> pd.DataFrame:
    """Return for each traced group: recording, group, periods, near_share, measured_mean_ms, model_mean_ms."""
    grouped = periods.groupby(["recording", "group"], sort=False)
    table = grouped.agg(
        periods=("near", "size"),
        near_share=("near", "mean"),
        measured_mean_ms=("measured_ms", "mean"),
        model_mean_ms=("model_ms", "mean"),
    )
    return table.reset_index()


def df_intervals(scenario: Scenario, name: str, begin_ms: float, end_ms: float) -> pd.DataFrame:
    """Return the run intervals of one recording, measured and in the model: side, cpu, group, start_ms, end_ms."""
    (one,) = load("quota", name)
    spans = run_as(scenario, one, "given", 0, "recorded", log="switch").spans()
    group_of = {p["name"]: p["group"] for p in one.raw["programs"]}
    rows = [("measured", c, group_of[n.rpartition(".")[0]], a / 1000, b / 1000) for c, n, a, b in one.raw["runs_us"]]
    rows += [("model", r.cpu, r.group, r.start_ns / NS_PER_MS, r.end_ns / NS_PER_MS) for r in spans.itertuples()]
    table = pd.DataFrame(rows, columns=["side", "cpu", "group", "start_ms", "end_ms"])
    table = table[(table["end_ms"] > begin_ms) & (table["start_ms"] < end_ms)]
    return table.assign(start_ms=table["start_ms"].clip(begin_ms), end_ms=table["end_ms"].clip(upper=end_ms))
