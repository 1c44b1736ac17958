"""The half factorial: main effects and interactions."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, headline, styled

TITLES = {"n_max": "N_max: longest gaps", "n_sum": "N_sum: all gaps"}


@styled
def plot_effects(effects: pd.DataFrame):
    """Draw each main effect and interaction on both measures of noise as a factor with its 95 % interval.

    Parameters
    ----------
    effects : pandas.DataFrame
        From `df_effects`.
    """
    fig, axes = plt.subplots(1, 2, figsize=(9.8, 5.0), sharey=True)
    names = list(effects["effect"].unique())
    mains = int((effects[effects["measure"] == "n_max"]["order"] == 1).sum())
    place = {name: k + (0.6 if k >= mains else 0) for k, name in enumerate(names)}
    for axis, (measure, title) in zip(axes, TITLES.items()):
        part = effects[effects["measure"] == measure]
        mood = np.where(~part["clear"].astype(bool), "quiet", np.where(part["factor"] < 1, "blue", "vermilion"))
        for colour in np.unique(mood):
            rows = part[mood == colour]
            axis.errorbar(
                rows["factor"], rows["effect"].map(place), color=COLOURS[colour], fmt="o", capsize=2.5, markersize=5,
                xerr=[rows["factor"] - rows["low"], rows["high"] - rows["factor"]],
            )  # fmt: skip
        axis.axvline(1, color=COLOURS["ink"], linewidth=0.9)
        axis.axhline(mains - 0.2, color=COLOURS["line"], linewidth=1)
        axis.set(xlabel="factor on the noise (95 % interval), log scale", title=title, xscale="log")
        low, high = 0.9 * part["low"].min(), 1.1 * part["high"].max()
        ticks = [tick for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10) if low <= tick <= high]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
    axes[0].set(yticks=list(place.values()), yticklabels=names, ylim=(max(place.values()) + 0.6, -0.7))
    handles = [
        plt.Line2D([], [], color=COLOURS[colour], marker="o", linestyle="none", label=label)
        for colour, label in (("blue", "less noise"), ("vermilion", "more noise"), ("quiet", "not shown: 1 within"))
    ]
    fig.legend(handles=handles, loc="outside lower center", ncols=3)
    by = effects.set_index(["measure", "effect"])
    pair = by.loc[("n_max", "push x LB-c")]
    says = f"x{pair['factor']:.2f}" + ("" if pair["clear"] else " (not shown)")
    headline(
        fig,
        f"On N_max: push x{by.loc[('n_max', 'push'), 'factor']:.2f}, LB-c x{by.loc[('n_max', 'LB-c'), 'factor']:.2f}, "
        f"and each makes the other {says}",
    )
    return fig
