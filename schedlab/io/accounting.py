"""Whose the CPU time of a trace was, and which group each task belongs to."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

import pandas as pd

from .snapshot import Snapshot
from .source import BadFile, read_text

# Names that the kernel gives its own threads, where no snapshot tells them.
_KERNEL_THREADS = re.compile(
    r"(kworker|ksoftirqd|rcu_|rcuo|rcub|rcuc|migration|cpuhp|kswapd|kcompactd|khugepaged|ksmd|jbd2|kthreadd|watchdog"
    r"|idle_inject|irq)[/_\d:.-]|(rcu_\w+|kthreadd|khugepaged|ksmd|kauditd|oom_reaper|watchdogd|kdevtmpfs)$"
)
_FIFO_PRIO = 100  # priorities below are real-time, -1 is deadline (cf. MAX_RT_PRIO)


@dataclass(frozen=True)
class Account:
    """Who had the CPUs in a trace.

    Attributes
    ----------
    tasks : pandas.DataFrame
        One row a pid: pid, name, group, kind ("fair", "real-time", "deadline", "kernel thread"), placed, running_ns,
        runnable_ns, sleeping_ns, throttled_ns.
    shares : dict of str to float
        Share of the CPUs' time of the window by kind, and "idle" and "not told".
    notes : tuple of str
    """

    tasks: pd.DataFrame
    shares: dict[str, float]
    notes: tuple[str, ...]


def account(trace, groups=None, window=None) -> Account:
    """Return whose the CPU time of a trace was, and what a workload made of it leaves out.

    Parameters are those of `workload_from_trace`.
    """
    window = trace.window if window is None else window
    spans = trace.spans(window)
    length = (spans["end_ns"] - spans["start_ns"]).groupby([spans["pid"], spans["state"].astype(str)]).sum()
    table = length.unstack(fill_value=0).reindex(columns=["running", "runnable", "sleeping", "throttled"], fill_value=0)
    idle_ns = int(table.loc[0, "running"]) if 0 in table.index else 0
    table = table[table.index > 0].rename(columns=lambda state: f"{state}_ns").reset_index()
    names = _last_names(trace)
    table.insert(1, "name", [names.get(pid, f"pid-{pid}") for pid in table["pid"]])
    place = _placer(groups)
    parents = _parents(trace)
    placed = [_place_of(int(pid), place, names, parents) for pid in table["pid"]]
    table.insert(2, "group", [group or "/" for group in placed])
    table.insert(3, "kind", _kinds(trace, table, groups))
    table.insert(4, "placed", [group is not None for group in placed])
    total = (window[1] - window[0]) * max(1, trace.events["cpu"].nunique())
    shares = (
        {kind: float(ns) / total for kind, ns in table.groupby("kind")["running_ns"].sum().items()} if total else {}
    )
    shares["idle"] = idle_ns / total if total else 0.0
    shares["not told"] = max(0.0, 1 - sum(shares.values()))
    return Account(table, shares, _notes(table, shares, groups))


def _notes(table, shares, groups):
    notes = []
    lost = table[~table["placed"]] if groups is not None else table.iloc[:0]
    if len(lost):
        notes.append(f"{len(lost)} of {len(table)} tasks could not be placed in a group; they run in the root group")
    for kind in ("real-time", "deadline", "kernel thread"):
        if shares.get(kind):
            notes.append(f"{kind}: {100 * shares[kind]:.2f} % of CPU time, which occupies its CPU as recorded")
    if shares["not told"] > 0.001:
        notes.append(f"the trace does not tell of {100 * shares['not told']:.1f} % of CPU time")
    notes.append("time in interrupts is part of the running time of the task that it hit")
    return tuple(notes)


def _parents(trace) -> dict[int, int]:
    """Who forked whom, where the trace has it."""
    forks = trace.of("sched_process_fork")
    return dict(zip(forks["next_pid"].tolist(), forks["pid"].tolist()))


def _place_of(pid, place, names, parents):
    """The group of a task; one that was forked meanwhile, and is not placed itself, is where its parent is."""
    seen = set()
    while pid not in seen:
        seen.add(pid)
        group = place(pid, names.get(pid, ""))
        if group is not None or pid not in parents:
            return group
        pid = parents[pid]
    return None


def _last_names(trace) -> dict[int, str]:
    names = trace.names()
    return dict(zip(names["pid"], names["name"]))


def priorities(trace) -> pd.Series:
    """Return the last priority of each pid that was switched to or from."""
    switches = trace.of("sched_switch")
    pairs = pd.concat([
        switches[["pid", "prio"]], switches[["next_pid", "next_prio"]].set_axis(["pid", "prio"], axis=1),
    ])  # fmt: skip
    return pairs.drop_duplicates("pid", keep="last").set_index("pid")["prio"]


def _kinds(trace, table, groups) -> list[str]:
    prios = priorities(trace)
    kernel = {tid for tid, task in groups.tasks.items() if task["kernel"]} if isinstance(groups, Snapshot) else None
    kinds = []
    for pid, name in zip(table["pid"].tolist(), table["name"].tolist()):
        prio = int(prios.get(pid, 120))
        if prio < 0:
            kinds.append("deadline")
        elif prio < _FIFO_PRIO:
            kinds.append("real-time")
        elif (pid in kernel) if kernel is not None and pid in groups.tasks else _KERNEL_THREADS.match(name):
            kinds.append("kernel thread")
        else:
            kinds.append("fair")
    return kinds


def _placer(groups):
    """Return a function (pid, name) -> group or None."""
    if groups is None:
        return lambda pid, name: None
    if isinstance(groups, Snapshot):
        return lambda pid, name: groups.threads.get(pid)
    if not isinstance(groups, dict):
        groups = _group_table(groups)
    by_pid = {key: group for key, group in groups.items() if isinstance(key, int)}
    patterns = [(key, group) for key, group in groups.items() if isinstance(key, str)]

    def place(pid, name):
        if pid in by_pid:
            return by_pid[pid]
        return next((group for pattern, group in patterns if fnmatch.fnmatchcase(name, pattern)), None)

    return place


def _group_table(path) -> dict[int, str]:
    table = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        pid, _, group = line.partition(",")
        if number == 1 and (pid.strip(), group.strip()) == ("pid", "group"):
            continue
        if not (
            pid.strip().isascii()
            and pid.strip().isdecimal()
            and len(pid.strip()) < 10
            and group.strip().startswith("/")
        ):
            raise BadFile(path, f"pid,group is needed, such as 17,/web, not {line[:40]!r}", number)
        table[int(pid)] = group.strip()
    return table
