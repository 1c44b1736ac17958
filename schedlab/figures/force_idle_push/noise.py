"""The noise that the measuring guest sees: by kernel, by cause, and by the burst of the VMM threads."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled

NAMES = {
    "baseline": "baseline", "push": "push", "lb_a": "LB-a (takes from forced idle)",
    "lb_b": "LB-b (counts as idle)", "lb_c": "LB-c (keeps cookies together)", "push+lb_a": "push + LB-a",
    "push+lb_b": "push + LB-b", "push+lb_c": "push + LB-c", "push by quality": "push by quality (ours)",
}  # fmt: skip
#: Colours of the causes, in the order of the table.
CAUSE = tuple(COLOURS[name] for name in ("vermilion", "orange", "yellow", "blue", "sky", "line"))


@styled
def plot_noise(noise: pd.DataFrame):
    """Draw N_max and N_sum of each kernel with 95 % intervals over runs, and the published numbers.

    Parameters
    ----------
    noise : pandas.DataFrame
        From `df_noise`.
    """
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 3.9), sharey=True, width_ratios=(1.25, 1))
    rows = np.arange(len(noise))
    for axis, name, title in zip(axes, ("n_max", "n_sum"), ("N_max: longest gap of a window", "N_sum: all gaps")):
        reach = [noise[name] - noise[f"{name}_low"], noise[f"{name}_high"] - noise[name]]
        axis.errorbar(
            noise[name], rows, xerr=reach, fmt="o", color=COLOURS["blue"], capsize=3, markersize=5.5,
            label="model, mean and 95 % interval",
        )  # fmt: skip
        axis.axvline(noise[name].iloc[0], color=COLOURS["blue"], linewidth=0.8, linestyle=(0, (3, 3)))
        axis.set(xlabel="noise (% of the time sampled)", title=title, xlim=(0, _limit(noise, name)))
    axes[0].plot(noise["published"], rows, label="published", **PUBLISHED)
    axes[0].set(yticks=rows, yticklabels=[NAMES[v] for v in noise["variant"]], ylim=(len(noise) - 0.5, -0.5))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    by = noise.set_index("variant")
    push, keep = by.loc["push"], by.loc["lb_c"]
    headline(
        fig,
        f"The push leaves {100 * push['n_max_of_baseline']:.0f} % of N_max (posted: "
        f"{100 * push['published'] / by.loc['baseline', 'published']:.0f} %) and {100 * push['n_sum_of_baseline']:.0f} "
        f"% of N_sum; LB-c {100 * keep['n_max_of_baseline']:.0f} and {100 * keep['n_sum_of_baseline']:.0f} %",
    )
    return fig


def _limit(noise, name):
    """Return where the axis ends: intervals of very few runs may reach far beyond every mean."""
    return min(1.05 * noise[f"{name}_high"].max(), 2.2 * noise[name].max())


@styled
def plot_causes(causes: pd.DataFrame):
    """Draw what N_max of each kernel consists of.

    Parameters
    ----------
    causes : pandas.DataFrame
        From `df_causes`.
    """
    table = causes.pivot(index="variant", columns="cause", values="n_max")
    table = table.loc[causes["variant"].unique(), causes["cause"].unique()]
    fig, axis = plt.subplots(figsize=(9.6, 3.9))
    rows, left = np.arange(len(table)), np.zeros(len(table))
    for cause, colour in zip(table.columns, CAUSE):
        if table[cause].sum() == 0:
            continue
        axis.barh(rows, table[cause], left=left, height=0.62, color=colour, label=cause)
        left += table[cause].to_numpy()
    axis.set(xlabel="N_max (% of the time sampled), by what began the longest gap of a window")
    axis.set(yticks=rows, yticklabels=[NAMES[v] for v in table.index], ylim=(len(table) - 0.5, -0.5))
    axis.grid(axis="y", visible=False)
    fig.legend(loc="outside lower center", ncols=3)
    forced = table[[cause for cause in table.columns if cause.startswith("forced")]].sum(axis=1)
    queued = table[[cause for cause in table.columns if cause.startswith("queued")]].sum(axis=1)
    headline(
        fig,
        f"With the push gaps of forced idle go from {forced['baseline']:.2f} to {forced['push']:.2f} %, those of "
        f"queueing "
        f"from {queued['baseline']:.2f} to {queued['push']:.2f} %",
    )
    return fig


@styled
def plot_burst(burst: pd.DataFrame, used_us: float, published: dict):
    """Draw the noise over the burst of the VMM threads, with the published numbers as lines.

    Parameters
    ----------
    burst : pandas.DataFrame
        From `df_burst`.
    used_us : float
        The burst in use.
    published : dict
        Percent, by variant.
    """
    fig, axis = plt.subplots(figsize=(7.2, 3.7))
    styles = {"baseline": (COLOURS["ink"], "o", "-"), "push": (COLOURS["blue"], "s", "--")}
    for variant, (colour, marker, line) in styles.items():
        part = burst[burst["variant"] == variant]
        axis.fill_between(part["burst_us"], part["n_max_low"], part["n_max_high"], color=colour, alpha=0.14)
        label = f"{variant} (band: 95 % interval)"
        axis.plot(part["burst_us"], part["n_max"], color=colour, marker=marker, linestyle=line, label=label)
        axis.axhline(published[variant], color=colour, linewidth=0.9, linestyle=":")
        axis.annotate(
            f"published: {variant} {published[variant]:.2f} %", (1, published[variant]), xytext=(-2, 3),
            xycoords=("axes fraction", "data"), textcoords="offset points", ha="right", fontsize=8.5, color=colour,
        )  # fmt: skip
    axis.axvline(used_us, color=COLOURS["vermilion"], linewidth=1)
    axis.annotate(
        "in use", (used_us, 0.03), xycoords=("data", "axes fraction"), xytext=(4, 0), textcoords="offset points",
        color=COLOURS["vermilion"], fontsize=8.5,
    )  # fmt: skip
    axis.set(xlabel="mean burst of a VMM thread (us)", ylabel="N_max (% of the time sampled)", ylim=(0, None))
    axis.legend(loc="upper left")
    axis.set_ylim(top=min(1.05 * burst["n_max_high"].max(), 2.2 * burst["n_max"].max()))
    by = burst.pivot(index="burst_us", columns="variant", values="n_max")
    ratio = by["push"] / by["baseline"]
    posted = published["push"] / published["baseline"]
    headline(fig, f"Push over no push: {ratio.min():.2f} to {ratio.max():.2f} over these bursts (posted: {posted:.2f})")
    return fig
