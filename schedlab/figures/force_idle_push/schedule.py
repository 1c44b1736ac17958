"""Two cookies on one core: who runs where, and when a sibling is forced idle."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.patches import Patch

from ..style import COLOURS, headline, styled

COOKIE = {1: COLOURS["sky"], 2: COLOURS["orange"]}
TITLES = {
    "baseline": "nothing to steal, no push: the two cookies take turns for ever",
    "steal": "tasks of both cookies wait on the other core: one is stolen",
    "push": "push: the task that idles is sent to the idle core",
}
_FORCED = dict(facecolor="#e6e8eb", edgecolor=COLOURS["quiet"], hatch="////", linewidth=0)


@styled
def plot_schedules(schedules: pd.DataFrame, release_ms: float):
    """Draw the schedules of two cores in three scenes, with forced idle hatched.

    Parameters
    ----------
    schedules : pandas.DataFrame
        From `df_schedules`.
    release_ms : float
        When tasks may leave the CPUs on which they began, drawn as a line.
    """
    scenes = list(schedules["scene"].unique())
    fig, axes = plt.subplots(len(scenes), 1, figsize=(9.6, 1.85 * len(scenes)), sharex=True)
    for axis, scene in zip(axes, scenes):
        part = schedules[schedules["scene"] == scene]
        for row in part.itertuples():
            if row.what == "task":
                span = [(row.start_ms, row.end_ms - row.start_ms)]
                axis.broken_barh(span, (row.cpu - 0.4, 0.8), facecolor=COOKIE[row.cookie], edgecolor="white")
                axis.text((row.start_ms + row.end_ms) / 2, row.cpu, row.task, ha="center", va="center", fontsize=8)
            elif row.what == "forced idle":
                axis.broken_barh([(row.start_ms, row.end_ms - row.start_ms)], (row.cpu - 0.4, 0.8), **_FORCED)
            else:
                axis.plot(row.start_ms, row.cpu - 0.5, "v", color=COLOURS["vermilion"], markersize=7, clip_on=False)
                axis.annotate(
                    f"{row.what} {row.task}", (row.start_ms, row.cpu - 0.5), xytext=(7, 0), fontsize=8.5,
                    textcoords="offset points", color=COLOURS["vermilion"], va="center", zorder=5,
                    bbox=dict(boxstyle="square,pad=0.1", facecolor="white", edgecolor="none"),
                )  # fmt: skip
        axis.axvline(release_ms, color=COLOURS["ink"], linestyle=(0, (4, 2)), linewidth=1)
        axis.axhline(1.5, color=COLOURS["quiet"], linewidth=0.7)
        axis.set(ylim=(3.7, -0.9), yticks=range(4), yticklabels=[f"CPU {cpu}" for cpu in range(4)])
        axis.set_title(f"{scene}: {TITLES[scene]}" if scene != "push" else TITLES[scene])
        axis.grid(visible=False)
    axes[-1].set(xlabel="time (ms)", xlim=(0, schedules["end_ms"].max()))
    handles = [Patch(color=colour, label=f"cookie {cookie}") for cookie, colour in COOKIE.items()]
    handles += [
        Patch(label="forced idle: a task waits there", **_FORCED),
        plt.Line2D([], [], color=COLOURS["ink"], linestyle=(0, (4, 2)), linewidth=1, label="tasks may move from here"),
    ]
    fig.legend(handles=handles, loc="outside lower center", ncols=4)
    end = schedules["end_ms"].max()
    ended = schedules[(schedules["scene"] == "push") & (schedules["what"] == "forced idle")]["end_ms"].max()
    headline(
        fig,
        f"One core, two cookies: a sibling idles all the time; the push ends that at {ended:.0f} of {end:.0f} ms, its "
        "first chance",
    )
    return fig
