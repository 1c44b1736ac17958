"""The half factorial: main effects and interactions."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, headline, styled

TITLES = {"n_max": "N_max: longest gaps", "n_sum": "N_sum: all gaps"}
#: Kinds of mean: column of the factor, prefix of its interval's columns, marker, and how far below the row's line.
KINDS = (("factor", "", "o", -0.14), ("plain", "plain_", "D", 0.18))


@styled
def plot_effects(effects: pd.DataFrame):
    """Draw each main effect and interaction on both measures of noise as a factor with its 95 % interval.

    By geometric and by plain means of the runs.

    Parameters
    ----------
    effects : pandas.DataFrame
        From `df_effects`.
    """
    fig, axes = plt.subplots(1, 2, figsize=(9.8, 5.6), sharey=True)
    names = list(effects["effect"].unique())
    mains = int((effects[effects["measure"] == "n_max"]["order"] == 1).sum())
    place = {name: k + (0.6 if k >= mains else 0) for k, name in enumerate(names)}
    for axis, (measure, title) in zip(axes, TITLES.items()):
        part = effects[effects["measure"] == measure]
        for kind in KINDS:
            _dots(axis, part, part["effect"].map(place), *kind)
        axis.axvline(1, color=COLOURS["ink"], linewidth=0.9)
        axis.axhline(mains - 0.2, color=COLOURS["line"], linewidth=1)
        axis.set(xlabel="factor on the noise (95 % interval), log scale", title=title, xscale="log")
        low, high = 0.9 * part[["low", "plain_low"]].min().min(), 1.1 * part[["high", "plain_high"]].max().max()
        ticks = [tick for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10) if low <= tick <= high]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
    axes[0].set(yticks=list(place.values()), yticklabels=names, ylim=(max(place.values()) + 0.6, -0.7))
    _key(fig)
    by = effects[effects["measure"] == "n_max"].set_index("effect").loc[["push", "LB-c", "push x LB-c"]]
    push, keep, pair = (f"x{a:.2f} ({b:.2f})" for a, b in zip(by["factor"], by["plain"]))
    headline(fig, f"N_max by geometric (plain) means: push {push}, LB-c {keep}, each makes the other {pair}")
    return fig


def _dots(axis, part, place, factor, kind, marker, shift):
    """Draw the effects by one kind of mean: coloured where the interval leaves out 1."""
    mood = np.where(~part[f"{kind}clear"].astype(bool), "quiet", np.where(part[factor] < 1, "blue", "vermilion"))
    for colour in np.unique(mood):
        rows = part[mood == colour]
        axis.errorbar(
            rows[factor], place[mood == colour] + shift, color=COLOURS[colour], fmt=marker, capsize=2, markersize=4.5,
            markerfacecolor="white" if kind else COLOURS[colour], linewidth=1.1,
            xerr=[rows[factor] - rows[f"{kind}low"], rows[f"{kind}high"] - rows[factor]],
        )  # fmt: skip


def _key(fig):
    moods = (("blue", "less noise"), ("vermilion", "more noise"), ("quiet", "the interval holds 1"))
    entries = [(dict(color=COLOURS[colour], marker="s"), label) for colour, label in moods]
    entries += [
        (dict(color=COLOURS["ink"], marker="o"), "geometric means of runs"),
        (dict(color=COLOURS["ink"], marker="D", markerfacecolor="white"), "plain means"),
    ]
    handles = [plt.Line2D([], [], linestyle="none", label=label, **style) for style, label in entries]
    fig.legend(handles=handles, loc="outside lower center", ncols=len(handles))
