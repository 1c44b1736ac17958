"""When interleaving pays, over utilisation and number of groups."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, headline, styled
from .stress import RULES


@styled
def plot_payoff(payoff: pd.DataFrame, limits: pd.DataFrame):
    """Draw the time saved against utilisation for two groups, and for random phases the map over groups too.

    Parameters
    ----------
    payoff, limits : pandas.DataFrame
        From `df_payoff` and `df_payoff_limit`.
    """
    fig, (lines, cells) = plt.subplots(1, 2, figsize=(9.6, 4.0), width_ratios=(1.15, 1))
    few = payoff["groups"].min()
    for phase, part in payoff[payoff["groups"] == few].groupby("phases", sort=False):
        x = part["utilisation_percent"]
        lines.fill_between(
            x, part["time_saved_low_percent"], part["time_saved_high_percent"], color=RULES[phase], alpha=0.15,
            linewidth=0,
        )  # fmt: skip
        lines.plot(x, part["time_saved_percent"], color=RULES[phase], marker="o", markersize=3.5, label=phase)
    lines.axvspan(0, 50, color=COLOURS["ink"], alpha=0.05, linewidth=0)
    lines.annotate(
        "where the mail sees a gain", (25, 0), xycoords=("data", "axes fraction"), xytext=(0, 6),
        textcoords="offset points", ha="center", fontsize=8.5, color=COLOURS["quiet"],
    )  # fmt: skip
    lines.set(xlabel="utilisation (%)", ylabel="time saved against aligned timers (%)", title=f"{few} groups")
    lines.set_xlim(5, 102)
    lines.set_ylim(bottom=-4)
    lines.fill_between([], [], [], color=RULES["random"], alpha=0.15, linewidth=0, label="its band: all runs")
    lines.legend(title="phases (mean)", loc="upper right")
    _map(cells, payoff)
    headline(fig, _finding(limits, few))
    return fig


def _map(axis, payoff):
    rule = "random" if (payoff["phases"] == "random").any() else payoff["phases"].iloc[0]
    table = payoff[payoff["phases"] == rule].pivot(
        index="groups", columns="utilisation_percent", values="time_saved_percent"
    )
    axis.imshow(table, origin="lower", aspect="auto", cmap="viridis", vmin=0)
    for (y, x), value in np.ndenumerate(table.to_numpy()):
        dark = value < 0.6 * np.nanmax(table.to_numpy())
        axis.text(x, y, f"{value:.0f}", ha="center", va="center", fontsize=8, color="white" if dark else "black")
    axis.set_xticks(range(table.shape[1]), [f"{v:g}" for v in table.columns])
    axis.set_yticks(range(table.shape[0]), [f"{v:g}" for v in table.index])
    axis.set(xlabel="utilisation (%)", ylabel="groups", title=f"{rule} phases: time saved (%)")
    axis.grid(visible=False)


def _finding(limits, few):
    row = limits[(limits["groups"] == few) & (limits["phases"] == "random")]
    if row.empty:
        return "When other phases pay"
    row = row.iloc[0]
    return (
        f"Two groups with random phases save {row['saved_at_50_percent']:.0f} % at half load, "
        f"less than 1 % from {row['pays_below_percent']:.0f} % load on"
    )
