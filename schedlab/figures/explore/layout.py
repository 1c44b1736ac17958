"""lay_out(): the schedule of each CPU with its marks, and below it what each group used in each period."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...units import NS_PER_MS
from .._timeline import PALETTE
from ..style import COLOURS
from .scene import Scene

_WIDTH, _LEFT, _RIGHT = 1120, 64, 16
_TOP, _STRIP, _STRIP_GAP = 44, 46, 14
_STRIPS = "CPU time in each period (ms); dashed: the quota; pale: a period of which the run holds only a part"
_NUMBER_HEIGHT = 15
INK, QUIET, LINE = COLOURS["ink"], COLOURS["quiet"], COLOURS["line"]


@dataclass(frozen=True)
class Shown:
    """What is shown: the tables, the rows and the time.

    Attributes
    ----------
    spans, throttled, forced_idle, usage : pandas.DataFrame
        As in `schedlab.explore.Tables`.
    groups : tuple of str
        Paths of the groups, in the order of their colours.
    cores : tuple of tuple of int
        CPU numbers of each core: siblings stand side by side.
    start_ns, end_ns : int
        The time that is shown.
    """

    spans: pd.DataFrame
    throttled: pd.DataFrame
    forced_idle: pd.DataFrame
    usage: pd.DataFrame
    groups: tuple[str, ...]
    cores: tuple[tuple[int, ...], ...]
    start_ns: int
    end_ns: int

    def x(self, time_ns):
        """Return the places of times on the sheet."""
        share = (np.asarray(time_ns, float) - self.start_ns) / (self.end_ns - self.start_ns)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def cut(self, table):
        """Return what is shown of a table of intervals: itself, and its left and right edges."""
        start, end = table["start_ns"].to_numpy(), table["end_ns"].to_numpy()
        inside = (start < self.end_ns) & (end > self.start_ns)
        left, right = self.x(start[inside].clip(min=self.start_ns)), self.x(end[inside].clip(max=self.end_ns))
        return table[inside], left, right


def lay_out(shown: Shown) -> Scene:
    """Return the picture of a run: CPUs in rows with siblings side by side, then a strip a group.

    A row shows what ran, in the colour of its group; below that, hatched in a group's colour, where the group is
    throttled on this CPU; crossed, where core scheduling keeps the CPU idle. A strip shows the CPU time of each period
    in ms, and the quota dashed; pale bars are periods that the run holds only in part.
    """
    row = _row_height(shown)
    middle = _TOP + row * sum(len(core) for core in shown.cores)
    bottom = middle + 70 + len(shown.groups) * (_STRIP + _STRIP_GAP)
    label = f"Schedule of {sum(map(len, shown.cores))} CPUs and CPU time per period of {', '.join(shown.groups)}"
    scene = Scene(_WIDTH, bottom + 30, label)
    _time_axis(scene, shown, ((_TOP, middle), (middle + 62, bottom)))
    _schedule(scene, shown, row)
    scene.text(_LEFT, middle + 52, _STRIPS, INK, bold=True)
    for k, group in enumerate(shown.groups):
        _strip(scene, shown, group, PALETTE[k], middle + 70 + k * (_STRIP + _STRIP_GAP))
    _legend(scene, shown)
    return scene


def _row_height(shown):
    return max(3.0, min(26.0, 400 / sum(len(core) for core in shown.cores)))


def _schedule(scene, shown, height):
    cpus = [cpu for core in shown.cores for cpu in core]
    tops = np.empty(max(cpus) + 1)
    tops[cpus] = _TOP + height * np.arange(len(cpus))
    edges = _TOP + height * np.cumsum([0, *map(len, shown.cores)])
    # with throttled groups a row has two storeys
    lanes = sorted(set(shown.throttled["group"]), key=shown.groups.index)
    pad = 0.06 * height
    floor = (0.58 if lanes else 0.94) * height
    table, left, right = shown.cut(shown.forced_idle)
    top = tops[table["cpu"].to_numpy()]
    scene.boxes(left, top + pad, right, top + floor, INK, hatch="x")
    table, left, right = shown.cut(shown.spans)
    top, whose = tops[table["cpu"].to_numpy()], table["group"].to_numpy()
    for k, group in enumerate(shown.groups):
        mine = whose == group
        scene.boxes(left[mine], top[mine] + pad, right[mine], top[mine] + floor, PALETTE[k])
    table, left, right = shown.cut(shown.throttled)
    top, whose = tops[table["cpu"].to_numpy()], table["group"].to_numpy()
    lane = (0.94 * height - floor) / max(1, len(lanes))
    for k, group in enumerate(lanes):
        mine, colour = whose == group, PALETTE[shown.groups.index(group)]
        upper = top[mine] + floor + k * lane
        # too low for a hatch: filled
        look = {"hatch": "/"} if lane >= 2.5 else {"opacity": 0.55}
        scene.boxes(left[mine], upper, right[mine], upper + lane, colour, **look)
    scene.lines(_LEFT, tops[cpus], _WIDTH - _RIGHT, tops[cpus], LINE, width=0.6)
    scene.lines(_LEFT, edges, _WIDTH - _RIGHT, edges, QUIET, width=0.9)
    step = max(1, int(np.ceil(11 / height)))
    for cpu in cpus[::step]:
        scene.text(_LEFT - 8, tops[cpu] + min(height, 16) * 0.5 + 4, f"CPU {cpu}", INK, size=11, anchor="end")


def _strip(scene, shown, group, colour, top):
    """Draw one group's CPU time per period."""
    usage = shown.usage[shown.usage["group"] == group]
    quota_ns = usage["quota_ns"].iloc[0]
    most_ns = max(usage["usage_ns"].max(), 0 if np.isnan(quota_ns) else quota_ns, 1)
    base = top + _STRIP
    table, left, right = shown.cut(usage)
    level = base - (_STRIP - 4) * table["usage_ns"].to_numpy() / most_ns
    gap = np.minimum(1.0, (right - left) / 4)
    whole = table["whole"].to_numpy()
    for which, opacity in ((whole, 1.0), (~whole, 0.4)):
        scene.boxes((left + gap)[which], level[which], (right - gap)[which], base, colour, opacity=opacity)
    scene.lines(_LEFT, base, _WIDTH - _RIGHT, base, QUIET)
    if not np.isnan(quota_ns):
        y = base - (_STRIP - 4) * quota_ns / most_ns
        scene.lines(_LEFT, y, _WIDTH - _RIGHT, y, INK, width=1.2, dashed=True)
    scene.text(_LEFT - 8, top + 20, group, colour, anchor="end", bold=True, size=13)
    _numbers(scene, (left + right) / 2, right - left, base - level, table, base, colour)


