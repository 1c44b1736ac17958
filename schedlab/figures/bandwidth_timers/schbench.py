"""schbench: wake-up latency percentiles beside the published ones."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled

COLOUR = {"aligned": COLOURS["vermilion"], "random": COLOURS["blue"]}


@styled
def plot_schbench(table: pd.DataFrame, factor: float, last: float):
    """Draw wake-up latency over percentiles, a panel for each number of threads, with the published numbers.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_schbench`.
    factor : float
        Within which a percentile agrees.
    last : float
        The last percentile that the claim is about; those beyond are context.
    """
    threads = list(table["threads"].unique())
    fig, axes = plt.subplots(1, len(threads), figsize=(3.3 * max(len(threads), 2), 4.1), sharey=True, squeeze=False)
    for axis, (n, part) in zip(axes[0], table.groupby("threads", sort=False)):
        for phase, mine in part.groupby("phases"):
            x = np.arange(len(mine))
            axis.fill_between(
                x, mine["latency_low_us"], mine["latency_high_us"], color=COLOUR[phase], alpha=0.18, linewidth=0
            )
            axis.plot(x, mine["latency_us"], color=COLOUR[phase])
            hollow = {"markerfacecolor": "white"} if phase == "aligned" else {}
            axis.plot(x, mine["published_us"], **(PUBLISHED | {"color": COLOUR[phase]} | hollow))
        axis.set_title(f"schbench -t {n}")
        axis.set_xticks(np.arange(part["percentile"].nunique()), [f"{p:g}" for p in part["percentile"].unique()])
        axis.set_xlabel("percentile of wake-ups")
        axis.set_yscale("log")
        axis.minorticks_off()
        axis.yaxis.set_major_formatter("{x:,.0f}")
    axes[0, 0].set_ylabel("wake-up latency (µs)")
    lines = [plt.Line2D([], [], color=colour, label=f"model, {phase} (band: runs)") for phase, colour in COLOUR.items()]
    hollow = PUBLISHED | {"color": COLOUR["aligned"], "markerfacecolor": "white"}
    points = [
        plt.Line2D([], [], label="published, aligned", **hollow),
        plt.Line2D([], [], label="published, interleaved", **(PUBLISHED | {"color": COLOUR["random"]})),
    ]
    fig.legend(handles=lines + points, loc="outside lower center", ncols=4)
    headline(fig, _finding(table, factor, last))
    return fig


def _finding(table, factor, last):
    judged = table[(table["percentile"] <= last) & table["published_us"].notna()]
    if judged.empty:
        return "Wake-up latency of schbench in two groups"
    within = (
        judged["model_over_published"]
        .between(1 / factor, factor)
        .groupby(judged["threads"])
        .agg(agree="sum", of="count")
    )
    each = ", ".join(f"{row.agree} of {row.of} with -t {row.Index}" for row in within.itertuples())
    return f"Within a factor of {factor:g} of the published percentiles: {each}"
