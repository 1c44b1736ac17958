"""A Run as a Trace, so that it can leave as the texts that tools for real kernels read."""

import numpy as np

from .report import Report
from .trace import EXIT, MARK, MIGRATE, SWITCH, WAKEUP, WAKEUP_NEW, Trace, make_events

#: The first task's pid; the others follow in the order of the workload. 0 is idle.
FIRST_PID = 1000
_KINDS = {"switch": SWITCH, "wake": WAKEUP, "start": WAKEUP_NEW, "migrate": MIGRATE, "exit": EXIT}
_THROTTLES = {"throttle": 1, "unthrottle": 0}


def trace_of(run) -> Trace:
    """Return the log of a run as a trace: what ftrace would have recorded.

    A task's pid is 1000 and its number, its priority 120 and its nice value. Throttling, of which the kernel has no
    tracepoint, becomes counters written to trace_marker, ``C|0|throttled <group> cpu<n>|1`` (0 when it ends).

    Raises
    ------
    ValueError
        Without a log of switches.
    """
    log = run._need_log("trace_of()", "switch")
    names, prios = _names(run), np.array([*(120 + task.nice for task in run.workload.tasks), 120])
    kinds = np.array([_code(kind) for kind in run.kinds])
    code = kinds[log["kind"]]
    keep = code >= 0
    log, code = log[keep], code[keep]
    a, b, cpu = log["a"], log["b"], log["cpu"]
    columns = {"time_ns": log["time"], "cpu": cpu, "event": code, "context": np.zeros(len(log), np.int8)}
    pid = np.where(a >= 0, a + FIRST_PID, 0)
    switch, mark = code == SWITCH, code == MARK
    columns["pid"] = np.where(mark, 0, pid)
    idle = len(run.workload.tasks)
    columns["name"] = np.where(mark, 0, np.where(a >= 0, np.where(mark, 0, a), idle + cpu))
    columns["prio"] = np.where(
        np.isin(code, (SWITCH, WAKEUP, WAKEUP_NEW, MIGRATE, EXIT)), prios[np.where(mark, -1, a)], -128
    )
    columns["state"] = np.where(switch, _left_in(log, run, code), -1)
    columns["next_pid"] = np.where(switch, np.where(b >= 0, b + FIRST_PID, 0), -1)
    columns["next_name"] = np.where(switch, np.where(b >= 0, b, idle + cpu), -1)
    columns["next_prio"] = np.where(switch, prios[np.where(switch, b, -1)], -128)
    columns["target_cpu"] = np.where(np.isin(code, (WAKEUP, WAKEUP_NEW, MIGRATE)), cpu, -1)
    columns["value"] = np.where(code == MIGRATE, b, -1)
    columns["curr"] = _current(code, cpu, columns)
    _mark_throttles(run, log, mark, names, columns)
    events = make_events(columns, names, ["R", "S", "X"])
    report = Report()
    if run.log_lost:
        report.count("lost events", f"{run.log_until_ns / 1e9:.6f} s", n=run.log_lost)
    return Trace(events, report, complete=True, source=repr(run))


def _code(kind):
    return MARK if kind in _THROTTLES else _KINDS.get(kind, -1)


def _names(run) -> list[str]:
    tasks = [clean(task.name) for task in run.workload.tasks]
    return [*tasks, *(f"swapper/{cpu}" for cpu in range(run.machine.nr_cpus))]


def clean(name: str) -> str:
    """Return a name with control characters as backslash escapes: one line of text is one event."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _left_in(log, run, code):
    """State of the task that each switch leaves: positions of R, S, X."""
    gone = np.zeros(len(run.workload.tasks) + 1, np.int8)
    kinds = {run.kinds.index(kind): state for kind, state in (("block", 1), ("exit", 2)) if kind in run.kinds}
    out = np.zeros(len(log), np.int8)
    full = run.log
    wanted = np.isin(full["kind"], [*kinds, run.kinds.index("switch"), run.kinds.index("wake")])
    states = []
    switch, wake = run.kinds.index("switch"), run.kinds.index("wake")
    for kind, a in zip(full["kind"][wanted].tolist(), full["a"][wanted].tolist()):
        if kind == switch:
            states.append(gone[a] if a >= 0 else 0)
            if gone[a] != 2:
                gone[a] = 0
        elif kind == wake:
            gone[a] = 0
        else:
            gone[a] = kinds[kind]
    out[code == SWITCH] = states
    return out


def _current(code, cpu, columns):
    """Who ran where each event was recorded: the task that a switch leaves, then the one to which it came."""
    running: dict[int, int] = {}
    curr = []
    switch = (code == SWITCH).tolist()
    for is_switch, c, prev, nxt in zip(switch, cpu.tolist(), columns["pid"].tolist(), columns["next_pid"].tolist()):
        curr.append(prev if is_switch else running.get(c, 0))
        if is_switch:
            running[c] = nxt
    return np.array(curr, np.int64)


def _mark_throttles(run, log, mark, names, columns):
    for kind, value in _THROTTLES.items():
        if kind in run.kinds:
            columns["value"] = np.where(mark & (log["kind"] == run.kinds.index(kind)), value, columns["value"])
    place: dict[tuple, int] = {}
    codes = columns["name"]
    for k in np.flatnonzero(mark).tolist():
        key = (int(log["a"][k]), int(log["cpu"][k]))
        if key not in place:
            place[key] = len(names)
            names.append(f"throttled {clean(run.workload.group_paths[key[0]])} cpu{key[1]}")
        codes[k] = place[key]
