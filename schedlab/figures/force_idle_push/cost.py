"""What a push costs, against the size of the machine."""

import matplotlib.pyplot as plt
import pandas as pd

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
            axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        else:
            axis.set_ylim(bottom=0)
        axis.set_xticks(sizes, [str(size) for size in sizes])
        axis.minorticks_off()
    for axis in axes[1]:
        axis.set_xlabel("CPUs of the machine")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    push = cost[cost["variant"] == "push"].set_index("cpus")
    few, many = push.loc[sizes[0]], push.loc[sizes[-1]]
    headline(
        fig,
        f"A push looks at {few['scanned_per_push']:.0f} CPUs on a machine of {sizes[0]} and at "
        f"{many['scanned_per_push']:.0f} on one of {sizes[-1]}, and locks {many['locked_per_push']:.1f} queues; "
        f"{many['again_percent']:.0f} % are pushed again",
    )
    return fig
