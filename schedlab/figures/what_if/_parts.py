"""What the figures of what-if share."""

import textwrap

import numpy as np
import pandas as pd

from ..style import COLOURS, plain

#: Colours of the phases of the period timers.
PHASES = {"aligned": COLOURS["orange"], "random": COLOURS["blue"]}


def state_demand(fig, table: pd.DataFrame) -> None:
    """Write below the panels where the demand is from: a figure of an assumed one must say so."""
    if len(table):
        text = "\n".join(textwrap.wrap(f"Demand: {table['demand'].iloc[0]}.", 110))
        fig.supxlabel(plain(text), x=0.01, ha="left", fontsize=8.5, color=COLOURS["quiet"])


def name_limit(quota_us, period_us, burst_us) -> str:
    """Return a limit in a few characters."""
    quota = "no limit" if pd.isna(quota_us) else f"{quota_us / 1000:g}/{period_us / 1000:g} ms"
    return quota + (f", burst {burst_us / 1000:g}" if burst_us else "")


def spread(axis, table, measure, y, **style):
    """Draw the mean of a measure as a point and its range over the seeds as a line."""
    low, mean, high = (table[f"{measure}{end}"].to_numpy(float) for end in ("_low", "", "_high"))
    axis.hlines(y, low, high, linewidth=3.5, alpha=0.35, color=style["color"])
    axis.plot(mean, y, "o", markersize=5, **style)
    return np.nanmax(high) if np.isfinite(high).any() else np.nan
