"""diff(): where the logs of two runs part, and what differs in their counters and inputs."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

import numpy as np

from . import _check
from ._contrast import counter_rows, input_rows
from .timeline import FIELDS, PLAIN, describe, known_until_ns, say_time

_NEEDED = ("machine", "kernel", "workload", "seed", "duration_ns", "kinds", "log_kinds", "log_lost", "log", "cpu_stat")
_SHOWN = 12


@dataclass(frozen=True)
class Parting:
    """The first record in which two logs differ.

    Attributes
    ----------
    index : int
        Its number in both logs (of the kinds compared); all before it are equal.
    time_ns : int
        When: the earlier one's time.
    a, b : str or None
        What each log has there, in words; None where it has nothing more.
    """

    index: int
    time_ns: int
    a: str | None
    b: str | None

    def __str__(self):
        a, b = (text or "nothing more" for text in (self.a, self.b))
        return f"record {self.index}: a has {a}; b has {b}"


@dataclass(frozen=True, repr=False, eq=False)
class Difference:
    """How two runs differ; `diff` makes it.

    Attributes
    ----------
    a, b : Run
    first : Parting or None
        Where the logs part. None when no difference was found: `log_equal` tells whether they were compared at all.
    kinds : tuple of str
        Kinds of events that were compared: those that both logs have.
    nr_compared : int
        Records found equal before the logs part or end.
    until_ns : int
        Up to when both logs tell all: the end of the shorter run, or where a log was cut.
    notes : tuple of str
        What limits the comparison: a run without log, kinds that one log lacks, a log that was cut, an earlier end.
    """

    a: object
    b: object
    first: Parting | None
    kinds: tuple[str, ...]
    nr_compared: int
    until_ns: int
    notes: tuple[str, ...] = field(default=())

    @property
    def log_equal(self) -> bool | None:
        """Whether the logs are equal up to `until_ns`; None when there was nothing to compare."""
        return self.first is None if self.kinds else None

    def context(self, n: int = 8):
        """Return the records of both logs around the first difference, side by side.

        Parameters
        ----------
        n : int
            Records before it and after it.

        Returns
        -------
        pandas.DataFrame
            Index: the record's number. Columns: a_time_ns, a (in words), b_time_ns, b, same. Missing where a log has
            ended; no rows when the logs do not part.

        Raises
        ------
        ValueError
            When the logs could not be compared.
        """
        import pandas as pd

        n = _check.whole("n", n, 0)
        if not self.kinds:
            raise _check.wrong("log_kinds", (self.a.log_kinds, self.b.log_kinds), f"context(): {self.notes[0]}")
        logs = [_of_kinds(run, self.kinds) for run in (self.a, self.b)]
        rows = range(0)
        if self.first is not None:
            last = min(self.first.index + n + 1, max(map(len, logs)))
            rows = range(max(0, self.first.index - n), last)
        table = pd.DataFrame(index=pd.Index(rows, name="record"))
        for name, run, log in zip("ab", (self.a, self.b), logs):
            part = [log[k] if k < len(log) else None for k in rows]
            times = [pd.NA if record is None else int(record["time"]) for record in part]
            table[f"{name}_time_ns"] = pd.array(times, dtype="Int64")
            texts = [None if record is None else describe(run, record) for record in part]
            table[name] = np.array(texts, dtype=object)
        same_time = (table["a_time_ns"] == table["b_time_ns"]).fillna(False).astype(bool)
        table["same"] = same_time & (table["a"] == table["b"])
        return table

    def counters(self, everything: bool = False):
        """Return what was counted in both runs, the largest relative changes first.

        Parameters
        ----------
        everything : bool
            Also the rows that are equal.

        Returns
        -------
        pandas.DataFrame
            table ("run", "power", "cpu.stat", "task", "latency"), name (group, task or label), counter (with its
            unit), a, b, b_minus_a, percent (of a; inf where a is 0). What one run lacks is missing and comes last.
        """
        return counter_rows(self.a, self.b, everything)

    def inputs(self, everything: bool = False):
        """Return the inputs in which the runs differ: machine, kernel, workload, seed and duration.

        Parameters
        ----------
        everything : bool
            Also those that are equal.

        Returns
        -------
        pandas.DataFrame
            input, a, b; None where one run does not have it.
        """
        return input_rows(self.a, self.b, everything)

    def __str__(self):
        if self.first is not None:
            text = f"the logs part at {self.first}"
        elif self.kinds:
            text = f"the logs are equal up to {say_time(self.until_ns)} ({self.nr_compared} records)"
        else:
            text = "the logs were not compared"
        return "; ".join([text, *self.notes, f"{len(self.counters())} counters differ"])

    def __repr__(self):
        return f"<Difference: {self}>"

    def _repr_html_(self):
        parts = [f"<p>{html.escape(str(self))}</p>"]
        counters = self.counters()
        tables = [("What was put in", self.inputs(), False)]
        if self.first is not None:
            tables.append(("The logs around the first difference (a, b)", self.context(4), True))
        more = f" (the first {_SHOWN} of {len(counters)})" if len(counters) > _SHOWN else ""
        tables.append((f"What was counted{more}", counters.head(_SHOWN), False))
        for title, table, index in tables:
            if len(table):
                shown = table.to_html(index=index, na_rep="", float_format="{:,.10g}".format)
                parts.append(f"<p><b>{title}</b></p>{shown}")
        return "".join(parts)


def diff(run_a, run_b) -> Difference:
    """Compare two runs, of the same scenario or of different kernels, patches, seeds and workloads.

    The logs are compared record by record, on the kinds of events that both have; tasks and groups by their names.

    Parameters
    ----------
    run_a, run_b : Run
        Best made with ``log=True``; without a log the counters and inputs are still compared.

    Returns
    -------
    Difference

    Raises
    ------
    ValueError
        When one of them is not a Run.

    Examples
    --------
    >>> import schedlab as sl
    >>> work = sl.Workload((sl.Group("/a", quota_us=20_000),), (sl.Task("hog", sl.run("9s"), group="/a"),))
    >>> machine, kernel = sl.Machine.uniform(1), sl.Kernel.version("6.6").without_patch("interleave-timers")
    >>> aligned = sl.simulate(machine, kernel, work, "1s", log=True)
    >>> other = sl.simulate(machine, kernel.with_patch("staggered"), work, "1s", log=True)
    >>> found = sl.diff(aligned, other)
    >>> found.log_equal, found.inputs()["input"].tolist()
    (True, ['kernel.patches'])
    """
    for name, run in (("run_a", run_a), ("run_b", run_b)):
        if isinstance(run, type) or not all(hasattr(run, needed) for needed in _NEEDED):
            raise _check.wrong(name, run, "a Run, as simulate() returns it, is needed")
    kinds = tuple(kind for kind in run_a.log_kinds if kind in run_b.log_kinds)
    until_ns = min(known_until_ns(run_a), known_until_ns(run_b)) if kinds else 0
    first, nr_compared = _first(run_a, run_b, kinds) if kinds else (None, 0)
    notes = _notes(run_a, run_b, kinds, until_ns)
    return Difference(run_a, run_b, first, kinds, nr_compared, until_ns, notes)


def _first(run_a, run_b, kinds):
    """Return where the logs part (or None) and how many records are equal before that."""
    ours, theirs = _of_kinds(run_a, kinds), _of_kinds(run_b, kinds)
    both = min(len(ours), len(theirs))
    wrong = np.zeros(both, bool)
    for mine, other in zip(_columns(run_a, ours[:both], run_a), _columns(run_b, theirs[:both], run_a)):
        wrong |= mine != other
    index = int(wrong.argmax()) if wrong.any() else both
    if index == max(len(ours), len(theirs)):
        return None, index
    a, b = (log[index] if index < len(log) else None for log in (ours, theirs))
    if a is None and not _has_ended(run_a, run_b, b["time"]):
        return None, index
    if b is None and not _has_ended(run_b, run_a, a["time"]):
        return None, index
    time_ns = min(int(record["time"]) for record in (a, b) if record is not None)
    return Parting(index, time_ns, _text(run_a, a), _text(run_b, b)), index


def _has_ended(run, other, time_ns):
    """Whether `run`, whose log has no more records, shows that nothing happened in it at `time_ns`."""
    return time_ns < known_until_ns(run) or (not run.log_lost and run.duration_ns == other.duration_ns)


def _text(run, record):
    return None if record is None else f"{describe(run, record)} at {say_time(record['time'])}"


def _of_kinds(run, kinds):
    if set(kinds) == set(run.log_kinds):
        return run.log
    return run.log[np.isin(run.log["kind"], [run.kinds.index(kind) for kind in kinds])]


def _columns(run, log, like):
    """Return time, kind, CPU, a and b of the records, with kinds, tasks and groups numbered as in `like`."""
    numbers = {
        "task": _renumber([t.name for t in run.workload.tasks], [t.name for t in like.workload.tasks]),
        "group": _renumber(run.workload.group_paths, like.workload.group_paths),
    }
    kind = _renumber(run.kinds, like.kinds)[log["kind"]]
    columns = {"a": log["a"].copy(), "b": log["b"].copy()}
    for number, name in enumerate(run.kinds):
        of_kind = log["kind"] == number
        for column, means in zip("ab", FIELDS.get(name, PLAIN)):
            if means in numbers:
                columns[column][of_kind] = numbers[means][log[column][of_kind]]
    return log["time"], kind, log["cpu"], columns["a"], columns["b"]


def _renumber(names, like):
    """Return the number in `like` of each name, new ones after its end; -1 (idle) stays -1."""
    known = {name: number for number, name in enumerate(like)}
    for name in names:
        known.setdefault(name, len(known))
    return np.array([*(known[name] for name in names), -1])


def _notes(run_a, run_b, kinds, until_ns):
    notes = []
    sides = (("a", run_a, run_b), ("b", run_b, run_a))
    without = [name for name, run, _ in sides if run.log is None]
    if without:
        return (f"run {' and '.join(without)} has no log" if len(without) < 2 else "neither run has a log",)
    if not kinds:
        return ("no kind of event was logged in both",)
    for name, run, other in sides:
        alone = [kind for kind in run.log_kinds if kind not in other.log_kinds]
        if alone:
            notes.append(f"not compared, logged in {name} alone: {', '.join(alone)}")
    for name, run, _ in sides:
        if run.log_lost:
            notes.append(f"the log of {name} was cut ({run.log_lost} records lost)")
    if any(run.log_lost for _, run, _ in sides) or run_a.duration_ns != run_b.duration_ns:
        ends = ", ".join(f"{name} ends at {say_time(run.duration_ns)}" for name, run, _ in sides)
        notes.append(f"the comparison holds up to {say_time(until_ns)} ({ends})")
    return tuple(notes)
