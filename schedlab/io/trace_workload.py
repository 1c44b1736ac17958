"""A trace as a Workload: each task's run and sleep times as a tape, or drawn anew from those that were seen."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import _check, steps
from .._topology import parse_cpu_list
from ..workload import Group, Task, Workload
from .accounting import account, priorities
from .snapshot import Snapshot


def workload_from_trace(
    trace,
    groups=None,
    *,
    mode: str = "tape",
    seed: int = 0,
    limits: tuple[Group, ...] = (),
    window: tuple[int, int] | None = None,
    wakers: bool = True,
    arrivals: str = "relative",
    samples: bool = False,
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
    arrivals : {"relative", "recorded"}
        When a sleep that no modelled task ends is over: after as long as recorded, however late it began; or at the
        time recorded, at once where that is past (requests from outside come whether or not the last one is done).
        "recorded" with "tape" alone.
    samples : bool
        Whether each activation's time from its wake-up to its next sleep is recorded (`steps.sample`); after a
        relative sleep, from when it first runs.

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
    _check.choice("arrivals", arrivals, ("relative", "recorded"))
    if mode == "resample" and arrivals == "recorded":
        raise _check.wrong("arrivals", arrivals, "times that are drawn anew are relative")
    fixed = arrivals == "recorded"
    window = trace.window if window is None else window
    told = account(trace, groups, window)
    spans = trace.spans(window)
    spans = spans[spans["pid"] > 0]
    fair = told.tasks[(told.tasks["kind"] == "fair") & (told.tasks["running_ns"] > 0)]
    tapes = _tapes(spans[spans["pid"].isin(fair["pid"])], window)
    wakes, woken = _wakes(trace, tapes, window) if wakers and mode == "tape" else ({}, set())
    generator = np.random.default_rng(_check.whole("seed", seed, 0))
    tasks = []
    rows, prios = {row.pid: row for row in fair.itertuples()}, priorities(trace)
    for pid, tape in tapes.items():
        if mode == "resample":
            program = _resampled(tape, generator, samples)
        else:
            program = _program(pid, tape, wakes.get(pid, []), woken, tape.start + window[0] if fixed else None, samples)
        if program:
            row, nice = rows[pid], int(np.clip(prios.get(pid, 120) - 120, -20, 19))
            place = {"nice": nice, "cpus": _allowed(groups, pid), "start_ns": tape.start, "label": row.name}
            tasks.append(Task(f"{row.name}-{pid}", program, row.group, **place))
    busy = told.tasks.loc[~told.tasks["kind"].isin(("fair",)), "pid"]
    tasks += _occupied(spans[spans["pid"].isin(busy)], window, fixed, groups)
    if not tasks:
        raise ValueError(f"{trace.source or 'trace'}: no task ran from {window[0]} to {window[1]} ns")
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

    @cached_property
    def starts(self) -> list:
        return [start for pieces in self.pieces for start, _ in pieces]

    @cached_property
    def ends(self) -> list:
        return [end for pieces in self.pieces for _, end in pieces]


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


def _wakes(trace, tapes, window):
    """Wake-ups that end a sleep of one modelled task while another runs: {waker: [(ns, woken)]}, and as a set."""
    events = trace.of("sched_waking")
    if not len(events):
        events = trace.of("sched_wakeup")
    kept = events[events["curr"].isin(tapes) & events["pid"].isin(tapes) & (events["context"] != 1)]
    kept = kept[(kept["curr"] != kept["pid"]) & kept["time_ns"].between(*window)]
    by: dict[int, list] = {}
    found = set()
    ends = {pid: set(tape.begins) for pid, tape in tapes.items()}
    for time_ns, waker, woken in zip(kept["time_ns"].tolist(), kept["curr"].tolist(), kept["pid"].tolist()):
        # one that ends no sleep would be remembered, and end a later one too soon; one that falls into no span of the
        # waker has no place in its program
        if time_ns in ends[woken] and (woken, time_ns) not in found and _runs_at(tapes[waker], time_ns):
            by.setdefault(waker, []).append((time_ns, woken))
            found.add((woken, time_ns))
    return by, found


def _runs_at(tape, time_ns) -> bool:
    k = bisect.bisect_right(tape.starts, time_ns) - 1
    return k >= 0 and time_ns <= tape.ends[k]


def _program(pid, tape, mine, woken, origin, samples) -> tuple:
    """Return the steps of one task; `mine` are the wake-ups that it makes, in order.

    With an origin (the task's start, ns of the trace) sleeps end when they did.
    """
    mine, made = list(reversed(mine)), [steps.mark()] if samples else []
    for k, pieces in enumerate(tape.pieces):
        for start, end in pieces:
            now = start
            while mine and mine[-1][0] <= end:
                time_ns, other = mine.pop()
                if time_ns > now:
                    made.append(steps.run(time_ns - now))
                now = max(now, time_ns)
                made.append(steps.wake(f"wake {other}", keep=steps.MAX_KEEP))
            if end > now:
                made.append(steps.run(end - now))
        if k < len(tape.sleeps) and tape.sleeps[k] > 0:
            made += [steps.sample()] if samples else []
            if (pid, tape.begins[k]) in woken:
                made.append(steps.wait(f"wake {pid}"))
            elif origin is not None:
                made.append(steps.until(tape.begins[k] - origin))
            else:
                made += [steps.sleep(tape.sleeps[k]), *([steps.mark()] if samples else [])]
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


def _resampled(tape, generator, samples) -> tuple:
    """Draw whole activations: each run with the sleep that followed it."""
    nr = len(tape.sleeps)
    if not nr:
        return tuple(steps.run(ns) for ns in tape.runs if ns > 0)
    made = []
    for k in generator.integers(nr, size=nr).tolist():
        made += [steps.mark()] if samples else []
        if tape.runs[k] > 0:
            made.append(steps.run(tape.runs[k]))
        if tape.sleeps[k] > 0:
            made += [*([steps.sample()] if samples else []), steps.sleep(tape.sleeps[k])]
    return tuple(made)


def _numbers(groups) -> dict[int, int]:
    """The machine's number of each CPU of the host, where a snapshot tells them."""
    return {cpu: k for k, cpu in enumerate(groups.cpu_numbers)} if isinstance(groups, Snapshot) else {}


def _allowed(groups, pid) -> tuple[int, ...] | None:
    """The CPUs that a task may use, where a snapshot tells them and they are not all."""
    told = groups.tasks.get(pid, {}).get("cpus", "") if isinstance(groups, Snapshot) else ""
    numbers = _numbers(groups)
    try:
        allowed = tuple(numbers[cpu] for cpu in parse_cpu_list(told) if cpu in numbers)
    except ValueError:
        return None
    return allowed if 0 < len(allowed) < len(numbers) else None


def _occupied(spans, window, fixed, groups) -> list[Task]:
    tasks, numbers = [], _numbers(groups)
    running = spans[spans["state"] == "running"].sort_values("start_ns", kind="stable")
    for cpu, mine in running.groupby("cpu"):
        made, now = [], None
        first, cpu = int(mine["start_ns"].iloc[0]), int(cpu)
        for start, end in zip(mine["start_ns"].tolist(), mine["end_ns"].tolist()):
            if now is not None and start > now:
                made.append(steps.until(start - first) if fixed else steps.sleep(start - now))
            made.append(steps.kernel(end - start))
            now = end
        start_ns = first - window[0]
        tasks.append(
            Task(
                f"occupied CPU {cpu}",
                tuple(made),
                nice=-20,
                cpus=numbers.get(cpu, cpu),
                start_ns=start_ns,
                kernel_thread=True,
            )
        )
    return tasks


def _with_parents(groups, paths) -> tuple[Group, ...]:
    """Return groups with those that are missing, parents too."""
    made = {group.path: group for group in groups}
    for path in sorted(paths):
        whole = ""
        for part in path.strip("/").split("/") if path != "/" else ():
            whole += f"/{part}"
            made.setdefault(whole, Group(whole))
    return tuple(made.values())
