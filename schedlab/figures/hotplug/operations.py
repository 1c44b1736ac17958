"""Three operations at each patch level, and what a visit of a group costs in each."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled

NAMES = {"partition_root": "partition switch", "cpu_offline": "CPU offline", "cpu_online": "CPU online"}


@styled
def plot_operations(operations: pd.DataFrame, review: pd.DataFrame):
    """Draw the time of each operation at each level, group walks apart, with the published medians.

    Parameters
    ----------
    operations, review : pandas.DataFrame
        From `df_operations` and `df_review`; a level that breaks an invariant in the latter is marked.
    """
    levels = list(operations["kernel"].unique())
    fig, axes = plt.subplots(1, len(NAMES), figsize=(9.6, 3.9), sharey=True)
    rows = np.arange(len(levels))
    for axis, (name, label) in zip(axes, NAMES.items()):
        part = operations[operations["operation"] == name].set_index("kernel").loc[levels]
        axis.barh(rows, part["fixed_ms"], color=COLOURS["line"], height=0.62, label="fixed (model)")
        axis.barh(
            rows, part["walks_ms"], left=part["fixed_ms"], color=COLOURS["blue"], height=0.62,
            label="group walks (model)",
        )  # fmt: skip
        known = part["published_ms"].notna()
        axis.plot(part.loc[known, "published_ms"], rows[known], label="published median", **PUBLISHED)
        axis.set(xlabel="time of the operation (ms)", title=label)
        axis.grid(axis="y", visible=False)
    broken = set(review.loc[review["violation"] != "", "kernel"])
    names = [f"{level}\n(loses a quota)" if level in broken else level for level in levels]
    axes[0].set(yticks=rows, yticklabels=names, ylim=(len(levels) - 0.5, -0.5))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    ms = operations.pivot(index="kernel", columns="operation", values="predicted_ms")["partition_root"]
    headline(
        fig,
        f"A partition switch: {ms['base']:.1f} ms, {ms['V1a']:.1f} with one loop, {ms['patch1+2']:.1f} with both "
        f"patches and as much ({ms['V2']:.1f}) with the boolean",
    )
    return fig


@styled
def plot_visits(visits: pd.DataFrame, fits: pd.DataFrame):
    """Draw what a visit costs in each operation, from differences and from the fit, and what each fit is worth.

    Parameters
    ----------
    visits, fits : pandas.DataFrame
        From `df_visit_costs` and `df_fits`.
    """
    fig, (costs, errors) = plt.subplots(1, 2, figsize=(9.6, 3.8), width_ratios=(1.1, 1))
    fit = fits.set_index("model").loc["M1"]
    factor = np.array([1.0, fit["factor_offline"], fit["factor_online"]])
    x = np.arange(len(visits))
    for walk, colour, shift in (("clear", COLOURS["orange"], -0.16), ("resync", COLOURS["blue"], 0.16)):
        costs.bar(x + shift, fit[f"{walk}_ns"] * factor, width=0.28, color=colour, label=f"{walk}: fit M1")
        costs.plot(x + shift, visits[f"{walk}_ns"], **PUBLISHED)
    costs.plot([], [], label="from differences of published medians", **PUBLISHED)
    costs.set_xticks(x, visits["operation"])
    costs.set(ylabel="a visit of one group (ns)", xlabel="operation", title="Where the nanoseconds come from")
    costs.set_ylim(top=1.32 * visits[["clear_ns", "resync_ns"]].max().max())
    costs.legend(loc="upper left")
    costs.grid(axis="x", visible=False)
    numbers = fits["numbers"].iloc[0]
    for row in fits.itertuples():
        used = row.model == "M1"
        colour = COLOURS["blue"] if used else COLOURS["quiet"]
        errors.plot(row.parameters, row.max_error_percent, "o", color=colour, markersize=8 if used else 5.5)
        name = f"{row.model} (in use)" if used else row.model
        name += ", two rebuilds: refuted" if row.model == "M3" else ""
        last = row.parameters == numbers
        offset = (-7 if last else 7, -13 if row.model == "M0b" else 5)  # M0 stands beside M0b
        errors.annotate(
            f"{name} {row.max_error_percent:.1f} %", (row.parameters, row.max_error_percent), xytext=offset,
            textcoords="offset points", fontsize=8.5, color=colour, ha="right" if last else "left",
        )  # fmt: skip
    errors.axvline(numbers, color=COLOURS["vermilion"], linewidth=1)
    errors.annotate(
        f"{numbers} published numbers", (numbers, 0.98), xycoords=("data", "axes fraction"), xytext=(-4, 0),
        textcoords="offset points", ha="right", va="top", color=COLOURS["vermilion"], fontsize=8.5,
    )  # fmt: skip
    errors.set(xlabel="parameters of the fit", ylabel="largest error (%)", title="What each fit is worth")
    errors.set(xlim=(fits["parameters"].min() - 0.4, numbers + 0.3), ylim=(-1.5, 1.2 * fits["max_error_percent"].max()))
    headline(
        fig,
        f"A visit costs {factor[1:].min():.1f} to {factor[1:].max():.1f} times as much in hotplug; the fit spends "
        f"{fit['parameters']:.0f} parameters on {fit['numbers']:.0f} numbers",
    )
    return fig
