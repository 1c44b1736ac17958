"""How many CPUs are there over a cycle of the load."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, headline, styled

_STYLE = {
    "none": (COLOURS["vermilion"], "-", "neither series"),
    "walks": (COLOURS["orange"], "-", "series A (walks)"),
    "large": (COLOURS["sky"], "-", "series B (large)"),
    "walks + large": (COLOURS["blue"], "-", "both"),
}


@styled
def plot_follow(ramps: pd.DataFrame, up_ms: float, cycle_ms: float):
    """Draw the CPUs online over a cycle for each combination of the hotplug series.

    Parameters
    ----------
    ramps : pandas.DataFrame
        From `df_follow`.
    up_ms, cycle_ms : float
        When the guests begin to compute, and when the cycle ends.
    """
    cpus, leaving = ramps["online"].max(), ramps["online"].max() - ramps["online"].min()
    fig, axis = plt.subplots(figsize=(8.6, 3.4))
    for cell, mine in ramps.groupby("cell", sort=False):
        colour, line, label = _STYLE[cell]
        times = np.r_[0, mine["active_ms"], max(cycle_ms, mine["active_ms"].iloc[-1])]
        count = np.r_[cpus, mine["online"], mine["online"].iloc[-1]]
        axis.step(times, count, where="post", color=colour, linestyle=line, linewidth=2, label=label)
    axis.axvspan(up_ms, cycle_ms, color=COLOURS["line"], alpha=0.5, linewidth=0, label="guests compute")
    axis.set(xlim=(0, cycle_ms), ylim=(cpus - leaving - 0.6, cpus + 0.6))
    axis.set(xlabel="time in the cycle of the load (ms)", ylabel="CPUs online")
    fig.legend(*axis.get_legend_handles_labels(), loc="outside lower right", ncols=5)
    back = ramps[ramps["operation"].str.startswith("online")].groupby("cell", sort=False)
    took = back["active_ms"].max() - back["begin_ms"].min()
    headline(
        fig,
        f"{leaving} CPUs come back within {took['none']:.0f} ms with neither series, {took['walks']:.0f} with A, "
        f"{took['large']:.0f} with B, {took['walks + large']:.0f} with both",
    )
    return fig
