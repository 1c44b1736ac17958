"""How late latency-sensitive tasks wake on a host on which CPUs come and go."""

import matplotlib.pyplot as plt
import pandas as pd

from ..style import headline, styled
from .growth import LEVELS


@styled
def plot_latency(latency: pd.DataFrame):
    """Draw the 99.9th percentile of lateness over operations a second, a panel for each number of groups.

    Parameters
    ----------
    latency : pandas.DataFrame
        From `df_latency`.
    """
    numbers = sorted(latency["groups"].unique())
    fig, axes = plt.subplots(1, len(numbers), figsize=(9.6, 3.6), sharey=True, squeeze=False)
    for axis, groups in zip(axes[0], numbers):
        here = latency[latency["groups"] == groups]
        for level, (colour, style, label) in LEVELS.items():
            part = here[here["level"] == level]
            axis.plot(part["per_second"], part["p99.9_us"], color=colour, linestyle=style, marker="o", label=label)
        axis.set(title=f"{groups - 1:,} cgroups", xlabel="operations a second", xscale="log")
        rates = sorted(here["per_second"].unique())
        axis.set_xticks(rates, [f"{rate:g}" for rate in rates])
        axis.minorticks_off()
    axes[0, 0].set_ylabel("99.9th percentile of lateness,\nall CPUs' tasks together (us)")
    axes[0, 0].set_ylim(bottom=0)
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(LEVELS))
    worst = latency.loc[latency["p99.9_us"].idxmax()]
    same = latency[(latency["groups"] == worst["groups"]) & (latency["per_second"] == worst["per_second"])]
    least = same.set_index("level").loc["V2", "p99.9_us"]
    headline(
        fig,
        f"{worst['groups'] - 1:,} cgroups, {worst['per_second']:g} operations a second: p99.9 of lateness "
        f"{worst['p99.9_us']:.0f} us at {worst['level']}, {least:.0f} us at V2",
    )
    return fig
