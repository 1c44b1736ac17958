"""The model against what was measured: the host as it was, and other limits where somebody tried them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..._resources import data_path
from ...published import Comparison
from ..bandwidth_timers import say_comparison as table_text
from .host import Host
from .question import Limit
from .runs import Runs
from .tables import USAGE_PERCENT

#: The example that ships: a snapshot with its recording, and runs of the same service under other limits.
EXAMPLE = "example"
_FOLDER, _TABLE = "service-web", "service-web.csv"
AS_WAS = "The host as it was: its cpu.stat against the model's range over the phases"
LATENCIES = "The host as it was: latencies in the recording against the model's range"
OTHERS = "Other limits, predicted from the recording under one: against {repeats} measured runs each"
#: Tolerances, named before the comparison (data/recordings: what to demand of a model). Usage and periods follow from
#: the demand; how often the group is throttled is decided by phases, so that ranges are compared.
PERIODS = 1
#: Of other limits: throttled periods (of 60), throttled time (percent; ms where there is little of it), latencies.
THROTTLED, THROTTLED_PERCENT, THROTTLED_MS, LITTLE_MS, COMPLETION_PERCENT = 3, 25.0, 100.0, 500.0, 25.0


def example_path() -> Path:
    """Return the folder of the snapshot that ships."""
    return data_path("examples", _FOLDER)


def path_of(source) -> Path:
    """Return the path of a recording; "example" is the one that ships."""
    return example_path() if str(source) == EXAMPLE else Path(source)


def is_example(source) -> bool:
    """Whether that is what is asked about."""
    return path_of(source).resolve() == example_path().resolve()


def df_measured() -> pd.DataFrame:
    """Return the runs of the example's service under other limits.

    Returns
    -------
    pandas.DataFrame
        quota_us, period_us, burst_us, repeat, seconds, nr_periods, nr_throttled, throttled_usec, usage_usec (cpu.stat,
        over `seconds`), jobs, response_p50_us, response_p95_us, response_p99_us (as the program counted them over the
        whole run), loadavg. data/examples/SOURCES.md says how it was made.
    """
    return pd.read_csv(data_path("examples", _TABLE))


def measured_limits() -> tuple[Limit, ...]:
    """Return the limits that were measured, in the order of the table."""
    table = df_measured()[["quota_us", "period_us", "burst_us"]].drop_duplicates()
    return tuple(Limit(*map(int, row)) for row in table.itertuples(index=False))


def compare(runs: Runs, replay: pd.DataFrame, *, others: bool = False) -> Comparison:
    """Return the comparison of a host with the model.

    Parameters
    ----------
    runs : Runs
    replay : pandas.DataFrame
        From `df_replay`.
    others : bool
        Whether to hold the example's other limits against the model too.
    """
    comparison = Comparison()
    for row in replay.itertuples():
        counted = row.source == "cpu.stat"
        claim = AS_WAS if counted else LATENCIES
        if row.measure == "usage_ms":
            # a demand model is made from the usage
            role = "prediction" if runs.host.demand_known else "calibration"
            comparison.add(
                claim, f"as_was.{row.measure}", "ms", row.measured, row.predicted, role=role, percent=USAGE_PERCENT
            )
        elif row.measure == "nr_periods":
            comparison.add(claim, "as_was.nr_periods", "", row.measured, row.predicted, plus_minus=PERIODS)
        else:
            _add_range(comparison, claim, f"as_was.{row.measure}", row.unit, row)
    for limit in measured_limits() if others else ():
        _add_other(comparison, runs, limit)
    return comparison


def _add_range(comparison, claim, quantity, unit, row, slack=0.0):
    """The measured must lie in the model's range: neither end of it may be past the measured."""
    slack = 1.0 if row.measure == "nr_throttled" else slack
    for which, model, accept in (
        ("least", row.low, (None, row.measured + slack)),
        ("most", row.high, (row.measured - slack, None)),
    ):
        comparison.add(claim, f"{quantity}.{which}", unit, row.measured, model, accept=accept)


