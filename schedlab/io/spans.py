"""Spans out of a trace: who ran, waited or slept when; gaps and conflicts are counted, never bridged."""

from __future__ import annotations

import numpy as np
import pandas as pd

_STATES = ("running", "runnable", "sleeping", "throttled")
_RUNNING, _RUNNABLE, _SLEEPING, _THROTTLED, _GONE = range(5)
_COLUMNS = ("pid", "cpu", "state", "start_ns", "end_ns", "whole")


def names(trace) -> pd.DataFrame:
    """Return pid, from_ns, name; see `Trace.names`."""
    events = trace.events
    parts = []
    for pid, name in (("pid", "name"), ("next_pid", "next_name")):
        part = events.loc[(events[pid] > 0) & ~events["event"].isin(("tracing_mark_write",)), ["time_ns", pid, name]]
        parts.append(part.set_axis(["from_ns", "pid", "name"], axis=1).assign(name=part[name].astype(object)))
    table = pd.concat(parts).astype({"pid": np.int64})
    table = table[~table["name"].isin(("<...>", ""))].sort_values(["pid", "from_ns"], kind="stable")
    changed = (table["pid"] != table["pid"].shift()) | (table["name"] != table["name"].shift())
    return table.loc[changed, ["pid", "from_ns", "name"]].reset_index(drop=True)


def spans(trace, window) -> pd.DataFrame:
    """Return the spans within a window; see `Trace.spans`."""
    start, end = window
    switches = trace.of("sched_switch")
    if not len(switches):
        raise ValueError(f"{trace.source or 'trace'}: no sched_switch in it, so nobody knows what ran")
    edges = _edges(trace)
    running = _running(trace, switches, edges)
    waiting = _waiting(trace, edges)
    table = pd.concat([running, waiting], ignore_index=True)
    whole = (table["whole"]) & (table["start_ns"] >= start) & (table["end_ns"] <= end)
    table["whole"] = whole
    table["start_ns"] = table["start_ns"].clip(lower=start)
    table["end_ns"] = table["end_ns"].clip(upper=end)
    table = table[table["end_ns"] > table["start_ns"]]
    table = table.sort_values(["start_ns", "cpu", "pid"], kind="stable", ignore_index=True)
    table["state"] = pd.Categorical.from_codes(table["state"], _STATES)
    table.insert(1, "name", _names_at(trace, table))
    return table


def _edges(trace):
    """First and last known ns of each CPU: all of the trace when the buffers are complete."""
    cpus = trace.cpus()
    first, last = cpus["first_ns"].to_numpy(), cpus["last_ns"].to_numpy()
    if trace.complete and len(cpus):
        first, last = np.full(len(cpus), first.min()), np.full(len(cpus), last.max())
    return dict(zip(cpus["cpu"], zip(first.tolist(), last.tolist())))


def _running(trace, switches, edges):
    t, cpu = switches["time_ns"].to_numpy(), switches["cpu"].to_numpy()
    prev, nxt = switches["pid"].to_numpy(), switches["next_pid"].to_numpy()
    order = np.argsort(cpu, kind="stable")
    t, cpu, prev, nxt = t[order], cpu[order], prev[order], nxt[order]
    same = cpu[1:] == cpu[:-1]
    fits = same & (nxt[:-1] == prev[1:]) & ~_lost_between(trace, cpu, t)
    gaps = np.flatnonzero(same & (nxt[:-1] != prev[1:]))
    if len(gaps):
        k = gaps[0]
        _remark(trace, "switch missing: another task left than had come", t[k + 1], cpu[k + 1], len(gaps))
    middle = _rows(nxt[:-1][fits], cpu[:-1][fits], t[:-1][fits], t[1:][fits], True)
    firsts = np.flatnonzero(np.r_[True, ~same]) if len(cpu) else np.zeros(0, int)
    lasts = np.flatnonzero(np.r_[~same, True]) if len(cpu) else np.zeros(0, int)
    known = [edges[c] for c in cpu[firsts].tolist()]
    head = _rows(prev[firsts], cpu[firsts], [first for first, _ in known], t[firsts], False)
    tail = _rows(nxt[lasts], cpu[lasts], t[lasts], [last for _, last in known], False)
    if trace.lost is not None and len(trace.lost):
        # what was lost before the first or after the last switch leaves these unknown
        lost = set(trace.lost["cpu"])
        head, tail = head[~head["cpu"].isin(lost)], tail[~tail["cpu"].isin(lost)]
    return _without_overlap(trace, pd.concat([head, middle, tail], ignore_index=True))


