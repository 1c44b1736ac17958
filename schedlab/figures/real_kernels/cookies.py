"""Two groups with a cookie each on real cores: CPU time and force idle, measured on the model's distribution."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled

_PANELS = (("usage_ms", "CPU time (ms)"), ("force_idle_ms", "siblings idle on its account (ms)"))


@styled
def plot_cookies(shared_cores: pd.DataFrame):
    """Draw CPU time and force idle of each group of each recording.

    Parameters
    ----------
    shared_cores : pandas.DataFrame
        From `df_cookies`.
    """
    names = list(dict.fromkeys(zip(shared_cores["recording"], shared_cores["group"], strict=True)))
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 4.8), sharey=True)
    for axis, (measure, label) in zip(axes, _PANELS, strict=True):
        mine = shared_cores[shared_cores["measure"] == measure].set_index(["recording", "group"]).loc[names]
        y = np.arange(len(mine))[::-1]
        axis.hlines(y, mine["least"], mine["most"], color=COLOURS["sky"], linewidth=5, alpha=0.6, label="model: range")
        axis.plot(mine["mean"], y, "|", color=COLOURS["blue"], markersize=11, markeredgewidth=2, label="model: mean")
        axis.plot(mine["measured"], y, **PUBLISHED, label="measured")
        axis.set_xlabel(label)
        axis.set_xlim(left=-100)
        axis.grid(axis="y", visible=False)
    axes[0].set_yticks(y, [_case(name, group) for name, group in names])
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower right", ncols=3)
    idle = shared_cores[(shared_cores["measure"] == "force_idle_ms") & shared_cores["one_core"]]
    off = (idle["mean"] - idle["measured"]).abs().max()
    seconds = idle["seconds"].iloc[0]
    text = f"One core: force idle within {off:.1f} ms of the measured in {seconds:g} s"
    two = shared_cores[~shared_cores["one_core"]]
    if len(two):
        beyond = np.maximum(two["least"] - two["measured"], two["measured"] - two["most"]).clip(lower=0).max()
        text += f"; two cores: at most {beyond:.0f} ms outside of the model's range"
    headline(fig, text)
    return fig


def _case(recording: str, group: str) -> str:
    """Return "2 v 1, one core: Y" for "…/cookie_2v1_samecore" and "/Y"."""
    cookie, _, rest = recording.split("/")[1].partition("_")
    sides, _, where = rest.partition("_")
    said = sides.replace("v", " v ") + (", one core" if where == "samecore" else ", two cores")
    return f"{said}{', no cookies' if cookie == 'nocookie' else ''}: {group.strip('/')}"
