"""gantt(): what each CPU ran and where groups were throttled, and the same for two runs that are compared."""

import matplotlib.pyplot as plt
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from .. import _check
from ..units import NS_PER_MS, to_ns
from ._timeline import HATCHES, OTHERS, WOKEN, Key, Shown, View, draw
from .style import COLOURS, headline, plain, styled

_DIFFERENCE = {"color": COLOURS["ink"], "linestyle": (0, (4, 2)), "linewidth": 1.6}


@styled
def gantt(
    run,
    start_ns=0,
    end_ns=None,
    *,
    color_by="group",
    cpus=None,
    marks=True,
    wakeups=False,
    title=None,
    ax=None,
):
    """Draw what each CPU ran: a row a CPU, a colour a group or task, hatched strips where a group is throttled.

    Parameters
    ----------
    run : Run
        With a log of ``switch``; for the marks also of ``throttle`` and ``unthrottle``.
    start_ns, end_ns : int or str
        What is shown: ns, or text such as ``"20ms"``; to the end of the run by default.
    color_by : {"group", "task"}
        The seven that run longest have a colour of their own, the rest share one. A dark line parts neighbours of
        one colour.
    cpus : sequence of int, optional
        Rows; all CPUs by default.
    marks : bool
        Show where a group is throttled on a CPU, below what runs there: a line at its start and its end.
    wakeups : bool
        Show wake-ups (needs a log of ``wake``).
    title : str, optional
    ax : matplotlib.axes.Axes, optional
        Drawn into in place of a new figure. The legend stands right of it: make the figure with
        ``layout="constrained"``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        Without a log of switches, or for a CPU or time that the run does not have.
    """
    view = _view([run], start_ns, end_ns, color_by, cpus, marks, wakeups)
    shown = [Shown.of(run, view)]
    key = Key.of(shown, view)
    fig, axis = plt.subplots(figsize=(11, 1.15 + _height(view))) if ax is None else (ax.figure, ax)
    if title and ax is None:
        headline(fig, title)
    elif title:
        axis.set_title(title)
    draw(axis, shown[0], view, key)
    axis.set_xlabel(f"time ({view.unit[0]})")
    axis.legend(handles=_handles(shown, view, key), loc="upper left", bbox_to_anchor=(1.005, 1.02))
    return fig


@styled
def gantt_both(
    run_a,
    run_b,
    start_ns=0,
    end_ns=None,
    *,
    color_by="group",
    cpus=None,
    marks=True,
    wakeups=False,
    title=None,
    labels=None,
):
    """Draw two runs over the same time, one above the other, with a line where their logs part.

    Parameters
    ----------
    run_a, run_b : Run
        The line is at their first difference, that of `schedlab.diff`.
    start_ns, end_ns, color_by, cpus, marks, wakeups
        As for `gantt`; to the end of the longer run by default.
    title : str, optional
        The first difference by default.
    labels : tuple of str, optional
        Titles of the two panels; the inputs that differ by default.

    Returns
    -------
    matplotlib.figure.Figure
    """
    view = _view([run_a, run_b], start_ns, end_ns, color_by, cpus, marks, wakeups)
    shown = [Shown.of(run, view) for run in (run_a, run_b)]
    key = Key.of(shown, view)
    difference = run_a.diff(run_b)
    first = difference.first
    inside = first is not None and view.start_ns <= first.time_ns <= view.end_ns
    fig, axes = plt.subplots(2, 1, figsize=(11, 2.0 + 2 * _height(view)), sharex=True, sharey=True)
    for axis, one, label in zip(axes, shown, labels or _labels(difference)):
        draw(axis, one, view, key)
        axis.set_title(label)
        if inside:
            halo = [withStroke(linewidth=3.2, foreground="white")]
            axis.axvline(view.x(first.time_ns), zorder=6, path_effects=halo, **_DIFFERENCE)
    axes[1].set_xlabel(f"time ({view.unit[0]})")
    handles = _handles(shown, view, key)
    if inside:
        handles.append(plt.Line2D([], [], label="first difference", **_DIFFERENCE))
    axes[0].legend(handles=handles, loc="upper left", bbox_to_anchor=(1.005, 1.02))
    headline(fig, title or _finding(difference))
    return fig


