"""A partition switch over the number of cgroups."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, headline, styled


@styled
def plot_rebuild(points: pd.DataFrame, slopes: pd.DataFrame):
    """Draw the time of a partition switch over groups, measured points and the slope that the counts predict.

    Parameters
    ----------
    points, slopes : pandas.DataFrame
        From `df_points` and `df_slopes`.
    """
    fig, axis = plt.subplots(figsize=(8.4, 4.4))
    colours = [COLOURS[name] for name in ("blue", "orange", "green", "vermilion", "purple", "sky")]
    for colour, row in zip(colours, slopes.itertuples()):
        mine = points[points["recording"] == row.recording]
        name = f"{row.version}, {row.cpus} CPUs ({row.recording.partition('/')[0]})"
        axis.plot(mine["groups"], mine["root_us"], "o", color=colour, label=name)
        groups = np.array([mine["groups"].min(), mine["groups"].max()])
        slope = row.model_per_group_per_cpu * row.cpus / 1000
        warm = mine.iloc[-1]
        axis.plot(groups, warm["root_us"] + slope * (groups - warm["groups"]), color=colour, linewidth=1)
    axis.set(xlabel="cpu cgroups", ylabel="partition switch (us at 1 ns an instruction)")
    axis.set_ylim(bottom=0)
    axis.legend(fontsize=7.5)
    known = slopes[~slopes["patched"] & (slopes["r_squared"] > 0.999)]
    off = 100 * (known["model_per_group_per_cpu"] / known["measured_per_group_per_cpu"] - 1).abs().max()
    headline(fig, f"Counted walks give the slope over groups and CPUs within {off:.1f} %")
    return fig
