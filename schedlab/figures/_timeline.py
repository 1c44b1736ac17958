"""The parts of a Gantt chart: what is shown of a run, colours and lanes, boxes and strips."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba

from .. import _check
from ..units import NS_PER_MS, NS_PER_US
from .style import COLOURS

PALETTE = [COLOURS[name] for name in ("blue", "orange", "green", "purple", "sky", "yellow", "vermilion")]
OTHERS = "#9aa3ae"
WOKEN = {"marker": "v", "linestyle": "none", "color": COLOURS["ink"], "markersize": 4, "markeredgewidth": 0}
#: Hatches of the lanes in which throttled groups lie; further groups share the last lane.
HATCHES = ("//////", "\\\\\\\\\\\\", "xxxxxx")
# Where the box of a CPU lies about its row, and box and strip where groups are throttled.
_BOX = (-0.42, 0.42)
_BOX_ABOVE, _STRIP = (-0.45, 0.07), (0.12, 0.45)


@dataclass(frozen=True)
class View:
    """What is shown: the time, the CPUs in rows, what the colours stand for, and what is marked."""

    start_ns: int
    end_ns: int
    cpus: tuple[int, ...]
    color_by: str
    marks: bool
    wakeups: bool

    @property
    def unit(self) -> tuple[str, int]:
        """The unit of the time axis and its ns."""
        return ("µs", NS_PER_US) if self.end_ns - self.start_ns < 5 * NS_PER_MS else ("ms", NS_PER_MS)

    def x(self, time_ns):
        """Return times in the axis's unit."""
        return np.asarray(time_ns) / self.unit[1]

    def row(self, cpus):
        """Return the row of each CPU of a column."""
        return cpus.map({cpu: row for row, cpu in enumerate(self.cpus)})

    def cut(self, table):
        """Return what is shown of a table of intervals, with the row, and whether each end is its own or cut here."""
        inside = (table["start_ns"] < self.end_ns) & (
            (table["end_ns"] > self.start_ns) | (table["start_ns"] >= self.start_ns)
        )
        table = table[inside & table["cpu"].isin(self.cpus)]
        begins, ends = table["start_ns"] >= self.start_ns, table["end_ns"] <= self.end_ns
        left, right = table["start_ns"].clip(lower=self.start_ns), table["end_ns"].clip(upper=self.end_ns)
        return table.assign(row=self.row(table["cpu"]), begins=begins, ends=ends, start_ns=left, end_ns=right)


@dataclass(frozen=True)
class Shown:
    """A run and its tables, cut to the view."""

    run: object
    spans: pd.DataFrame
    throttled: pd.DataFrame
    woken: pd.DataFrame
    marks_missing: bool

    @classmethod
    def of(cls, run, view: View):
        """Take the tables from a run; ValueError where its log lacks what the view asks for."""
        spans = view.cut(run.spans())
        logged = {"throttle", "unthrottle"} <= set(run.log_kinds)
        throttled = view.cut(run.throttled_spans()) if view.marks and logged else spans.iloc[:0]
        woken = pd.DataFrame({"time_ns": [], "row": []})
        if view.wakeups:
            if "wake" not in run.log_kinds:
                raise _check.wrong("wakeups", True, "the run's log has no wake-ups: simulate(..., log=True)")
            events = run.events()
            events = events[(events["kind"] == "wake") & events["time_ns"].between(view.start_ns, view.end_ns)]
            events = events[events["cpu"].isin(view.cpus)]
            woken = events.assign(row=view.row(events["cpu"]))
        limits = (*run.workload.groups, *run.workload.events)  # a write of cpu.max can come later
        limited = any(getattr(item, "quota_us", None) is not None for item in limits)
        return cls(run, spans, throttled, woken, view.marks and not logged and limited)

    def names(self, color_by: str):
        """Return all groups' or tasks' names, in the order of the workload."""
        work = self.run.workload
        return work.group_paths if color_by == "group" else tuple(task.name for task in work.tasks)


@dataclass(frozen=True)
class Key:
    """What stands for what: a colour for each group or task shown, a lane for each throttled group."""

    colours: dict[str, str]
    lanes: dict[str, int]

    @classmethod
    def of(cls, shown: list[Shown], view: View):
        """Give colours to those that run longest, in the order of the workload; the rest share one."""
        throttled = [set(one.throttled["group"]) for one in shown]
        time_ns, groups = {}, {}
        for one, held in zip(shown, throttled):
            spans = one.spans
            ran = (spans["end_ns"] - spans["start_ns"]).groupby(spans[view.color_by]).sum()
            for name in one.names(view.color_by):
                if name in ran.index or (view.color_by == "group" and name in held):
                    time_ns[name] = time_ns.get(name, 0) + int(ran.get(name, 0))
            groups |= {name: None for name in one.names("group") if name in held}
        most = sorted(time_ns, key=lambda name: -time_ns[name])[: len(PALETTE)]
        own = iter(PALETTE)
        colours = {name: next(own) if name in most else OTHERS for name in time_ns}
        return cls(colours, {name: min(k, len(HATCHES) - 1) for k, name in enumerate(groups)})

    def lane(self, group: str) -> tuple[float, float]:
        """Upper and lower edge of a throttled group's strip, from the row's middle."""
        top, bottom = _STRIP
        height = (bottom - top) / (1 + max(self.lanes.values()))
        return top + self.lanes[group] * height, top + (self.lanes[group] + 1) * height - 0.02


