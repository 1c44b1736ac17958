"""stress-ng: time against phase, times and power by rule, and what hangs on the idle power."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from ..style import COLOURS, PUBLISHED, headline, styled

RULES = {
    "aligned": COLOURS["vermilion"],
    "random": COLOURS["blue"],
    "staggered": COLOURS["green"],
    "golden": COLOURS["orange"],
}


@styled
def plot_phase_curve(curve: pd.DataFrame, phases: pd.DataFrame, published: pd.DataFrame):
    """Draw time and power of two groups against the phase between their timers, with the published runs.

    Parameters
    ----------
    curve, phases : pandas.DataFrame
        From `df_phase_curve` and `df_published_phases`.
    published : pandas.DataFrame
        ``published.load("bandwidth_stress_ng")``.
    """
    fig, (time, power) = plt.subplots(1, 2, figsize=(9.6, 4.1))
    x = curve["phase_ms"]
    time.fill_between(
        x, curve["time_low_s"], curve["time_high_s"], color=COLOURS["sky"], alpha=0.35, linewidth=0,
        label="model, over phases of the tick",
    )  # fmt: skip
    time.plot(x, curve["time_s"], color=COLOURS["blue"], label="model, mean")
    time.plot(
        x,
        curve["by_hand_s"],
        color=COLOURS["ink"],
        linestyle=":",
        label="by hand: time alone / (1 - a · share of overlap)",
    )
    time.hlines(
        phases["published_time_s"], phases["phase_low_ms"], phases["phase_high_ms"], color=COLOURS["ink"], linewidth=1
    )
    time.plot(phases["phase_ms"], phases["published_time_s"], label="published, where its time puts it", **PUBLISHED)
    _aligned(time, published, "time_s")
    time.set(xlabel="phase of the second timer (ms)", ylabel="time of both jobs (s)", title="Time")
    time.legend(loc="upper center", bbox_to_anchor=(0.5, 1.0))
    power.plot(x, curve["power_w"], color=COLOURS["blue"], label="model")
    power.hlines(
        phases["published_power_w"], phases["phase_low_ms"], phases["phase_high_ms"], color=COLOURS["ink"], linewidth=1
    )
    power.plot(phases["phase_ms"], phases["published_power_w"], label="published, at the same phase", **PUBLISHED)
    _aligned(power, published, "power_w")
    for row in phases.itertuples():
        above = row.error_percent > 0
        power.plot([row.phase_ms] * 2, [row.published_power_w, row.power_w], color=COLOURS["ink"], linewidth=0.8)
        power.annotate(
            f"{row.error_percent:+.1f} %".replace("-", "\N{MINUS SIGN}"), (row.phase_ms, row.power_w),
            xytext=(-5, 3) if above else (5, -9), textcoords="offset points", ha="right" if above else "left",
            fontsize=8.5,
        )  # fmt: skip
    power.set(xlabel="phase of the second timer (ms)", ylabel="socket power (W)", title="Power at that phase")
    power.legend(loc="lower center")
    _, top = time.get_ylim()
    time.set_ylim(top=top + 0.35 * (top - curve["time_low_s"].min()))
    for axis in (time, power):
        axis.set_xlim(-3, x.max() + 3)
    saved = 100 * (1 - curve["time_s"].min() / curve["time_s"].iloc[0])
    text = f"From timers in step to half a period apart, time falls by {saved:.0f} %"
    if curve["power_w"].notna().all():
        text += f" and power rises by {100 * (curve['power_w'].max() / curve['power_w'].iloc[0] - 1):.0f} %"
    headline(fig, text)
    return fig


def _aligned(axis, published, column):
    runs = published[(published["kernel"] == "aligned") & (published["cgroups"] == 2)][column]
    axis.plot(np.zeros(len(runs)), runs, **(PUBLISHED | {"markerfacecolor": "white"}), label="published, aligned")


@styled
def plot_stress(runs: pd.DataFrame, table: pd.DataFrame, published: pd.DataFrame):
    """Draw time, power and energy of every run by rule for the phases, with the published runs.

    Parameters
    ----------
    runs, table : pandas.DataFrame
        From `df_stress_runs` and `df_stress`.
    published : pandas.DataFrame
        ``published.load("bandwidth_stress_ng")``.
    """
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 3.9), sharey=True)
    cases = [(1, "aligned"), *((2, rule) for rule in RULES if (runs["phases"] == rule).any())]
    names = [f"{groups} group, alone" if groups == 1 else f"2 groups, {rule}" for groups, rule in cases]
    for axis, column, label in zip(
        axes,
        ("time_s", "power_w", "energy_j_per_job"),
        ("time of the job (s)", "socket power (W)", "energy per job (J)"),
    ):
        for row, (groups, rule) in enumerate(cases):
            values = runs.loc[(runs["groups"] == groups) & (runs["phases"] == rule), column]
            colour = COLOURS["quiet"] if groups == 1 else RULES[rule]
            spread = row + 0.26 * _spread(len(values))
            axis.plot(values, spread, ".", color=colour, alpha=0.45, markersize=4, markeredgewidth=0)
            axis.plot([values.mean()], [row], "|", color=colour, markersize=24, markeredgewidth=2.5)
        axis.set_xlabel(label)
        axis.margins(x=0.09)
        axis.xaxis.set_major_locator(MaxNLocator(4))
        axis.grid(axis="y", visible=False)
    for axis, column in zip(axes, ("time_s", "power_w")):
        _published(axis, cases, published, column)
    axes[0].set(yticks=range(len(cases)), yticklabels=names, ylim=(len(cases) - 0.45, -0.55))
    handles = [
        plt.Line2D([], [], marker=".", linestyle="none", color=COLOURS["quiet"], label="a run of the model"),
        plt.Line2D(
            [], [], marker="|", linestyle="none", color=COLOURS["quiet"], markersize=12, markeredgewidth=2.5,
            label="their mean",
        ),
        plt.Line2D([], [], label="a published run", **PUBLISHED),
    ]  # fmt: skip
    fig.legend(handles=handles, loc="outside lower center", ncols=3)
    headline(fig, _finding(table))
    return fig


def _spread(count):
    """Return `count` offsets in (-1, 1) that do not line up: the fractional parts of multiples of the golden ratio."""
    return 2 * ((np.arange(count) * 0.6180339887498949) % 1) - 1


def _published(axis, cases, published, column):
    kernels = {"aligned": "aligned", "random": "interleaved"}
    for row, (groups, rule) in enumerate(cases):
        if rule in kernels:
            known = published[(published["kernel"] == kernels[rule]) & (published["cgroups"] == groups)][column]
            axis.plot(known, np.full(len(known), row + 0.36), **PUBLISHED)


def _finding(table):
    two = table[table["groups"] == 2].set_index("phases")
    if "random" not in two.index:
        return f"Two groups with aligned timers take {two.loc['aligned', 'time_s']:.1f} s"
    random, aligned = two.loc["random"], two.loc["aligned"]
    text = f"Random phases save {random['time_saved_percent']:.0f} % of the time (mean of {random['runs']:.0f} runs)"
    if np.isnan(random["power_w"]):
        return text  # the machine's power is not known
    more_power = 100 * (random["power_w"] / aligned["power_w"] - 1)
    return f"{text} at {more_power:.0f} % more power and {random['energy_saved_percent']:.0f} % less energy"


@styled
def plot_idle_watts(sensitivity: pd.DataFrame, tolerance_percent: float):
    """Draw the error of the four power predictions against the idle power that was assumed.

    Parameters
    ----------
    sensitivity : pandas.DataFrame
        From `df_idle_sensitivity`.
    tolerance_percent : float
        Within which a run agrees.
    """
    fig, axis = plt.subplots(figsize=(9.6, 3.8))
    axis.axhspan(-tolerance_percent, tolerance_percent, color=COLOURS["green"], alpha=0.13, linewidth=0)
    for run, part in sensitivity.groupby("run"):
        now = part[part["in_use"]]
        colour = COLOURS["blue"] if now["agrees"].all() else COLOURS["vermilion"]
        axis.plot(part["idle_w"], part["error_percent"], color=colour, marker="o", markersize=3)
        end = part.iloc[-1]
        axis.annotate(
            f"run {run}: {end['published_power_w']:g} W", (end["idle_w"], end["error_percent"]),
            xytext=(7, 0), textcoords="offset points", va="center", color=colour, fontsize=8.5,
        )  # fmt: skip
    for idle_w in sensitivity.loc[sensitivity["in_use"], "idle_w"].unique():
        axis.axvline(idle_w, color=COLOURS["ink"], linewidth=1)
        axis.annotate(
            f"in use: {idle_w:.1f} W", (idle_w, 1), xycoords=("data", "axes fraction"), xytext=(4, -3),
            textcoords="offset points", va="top", fontsize=8.5,
        )  # fmt: skip
    axis.set(xlabel="assumed power of the idle machine (W)", ylabel="error of the model (% of the published)")
    axis.set_xlim(sensitivity["idle_w"].min() - 0.5, sensitivity["idle_w"].max() + 0.5)
    axis.annotate(
        f"agrees (within {tolerance_percent:g} %)", (0.01, -tolerance_percent), xycoords=("axes fraction", "data"),
        xytext=(2, 4), textcoords="offset points", color=COLOURS["green"], fontsize=8.5,
    )  # fmt: skip
    all_agree = sensitivity.groupby("idle_w")["agrees"].all()
    good = all_agree.index[all_agree]
    where = f"at {good.min():g} to {good.max():g} W of idle power" if len(good) else "at none of these idle powers"
    headline(fig, f"All four interleaved runs agree {where}")
    return fig
