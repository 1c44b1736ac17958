"""Core scheduling against SMT off, over load."""

import matplotlib.pyplot as plt
import pandas as pd

from ..style import COLOURS, headline, styled

LINES = {
    "SMT on": (COLOURS["quiet"], "o", ":"),
    "core scheduling": (COLOURS["orange"], "s", "-"),
    "core scheduling + push": (COLOURS["blue"], "^", "--"),
    "SMT off": (COLOURS["ink"], "D", "-"),
}


@styled
def plot_smt_off(table: pd.DataFrame):
    """Draw throughput and response time over those without SMT, by load, for guests that can and cannot share a core.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_smt_off`.
    """
    guests = list(table["guests"].unique())
    fig, axes = plt.subplots(2, len(guests), figsize=(9.6, 5.8), sharex=True, sharey="row")
    for column, name in enumerate(guests):
        part = table[table["guests"] == name]
        for host, (colour, marker, line) in LINES.items():
            here = part[part["host"] == host]
            style = dict(color=colour, marker=marker, linestyle=line, markersize=4.5, label=host)
            axes[0, column].plot(here["load"], here["of_smt_off"], **style)
            axes[1, column].plot(here["load"], here["response_of_smt_off"], **style)
        axes[0, column].set_title(name)
        axes[1, column].set(xlabel="load (demand over what the cores do without SMT)")
    axes[0, 0].set_ylabel("throughput over SMT off")
    axes[1, 0].set_ylabel("mean response time over SMT off")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    full = table[table["load"] == table["load"].max()].set_index(["guests", "host"])["of_smt_off"]
    pairs, singles = (full[name, "core scheduling + push"] for name in guests[:2])
    headline(
        fig,
        f"At full load core scheduling does {pairs:.2f} times as much as SMT off where guests fill cores, "
        f"{singles:.2f} "
        "where not",
    )
    return fig
