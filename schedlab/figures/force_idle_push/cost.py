"""What a push costs, against the size of the machine."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.ticker import NullLocator

from ..style import COLOURS, headline, styled

LINES = {
    "baseline": (COLOURS["ink"], "o", "-", "baseline (steal alone)"),
    "push": (COLOURS["blue"], "s", "--", "push"),
    "push+lb_c": (COLOURS["green"], "^", "-.", "push + LB-c"),
}
PANELS = (
    ("callbacks", "attempts to steal and push (1/s)"),
    ("scanned_per_callback", "CPUs looked at an attempt"),
    ("scanned_per_push", "CPUs looked at a push"),
    ("locked_per_push", "queues locked a push"),
    ("pushes", "pushes (1/s)"),
    ("pushed_again", "pushed again within 100 ms (1/s)"),
)


@styled
def plot_cost(cost: pd.DataFrame):
    """Draw attempts, CPUs looked at, queues locked and tasks pushed again, for each size of machine.

    Parameters
    ----------
    cost : pandas.DataFrame
        From `df_cost`.
    """
    fig, axes = plt.subplots(2, 3, figsize=(10.4, 5.6), sharex=True)
    sizes = sorted(cost["cpus"].unique())
    for axis, (column, label) in zip(axes.flat, PANELS):
        for variant, (colour, marker, line, name) in LINES.items():
            part = cost[cost["variant"] == variant].dropna(subset=[column])
            part = part[part[column] > 0]
            axis.plot(part["cpus"], part[column], color=colour, marker=marker, linestyle=line, label=name)
        axis.set(xscale="log", ylabel=label)
        if column != "locked_per_push":
            axis.set_yscale("log")
            axis.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
            low, high = axis.get_ylim()
            if high / low < 100:  # else decades are enough
                axis.yaxis.set_minor_formatter(lambda value, _: f"{value:,g}" if f"{value:.0e}"[0] in "25" else "")
        else:
            axis.set_ylim(bottom=0)
        axis.set_xticks(sizes, [str(size) for size in sizes])
        axis.xaxis.set_minor_locator(NullLocator())
    for axis in axes[1]:
        axis.set_xlabel("CPUs of the machine")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    push = cost[cost["variant"] == "push"].set_index("cpus")
    many, base = push.loc[sizes[-1]], cost[cost["variant"] == "baseline"].set_index("cpus").loc[sizes[-1]]
    headline(
        fig,
        f"{sizes[-1]} CPUs: {many['scanned_per_push']:.0f} looked at and {many['locked_per_push']:.0f} locked a "
        f"push, but "
        f"attempts fall from {base['callbacks']:.0f} to {many['callbacks']:.0f} a second",
    )
    return fig
