"""Overrun against kernel sections, and what a limited group gets when its tasks are a level further down."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, headline, styled

MODEL = {
    "6.12": (COLOURS["vermilion"], "-", "s"),
    "6.18": (COLOURS["orange"], "-", "o"),
    "7.2": (COLOURS["blue"], "-", "^"),
    "7.2, HRTICK off": (COLOURS["sky"], "--", "v"),
}
BAR = {
    "6.12": COLOURS["vermilion"],
    "6.18": COLOURS["orange"],
    "7.2 without the series": COLOURS["sky"],
    "7.2": COLOURS["blue"],
}


@styled
def plot_overrun(table: pd.DataFrame):
    """Draw the 99th percentile of the overrun (and its maximum, faint) over the longest kernel section.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_overrun`.
    """
    layouts = list(table["layout"].unique())
    fig, axes = plt.subplots(1, len(layouts), figsize=(10.6, 4.1), sharey=True, squeeze=False)
    for axis, (layout, part) in zip(axes[0], table.groupby("layout", sort=False)):
        for model, mine in part.groupby("model", sort=False):
            colour, line, marker = MODEL[model]
            x = mine["section_ms"]
            axis.plot(x, mine["p99_ms"], color=colour, linestyle=line, marker=marker, markersize=4.5, label=model)
            axis.plot(x, mine["max_ms"], color=colour, linestyle="none", marker="_", markersize=8, alpha=0.7)
        bound = part.drop_duplicates("section_ms")
        axis.plot(bound["section_ms"], bound["bound_ms"], color=COLOURS["quiet"], linestyle=":")
        axis.set(xscale="log", yscale="log", xlabel="longest kernel section (ms)", title=layout)
        axis.minorticks_off()
        for direction in (axis.xaxis, axis.yaxis):
            direction.set_major_formatter("{x:g}")
    axes[0, 0].set_ylabel("overrun of a throttle (ms)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    handles += [
        plt.Line2D([], [], color=COLOURS["quiet"], marker="_", linestyle="none", markersize=8),
        plt.Line2D([], [], color=COLOURS["quiet"], linestyle=":"),
    ]
    labels = [f"{label}, 99th percentile" for label in labels]
    labels += ["maximum", "a tick + one section of each task of the CPU"]
    fig.legend(handles, labels, loc="outside lower center", ncols=3)
    longest = table[(table["section_ms"] == table["section_ms"].max()) & (table["layout"] == layouts[0])]
    p99 = longest.set_index("model")["p99_ms"]
    headline(
        fig,
        f"With kernel sections of up to {table['section_ms'].max():g} ms the tail of the overrun is "
        f"{p99['6.12']:.0f} ms on 6.12, {p99['6.18']:.0f} ms on 6.18, {p99['7.2']:.0f} ms on 7.2",
    )
    return fig


@styled
def plot_told(table: pd.DataFrame, tasks: int):
    """Draw the CPU time of a limited group over its quota, by where its tasks are.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_told`.
    tasks : int
        In the group.
    """
    table = table[table["tasks"] == tasks]
    programs, besides = list(table["program"].unique()), list(table["beside"].unique())
    fig, axes = plt.subplots(1, len(programs) * len(besides), figsize=(11, 3.9), sharey=True)
    trees = list(table["tree"].unique())
    for axis, (program, beside) in zip(axes, ((p, b) for p in programs for b in besides)):
        part = table[(table["program"] == program) & (table["beside"] == beside)]
        for k, (model, colour) in enumerate(BAR.items()):
            mine = part[part["model"] == model].set_index("tree").loc[trees]
            x = np.arange(len(trees)) + 0.2 * (k - 1.5)
            axis.bar(x, mine["usage_over_quota"], width=0.19, color=colour, label=model)
        axis.axhline(1, color=COLOURS["ink"], linewidth=1, linestyle=":", label="its quota")
        axis.set_xticks(range(len(trees)), [tree.replace(" ", "\n", 1) for tree in trees])
        axis.tick_params(axis="x", labelsize=7.5)
        axis.set(title=f"{tasks} {program},\n{beside}", xlabel="tasks are in")
        axis.title.set_fontsize(8.5)
        axis.grid(axis="x", visible=False)
    axes[0].set_ylabel("CPU time over quota")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    worst = table.loc[table["usage_over_quota"].idxmax()]
    headline(
        fig,
        f"In the model of {worst['model']} a group can use {worst['usage_over_quota']:.1f} times its quota: "
        "nobody tells its child's tasks to stop",
    )
    return fig
