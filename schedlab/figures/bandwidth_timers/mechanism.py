"""The mechanism: who runs where and when, and threads a core below it."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import PolyCollection

from ..style import COLOURS, headline, styled

GROUPS = {"cg1": ("group 1", COLOURS["blue"]), "cg2": ("group 2", COLOURS["orange"])}


@styled
def plot_mechanism(windows: pd.DataFrame, threads: pd.DataFrame, shares: pd.DataFrame):
    """Draw the CPUs' time by group over three periods, aligned beside interleaved, and busy threads a core below.

    Parameters
    ----------
    windows, threads, shares : pandas.DataFrame
        From `df_run_windows`, `df_threads_per_core` and `df_time_shares`.
    """
    fig, axes = plt.subplots(2, 2, figsize=(9.6, 5.6), sharex=True, sharey="row", height_ratios=(2.2, 1))
    end_ms = np.ceil(windows["end_ms"].max())
    for column, (timers, part) in zip(axes.T, windows.groupby("timers", sort=False)):
        share = shares.set_index("timers").loc[timers]
        late = part["phase_ms"].iloc[0]
        by = "" if timers == "aligned" else f" by {late:.0f} ms"
        column[0].set_title(f"{timers}{by}: both run {share['both_percent']:.0f} % of the time")
        for name, (label, colour) in GROUPS.items():
            mine = part[part["group"] == name]
            column[0].add_collection(PolyCollection(_boxes(mine), facecolor=colour, linewidth=0, label=label))
        _stack(column[1], threads[threads["timers"] == timers], end_ms)
        column[1].set_xlabel("time (ms)")
        for axis in column:
            axis.grid(axis="y", visible=False)
            axis.set_xlim(0, 1.01 * end_ms)
    cpus = windows["cpu"].max() + 1
    axes[0, 0].set(ylabel="CPU", ylim=(cpus - 0.5, -0.5), yticks=range(0, cpus + 1, max(1, cpus // 8)))
    most = threads[["cg1", "cg2"]].sum(axis=1).max()
    axes[1, 0].set(ylabel="busy threads\nof a core (mean)", ylim=(0, most * 1.08), yticks=range(0, int(most) + 1, 2))
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    by = shares.set_index("timers")["threads_per_core_when_busy"]
    headline(fig, f"A core in use is shared by {by['interleaved']:.1f} threads in place of {by['aligned']:.1f}")
    return fig


def _boxes(windows):
    """Return the corners of one box a window, a CPU high (one collection is drawn faster than hundreds of bars)."""
    left, right, cpu = (windows[name].to_numpy() for name in ("start_ms", "end_ms", "cpu"))
    x = np.stack([left, right, right, left], axis=1)
    y = np.stack([cpu - 0.5, cpu - 0.5, cpu + 0.5, cpu + 0.5], axis=1)
    return np.stack([x, y], axis=2)


def _stack(axis, part, end_ms):
    time = np.append(part["time_ms"], end_ms)
    low = np.zeros(len(time))
    for name, (_, colour) in GROUPS.items():
        high = low + np.append(part[name], part[name].iloc[-1])
        axis.fill_between(time, low, high, step="post", color=colour, linewidth=0)
        low = high
