"""How times, interrupts-off windows and counts grow with groups, CPUs and machines, and shrink with partitions."""

import matplotlib.pyplot as plt
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled
from .operations import NAMES

LEVELS = {
    "base": (COLOURS["vermilion"], "-", "base"),
    "V1a": (COLOURS["green"], "-.", "V1a: one loop"),
    "patch1": (COLOURS["orange"], "-", "patch 1"),
    "patch1+2": (COLOURS["blue"], "-", "patch 1+2"),
    "V2": (COLOURS["sky"], (0, (2, 2)), "V2: boolean"),
}


@styled
def plot_growth(groups: pd.DataFrame, cpus: pd.DataFrame):
    """Draw the time of each operation over cgroups (above) and over CPUs (below), a line a level.

    Parameters
    ----------
    groups, cpus : pandas.DataFrame
        From `df_groups` and `df_cpus`.
    """
    fig, axes = plt.subplots(2, len(NAMES), figsize=(9.6, 5.6), sharey="row")
    for column, (name, label) in zip(axes.T, NAMES.items()):
        for axis, table, x in ((column[0], groups, "cgroups"), (column[1], cpus, "cpus")):
            _lines(axis, table[table["operation"] == name], x, "predicted_ms")
        column[0].set(title=label, xlabel="cgroups on 32 CPUs")
        column[0].xaxis.set_major_formatter("{x:,.0f}")
        column[1].set(xlabel="CPUs, 4000 cgroups", xscale="log", yscale="log")
        _powers_of_two(column[1], cpus["cpus"].unique())
        column[1].yaxis.set_major_formatter("{x:,.4g}")
    for axis in axes[:, 0]:
        axis.set_ylabel("time (ms)")
    axes[0, 0].set_ylim(bottom=0)
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(LEVELS))
    most = groups["cgroups"].max()
    last = groups[(groups["cgroups"] == most) & (groups["operation"] == "cpu_offline")].set_index("kernel")
    headline(
        fig,
        f"With {most:,} cgroups a CPU goes offline in {last.loc['base', 'predicted_ms']:.0f} ms, with both patches in "
        f"{last.loc['patch1+2', 'predicted_ms']:.0f}, of which walks are "
        f"{last.loc['patch1+2', 'predicted_ms'] - _at_none(groups, 'patch1+2'):.1f} ms",
    )
    return fig


def _at_none(groups, level):
    rows = groups[(groups["kernel"] == level) & (groups["operation"] == "cpu_offline")]
    return rows.loc[rows["cgroups"].idxmin(), "predicted_ms"]


def _lines(axis, table, x, y):
    for level, (colour, style, label) in LEVELS.items():
        part = table[table["kernel"] == level]
        # others lie on it: it is wider, and below them
        below = dict(linewidth=4, zorder=1.5) if level == "patch1+2" else dict(linewidth=1.6)
        axis.plot(part[x], part[y], color=colour, linestyle=style, label=label, **below)


def _powers_of_two(axis, values):
    axis.set_xticks(values, [f"{v}" for v in values], fontsize=8)
    axis.minorticks_off()


@styled
def plot_irq_off(groups: pd.DataFrame, irq_off: pd.DataFrame):
    """Draw the longest time with interrupts off over cgroups, with the published times of a call.

    Parameters
    ----------
    groups, irq_off : pandas.DataFrame
        From `df_groups` and `df_irq_off`.
    """
    fig, axes = plt.subplots(1, len(NAMES), figsize=(9.6, 3.9), sharey=True)
    for axis, (name, label) in zip(axes, NAMES.items()):
        _lines(axis, groups[groups["operation"] == name], "cgroups", "irq_off_us")
        axis.set(title=label, xlabel="cgroups")
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.yaxis.set_major_formatter("{x:,.0f}")
    for row in irq_off.itertuples():
        hollow = {"markerfacecolor": "white"} if row.statistic == "max" else {}
        axes[0].plot(4000, row.published_us, **(PUBLISHED | hollow))
        left = row.statistic == "median"  # clear of the lines
        axes[0].annotate(
            f"{row.statistic} {row.published_us:g} µs", (4000, row.published_us), xytext=(-6 if left else 7, 5),
            textcoords="offset points", fontsize=8.5, ha="right" if left else "left",
        )  # fmt: skip
    axes[0].set_ylabel("longest time with interrupts off (µs)")
    handles, labels = axes[0].get_legend_handles_labels()
    points = plt.Line2D([], [], **PUBLISHED)
    fig.legend([*handles, points], [*labels, "published call"], loc="outside lower center", ncols=len(LEVELS) + 1)
    longest = irq_off.set_index(["kernel", "statistic"]).loc[("base", "max")]
    near = (groups["cgroups"] - 4000).abs().idxmin()
    both = groups[(groups["cgroups"] == groups.loc[near, "cgroups"]) & (groups["kernel"] == "patch1+2")].set_index(
        "operation"
    )["irq_off_us"]
    headline(
        fig,
        f"{longest['unexplained_us']:.0f} of the {longest['published_us']:.0f} µs of the longest call are unexplained; "
        f"with both patches the CPU that goes keeps {both['cpu_offline']:.0f} µs",
    )
    return fig


@styled
def plot_partitions(partitions: pd.DataFrame):
    """Draw how the work of a CPU offline shrinks with equal partitions.

    Parameters
    ----------
    partitions : pandas.DataFrame
        From `df_partitions`.
    """
    fig, axis = plt.subplots(figsize=(9.6, 3.6))
    p = partitions["partitions"]
    counts = {
        "group_visits": ("group visits", COLOURS["vermilion"], "o"),
        "dl_updates": ("updates of deadline servers", COLOURS["orange"], "s"),
        "span_scan": ("CPUs scanned for groups", COLOURS["blue"], "^"),
    }
    fewer = partitions.iloc[0] / partitions
    for name, (label, colour, marker) in counts.items():
        axis.plot(p, fewer[name], color=colour, marker=marker, label=label)
    for power, label in ((1, "p"), (2, "p²")):
        axis.plot(p, p.astype(float) ** power, color=COLOURS["quiet"], linestyle=":", linewidth=1)
        axis.annotate(
            label, (p.iloc[-1], float(p.iloc[-1]) ** power), xytext=(8, -1), textcoords="offset points",
            va="center", color=COLOURS["quiet"],
        )  # fmt: skip
    axis.set(xscale="log", yscale="log", xlabel="equal partitions (p) of 512 CPUs", ylabel="times less work an offline")
    axis.set_xticks(p, [str(v) for v in p])
    axis.set_yticks([1, 10, 100], ["1", "10", "100"])
    axis.minorticks_off()
    axis.legend(loc="upper left")
    last = fewer.iloc[-1]
    headline(
        fig,
        f"{p.iloc[-1]} partitions: {last['group_visits']:.0f} times fewer group visits, {last['span_scan']:.0f} times "
        f"fewer scans, {last['dl_updates']:.0f} times fewer server updates",
    )
    return fig
