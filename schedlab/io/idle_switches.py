"""Switches from idle that a trace lacks: some virtual machines write none on their secondary CPUs."""

from __future__ import annotations

import bisect
import dataclasses

import numpy as np
import pandas as pd

from .trace import Trace

_WAKES = ("sched_wakeup", "sched_wakeup_new", "sched_waking")
_KIND = "switch from idle missing, taken to be at the wake-up of the task"


def with_idle_switches(trace: Trace) -> Trace:
    """Return a trace with a switch from idle put in where one is missing and the wake-up that caused it is there.

    A CPU goes idle, and the next switch on it is away from a task that was woken on that CPU in between: then that
    task has come at its wake-up or some us later. Nothing else is put in: without a wake-up the gap stays a gap, and
    so does one with lost events in it. The report counts what was put in.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    Trace
        The same one when nothing is missing.
    """
    events = trace.events
    switches = events[(events["event"] == "sched_switch")]
    woken = _wakes_by_pid(events)
    rows = []  # positions of the wake-ups after which a switch belongs
    for cpu, mine in switches.groupby("cpu"):
        at, time_ns = mine.index.to_numpy(), mine["time_ns"].to_numpy()
        prev, following = mine["pid"].to_numpy(), mine["next_pid"].to_numpy()
        for k in np.flatnonzero((following[:-1] == 0) & (prev[1:] != 0)).tolist():
            wake = _first(woken.get((int(prev[k + 1]), int(cpu))), at[k], at[k + 1])
            if wake is not None and not _lost(trace, cpu, time_ns[k], time_ns[k + 1]):
                rows.append(wake)
    if not rows:
        return trace
    first = events.loc[rows[0]]
    place = f"{first['time_ns'] / 1e9:.6f} s on CPU {first['target_cpu']}"
    report = dataclasses.replace(trace.report, found=dict(trace.report.found), notes=list(trace.report.notes))
    report.count(_KIND, place, n=len(rows))
    return dataclasses.replace(trace, events=_put_in(events, rows), report=report)


def _wakes_by_pid(events) -> dict[tuple[int, int], tuple[list, list]]:
    """Positions of wake-ups by task and target CPU: those that say it is queued, and the others."""
    wakes = events[events["event"].isin(_WAKES)]
    found: dict[tuple[int, int], tuple[list, list]] = {}
    queued = (wakes["event"] != "sched_waking").tolist()
    for at, pid, cpu, is_queued in zip(
        wakes.index.tolist(), wakes["pid"].tolist(), wakes["target_cpu"].tolist(), queued
    ):
        found.setdefault((pid, cpu), ([], []))[0 if is_queued else 1].append(at)
    return found


def _first(wakes, after, before):
    """The first wake-up between two events, one that says it is queued if there is one."""
    for positions in wakes or ():
        k = bisect.bisect_right(positions, after)
        if k < len(positions) and positions[k] < before:
            return positions[k]
    return None


def _lost(trace, cpu, start_ns, end_ns) -> bool:
    lost = trace.lost
    return lost is not None and bool(((lost["cpu"] == cpu) & lost["before_ns"].between(start_ns, end_ns)).any())


def _put_in(events, rows) -> pd.DataFrame:
    wakes = events.loc[rows]
    cpu = wakes["target_cpu"]
    texts = {"name": "swapper/" + cpu.astype(str), "state": "R", "next_name": wakes["name"].astype(object)}
    numbers = {"cpu": cpu, "context": 0, "curr": 0, "pid": 0, "prio": 120, "next_pid": wakes["pid"]}
    numbers |= {"next_prio": wakes["prio"], "target_cpu": -1, "value": -1}
    new = wakes.assign(**numbers).astype({"event": object}).assign(event="sched_switch", **texts)
    new.index = new.index + 0.5
    plain = events.astype({column: object for column in ("event", *texts)})
    joined = pd.concat([plain, new]).sort_index().reset_index(drop=True)
    kinds = {column: pd.CategoricalDtype(sorted(joined[column].unique())) for column in texts}
    return joined.astype({column: events[column].dtype for column in events if column not in texts} | kinds)
