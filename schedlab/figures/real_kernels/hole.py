"""7.2's hole: CPU time of the limited group per period."""

import matplotlib.pyplot as plt
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled

#: What runs in the limited group's child, by name of the variant.
TASKS = {"Nalone": "one hog", "nest33": "hog + 3.3 ms calls", "nestNN": "two hogs"}


@styled
def plot_hole(windows: pd.DataFrame, measured: pd.DataFrame, model: pd.DataFrame):
    """Draw CPU time per window of 100 ms for each kernel and the model, and shares of 10 s beside them.

    Parameters
    ----------
    windows, measured, model : pandas.DataFrame
        From `df_windows`, `df_hole_measured` and `df_hole_model`.
    """
    fig = plt.figure(figsize=(9.6, 5.4))
    parts = fig.subfigures(1, 2, width_ratios=(1.5, 1))
    sides = list(dict.fromkeys(windows["side"]))
    axes = parts[0].subplots(len(sides), 1, sharex=True, sharey=True)
    for axis, side in zip(axes, sides):
        mine = windows[windows["side"] == side]
        colour = COLOURS["blue"] if "model" in side else COLOURS["ink"]
        axis.fill_between(mine["window"] / 10, mine["usage_ms"], step="post", color=colour, linewidth=0)
        axis.axhline(10, color=COLOURS["vermilion"], linewidth=0.8)
        axis.set(ylim=(0, 110), yticks=(0, 100))
        axis.set_title(side if "model" in side else f"{side}, measured", fontsize=8.5, pad=2)
    axes[-1].set_xlabel("time (s)")
    parts[0].supylabel("CPU time in 100 ms (ms); quota 10", fontsize=9)
    axis = parts[1].subplots()
    rows = [(v, c) for c in ("as it comes", "CPU kept free") for v in ("Nalone", "nest33", "nestNN")]
    theirs, ours = measured[measured["version"] == "7.2.13"], model[model["version"] == "7.2"]
    for y, (variant, condition) in enumerate(rows[::-1]):
        a = theirs[(theirs["variant"] == variant) & (theirs["condition"] == condition)]["share_percent"]
        b = ours[(ours["variant"] == variant) & (ours["condition"] == condition)]["share_percent"]
        axis.hlines(y, b.min(), b.max(), color=COLOURS["blue"], linewidth=7, alpha=0.6)
        axis.plot(b, [y] * len(b), "s", color=COLOURS["blue"], markersize=4, label="model" if not y else None)
        axis.plot(a, [y + 0.18] * len(a), **PUBLISHED, label="measured" if not y else None)
    axis.set_yticks(range(len(rows)), [f"{TASKS[v]}\n{c}" for v, c in rows[::-1]], fontsize=7.5)
    axis.set(xlabel="share of the CPU over 10 s (%)", xlim=(0, 104))
    axis.set_title("7.2.13")
    axis.legend(loc="center right")
    two = measured[measured["variant"] != "Nalone"]
    share = two.groupby("version")["share_percent"].agg(["min", "max"])
    least, most = share.loc["7.2.13"]
    others = share.drop(index=[version for version in share.index if version.startswith("7.2.")])["max"].max()
    headline(
        fig,
        f"Limited to 10 % of a CPU, two tasks get {least:.0f} to {most:.0f} % of it from 7.2.13, at most "
        f"{others:.0f} % from others",
    )
    return fig
