"""Each combination a row: how often and how long it is throttled, and what its tasks wait."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..style import COLOURS, headline, styled
from ._parts import PHASES, name_limit, spread, state_demand

_PANELS = (
    ("throttled_percent", "throttled periods (%)", False),
    ("throttled_ms", "throttled time (ms,\nsummed over CPUs)", False),
    ("wakeup_p99_ms", "wake-up latency,\n99th percentile (ms)", True),
    ("completion_p99_ms", "completion latency,\n99th percentile (ms)", True),
)
#: Rows that are drawn at most; the table has all of them.
MOST = 48


@styled
def plot_combinations(combinations: pd.DataFrame, title: str = ""):
    """Draw what is predicted for each combination.

    Parameters
    ----------
    combinations : pandas.DataFrame
        From `df_combinations`; the first 48 are drawn.
    title : str, optional
        The finding by default.
    """
    table = combinations.head(MOST)
    y = np.arange(len(table))[::-1]
    fig, axes = plt.subplots(1, len(_PANELS), figsize=(10.6, 1.9 + 0.24 * len(table)), sharey=True)
    for axis, (measure, label, is_latency) in zip(axes, _PANELS):
        for phase, colour in PHASES.items():
            mine = (table["phase"] == phase).to_numpy()
            if mine.any():
                spread(axis, table[mine], measure, y[mine], color=colour, label=f"{phase} timers")
        known = table[measure].notna()
        if not known.any():
            axis.text(0.5, 0.5, "none seen", transform=axis.transAxes, ha="center", color=COLOURS["quiet"])
        axis.set_xlim(left=0)
        most = float(table[f"{measure}_high"].max())
        if is_latency and most > 10 * float(table[measure].median()):
            axis.set_xscale("symlog", linthresh=1)
            ticks = [0, *(10**k for k in range(6) if 10**k < 2 * most)]
            axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_xlabel(label)
    axes[0].set_yticks(y, [name_limit(*row) for row in table[["quota_us", "period_us", "burst_us"]].values], fontsize=8)
    axes[0].set_ylim(-0.8, len(table) - 0.2)
    handles, labels = axes[0].get_legend_handles_labels()
    more = f", first {MOST} of {len(combinations)}" if len(combinations) > MOST else ""
    fig.legend(
        handles, labels, loc="outside upper right", ncols=2, title=f"mean and range over {_seeds(table)} seeds{more}"
    )
    headline(fig, title or _finding(table))
    state_demand(fig, table)
    return fig


def _seeds(table):
    return int(table["seeds"].iloc[0]) if len(table) else 0


def _finding(table):
    never = table[table["nr_throttled_high"] == 0]
    if not len(never):
        return "Throttled under every combination that was asked"
    least = never.sort_values("cpus", kind="stable").iloc[0]
    limit = name_limit(*least[["quota_us", "period_us", "burst_us"]])
    return f"{len(never)} of {len(table)} combinations are never throttled; the smallest is {limit}"
