"""Trace: the scheduling events of a host or of a run as one table, whatever text they came from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from .. import _check
from .._html import html_table
from . import spans as _spans
from .report import Report

#: Events that make rows; the position is the code in the column `event`.
EVENTS = (
    "sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task", "sched_stat_runtime",
    "sched_process_fork", "sched_process_exit", "hrtimer_expire_entry", "tracing_mark_write",
)  # fmt: skip
SWITCH, WAKING, WAKEUP, WAKEUP_NEW, MIGRATE, RUNTIME, FORK, EXIT, TIMER, MARK = range(10)
#: A number that an event does not have; a priority is -1 for deadline tasks, so a missing one is -128.
NONE, NO_PRIO = -1, -128
#: What the kernel writes for a name that it does not remember. It is no name.
PLACEHOLDER = "<...>"
DTYPES = {
    "time_ns": np.int64, "cpu": np.int32, "event": np.int8, "context": np.int8, "curr": np.int32, "pid": np.int32,
    "name": np.int32, "prio": np.int16, "state": np.int16, "next_pid": np.int32, "next_name": np.int32,
    "next_prio": np.int16, "target_cpu": np.int32, "value": np.int64,
}  # fmt: skip
MISSING = dict.fromkeys(DTYPES, NONE) | {"prio": NO_PRIO, "next_prio": NO_PRIO}


@dataclass(frozen=True, repr=False)
class Trace:
    """Scheduling events in order of time.

    Attributes
    ----------
    events : pandas.DataFrame
        One row an event: time_ns; cpu (on which it was recorded); event; context (0 a task, 1 an interrupt, -1 not
        told); curr (pid that ran there); pid, name, prio of the task that it is about (of a switch: the previous
        one), state (in which the previous one left, as the kernel spells it: "R+", "S"); next_pid, next_name,
        next_prio (of a switch: the next one; of a fork: the child; of a timer: next_name is its function);
        target_cpu; value (sched_stat_runtime: ns; sched_migrate_task: the CPU left; hrtimer_expire_entry: now in ns;
        tracing_mark_write: the counter's value). What an event does not have is -1, a priority -128, a text "".
    report : Report
        What was dropped or is in conflict.
    complete : bool or None
        Whether the buffers lost nothing at their beginning; None when the text does not tell.
    lost : pandas.DataFrame
        cpu, count (-1: not told), before_ns (the first event after it on that CPU).
    begins : dict of int to int
        Times in ns from which a CPU's buffer is known, where the text says so.
    source : str
    """

    events: pd.DataFrame
    report: Report = field(default_factory=Report)
    complete: bool | None = None
    lost: pd.DataFrame | None = None
    begins: dict[int, int] = field(default_factory=dict)
    source: str = ""
    lines: np.ndarray | None = None

    def of(self, *events: str) -> pd.DataFrame:
        """Return the rows of some kinds of events."""
        for event in events:
            _check.choice("event", event, EVENTS)
        return self.events[self.events["event"].isin(events)]

    def switches(self) -> pd.DataFrame:
        """Return the switches with the kernel's names of the fields."""
        names = {"pid": "prev_pid", "name": "prev_comm", "prio": "prev_prio", "state": "prev_state"}
        names["next_name"] = "next_comm"
        columns = ["time_ns", "cpu", "pid", "name", "prio", "state", "next_pid", "next_name", "next_prio"]
        return self.of("sched_switch")[columns].rename(columns=names).reset_index(drop=True)

    def cpus(self) -> pd.DataFrame:
        """Return one row a CPU: cpu, nr_events, first_ns, last_ns, nr_lost."""
        grouped = self.events.groupby("cpu")["time_ns"]
        table = grouped.agg(nr_events="size", first_ns="min", last_ns="max").reset_index()
        lost = {} if self.lost is None else self.lost["count"].clip(lower=1).groupby(self.lost["cpu"]).sum()
        table["nr_lost"] = table["cpu"].map(lost).fillna(0).astype(np.int64)
        return table

    @property
    def window(self) -> tuple[int, int]:
        """The time that is analysed, (start_ns, end_ns).

        All of it when the header says that no buffer was overwritten. Otherwise the time that the buffers of all CPUs
        cover: from the latest first event to the earliest last event. Empty (both equal) when they share none.
        """
        cpus = self.cpus()
        if not len(cpus):
            return 0, 0
        if self.complete:
            return int(cpus["first_ns"].min()), int(cpus["last_ns"].max())
        start = max(int(cpus["first_ns"].max()), *self.begins.values(), 0)
        return start, max(start, int(cpus["last_ns"].min()))

    def names(self) -> pd.DataFrame:
        """Return the names of each pid by time: pid, from_ns, name. Placeholders and the idle tasks are left out."""
        return _spans.names(self)

    def name_of(self, pid: int, at_ns: int | None = None) -> str:
        """Return the name of a pid at some time, or its last one; the first one known when it was known later only.

        A pid whose name never occurs is called "pid-<number>".
        """
        mine = self.names()
        mine = mine[mine["pid"] == pid]
        if not len(mine):
            return f"pid-{pid}"
        if at_ns is None:
            return mine["name"].iloc[-1]
        before = mine[mine["from_ns"] <= at_ns]
        return before["name"].iloc[-1] if len(before) else mine["name"].iloc[0]

    def spans(self, window: tuple[int, int] | None = None) -> pd.DataFrame:
        """Return who was in which state when.

        Parameters
        ----------
        window : tuple of int, optional
            (start_ns, end_ns); by default `Trace.window`.

        Returns
        -------
        pandas.DataFrame
            pid (0: idle), name, cpu, state ("running", "runnable", "sleeping", "throttled"), start_ns, end_ns, whole
            (False: it began before or ended after what is known). "throttled": it was ready, and its CPU went
            idle all the same; where the CPU ran something else a throttled task cannot be told from a runnable one.
            Time of which the trace does not tell has no row.

        Raises
        ------
        ValueError
            Without sched_switch.
        """
        return _spans.spans(self, self.window if window is None else window)

    def __repr__(self):
        start, end = self.window
        return (
            f"<Trace {len(self.events)} events on {self.events['cpu'].nunique()} CPUs, "
            f"window {start / 1e9:.6f} s to {end / 1e9:.6f} s, {len(self.report.found)} kinds of remarks>"
        )

    def _repr_html_(self) -> str:
        counts = self.events["event"].value_counts()
        rows = [(str(event), str(n)) for event, n in counts.items() if n]
        return html_table(repr(self)[1:-1], rows) + self.report._repr_html_()


def make_events(columns: dict[str, np.ndarray], names: list[str], states: list[str]) -> pd.DataFrame:
    """Return the table of events; `name`, `next_name` and `state` come as positions in the lists, -1 for none."""
    size = len(columns["time_ns"])
    data = {}
    for column, dtype in DTYPES.items():
        values = columns.get(column)
        data[column] = np.full(size, MISSING[column], dtype) if values is None else np.asarray(values).astype(dtype)
    texts = {"event": list(EVENTS), "name": names, "next_name": names, "state": states}
    for column, texts_of in texts.items():
        data[column] = _category(data[column], texts_of, ordered=column == "event")
    return pd.DataFrame(data)


def _category(codes, texts, ordered):
    """Return codes as a categorical; but for events only the texts that occur, sorted, so that equal tables are equal.

    Texts that became equal when they were decoded are one.
    """
    if ordered:
        return pd.Categorical.from_codes(codes, texts)
    used = np.unique(codes)
    found = sorted({texts[code] if code >= 0 else "" for code in used})
    place = {text: k for k, text in enumerate(found)}
    table = np.array([place.get(text, 0) for text in texts] + [place.get("", 0)], np.int32)
    return pd.Categorical.from_codes(table[codes], found)
