"""Effects as dots with intervals, a panel for each response."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, headline, styled

_PANEL = (2.15, 3.3)


def _panels(responses, height=_PANEL[1]):
    fig, axes = plt.subplots(1, len(responses), figsize=(_PANEL[0] * len(responses) + 0.9, height), sharey=True)
    for axis, response in zip(axes, responses, strict=True):
        axis.axvline(0, color=COLOURS["quiet"], linewidth=1)
        axis.set_xlabel(f"{response.title}\n({response.unit})")
        axis.grid(axis="y", visible=False)
        axis.locator_params(axis="x", nbins=4)
    return fig, axes


def _dots(axis, y, rows, value, colour, label=None, marker="o"):
    """Draw values with intervals; those that do not exclude 0 are hollow."""
    axis.hlines(y, rows["low"], rows["high"], color=colour, linewidth=2)
    for filled in (True, False):
        mine = (rows["nonzero"] == filled).to_numpy()
        face = colour if filled else "white"
        said = label if filled else None
        axis.plot(rows[value].to_numpy()[mine], y[mine], marker, color=colour, mfc=face, markersize=6.5, label=said)


def _names(axis, names):
    axis.set_yticks(np.arange(len(names))[::-1], names)
    axis.set_ylim(-0.6, len(names) - 0.4)


@styled
def plot_effects(effects: pd.DataFrame, responses):
    """Draw the main effect of each factor on each response with its 95 % interval.

    Parameters
    ----------
    effects : pandas.DataFrame
        From `df_effects`.
    responses : sequence
        What is asked: the study's RESPONSES, a panel each.
    """
    fig, axes = _panels(responses)
    names = list(dict.fromkeys(effects["factor"]))
    for axis, response in zip(axes, responses, strict=True):
        mine = effects[effects["response"] == response.column].set_index("factor").loc[names]
        _dots(axis, np.arange(len(names))[::-1], mine, "effect", COLOURS["blue"])
    _names(axes[0], names)
    axes[0].set_ylabel("with it minus without it")
    _key(fig, [("interval excludes 0", COLOURS["blue"], COLOURS["blue"]), ("it does not", COLOURS["blue"], "white")])
    work = effects[(effects["response"] == responses[0].column) & effects["nonzero"]]
    best = work.loc[work["effect"].abs().idxmax()] if len(work) else None
    said = "none of them" if best is None else f"above all {best['factor']} ({best['percent']:+.1f} %)"
    headline(fig, f"Main effects over all combinations: what changes the work done is {said}")
    return fig


def _key(fig, entries):
    handles = [
        plt.Line2D([], [], marker="o", linestyle="none", color=colour, markerfacecolor=face, markersize=6.5)
        for _, colour, face in entries
    ]
    fig.legend(handles, [label for label, *_ in entries], loc="outside lower right", ncols=len(entries))


@styled
def plot_steps(steps: pd.DataFrame, responses):
    """Draw each factor alone, each as the last one, and all together.

    Parameters
    ----------
    steps : pandas.DataFrame
        From `df_steps`.
    responses : sequence
        What is asked: the study's RESPONSES, a panel each.
    """
    fig, axes = _panels(responses, 4.3)
    names = [*filter(None, dict.fromkeys(steps["factor"])), "all together", "sum of alone"]
    places = dict(zip(names, np.arange(len(names))[::-1]))
    colours = {"alone": COLOURS["sky"], "last": COLOURS["blue"], "together": COLOURS["vermilion"]}
    colours["sum of alone"] = COLOURS["orange"]
    offsets = {"alone": 0.17, "last": -0.17}
    for axis, response in zip(axes, responses, strict=True):
        for step, mine in steps[steps["response"] == response.column].groupby("step", sort=False):
            named = [name or {"together": "all together"}.get(step, step) for name in mine["factor"]]
            y = np.array([places[name] + offsets.get(step, 0) for name in named])
            _dots(axis, y, mine, "difference", colours[step])
        axis.axhline(1.5, color=COLOURS["line"])
    _names(axes[0], names)
    labels = {"alone": "alone: with it minus base", "last": "last: all minus all without it"}
    entries = [(labels.get(step, step), colour, colour) for step, colour in colours.items() if step in labels]
    _key(fig, [*entries, ("interval holds 0", COLOURS["quiet"], "white")])
    work = steps[(steps["response"] == responses[0].column) & (steps["factor"] == "")].set_index("step")["percent"]
    headline(
        fig,
        f"All together change the batch work by {work['together']:+.1f} %; the six alone add up to "
        f"{work['sum of alone']:+.1f} %",
    )
    return fig
