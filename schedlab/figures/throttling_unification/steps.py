"""One throttle step by step, and how often the kernel schedules at it."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.patches import FancyBboxPatch

from ..style import COLOURS, headline, styled

MODEL = {"6.12": COLOURS["vermilion"], "6.18": COLOURS["orange"], "7.2": COLOURS["blue"]}
MARKER = {"6.12": "s", "6.18": "o", "7.2": "^"}
#: Box colours by kind of event; the rest is plain.
BOX = {"schedule": COLOURS["orange"], "throttle": COLOURS["vermilion"], "limbo": COLOURS["green"]}


@styled
def plot_steps(steps: pd.DataFrame, schedules: pd.DataFrame):
    """Draw the steps of one throttle in their order for each model, and the schedule calls over the number of hogs.

    Parameters
    ----------
    steps, schedules : pandas.DataFrame
        From `df_steps` and `df_schedules`.
    """
    fig, (order, count) = plt.subplots(1, 2, figsize=(11, 3.9), width_ratios=(2.5, 1))
    models = list(steps["model"].unique())
    for y, model in enumerate(models):
        part = steps[steps["model"] == model]
        for row in part.itertuples():
            colour = BOX.get(row.event, COLOURS["line"])
            box = FancyBboxPatch(
                (row.order - 0.4, y - 0.22), 0.8, 0.44, boxstyle="round,pad=0,rounding_size=0.08", facecolor=colour,
                alpha=0.85 if row.event not in BOX else 0.4, edgecolor=COLOURS["quiet"], linewidth=0.7,
            )  # fmt: skip
            order.add_patch(box)
            text = row.step.replace(" ", "\n")
            if row.event == "switch":
                text = f"switch\nto {row.task}"
            order.text(row.order, y, text, ha="center", va="center", fontsize=7.6)
            if row.order > 1:
                order.plot([row.order - 0.6, row.order - 0.4], [y, y], color=COLOURS["quiet"], linewidth=0.9)
    last = steps["order"].max()
    order.set(
        xlim=(0.45, last + 0.55), ylim=(len(models) - 0.55, -0.5), xticks=range(1, last + 1),
        yticks=range(len(models)), yticklabels=models, xlabel="order of the steps (all at one tick)", ylabel="kernel",
        title="One user hog, the tick at which its quota ends",
    )  # fmt: skip
    order.grid(visible=False)
    for model, part in schedules.groupby("model", sort=False):
        low, high = (part["schedules"] - part["schedules_low"], part["schedules_high"] - part["schedules"])
        count.errorbar(
            part["hogs"], part["schedules"], yerr=[low, high], color=MODEL[model], marker=MARKER[model], markersize=5,
            linewidth=1.4, capsize=2, elinewidth=0.8, label=model,
        )  # fmt: skip
    count.set(
        xlabel="user hogs in the group", ylabel="calls of __schedule a throttle", title="Siblings leave one by one"
    )
    count.set_ylim(0, schedules["schedules_high"].max() + 0.6)
    count.set_xticks(sorted(schedules["hogs"].unique()))
    count.legend(loc="upper left", title="kernel")
    one = schedules[schedules["hogs"] == 1].set_index("model")["schedules"]
    headline(fig, "Calls of __schedule until one hog has stopped: " + ", ".join(f"{one[m]:.0f} on {m}" for m in models))
    return fig
