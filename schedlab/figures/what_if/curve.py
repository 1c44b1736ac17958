"""Throttled periods and completion latency over the quota, with the smallest quota that is never throttled."""

import matplotlib.pyplot as plt
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled
from ._parts import state_demand

_BURSTS = ("blue", "green", "orange", "purple", "sky")


@styled
def plot_curve(combinations: pd.DataFrame, quota: pd.DataFrame, measured: pd.DataFrame | None = None, title: str = ""):
    """Draw throttling over the quota, a line for each burst, under one period and one rule for the phases.

    Parameters
    ----------
    combinations, quota : pandas.DataFrame
        From `df_combinations` and `df_quota`. The first period and phase of them are drawn.
    measured : pandas.DataFrame, optional
        From `df_measured`: runs under other limits, drawn as points.
    title : str, optional
    """
    table = combinations.dropna(subset="quota_us")
    if not len(table):
        return _nothing(combinations)
    period_us, phase = table[["period_us", "phase"]].iloc[0]
    table = table[(table["period_us"] == period_us) & (table["phase"] == phase)]
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 4.1))
    answers = quota[(quota["period_us"] == period_us) & (quota["phase"] == phase)].set_index("burst_us")["quota_us"]
    for (burst_us, rows), name in zip(table.groupby("burst_us"), _BURSTS):
        rows, colour = rows.sort_values("quota_us"), COLOURS[name]
        label = f"burst {burst_us / 1000:g} ms" if burst_us else "no burst"
        for axis, measure in zip(axes, ("throttled_percent", "completion_p99_ms")):
            x = rows["quota_us"].astype(float) / 1000
            low, high = rows[f"{measure}_low"].astype(float), rows[f"{measure}_high"].astype(float)
            axis.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
            axis.plot(x, rows[measure].astype(float), "-", color=colour, label=label)
        if burst_us in answers.index and pd.notna(answers[burst_us]):
            smallest = answers[burst_us] / 1000
            axes[0].axvline(smallest, color=colour, linestyle=":", linewidth=1.3)
        if measured is not None:
            _draw_measured(axes, measured, period_us, burst_us, colour)
    _label(axes, period_us)
    handles, labels = axes[0].get_legend_handles_labels()
    handles.append(plt.Line2D([], [], color=COLOURS["quiet"], linestyle=":", linewidth=1.3))
    labels.append("smallest quota without throttling")
    if measured is not None:
        handles.append(plt.Line2D([], [], **(PUBLISHED | {"color": COLOURS["quiet"]})))
        labels.append("measured, a run each")
    seeds = int(table["seeds"].iloc[0])
    fig.legend(
        handles,
        labels,
        loc="outside right center",
        title=f"model: mean and range\nover {seeds} seeds",
        alignment="left",
    )
    headline(fig, title or _finding(answers, period_us))
    state_demand(fig, table)
    return fig


def _nothing(combinations):
    """A figure that says that no quota was asked about."""
    fig, _ = plt.subplots(figsize=(9.6, 1.6))
    fig.axes[0].set_axis_off()
    headline(fig, "No quota was asked about")
    state_demand(fig, combinations)
    return fig


def _finding(answers, period_us):
    found = [
        f"{quota_us / 1000:g} ms {f'with {burst_us / 1000:g} ms of burst' if burst_us else 'without burst'}"
        for burst_us, quota_us in answers.items()
        if pd.notna(quota_us)
    ]
    if not found:
        return f"Throttling over the quota in {period_us / 1000:g} ms"
    return f"Never throttled from {', '.join(found)} (in {period_us / 1000:g} ms)"


def _draw_measured(axes, measured, period_us, burst_us, colour):
    mine = measured[(measured["period_us"] == period_us) & (measured["burst_us"] == burst_us)]
    x = mine["quota_us"] / 1000
    style = PUBLISHED | {"color": colour, "markeredgecolor": COLOURS["ink"]}
    axes[0].plot(x, 100 * mine["nr_throttled"] / mine["nr_periods"], **style)
    axes[1].plot(x, mine["response_p99_us"] / 1000, **style)


def _label(axes, period_us):
    for axis, label in zip(axes, ("throttled periods (%)", "completion latency, 99th percentile (ms)")):
        axis.set_xlabel(f"quota (ms in {period_us / 1000:g} ms)")
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0)
