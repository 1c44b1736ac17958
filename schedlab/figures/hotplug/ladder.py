"""The ladder of the series for large systems as a waterfall, both machines."""

import matplotlib.pyplot as plt
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled


@styled
def plot_waterfall(intel: pd.DataFrame, amd: pd.DataFrame, intel_cells: pd.DataFrame, amd_cells: pd.DataFrame):
    """Draw what each patch takes off the ramp, with the published totals.

    Parameters
    ----------
    intel, amd : pandas.DataFrame
        From `df_waterfall`.
    intel_cells, amd_cells : pandas.DataFrame
        From `df_ladder`, for the published totals.
    """
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 4.5), sharey=True, width_ratios=(1, 1, 1))
    zoom = intel[intel["after_patch"] >= 3]
    panels = (
        (axes[0], intel, intel_cells, "Intel, 480 CPUs"),
        (axes[1], zoom, intel_cells[intel_cells["after_patch"] >= 3], "the same, from patch 3 on"),
        (axes[2], amd, amd_cells, "AMD, 512 CPUs"),
    )
    for axis, table, cells, title in panels:
        _steps(axis, table)
        totals = cells[cells["column"] == "total"]
        axis.plot(totals["published_s"], totals["after_patch"], label="published total", **PUBLISHED)
        axis.set(title=title, xlabel="off and on again, all CPUs (s)")
        axis.grid(axis="y", visible=False)
        most = (table["total_s"] + table["removed_s"]).max()
        axis.set_xlim(0, 1.32 * most)
    names = [f"{row.after_patch} {row.patch}" if row.patch else "without the series" for row in intel.itertuples()]
    axes[0].set(yticks=intel["after_patch"], yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    ends = [(table["total_s"].iloc[0], table["total_s"].iloc[-1]) for table in (intel, amd)]
    took = amd.loc[amd["removed_s"] > 0, "after_patch"]
    which = f"patches {took.min()} to {took.max()}" if len(took) else "none"
    cut = intel["removed_s"].iloc[1:3].sum() / (ends[0][0] - ends[0][1])
    headline(
        fig,
        f"Intel {ends[0][0]:.0f} to {ends[0][1]:.1f} s, {100 * cut:.0f} % of it by two cache flushes less; AMD "
        f"{ends[1][0]:.1f} to {ends[1][1]:.1f} s, all of it by {which}",
    )
    return fig


def _steps(axis, table):
    """Draw what is left in each direction, and beside it what the patch took off."""
    rows, takes = table["after_patch"], table["removed_s"] > 0
    axis.barh(rows, table["offline_s"], color=COLOURS["blue"], height=0.6, label="offline (model)")
    axis.barh(
        rows, table["online_s"], left=table["offline_s"], color=COLOURS["sky"], height=0.6, label="online (model)"
    )
    took = table[takes]
    axis.barh(
        rows[takes], took["removed_s"], left=took["total_s"], facecolor="white", edgecolor=COLOURS["vermilion"],
        height=0.6, linewidth=0.9, label="taken off by the patch",
    )  # fmt: skip
    for row in took.itertuples():
        axis.annotate(
            f"\N{MINUS SIGN}{row.removed_s:.2f}", (row.total_s + row.removed_s, row.after_patch), xytext=(8, 0),
            textcoords="offset points", va="center", fontsize=8, color=COLOURS["vermilion"], clip_on=True,
        )  # fmt: skip
