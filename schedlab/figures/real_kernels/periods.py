"""Run intervals and run time per period, and the phases of fresh timers."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled


@styled
def plot_intervals(intervals: pd.DataFrame, periods: pd.DataFrame, recording: str):
    """Draw when a recorded group ran, measured above the model, and its run time of each period below.

    Parameters
    ----------
    intervals : pandas.DataFrame
        From `df_intervals`.
    periods : pandas.DataFrame
        From `df_run_per_period`.
    recording : str
        Which recording of `periods`.
    """
    fig, (top, below) = plt.subplots(2, 1, figsize=(9.6, 4.6), height_ratios=(1, 1.6))
    for row, (side, colour) in enumerate((("model", "blue"), ("measured", "ink"))):
        part = intervals[intervals["side"] == side]
        top.barh(row, part["end_ms"] - part["start_ms"], left=part["start_ms"], height=0.7, color=COLOURS[colour])
    top.set(yticks=(0, 1), yticklabels=("model", "measured"), xlabel="time (ms)")
    top.grid(axis="y", visible=False)
    mine = periods[periods["recording"] == recording]
    below.plot(mine["period"], mine["model_ms"], color=COLOURS["blue"], drawstyle="steps-mid", label="model")
    below.plot(mine["period"], mine["measured_ms"], **PUBLISHED, label="measured")
    below.set(xlabel="period", ylabel="run time\nof the period (ms)")
    below.legend(loc="upper right", ncols=2)
    low, high = below.get_ylim()
    below.set_ylim(low, high + 0.25 * (high - low))
    headline(fig, f"{recording}: {mine['near'].sum()} of {len(mine)} periods agree within 0.25 ms")
    return fig


@styled
def plot_phases(points: pd.DataFrame, scans: pd.DataFrame):
    """Draw the phase of every fresh timer, and the concentration R against the model's.

    Parameters
    ----------
    points, scans : pandas.DataFrame
        From `df_phase_points` and `df_phases`.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.4), width_ratios=(1.7, 1), sharey=True)
    names = list(scans["recording"])[::-1]
    for y, name in enumerate(names):
        mine = points[points["recording"] == name]["phase_ms"]
        left.plot(mine, np.full(len(mine), y), "|", color=COLOURS["ink"], markersize=9)
        row = scans[scans["recording"] == name].iloc[0]
        right.hlines(
            y,
            row["model_low"],
            row["model_high"],
            color=COLOURS["blue"],
            linewidth=5,
            alpha=0.6,
            label="model, central 95 %" if not y else None,
        )
        if row["rule"] == "aligned":
            right.plot(row["model_r"], y, "s", color=COLOURS["blue"], markersize=9)
        right.plot(row["measured_r"], y, **PUBLISHED, label="measured" if not y else None)
    labels = [f"{row.version}  ({row.recording.partition('/')[0]})" for row in scans.itertuples()][::-1]
    left.set_yticks(range(len(names)), labels)
    left.set_xlabel("phase of the first expiry in the period (ms)")
    right.set_xlabel("concentration R of the phases")
    right.legend(loc="center right")
    aligned, drawn = scans[scans["rule"] == "aligned"], scans[scans["rule"] != "aligned"]
    inside = drawn["measured_r"].between(drawn["model_low"], drawn["model_high"])
    headline(
        fig,
        f"Before 6.4 timers expire together (R at least {aligned['measured_r'].min():.4f}); later {inside.sum()} of "
        f"{len(drawn)} scans look random",
    )
    return fig