def _numbers(scene, middle, width, height, table, base, colour):
    """Write the CPU time into or onto each bar that is wide enough for it."""
    for k in np.flatnonzero(width > 34):
        inside = height[k] >= _NUMBER_HEIGHT
        white = inside and colour == COLOURS["blue"] and table["whole"].iloc[k]
        value, y = table["usage_ns"].iloc[k] / NS_PER_MS, base - 5 if inside else base - height[k] - 4
        scene.text(middle[k], y, f"{value:.1f}", "#ffffff" if white else INK, size=10.5, anchor="middle")


def _time_axis(scene, shown, panels):
    """Draw lines at round times through both panels, and the numbers below each."""
    ticks = _ticks(shown.start_ns / NS_PER_MS, shown.end_ns / NS_PER_MS)
    places = shown.x(ticks * NS_PER_MS)
    for top, bottom in panels:
        scene.lines(places, top, places, bottom, LINE)
        for x, tick in zip(places, ticks):
            scene.text(x, bottom + 15, f"{tick:g}", QUIET, size=11, anchor="middle")
        scene.text(_LEFT - 8, bottom + 15, "ms", QUIET, size=11, anchor="end")


def _ticks(start_ms, end_ms):
    raw = (end_ms - start_ms) / 12
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(step for step in (1, 2, 5, 10) if step * power >= raw) * power
    return np.arange(np.ceil(start_ms / step), np.floor(end_ms / step) + 1) * step


def _legend(scene, shown):
    x = _LEFT
    entries = [(group, PALETTE[k], "") for k, group in enumerate(shown.groups)]
    entries += [("idle", "#ffffff", "")]
    entries += [("throttled, in the group's colour", QUIET, "/")] if len(shown.throttled) else []
    entries += [("forced idle by core scheduling", INK, "x")] if len(shown.forced_idle) else []
    for text, colour, hatch in entries:
        scene.boxes(x, 14, x + 22, 28, colour, hatch=hatch)
        scene.lines([x, x + 22], [14, 28], [x + 22, x], [14, 28], QUIET, width=0.5)
        scene.text(x + 28, 26, text, INK)
        x += 28 + 7.4 * len(text) + 22
