"""Counters: the model's error for each recording, and measured points on the model's distribution."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled


@styled
def plot_counters(counters: pd.DataFrame, comparison: pd.DataFrame):
    """Draw the relative error of throttled time and usage of every group with its own phases, by recording.

    Parameters
    ----------
    counters : pandas.DataFrame
        From `df_counters`.
    comparison : pandas.DataFrame
        The comparison's table: rows with the phases as recorded that were asked for are drawn.
    """
    asked = comparison[
        (comparison["claim"].str.startswith("Counters with the phases")) & (comparison["role"] == "prediction")
    ]
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 6.4), sharey=True)
    table = asked[asked["quantity"].str.contains("throttled_ms|usage_ms", regex=True)].copy()
    table["where"] = table["quantity"].str.replace(r"\.(throttled_ms|usage_ms)$", "", regex=True)
    order = list(dict.fromkeys(table["where"]))[::-1]
    for axis, measure in zip(axes, ("throttled_ms", "usage_ms")):
        part = table[table["quantity"].str.endswith(measure)]
        error = 100 * (part["model"] / part["published"] - 1)
        y = part["where"].map(order.index)
        for agrees, colour, label in ((True, "blue", "within the tolerance"), (False, "vermilion", "outside")):
            mine = part["agrees"] == agrees
            axis.plot(error[mine], y[mine], "o", color=COLOURS[colour], markersize=4, label=label)
        axis.axvline(0, color=COLOURS["ink"], linewidth=0.8)
        what = "throttled time" if measure[0] == "t" else "usage"
        axis.set_xlabel(f"error of {what} (%)")
        axis.set_title("logarithmic beyond 2 %", fontsize=8.5)
        axis.set_xscale("symlog", linthresh=2, linscale=1.5)
        end = max(3.0, 1.3 * error.abs().max())
        ticks = [tick for tick in (-10, -2, -1, 0, 1, 2, 10) if abs(tick) < end]
        axis.set_xticks(ticks, [f"{tick:+d}" if tick else "0" for tick in ticks])
        axis.set_xlim(-end, end)
        axis.minorticks_off()
    axes[0].set_yticks(range(len(order)), order, fontsize=6.2)
    axes[0].set_ylim(-1, len(order))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower right", ncols=2)
    throttled = table[table["quantity"].str.endswith("throttled_ms")]
    near = (100 * (throttled["model"] / throttled["published"] - 1)).abs()
    headline(fig, f"Throttled time with the recorded phases: half of the groups within {near.median():.1f} %")
    return fig


@styled
def plot_distributions(counters: pd.DataFrame):
    """Draw throttled time where phases decide: the model's range over seeds, and what was measured.

    Parameters
    ----------
    counters : pandas.DataFrame
        From `df_counters`.
    """
    shown = counters[
        (counters["measure"] == "throttled_ms")
        & counters["recording"].str.contains("periods|iv_per10_50|v_burst|iii_2grp_pin|pipe1_nowork")
        & (counters["most"] > 0)
    ]
    fig, axis = plt.subplots(figsize=(9.6, 1.2 + 0.16 * max(10, len(shown))))
    y = np.arange(len(shown))[::-1]
    axis.hlines(
        y, shown["least"], shown["most"], color=COLOURS["sky"], linewidth=5, alpha=0.5, label="model: all seeds"
    )
    axis.hlines(y, shown["low"], shown["high"], color=COLOURS["blue"], linewidth=5, label="model: 5 to 95 %")
    axis.plot(shown["measured"], y, **PUBLISHED, label="measured")
    axis.plot(
        shown["given"],
        y,
        "|",
        color=COLOURS["vermilion"],
        markersize=11,
        markeredgewidth=2,
        label="model, phases as recorded",
    )
    axis.set_yticks(y, shown["recording"] + "  " + shown["group"], fontsize=6.8)
    axis.set_xlabel("throttled time (ms, summed over CPUs)")
    axis.grid(axis="y", visible=False)
    fig.legend(*axis.get_legend_handles_labels(), loc="outside lower right", ncols=4)
    inside = (shown["measured"] >= shown["least"]) & (shown["measured"] <= shown["most"])
    headline(fig, f"Where phases decide, {inside.sum()} of {len(shown)} measured values lie in the model's range")
    return fig
