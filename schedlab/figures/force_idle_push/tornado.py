"""What the result depends on, one thing at a time."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, headline, styled


@styled
def plot_tornado(tornado: pd.DataFrame, published_ratio: float):
    """Draw N_max of baseline and push under each setting, and push over baseline.

    Parameters
    ----------
    tornado : pandas.DataFrame
        From `df_tornado`.
    published_ratio : float
        Push over baseline as posted.
    """
    away = np.log(tornado["baseline_n_max"] / tornado["baseline_n_max"].iloc[0]).abs()
    order = [0, *sorted(range(1, len(tornado)), key=lambda k: -away.iloc[k])]
    table = tornado.iloc[order].reset_index(drop=True)
    fig, (noise, ratio) = plt.subplots(1, 2, figsize=(10.4, 5.6), sharey=True, width_ratios=(1.4, 1))
    rows = np.arange(len(table))
    for variant, colour, marker, shift in (("baseline", "ink", "o", -0.13), ("push", "blue", "s", 0.13)):
        name = f"{variant}_n_max"
        reach = [table[name] - table[f"{name}_low"], table[f"{name}_high"] - table[name]]
        noise.errorbar(
            table[name], rows + shift, xerr=reach, fmt=marker, color=COLOURS[colour], capsize=2, markersize=4.5,
            label=f"{variant}, mean and 95 % interval",
        )  # fmt: skip
    noise.axvline(table["baseline_n_max"].iloc[0], color=COLOURS["ink"], linewidth=0.8, linestyle=(0, (3, 3)))
    noise.set(xlabel="N_max (% of the time sampled), log scale", xscale="log", title="Noise")
    noise.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    noise.xaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:.0e}"[0] in "25" else "")
    labels = [f"{row.factor}: {row.setting}" if row.factor else "as is" for row in table.itertuples()]
    noise.set(yticks=rows, yticklabels=labels, ylim=(len(table) - 0.5, -0.5))
    means = table[["baseline_n_max", "push_n_max"]]
    noise.set_xlim(0.5 * means.min().min(), 2 * means.max().max())
    fig.legend(*noise.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    reach = [table["push_over_baseline"] - table["ratio_low"], table["ratio_high"] - table["push_over_baseline"]]
    ratio.errorbar(
        table["push_over_baseline"], rows, xerr=reach, fmt="D", color=COLOURS["green"], capsize=2, markersize=4.5
    )
    ratio.axvline(1, color=COLOURS["quiet"], linewidth=0.9)
    ratio.axvline(published_ratio, color=COLOURS["ink"], linewidth=0.9, linestyle=":")
    ratio.annotate(
        f"published {published_ratio:.2f}", (published_ratio, 1.0), xycoords=("data", "axes fraction"),
        xytext=(0, 3), textcoords="offset points", fontsize=8.5, ha="center",
    )  # fmt: skip
    ratio.set(xlabel="N_max with push over without (95 % interval)")
    end = min(2.5, 1.05 * table["ratio_high"].max())
    ratio.set_xlim(0, end)
    cut = rows[table["ratio_high"] > end]
    ratio.plot([end] * len(cut), cut, ">", color=COLOURS["green"], markersize=5, clip_on=False)
    if len(cut):
        ratio.set_title("arrow: the interval goes on", fontsize=8.5, loc="right")
    lower, higher = (int(found.sum()) for found in (table["ratio_high"] < 1, table["ratio_low"] > 1))
    most = np.exp(away.max())
    headline(
        fig,
        f"What the mail does not tell: noise up to {most:.1f}-fold; the push lowers N_max in {lower} of {len(table)} "
        f"settings, raises it in {higher}",
    )
    return fig
