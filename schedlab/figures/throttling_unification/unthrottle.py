"""Interrupts off while many groups come back, by the way in which quota is handed out."""

import matplotlib.pyplot as plt
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled

WAY = {
    "inline": (COLOURS["vermilion"], "-", "s"),
    "async": (COLOURS["green"], "-", "D"),
    "per task": (COLOURS["orange"], "-", "o"),
    "per task, series": (COLOURS["blue"], "--", "^"),
}


@styled
def plot_irqoff(table: pd.DataFrame, anchor: dict, anchor_ms: tuple, lockup: dict):
    """Draw the longest time with interrupts off over groups and over CPUs, with the anchor of the price.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_irqoff`.
    anchor, lockup : dict
        Sizes of the anchor and of the report of lockups: groups, cpus.
    anchor_ms : tuple of float
        Published range at the anchor.
    """
    fig, (over_groups, over_cpus) = plt.subplots(1, 2, figsize=(10.6, 4.2), sharey=True)
    for way, (colour, line, marker) in WAY.items():
        part = table[table["way"] == way]
        style = dict(color=colour, linestyle=line, marker=marker, markersize=4.5)
        release = part["release"].iloc[0]
        mine = part[part["cpus"] == anchor["cpus"]]
        over_groups.plot(mine["groups"], mine["longest_ms"], label=f"{way} ({release})", **style)
        mine = part[part["groups"] == lockup["groups"]]
        over_cpus.plot(mine["cpus"], mine["longest_ms"], **style)
    middle = sum(anchor_ms) / 2
    over_groups.errorbar(
        [anchor["groups"]], [middle], yerr=[[middle - anchor_ms[0]], [anchor_ms[1] - middle]], capsize=3, elinewidth=1,
        label="published, per task: fits the price", **PUBLISHED,
    )  # fmt: skip
    over_groups.set(xlabel="groups below the limited one", title=f"{anchor['cpus']} CPUs", xscale="log", yscale="log")
    over_cpus.set(xlabel="CPUs", title=f"{lockup['groups']} groups", xscale="log")
    over_cpus.set_xticks([8, 16, 32, 64, 128, 256, 512], ["8", "16", "32", "64", "128", "256", "512"])
    over_groups.set_ylabel("longest time with interrupts off (ms)")
    for axis in (over_groups, over_cpus):
        axis.minorticks_off()
        axis.yaxis.set_major_formatter("{x:g}")
    over_groups.xaxis.set_major_formatter("{x:g}")
    fig.legend(*over_groups.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    at = table[(table["groups"] == lockup["groups"]) & (table["cpus"] == lockup["cpus"])].set_index("way")["longest_ms"]
    headline(
        fig,
        f"On {lockup['cpus']} CPUs with {lockup['groups']} groups, unthrottling inline keeps interrupts off "
        f"{at['inline'] / at['async']:.0f} times as long as async",
    )
    return fig
