"""Pairwise interactions as triangles of colour, a panel for each response."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap

from ..style import COLOURS, headline, styled

DAGGER = "\N{DAGGER}"
_COLOURS = LinearSegmentedColormap.from_list("worse-better", [COLOURS["vermilion"], "white", COLOURS["blue"]])


@styled
def plot_interactions(interactions: pd.DataFrame, responses):
    """Draw how much more each pair gains together than one by one, in percent of base; numbers where not zero.

    Parameters
    ----------
    interactions : pandas.DataFrame
        From `df_interactions`.
    responses : sequence
        What is asked: the study's RESPONSES, a panel each.
    """
    names = list(dict.fromkeys([*interactions["first"], *interactions["second"]]))
    fig, axes = plt.subplots(1, len(responses), figsize=(13.2, 3.7), sharey=True)
    for axis, response in zip(axes, responses, strict=True):
        mine = interactions[interactions["response"] == response.column]
        _triangle(axis, mine, names, 1 if response.more_is_better else -1)
        axis.set_title(f"{response.title}\n(% of base)", fontsize=9)
        axis.set_xticks(range(len(names) - 1), names[:-1], rotation=60, ha="right", rotation_mode="anchor")
    axes[0].set_yticks(range(1, len(names)), names[1:])
    handles = [plt.Line2D([], [], marker="s", linestyle="none", color=COLOURS[c]) for c in ("blue", "vermilion")]
    labels = ["better together than the sum of each", "worse; colours are scaled a panel, numbers where not zero"]
    fig.legend(handles, labels, loc="outside lower right", ncols=2)
    count = int(interactions["nonzero"].sum())
    strict = int(interactions["nonzero_of_all"].sum())
    headline(
        fig,
        f"{count} of {len(interactions)} interactions are told apart from 0, {strict} of them also as one of "
        f"{len(interactions)} ({DAGGER})",
    )
    return fig


def _triangle(axis, rows, names, sign):
    grid = np.full((len(names), len(names)), np.nan)
    for row in rows.itertuples():
        grid[names.index(row.second), names.index(row.first)] = sign * row.percent
    most = np.nanmax(np.abs(grid)) or 1.0
    axis.imshow(grid[1:, :-1], cmap=_COLOURS, vmin=-most, vmax=most, extent=(-0.5, 4.5, 5.5, 0.5), aspect="auto")
    for row in rows[rows["nonzero"]].itertuples():
        text = f"{row.percent:+.1f}{DAGGER if row.nonzero_of_all else ''}".replace("-", "\N{MINUS SIGN}")
        strong = abs(row.percent) > 0.6 * most
        colour = "white" if strong else COLOURS["ink"]
        place = names.index(row.first), names.index(row.second)
        axis.text(*place, text, ha="center", va="center", fontsize=8, color=colour)
    axis.grid(visible=False)
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)
