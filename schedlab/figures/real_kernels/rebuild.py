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
        label = f"{name}: not judged" if row.noisy else name
        face = "white" if row.noisy else colour
        axis.plot(mine["groups"], mine["root_us"], "o", color=colour, markerfacecolor=face, label=label)
        groups = np.array([mine["groups"].min(), mine["groups"].max()])
        slope = row.model_per_group_per_cpu * row.cpus / 1000
        warm = mine.iloc[-1]
        axis.plot(groups, warm["root_us"] + slope * (groups - warm["groups"]), color=colour, linewidth=1)
    axis.set(xlabel="cpu cgroups", ylabel="partition switch (us at 1 ns an instruction)")
    axis.set_ylim(0, 1.35 * points["root_us"].max())
    axis.plot([], [], color=COLOURS["quiet"], linewidth=1, label="line: the model's slope, through the last point")
    axis.legend(fontsize=7.5)
    off = 100 * (slopes["model_per_group_per_cpu"] / slopes["measured_per_group_per_cpu"] - 1).abs()
    judged, noisy = ~slopes["patched"] & ~slopes["noisy"], slopes["noisy"]
    text = f"Counted walks give {judged.sum()} slopes over cgroups within {off[judged].max():.1f} %"
    headline(fig, text + (f"; {noisy.sum()} is off by {off[noisy].max():.0f} %" if noisy.any() else ""))
    return fig
