"""The host as it was: measured against the model, each number relative to the measured one."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled
from ._parts import state_demand


@styled
def plot_replay(replay: pd.DataFrame, title: str = ""):
    """Draw the numbers of cpu.stat and the latencies of the recording, and the model's range.

    Parameters
    ----------
    replay : pandas.DataFrame
        From `df_replay`; rows whose measured number is 0 are left to the table.
    title : str, optional
    """
    table = replay[replay["measured"] > 0].reset_index(drop=True)
    y = np.arange(len(table))[::-1]
    fig, axis = plt.subplots(figsize=(9.6, 1.7 + 0.3 * max(3, len(table))))
    low, mean, high, slack = (table[name] / table["measured"] for name in ("low", "predicted", "high", "slack"))
    for inside, colour, label in (
        (True, "blue", "model (thin: allowed)"),
        (False, "vermilion", "model, measured\noutside of both"),
    ):
        mine = (table["inside"] == inside).to_numpy()
        if mine.any():
            axis.hlines(y[mine], low[mine], high[mine], color=COLOURS[colour], linewidth=4, alpha=0.35)
            axis.hlines(y[mine], (low - slack)[mine], (high + slack)[mine], color=COLOURS[colour], linewidth=1)
            axis.plot(mean[mine], y[mine], "o", color=COLOURS[colour], markersize=5, label=label)
    axis.plot(np.ones(len(table)), y, **PUBLISHED, label="measured")
    names = [f"{row.measure}: {row.measured:.4g} {row.unit}".rstrip() for row in table.itertuples()]
    axis.set_yticks(y, names)
    axis.set_ylim(-0.8, max(0.2, len(table) - 0.2))
    axis.set_xlabel("relative to the measured number (mean and range over the seeds)")
    fig.legend(*axis.get_legend_handles_labels(), loc="outside right upper")
    inside = int(replay["inside"].sum())
    strict = int((replay["inside"] & replay["measured"].between(replay["low"], replay["high"])).sum())
    beside = f", {inside - strict} within tolerance" if inside > strict else ""
    headline(fig, title or f"As it was: {strict} of {len(replay)} measured numbers in the model's range{beside}")
    state_demand(fig, replay)
    return fig