def draw(axis, shown: Shown, view: View, key: Key) -> None:
    """Draw one run."""
    spans = shown.spans
    box = _BOX_ABOVE if key.lanes else _BOX
    colours = spans[view.color_by].map(key.colours)
    for colour, mine in spans.groupby(colours, sort=False):
        # the thin edge in its own colour keeps a span visible that is narrower than a pixel
        corners = _corners(view, mine, *box)
        axis.add_collection(PolyCollection(corners, facecolor=colour, edgecolor=colour, linewidth=0.3))
    _part_neighbours(axis, spans, colours.to_numpy(), view, box)
    for group, mine in shown.throttled.groupby("group", sort=False):
        by_group = view.color_by == "group"
        colour = key.colours[group] if by_group else COLOURS["ink"]
        _strip(axis, mine, view, key.lane(group), colour, HATCHES[0 if by_group else key.lanes[group]])
    if len(shown.woken):
        axis.plot(view.x(shown.woken["time_ns"]), shown.woken["row"] + box[0] - 0.03, **WOKEN, zorder=5)
    _shade_unknown(axis, shown, view)
    rows = len(view.cpus)
    step = -(-rows // 24)
    axis.set_yticks(np.arange(0, rows, step) + sum(box) / 2, view.cpus[::step])
    axis.set(xlim=view.x([view.start_ns, view.end_ns]), ylim=(rows - 0.45, -0.6), ylabel="CPU")
    axis.ticklabel_format(axis="x", useOffset=False, style="plain")
    axis.grid(axis="y", visible=False)
    axis.tick_params(axis="y", length=0)


def _corners(view, table, low, high):
    """Return the corners of one box a row of the table."""
    left, right, row = view.x(table["start_ns"]), view.x(table["end_ns"]), table["row"].to_numpy()
    x = np.stack([left, right, right, left], axis=1)
    y = np.stack([row + low, row + low, row + high, row + high], axis=1)
    return np.stack([x, y], axis=2)


def _part_neighbours(axis, spans, colours, view, box):
    """Draw a line between two spans of one colour that follow each other, where both are wide enough for it."""
    wide = (spans["end_ns"] - spans["start_ns"]).to_numpy() > (view.end_ns - view.start_ns) // 200
    row, start, end = (spans[name].to_numpy() for name in ("row", "start_ns", "end_ns"))
    meet = (row[1:] == row[:-1]) & (start[1:] == end[:-1]) & (colours[1:] == colours[:-1]) & wide[1:] & wide[:-1]
    at, rows = view.x(start[1:][meet]), row[1:][meet]
    # dark: a white line would look like idle time
    axis.vlines(at, rows + box[0], rows + box[1], color=COLOURS["ink"], alpha=0.6, linewidth=0.7)


def _strip(axis, table, view, lane, colour, hatch):
    corners = _corners(view, table, *lane)
    axis.add_collection(PolyCollection(corners, facecolor=to_rgba(colour, 0.25), linewidth=0, zorder=2))
    axis.add_collection(PolyCollection(corners, facecolor="none", edgecolor=colour, hatch=hatch, linewidth=0, zorder=2))
    for column, real in (("start_ns", table["begins"]), ("end_ns", table["ends"] & table["closed"])):
        edge = table[real]
        rows = edge["row"].to_numpy()
        axis.vlines(view.x(edge[column]), rows + lane[0], rows + lane[1], color=colour, linewidth=1.4, zorder=3)


def _shade_unknown(axis, shown, view):
    """Shade what the log does not tell, so that it is not taken for idle time."""
    until_ns = shown.run.log_until_ns
    if until_ns >= view.end_ns:
        return
    text = "log was cut" if until_ns < shown.run.duration_ns else "run has ended"
    left = max(until_ns, view.start_ns)
    axis.axvspan(view.x(left), view.x(view.end_ns), color=COLOURS["line"], linewidth=0, zorder=1)
    middle = (left + view.end_ns) / 2
    axis.text(
        view.x(middle), (len(view.cpus) - 1) / 2, text, ha="center", va="center", color=COLOURS["quiet"], clip_on=True
    )
