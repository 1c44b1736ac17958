"""hackbench three levels deep: boots of the model and the published summary on the same axes, counters by level."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled

KERNEL = {"tip": COLOURS["orange"], "tip + series": COLOURS["blue"], "6.18": COLOURS["green"]}
THEIRS = {"tip": "tip", "tip_plus_series": "tip + series"}


@styled
def plot_hackbench(runs: pd.DataFrame, table: pd.DataFrame, published: pd.DataFrame, groups: int):
    """Draw every boot's time of a message and the published summary, both in percent of tip's mean; and differences.

    Parameters
    ----------
    runs, table : pandas.DataFrame
        From `df_hackbench_runs` (its first table) and `df_hackbench`.
    published : pandas.DataFrame
        ``published.load("throttling_hackbench")``.
    groups : int
        hackbench -g of the boots drawn on the left.
    """
    fig, (boots, more) = plt.subplots(1, 2, figsize=(10.6, 4.3), width_ratios=(1.5, 1))
    mine, sums = runs[runs["groups"] == groups], table[table["groups"] == groups].set_index("kernel")
    base, labels = sums.loc["tip", "mean_us"], []
    for y, kernel in enumerate(sums.index):
        _boots(boots, y, 100 * mine.loc[mine["kernel"] == kernel, "wall_us"].to_numpy() / base, KERNEL[kernel])
        labels.append(f"model, {kernel}")
    theirs = published.set_index("statistic")
    for column, name in THEIRS.items():
        _summary(boots, len(labels), 100 * theirs[column] / theirs.loc["amean", "tip"])
        labels.append(f"published, {name}")
    boots.axvline(100, color=COLOURS["quiet"], linewidth=0.8)
    boots.set(
        yticks=range(len(labels)), yticklabels=labels, ylim=(len(labels) - 0.4, -0.6),
        xlabel="wall-clock time a message (% of the mean of tip)",
        title=f"hackbench -g {groups}: {sums.loc['tip', 'boots']} boots each",
    )  # fmt: skip
    boots.grid(axis="y", visible=False)
    _differences(more, table, theirs)
    handles = [
        plt.Line2D([], [], marker="o", linestyle="none", color=COLOURS["quiet"], alpha=0.5, markersize=4,
                   label="a boot"),
        plt.Line2D([], [], marker="|", linestyle="none", color=COLOURS["quiet"], markersize=13, markeredgewidth=2.5,
                   label="mean of the boots"),
        plt.Line2D([], [], label="published mean", **PUBLISHED),
        plt.Line2D([], [], marker="x", linestyle="none", color=COLOURS["ink"], label="published median"),
        plt.Line2D([], [], color=COLOURS["ink"], linewidth=5, alpha=0.25, label="mean ± standard deviation"),
        plt.Line2D([], [], color=COLOURS["ink"], linewidth=1, label="minimum to maximum"),
    ]  # fmt: skip
    fig.legend(handles=handles, loc="outside lower center", ncols=6)
    row = sums.loc["tip + series"]
    posted = 100 * (theirs.loc["amean", "tip_plus_series"] / theirs.loc["amean", "tip"] - 1)
    text = (
        f"The series changes the mean by {row['difference_percent']:+.1f} % in the model "
        f"({row['low_percent']:+.1f} to {row['high_percent']:+.1f} %); {posted:+.1f} % was posted"
    )
    if row["identical"]:
        text = f"In the model the series changes no boot of hackbench -g {groups}; {posted:+.1f} % was posted"
        headline(fig, text)
        return fig
    headline(fig, text.replace("-", "\N{MINUS SIGN}"))
    return fig


def _boots(axis, y, values, colour):
    spread = y + 0.5 * ((np.arange(len(values)) * 0.6180339887498949) % 1 - 0.5)
    axis.plot(values, spread, "o", color=colour, alpha=0.5, markersize=4, markeredgewidth=0)
    axis.plot([values.mean()], [y], "|", color=colour, markersize=24, markeredgewidth=2.5)


def _summary(axis, y, percent):
    """Redraw a posted summary: its range, its standard deviation, its mean and its median."""
    axis.plot(percent[["min", "max"]], [y, y], color=COLOURS["ink"], linewidth=1, marker="|", markersize=9)
    mean, sd = percent["amean"], percent["amean_stddev"]
    axis.plot([mean - sd, mean + sd], [y, y], color=COLOURS["ink"], linewidth=9, alpha=0.25, solid_capstyle="butt")
    axis.plot([mean], [y], **PUBLISHED)
    axis.plot([percent["median"]], [y], marker="x", color=COLOURS["ink"], markersize=8, linestyle="none", zorder=6)


def _differences(axis, table, theirs):
    """Draw each kernel's difference from tip with its interval, for every -g."""
    kernels = [name for name in KERNEL if name != "tip"]
    groups = sorted(table["groups"].unique())
    reach = 0.0
    for offset, kernel in zip((-0.12, 0.12), kernels):
        part = table[table["kernel"] == kernel].set_index("groups").loc[groups]
        x = np.arange(len(groups)) + offset
        error = [part["difference_percent"] - part["low_percent"], part["high_percent"] - part["difference_percent"]]
        axis.errorbar(x, part["difference_percent"], yerr=error, fmt="o", color=KERNEL[kernel], capsize=3, label=kernel)
        reach = max(reach, part[["low_percent", "high_percent"]].abs().max().max())
    axis.axhspan(-5, 5, color=COLOURS["ink"], alpha=0.05, linewidth=0)
    axis.axhline(0, color=COLOURS["quiet"], linewidth=0.8)
    posted = 100 * (theirs.loc["amean", "tip_plus_series"] / theirs.loc["amean", "tip"] - 1)
    axis.axhline(posted, color=COLOURS["ink"], linewidth=1, linestyle=":", label="published mean")
    boots = table[table["kernel"] == "tip"].set_index("groups")["boots"]
    axis.set_xticks(range(len(groups)), [f"{g}\n({boots[g]} boots)" for g in groups])
    limit = min(max(6.0, 1.5 * reach), 45.0)
    axis.set(
        xlabel="hackbench -g", ylabel="difference of the means from tip (%)", ylim=(-limit, limit),
        title="Difference, 95 % intervals (grey: within 5 %)",
    )  # fmt: skip
    axis.set_xlim(-0.5, len(groups) - 0.5)
    axis.legend(loc="lower left")


