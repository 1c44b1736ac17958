"""Beyond the fits: what was held out, other sizes, and both series together."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, PUBLISHED, headline, styled

#: What the held-out quantities are.
HELD_OUT = {
    "heldout.dl_clear_us.intel": "dl_clear_root_domain(),\nIntel",
    "heldout.dl_clear_us.amd": "dl_clear_root_domain(),\nAMD",
    "heldout.amd_p5_s": "AMD: taken off\nby patch 5",
    "heldout.amd_p7_s": "AMD: taken off\nby patch 7",
    "heldout.amd_before_p5_total_s": "AMD: ramp\nbefore patch 5",
}
_CARRIED = {"as it is": (COLOURS["orange"], "s"), "by memory": (COLOURS["blue"], "o")}


@styled
def plot_held_out(held_out: pd.DataFrame, transfer: pd.DataFrame):
    """Draw the errors of the held-out predictions in what was allowed, and of every way to carry a cost over.

    Parameters
    ----------
    held_out, transfer : pandas.DataFrame
        From `df_held_out` and `df_transfer`.
    """
    fig, (errors, carried) = plt.subplots(1, 2, figsize=(9.6, 3.7))
    rows = np.arange(len(held_out))
    allowed, error = held_out["allowed_percent"], held_out["error_percent"]
    good = error.abs() <= allowed
    errors.barh(rows, 2 * allowed, left=-allowed, color=COLOURS["green"], alpha=0.15, height=0.8, label="allowed")
    errors.axvline(0, color=COLOURS["ink"], linewidth=1)
    low, high = (100 * (held_out[name] / held_out["published"] - 1) for name in ("predicted_low", "predicted_high"))
    errors.hlines(rows, low, high, color=COLOURS["blue"], linewidth=2)
    for ok, colour, label in ((True, COLOURS["blue"], "predicted"), (False, COLOURS["vermilion"], "outside")):
        if (good == ok).any():
            errors.plot(error[good == ok], rows[good == ok], "o", color=colour, markersize=6.5, label=label)
    names = [HELD_OUT.get(name, name.removeprefix("heldout.")) for name in held_out["quantity"]]
    errors.set(yticks=rows, yticklabels=names, ylim=(len(rows) - 0.5, -0.5))
    errors.set(xlabel="error of the prediction (%)", title="Held out")
    patches = list(transfer["patch"].unique())
    for how, (colour, marker) in _CARRIED.items():
        part = transfer[transfer["carried"] == how]
        ratio = 1 + part["error_percent"] / 100
        at = [patches.index(patch) for patch in part["patch"]]
        carried.plot(ratio, at, marker, color=colour, markersize=6.5, label=f"Intel's cost {how}")
    named = transfer[transfer["named_before"]]
    carried.plot(
        1 + named["error_percent"] / 100, [patches.index(patch) for patch in named["patch"]], "o", markersize=13,
        markerfacecolor="none", markeredgecolor=COLOURS["ink"], label="among the held-out",
    )  # fmt: skip
    limit = held_out["allowed_percent"].max() / 100
    carried.axvspan(1 - limit, 1 + limit, color=COLOURS["green"], alpha=0.15, linewidth=0)
    carried.axvline(1, color=COLOURS["ink"], linewidth=1)
    carried.set(xscale="log", yticks=range(len(patches)), yticklabels=patches, ylim=(len(patches) - 0.5, -0.5))
    carried.set_xticks([0.3, 1, 3], ["0.3", "1", "3"])
    carried.minorticks_off()
    carried.set(xlabel="predicted over published (ratio)", title="Intel's cost of a unit carried over to AMD")
    handles = [line for axis in (errors, carried) for line in axis.get_legend_handles_labels()[0]]
    fig.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    for axis in (errors, carried):
        axis.grid(axis="y", visible=False)
    best = transfer.assign(off=transfer["error_percent"].abs()).groupby("patch", sort=False)["off"].min()
    lost = [patch for patch in patches if best[patch] > 100 * limit]
    text = f"{good.sum()} of {len(good)} held-out predictions hold"
    headline(fig, text + (f"; {', '.join(lost)} carries over in neither way" if lost else ""))
    return fig


@styled
def plot_sizes(intel: pd.DataFrame, amd: pd.DataFrame, published: pd.DataFrame):
    """Draw the ramp of machines of other sizes, without and with the series, with what is not known as a band.

    Parameters
    ----------
    intel, amd, published : pandas.DataFrame
        From `df_sizes` and `df_published_ramps`.
    """
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 3.9), sharey=True)
    for axis, (name, table), known in zip(axes, (("Intel", intel), ("AMD", amd)), published.itertuples()):
        total = table.groupby("cpus")[["low_s", "high_s"]].sum()
        final = table[table["part"] == "final"].set_index("cpus")[["low_s", "high_s"]]
        capacity = table[table["part"] == "cache-group-capacity"].set_index("cpus")[["low_s", "high_s"]]
        for part, colour, label in (
            (total, COLOURS["vermilion"], "without the series"),
            (final, COLOURS["blue"], "with the series"),
        ):
            axis.fill_between(part.index, part["low_s"], part["high_s"], color=colour, alpha=0.25, linewidth=0)
            axis.plot(part.index, part.mean(axis=1), color=colour, marker="o", markersize=3.5, label=label)
        axis.plot(
            capacity.index, capacity["low_s"], color=COLOURS["green"], linestyle="--", marker="o", markersize=3.5,
            label="taken off by patch 5 alone",
        )  # fmt: skip
        axis.plot([known.cpus] * 2, [known.without_s, known.with_s], label="published", **PUBLISHED)
        axis.set(xscale="log", yscale="log", xlabel="CPUs", title=f"{name}'s shape")
        axis.set_xticks(total.index, [f"{n:,}" for n in total.index])
        axis.minorticks_off()
    axes[0].yaxis.set_major_formatter("{x:,.4g}")
    axes[0].set_ylabel("off and on again, all CPUs (s)")
    axes[0].plot([], [], color=COLOURS["quiet"], linewidth=6, alpha=0.25, label="band: fixed or growing with CPUs")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    n = intel["cpus"].max()
    last = [table[table["cpus"] == n].set_index("part")[["low_s", "high_s"]] for table in (intel, amd)]
    said = []
    for name, part in zip(("Intel", "AMD"), last):
        before, after = part.sum(), part.loc["final"]
        ends = dict.fromkeys(f"{before[end]:.0f}" for end in ("low_s", "high_s"))
        said.append(f"{name} {' to '.join(ends)} s, with the series {after['low_s']:.1f} to {after['high_s']:.1f}")
    headline(fig, f"At {n:,} CPUs: {'; '.join(said)}")
    return fig


@styled
def plot_both_series(both: pd.DataFrame, lattice: pd.DataFrame):
    """Draw the ramp with neither, either and both series, and what each of the eight patches saves at least.

    Parameters
    ----------
    both, lattice : pandas.DataFrame
        From `df_both_series` and `df_lattice`.
    """
    fig, (ramp, least) = plt.subplots(1, 2, figsize=(9.6, 3.8), width_ratios=(1.1, 1))
    kernels = {
        (False, False): "neither",
        (True, False): "walks (2)",
        (False, True): "large systems (8)",
        (True, True): "both",
    }
    groups = list(both["groups"].unique())
    height = 0.8 / len(groups)
    shades = [COLOURS["sky"], COLOURS["orange"], COLOURS["vermilion"], COLOURS["purple"], COLOURS["green"]]
    for k, number in enumerate(groups):
        part = both[both["groups"] == number].set_index(["walks", "large"]).loc[list(kernels)]
        rows = np.arange(len(kernels)) + (k - (len(groups) - 1) / 2) * height
        ramp.barh(
            rows, part["total_s"], height=0.9 * height, color=shades[k % len(shades)], label=f"{number - 1:,} cgroups"
        )
        for row, seconds in zip(rows, part["total_s"]):
            ramp.annotate(
                f"{seconds:.3g}", (seconds, row), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8
            )
    ramp.set(yticks=range(len(kernels)), yticklabels=list(kernels.values()), ylim=(len(kernels) - 0.5, -0.5))
    ramp.set(xlabel="off and on again, 480 CPUs (s)", title="Which series", xlim=(0, 1.12 * both["total_s"].max()))
    ramp.legend(loc="lower right")
    rows = np.arange(len(lattice))
    least.hlines(rows, lattice["least_ms"], lattice["most_ms"], color=COLOURS["blue"], linewidth=2)
    least.plot(lattice["least_ms"], rows, "o", color=COLOURS["blue"], markersize=6.5)
    left = (lattice["least_ms"] / lattice["share_of_final_percent"] * 100).mean()
    least.axvline(left, color=COLOURS["ink"], linewidth=1)
    least.annotate(
        "left after\nall eight", (left, len(rows) - 1), xytext=(4, 0), textcoords="offset points", va="center",
        fontsize=8.5, color=COLOURS["ink"],
    )  # fmt: skip
    least.set(xscale="log", yticks=rows, yticklabels=lattice["patch"], ylim=(len(rows) - 0.5, -0.5))
    least.xaxis.set_major_formatter("{x:,.4g}")
    least.set(xlabel="saved at least, of one CPU off and on (ms)", title="Each of the eight, after any of the others")
    for axis in (ramp, least):
        axis.grid(axis="y", visible=False)
    most = both[both["groups"] == max(groups)].set_index(["walks", "large"])["total_s"]
    headline(
        fig,
        f"With {max(groups) - 1:,} cgroups a ramp of {most[False, False]:.0f} s becomes {most[True, False]:.0f} "
        f"(walks), {most[False, True]:.0f} (large systems), {most[True, True]:.1f} with both",
    )
    return fig