def _add_other(comparison, runs, limit):
    """A limit that was measured: the model's mean over the phases against the range of its runs, widened."""
    table = df_measured()
    same = table[["quota_us", "period_us", "burst_us"]] == [limit.quota_us, limit.period_us, limit.burst_us]
    mine = table[same.all(axis=1)]
    model = pd.DataFrame(runs.rows(limit, runs.host.default_phase))
    scale = float(mine["seconds"].mean()) * 1e9 / runs.host.duration_ns
    claim = OTHERS.format(repeats=len(mine))
    name = f"q{limit.quota_us // 1000}_p{limit.period_us // 1000}_b{limit.burst_us // 1000}"
    throttled_ms = mine["throttled_usec"] / 1000
    little = throttled_ms.mean() < LITTLE_MS
    rows = (
        ("nr_throttled", "", mine["nr_throttled"], model["nr_throttled"] * scale, dict(plus_minus=THROTTLED)),
        ("throttled_ms", "ms", throttled_ms, model["throttled_ms"] * scale,
         dict(plus_minus=THROTTLED_MS) if little else dict(percent=THROTTLED_PERCENT)),
        ("completion_p50_ms", "ms", mine["response_p50_us"] / 1000, model["completion_p50_ms"],
         dict(percent=COMPLETION_PERCENT)),
        ("completion_p99_ms", "ms", mine["response_p99_us"] / 1000, model["completion_p99_ms"],
         dict(percent=COMPLETION_PERCENT)),
    )  # fmt: skip
    for measure, unit, measured, predicted, tolerance in rows:
        comparison.add(claim, f"{name}.{measure}", unit, measured, predicted, **tolerance)


#: What is known about predictions that fail, by a part of the quantity's name; only the example's are known.
WHY = (
    ("as_was.wakeup", "explained in part (docs/formats.md): the service's threads wake in one timer interrupt and "
     "queue up; the model takes wake-ups one by one, so that more of them run at once"),
    ("as_was.completion_p99.9", "one of {count} values, and the largest"),
    (".completion_p50", "the recording, from which the forecast is made, has a slower median ({p50:.3g} ms) than the "
     "measured runs under its own limit ({p50_low:.3g} to {p50_high:.3g} ms): other load was heavier in it"),
    (".completion_p99", "not explained: the replay of the recording itself is as far above ({model_p99:.3g} ms under "
     "the recorded limit; recorded {p99:.3g}, measured later {p99_low:.3g} to {p99_high:.3g} ms)"),
    ("q8_p20", "not explained: with a period of 20 ms the model is throttled less often and for less time"),
)  # fmt: skip


def df_failures(host: Host, comparison: Comparison) -> pd.DataFrame:
    """Return the predictions that do not agree. Columns: quantity, unit, published (measured), model, why."""
    failed = comparison.failures()[["quantity", "unit", "published", "model"]].reset_index(drop=True)
    known, numbers = (WHY, _numbers(host, comparison)) if host.name == _FOLDER else ((), {})
    whys = [next((why for part, why in known if part in name), "not explained") for name in failed["quantity"]]
    return failed.assign(why=[why.format(**numbers) for why in whys])


def _numbers(host, comparison):
    """Completion latencies under the recorded limit: recorded, measured later, and in the model; ms."""
    table, now = comparison.table().set_index("quantity"), host.now
    numbers = {"count": len(host.seen_ns["completion"])}
    for name in ("p50", "p99"):
        later = f"q{now.quota_us // 1000}_p{now.period_us // 1000}_b{now.burst_us // 1000}.completion_{name}_ms"
        numbers[name] = table["published"].get(f"as_was.completion_{name}_ms.least", float("nan"))
        for end in ("low", "high"):
            numbers[f"{name}_{end}"] = table[f"published_{end}"].get(later, float("nan"))
        numbers[f"model_{name}"] = table["model"].get(later, float("nan"))
    return numbers


def say_comparison(host: Host, comparison: Comparison) -> str:
    """Return how the comparison came out, by claim, and what is known about the rows that fail."""
    table = comparison.table()
    asked = table[table["role"] == "prediction"]
    if not len(asked):
        return "Nothing was measured that the model could be held against."
    lines = [
        f"- {claim}: {int((rows['agrees'] == True).sum())} of {len(rows)} agree."  # noqa: E712
        for claim, rows in asked.groupby("claim", sort=False)
    ]
    agree = int((asked["agrees"] == True).sum())  # noqa: E712
    lines.insert(
        0,
        f"**{agree} of {len(asked)} predictions agree.** *Published* in the table is what was measured. A range makes "
        "two rows: its least must not lie above the measured (`.least`), nor its most below (`.most`).\n",
    )
    for row in df_failures(host, comparison).itertuples():
        lines.append(
            f"- `{row.quantity}`: {row.published:.4g} {row.unit} measured, {row.model:.4g} in the model: {row.why}."
        )
    return "\n".join(lines)


def say_rows(comparison: Comparison) -> str:
    """Return the comparison as a Markdown table."""
    return table_text(comparison) if len(comparison.table()) else ""