@styled
def plot_levels(levels: pd.DataFrame, groups: int):
    """Draw the counters of throttling at each level of the tree, a bar a kernel.

    Parameters
    ----------
    levels : pandas.DataFrame
        From `df_levels`.
    groups : int
        hackbench -g.
    """
    table = levels[levels["groups"] == groups]
    panels = {
        "throttles_per_s": "throttles (1/s, a group)",
        "rethrottled_percent": "throttled again at once (%)",
        "works_per_s": "tasks stopped (1/s, a group)",
        "overrun_ms": "mean overrun (ms)",
    }
    fig, axes = plt.subplots(1, len(panels), figsize=(10.6, 3.4))
    kernels = list(table["kernel"].unique())
    for axis, (column, label) in zip(axes, panels.items()):
        for k, kernel in enumerate(kernels):
            part = table[table["kernel"] == kernel].sort_values("level")
            x = part["level"] + 0.26 * (k - (len(kernels) - 1) / 2)
            axis.bar(x, part[column], width=0.24, color=KERNEL[kernel], label=kernel)
        axis.set(xlabel="level (1: outermost)", ylabel=label, xticks=sorted(table["level"].unique()))
        axis.grid(axis="x", visible=False)
        axis.margins(y=0.08)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(kernels))
    by = table.pivot(index="level", columns="kernel", values="throttles_per_s")
    change = 100 * (by["tip + series"].sum() / by["tip"].sum() - 1)
    more = f"{change:+.0f} %".replace("-", "\N{MINUS SIGN}") if abs(change) >= 0.5 else "no more or fewer"
    headline(fig, f"hackbench -g {groups}: {more} throttles with the series, over the three levels")
    return fig