def _lost_between(trace, cpu, t):
    """Whether events were lost on a CPU between one switch and the next."""
    hit = np.zeros(max(0, len(t) - 1), bool)
    if trace.lost is not None:
        for row in trace.lost.itertuples():
            hit |= (cpu[1:] == row.cpu) & (t[:-1] < row.before_ns) & (t[1:] >= row.before_ns)
    return hit


def _without_overlap(trace, table):
    """A task runs on one CPU at a time: of two spans that overlap the earlier one ends where the later begins."""
    table = table.sort_values(["pid", "start_ns"], kind="stable", ignore_index=True)
    pid, start, end = (table[column].to_numpy().copy() for column in ("pid", "start_ns", "end_ns"))
    over = np.flatnonzero((pid[1:] == pid[:-1]) & (pid[1:] != 0) & (start[1:] < end[:-1]))
    if len(over):
        k = over[np.argmin(start[over + 1])] + 1
        _remark(trace, "conflict: a task runs on two CPUs at once", start[k], table["cpu"].iloc[k], len(over))
        end[over] = start[over + 1]
        table["end_ns"] = end
        table.loc[over, "whole"] = False
    return table[(table["end_ns"] > table["start_ns"])]


def _waiting(trace, edges):
    """Spans off the CPU, from the order of each task's events."""
    steps = _steps(trace)
    pid, t, kind, cpu = (steps[column].to_numpy() for column in ("pid", "time_ns", "kind", "cpu"))
    same = np.r_[pid[1:] == pid[:-1], False] if len(pid) else np.zeros(0, bool)
    follows = np.r_[kind[1:], _RUNNING] if len(kind) else kind
    off = (kind != _RUNNING) & (kind != _GONE)
    # a task that leaves a CPU without having come to it was on it unseen
    unseen = off & same & np.isin(follows, (_RUNNABLE, _SLEEPING, _THROTTLED, _GONE)) & _leaves(steps, same)
    if unseen.any():
        k = np.flatnonzero(unseen)[0]
        _remark(
            trace, "switch missing: a task leaves a CPU to which it has not come", t[k + 1], cpu[k + 1], unseen.sum()
        )
    kept = off & ~unseen
    last = max((last for _, last in edges.values()), default=0)
    end = np.where(same, np.r_[t[1:], 0] if len(t) else t, last)
    return _rows(pid[kept], cpu[kept], t[kept], end[kept], same[kept], kind[kept])


def _leaves(steps, same):
    """Whether the task's next step is a switch away from it."""
    out = steps["out"].to_numpy()
    return np.r_[out[1:], False] & same if len(out) else same


