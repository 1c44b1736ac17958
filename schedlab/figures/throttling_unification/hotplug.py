"""A limit bypassed through hotplug: CPU time against the rate of operations."""

import matplotlib.pyplot as plt
import pandas as pd

from ..style import COLOURS, headline, styled

KERNEL = {"buggy": (COLOURS["vermilion"], "o", "without the fix"), "fixed": (COLOURS["blue"], "^", "with the fix")}
#: Names and drawing of the published runs.
PUBLISHED_RUNS = {"none": "no hotplug", "buggy": "hotplug, without the fix", "fixed": "hotplug, with the fix"}


@styled
def plot_hotplug(table: pd.DataFrame, published_s: dict, ideal_s: float, rate: float):
    """Draw the CPU time of the group over operations a second, with the published times.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_hotplug`.
    published_s : dict
        Published times by "none", "buggy", "fixed".
    ideal_s : float
        Quota times periods.
    rate : float
        Operations a second that the published buggy time implies (its loop's rate was not said).
    """
    fig, axis = plt.subplots(figsize=(8.2, 4.4))
    for kernel, part in table.groupby("kernel", sort=False):
        colour, marker, label = KERNEL[kernel]
        part = part.sort_values("operations_per_s")
        x = part["operations_per_s"]
        axis.fill_between(x, part["used_low_s"], part["used_high_s"], color=colour, alpha=0.15, linewidth=0)
        axis.plot(x, part["used_s"], color=colour, marker=marker, markersize=5, label=f"model, {label} (band: phases)")
    right = table["operations_per_s"].max()
    for (name, label), line in zip(PUBLISHED_RUNS.items(), (":", "--", "-.")):
        axis.axhline(
            published_s[name], color=COLOURS["ink"], linewidth=1, linestyle=line,
            label=f"published, {label}: {published_s[name]:g} s",
        )  # fmt: skip
    axis.axhline(ideal_s, color=COLOURS["quiet"], linewidth=0.8, label=f"quota × periods: {ideal_s:g} s")
    axis.set(
        xlabel="operations a second (a CPU off, or on again)", ylabel="CPU time in 20 s (s)",
        xlim=(-0.01 * right, 1.02 * right),
    )  # fmt: skip
    axis.set_ylim(bottom=0.85 * ideal_s)
    fig.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    most = table[table["kernel"] == "buggy"]["over_ideal"].max()
    text = f"Up to {most:.1f} times the quota through hotplug"
    if rate == rate:
        text += f"; the published run fits {rate:.0f} operations a second"
    headline(fig, text)
    return fig
