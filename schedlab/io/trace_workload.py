"""A trace as a Workload: each task's run and sleep times as a tape, or drawn anew from those that were seen."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import _check, steps
from ..workload import Group, Task, Workload
from .snapshot import Snapshot

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
    placed = [place(int(pid), names.get(pid, "")) for pid in table["pid"]]
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


def workload_from_trace(
    trace,
    groups=None,
    *,
    mode: str = "tape",
    seed: int = 0,
    limits: tuple[Group, ...] = (),
    window: tuple[int, int] | None = None,
    wakers: bool = True,
) -> Workload:
    """Return the tasks of a trace as programs of the run and sleep times that were seen.

    Parameters
    ----------
    trace : Trace
    groups : Snapshot, mapping, path of a CSV, or None
        Where tasks belong: a snapshot (its thread lists, and its limits), a mapping of pid to group or of a pattern of
        names such as "slA*" to group (the first that fits), a CSV with the columns pid and group, or None: all in the
        root. What cannot be placed is in the root; `account` counts it.
    mode : {"tape", "resample"}
        Times as recorded, in order; or pairs of run and sleep drawn anew (with replacement) from those of each task.
    seed : int
        For "resample".
    limits : tuple of Group
        Groups with their limits, in place of those of the snapshot; missing ones are added without a limit.
    window : tuple of int, optional
        (start_ns, end_ns) of the trace; by default `Trace.window`. Time 0 of the workload is its start.
    wakers : bool
        Whether a wake-up by another modelled task in task context (sched_waking) waits for that task, in place of a
        sleep; with "tape" alone.

    Returns
    -------
    Workload
        Work at speed 1 is running time as recorded: how fast the CPU was is not told. Real-time, deadline and kernel
        threads become one task "occupied CPU n" a CPU, of nice -20, pinned, that runs when they ran.

    Raises
    ------
    ValueError
        Without sched_switch, or when the window holds no task.
    """
    _check.choice("mode", mode, ("tape", "resample"))
    window = trace.window if window is None else window
    told = account(trace, groups, window)
    spans = trace.spans(window)
    spans = spans[spans["pid"] > 0]
    fair = told.tasks[(told.tasks["kind"] == "fair") & (told.tasks["running_ns"] > 0)]
    tapes = _tapes(spans[spans["pid"].isin(fair["pid"])], window)
    wakes = _wakes(trace, set(tapes), window) if wakers and mode == "tape" else {}
    generator = np.random.default_rng(_check.whole("seed", seed, 0))
    tasks = []
    rows, prios = {row.pid: row for row in fair.itertuples()}, _prios(trace)
    for pid, tape in tapes.items():
        program = _resampled(tape, generator) if mode == "resample" else _program(pid, tape, wakes)
        if program:
            row, nice = rows[pid], int(np.clip(prios.get(pid, 120) - 120, -20, 19))
            name = f"{row.name}-{pid}"
            tasks.append(Task(name, program, row.group, nice=nice, start_ns=tape.start, label=row.name))
    busy = told.tasks.loc[~told.tasks["kind"].isin(("fair",)), "pid"]
    tasks += _occupied(spans[spans["pid"].isin(busy)], window)
    if not tasks:
        raise ValueError(f"{trace.source or 'trace'}: no task ran from {window[0]} to {window[1]} ns")
    tasks = _without_lone_waits(tasks)
    found = limits or (groups.groups if isinstance(groups, Snapshot) else ())
    return Workload(
        _with_parents(found, {task.group for task in tasks}), tuple(tasks), name=f"from {trace.source or 'trace'}"
    )


@dataclass
class _Tape:
    start: int  # when it is first seen awake, ns from the start of the window
    runs: list  # running time of each activation, ns
    sleeps: list  # sleep after each, ns; the last one may be missing
    begins: list  # end of the sleep after each, ns of the trace
    pieces: list  # (start, end) of the running spans of each activation


def _tapes(spans, window) -> dict[int, _Tape]:
    """Activations of each task: what it ran between two sleeps."""
    tapes = {}
    for pid, mine in spans.sort_values(["pid", "start_ns"], kind="stable").groupby("pid"):
        tape, pieces, awake = None, [], None
        for state, start, end in zip(mine["state"].tolist(), mine["start_ns"].tolist(), mine["end_ns"].tolist()):
            if state != "sleeping":
                awake = start if awake is None else awake
                if state == "running":
                    pieces.append((start, end))
                continue
            if not pieces:
                continue  # asleep when the window begins, or woken for nothing
            tape = tape or _Tape(awake - window[0], [], [], [], [])
            _close(tape, pieces)
            tape.sleeps.append(end - start)
            tape.begins.append(end)
            pieces = []
        if pieces:
            tape = tape or _Tape(awake - window[0], [], [], [], [])
            _close(tape, pieces)
        if tape is not None:
            tapes[int(pid)] = tape
    return tapes


def _close(tape, pieces):
    tape.runs.append(sum(end - start for start, end in pieces))
    tape.pieces.append(pieces)


def _wakes(trace, pids, window):
    """Wake-ups of one modelled task by another: {waker: [(time, woken)]}, and {(woken, time)} of those."""
    events = trace.of("sched_waking")
    if not len(events):
        events = trace.of("sched_wakeup")
    kept = events[events["curr"].isin(pids) & events["pid"].isin(pids) & (events["context"] != 1)]
    kept = kept[(kept["curr"] != kept["pid"]) & kept["time_ns"].between(*window)]
    by: dict = {"woken": set()}
    for time_ns, waker, woken in zip(kept["time_ns"].tolist(), kept["curr"].tolist(), kept["pid"].tolist()):
        by.setdefault(waker, []).append((time_ns, woken))
        by["woken"].add((woken, time_ns))
    return by


def _program(pid, tape, wakes) -> tuple:
    woken = wakes.get("woken", ())
    mine = list(wakes.get(pid, ()))
    made = []
    for k, pieces in enumerate(tape.pieces):
        done = 0
        for start, end in pieces:
            while mine and mine[0][0] <= end:
                time_ns, other = mine.pop(0)
                if time_ns < start:
                    continue
                if time_ns - start > done:
                    made.append(steps.run(time_ns - start - done))
                done = max(done, time_ns - start)
                made.append(steps.wake(f"wake {other}", keep=steps.MAX_KEEP))
            if end - start > done:
                made.append(steps.run(end - start - done))
            done = 0
        if k < len(tape.sleeps) and tape.sleeps[k] > 0:
            by_task = (pid, tape.begins[k]) in woken
            made.append(steps.wait(f"wake {pid}") if by_task else steps.sleep(tape.sleeps[k]))
    return tuple(_merged(made))


def _merged(made):
    """Join runs that follow each other."""
    joined = []
    for step in made:
        if joined and isinstance(step, steps.Run) and isinstance(joined[-1], steps.Run):
            joined[-1] = steps.run(joined[-1].duration.low_ns + step.duration.low_ns)
        else:
            joined.append(step)
    return joined


def _without_lone_waits(tasks):
    """A wait that nothing wakes any more (its waker's program has no such step) would be for ever: it is a sleep of 1 ns."""
    woken = {step.name for task in tasks for step in steps.walk(task.program) if isinstance(step, steps.Wake)}
    fixed = []
    for task in tasks:
        program = tuple(
            steps.sleep(1) if isinstance(step, steps.Wait) and step.name not in woken else step for step in task.program
        )
        fixed.append(task if program == task.program else _with_program(task, program))
    return fixed


def _with_program(task, program):
    import dataclasses

    return dataclasses.replace(task, program=program)


def _resampled(tape, generator) -> tuple:
    """Draw whole activations: each run with the sleep that followed it."""
    nr = len(tape.sleeps)
    if not nr:
        return tuple(steps.run(ns) for ns in tape.runs if ns > 0)
    made = []
    for k in generator.integers(nr, size=nr).tolist():
        if tape.runs[k] > 0:
            made.append(steps.run(tape.runs[k]))
        if tape.sleeps[k] > 0:
            made.append(steps.sleep(tape.sleeps[k]))
    return tuple(made)


def _occupied(spans, window) -> list[Task]:
    tasks = []
    running = spans[spans["state"] == "running"].sort_values("start_ns", kind="stable")
    for cpu, mine in running.groupby("cpu"):
        made, now = [], None
        first = int(mine["start_ns"].iloc[0])
        for start, end in zip(mine["start_ns"].tolist(), mine["end_ns"].tolist()):
            if now is not None and start > now:
                made.append(steps.sleep(start - now))
            made.append(steps.kernel(end - start))
            now = end
        start_ns = first - window[0]
        tasks.append(
            Task(f"occupied CPU {cpu}", tuple(made), nice=-20, cpus=int(cpu), start_ns=start_ns, kernel_thread=True)
        )
    return tasks


def _last_names(trace) -> dict[int, str]:
    names = trace.names()
    return dict(zip(names["pid"], names["name"]))


def _prios(trace) -> pd.Series:
    switches = trace.of("sched_switch")
    pairs = pd.concat([
        switches[["pid", "prio"]], switches[["next_pid", "next_prio"]].set_axis(["pid", "prio"], axis=1),
    ])  # fmt: skip
    return pairs.drop_duplicates("pid", keep="last").set_index("pid")["prio"]


def _kinds(trace, table, groups) -> list[str]:
    prios = _prios(trace)
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
    from .source import BadFile, read_text

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


def _with_parents(groups, paths) -> tuple[Group, ...]:
    """Return groups with those that are missing, parents too."""
    made = {group.path: group for group in groups}
    for path in sorted(paths):
        whole = ""
        for part in path.strip("/").split("/") if path != "/" else ():
            whole += f"/{part}"
            made.setdefault(whole, Group(whole))
    return tuple(made.values())