def _steps(trace) -> pd.DataFrame:
    """What changes the state of tasks, by pid and time: pid, time_ns, kind (state after it), cpu, out (a switch away).

    Wake-ups of a task that is awake already are left out.
    """
    events = trace.events
    order = np.arange(len(events))
    event = events["event"].cat.codes.to_numpy()
    switch = event == 0
    state = events["state"].cat.categories.to_numpy().astype(str)
    idle_next = events["next_pid"].to_numpy() == 0
    after = np.array([_after(text) for text in state], np.int8)[events["state"].cat.codes.to_numpy()]
    after = np.where((after == _RUNNABLE) & idle_next, _THROTTLED, after)
    wake = (event >= 1) & (event <= 3)
    parts = [
        (switch, "pid", after, events["cpu"], True),
        (switch, "next_pid", np.full(len(events), _RUNNING), events["cpu"], False),
        (wake, "pid", np.full(len(events), _RUNNABLE), events["target_cpu"], False),
    ]
    frames = []
    for mask, pid, kind, cpu, out in parts:
        frame = {"pid": events[pid].to_numpy()[mask], "time_ns": events["time_ns"].to_numpy()[mask]}
        frame |= {"order": order[mask], "kind": kind[mask], "cpu": cpu.to_numpy()[mask]}
        frames.append(pd.DataFrame(frame).assign(out=out, wake=mask is wake))
    steps = pd.concat(frames, ignore_index=True)
    steps = steps[steps["pid"] > 0].sort_values(["pid", "order", "out"], ascending=[True, True, False], kind="stable")
    first = steps["pid"] != steps["pid"].shift()
    before = steps["kind"].shift(fill_value=_SLEEPING).where(~first, _SLEEPING)
    needless = steps["wake"] & (steps["wake"].shift(fill_value=False).where(~first, False) | (before != _SLEEPING))
    _check_migrations(trace, steps)
    return steps[~needless].reset_index(drop=True)


def _after(state: str) -> int:
    """Return the state of a task that left a CPU in that state of the kernel's."""
    if state.startswith("R"):
        return _RUNNABLE
    return _GONE if state[:1] in ("X", "Z", "x") else _SLEEPING


def _check_migrations(trace, steps):
    """Count switches to a task on another CPU than the one to which it has just migrated."""
    moves = trace.of("sched_migrate_task")
    if not len(moves):
        return
    moved = pd.DataFrame({"pid": moves["pid"], "order": moves.index, "to": moves["target_cpu"]})
    came = steps.loc[(steps["kind"] == _RUNNING) & ~steps["out"], ["pid", "order", "cpu", "time_ns"]]
    both = pd.concat([moved, came], ignore_index=True).sort_values(["pid", "order"], kind="stable")
    to = both["to"].shift().where(both["pid"] == both["pid"].shift())
    wrong = both[to.notna() & both["cpu"].notna() & (to != both["cpu"])]
    if len(wrong):
        first = wrong.sort_values("order").iloc[0]
        kind = "conflict: a task runs on another CPU than it has just migrated to"
        _remark(trace, kind, int(first["time_ns"]), int(first["cpu"]), len(wrong))


def _rows(pid, cpu, start, end, whole, state=_RUNNING):
    size = len(pid)
    values = (pid, cpu, np.broadcast_to(state, size), start, end, np.broadcast_to(whole, size))
    return pd.DataFrame(
        {column: np.array(v, bool if column == "whole" else np.int64) for column, v in zip(_COLUMNS, values)}
    )


def _names_at(trace, table):
    """Names of the tasks at the start of their spans."""
    known = names(trace)
    left = pd.DataFrame({"pid": table["pid"], "from_ns": table["start_ns"], "row": np.arange(len(table))})
    found = pd.merge_asof(
        left.sort_values("from_ns", kind="stable"), known.sort_values("from_ns", kind="stable"), on="from_ns", by="pid"
    )
    name = found.set_index("row")["name"].sort_index()
    first = known.drop_duplicates("pid").set_index("pid")["name"]
    name = name.where(name.notna(), table["pid"].map(first))
    name = name.where(name.notna(), "pid-" + table["pid"].astype(str))
    return name.where(table["pid"] != 0, "idle").to_numpy()


def _remark(trace, kind, time_ns, cpu, n):
    """Count in the trace's report, once however often the spans are asked for."""
    if kind not in trace.report.found:
        trace.report.count(kind, f"{time_ns / 1e9:.6f} s on CPU {cpu}", n=int(n))