def _view(runs, start_ns, end_ns, color_by, cpus, marks, wakeups):
    _check.choice("color_by", color_by, ("group", "task"))
    last_ns = max(run.duration_ns for run in runs)
    start_ns, end_ns = to_ns(start_ns), last_ns if end_ns is None else min(to_ns(end_ns), last_ns)
    if not 0 <= start_ns < end_ns:
        raise _check.wrong("start_ns", start_ns, f"from 0 to below the end of what is shown, {end_ns} ns")
    nr_cpus = max(run.machine.nr_cpus for run in runs)
    cpus = tuple(range(nr_cpus)) if cpus is None else _check.cpu_numbers("cpus", cpus)
    if cpus[-1] >= nr_cpus:
        raise _check.wrong("cpus", cpus, f"the machine has the CPUs 0 to {nr_cpus - 1}")
    return View(start_ns, end_ns, cpus, color_by, bool(marks), bool(wakeups))


def _height(view):
    """Return the height of the rows in inches: the more CPUs, the lower a row."""
    rows = len(view.cpus)
    return max(1.0, rows * max(0.16, min(0.55, 5.4 / rows)))


def _handles(shown, view, key):
    """Return the legend's entries: the colours, the rest of them as one, and the marks."""
    own = [name for name, colour in key.colours.items() if colour != OTHERS]
    rest = len(key.colours) - len(own)
    handles = [Patch(color=key.colours[name], label="/ (root)" if name == "/" else _short(name)) for name in own]
    if rest:
        handles.append(Patch(color=OTHERS, label=f"others ({rest} {view.color_by}{'s' if rest > 1 else ''})"))
    if key.lanes and view.color_by == "group":
        handles.append(_hatched("throttled, in its colour", HATCHES[0]))
    elif key.lanes:
        for lane, hatch in enumerate(HATCHES[: 1 + max(key.lanes.values())]):
            groups = ", ".join(group for group, mine in key.lanes.items() if mine == lane)
            handles.append(_hatched(f"{_short(groups)} throttled", hatch))
    if any(one.marks_missing for one in shown):
        handles.append(Patch(color="none", label="(throttling was not logged)"))
    if any(len(one.woken) for one in shown):
        handles.append(plt.Line2D([], [], label="wake-up", **WOKEN))
    return handles


def _hatched(label, hatch):
    return Patch(facecolor="#e6e8eb", edgecolor=COLOURS["quiet"], hatch=hatch, linewidth=0, label=label)


def _short(text, most=24):
    return plain(text if len(text) <= most else text[: most - 1] + "…")


def _labels(difference):
    """Return what tells the two runs apart, as titles."""
    table = difference.inputs()
    if "kernel.asked" in set(table["input"]):  # its mechanisms follow from the version
        of_version = table["input"].str.startswith("kernel.") & ~table["input"].isin(["kernel.asked", "kernel.patches"])
        table = table[~of_version]
    names = table["input"].str.removeprefix("kernel.").replace("asked", "kernel")
    labels = []
    for side in "ab":
        parts = [_value(name, value) for name, value in list(zip(names, table[side]))[:3]]
        more = [f"{len(table) - 3} more inputs differ"] if len(table) > 3 else []
        labels.append(f"{side}: " + ("; ".join(parts + more) or "the same inputs"))
    return labels


def _value(name, value):
    if value is None:
        return f"{name} not there"
    if isinstance(value, tuple):
        value = ", ".join(map(str, value)) or "none"
    elif name.endswith("_ns"):
        name, value = name.removesuffix("_ns"), f"{value / NS_PER_MS:g} ms"
    return f"{name} {_short(str(value))}"


def _finding(difference):
    first = difference.first
    if first is None:
        return f"The logs are equal up to {difference.until_ns / NS_PER_MS:g} ms"
    a, b = (text or "nothing more" for text in (first.a, first.b))
    return f"The logs part: {a} in a,\n{b} in b"
