"""The log as a timeline: when each CPU ran which task, when a group was throttled on it, and events in words."""

import numpy as np

from .events import SetGroup
from .units import NS_PER_MS

#: What a and b of a log record stand for, by kind: a task or group by number, a CPU, a cookie, a length in
#: ns, or nothing.
FIELDS = {
    "switch": ("task", "task"),
    "wake": ("task", ""),
    "block": ("task", ""),
    "exit": ("task", ""),
    "start": ("task", ""),
    "migrate": ("task", "cpu"),
    "throttle": ("group", ""),
    "unthrottle": ("group", ""),
    "period": ("group", "pool"),
    "slack": ("group", "pool"),
    "sample": ("task", "value"),
    "work": ("task", ""),
    "limbo": ("task", "group"),
    "warn": ("group", ""),
    "online": ("number", ""),
    "schedule": ("task", ""),
    "tick": ("task", ""),
    "forced_idle": ("number", "cookie"),
    "steal": ("task", "cpu"),
    "push": ("task", "cpu"),
    "cookie": ("task", "cookie"),
    "active_balance": ("task", "cpu"),
}
_JOINTS = {"switch": " -> "} | dict.fromkeys(("migrate", "steal", "push", "active_balance"), ", from ")
#: For a kind that is not listed the numbers are left as they are.
PLAIN = ("number", "number")


def known_until_ns(run) -> int:
    """Return up to when (ns) the log tells all: the end of the run, or the last record of a log that was cut."""
    if run.log is None:
        return 0
    if not run.log_lost:
        return run.duration_ns
    return int(run.log["time"][-1]) if len(run.log) else 0


def spans(run):
    """Return what each CPU ran and when; see `Run.spans`."""
    import pandas as pd

    log = run.log[run.log["kind"] == run.kinds.index("switch")]
    log = log[np.argsort(log["cpu"], kind="stable")]
    # a task runs until the next switch on its CPU
    end_ns = np.full(len(log), known_until_ns(run))
    if len(log):
        same_cpu = log["cpu"][1:] == log["cpu"][:-1]
        end_ns[:-1][same_cpu] = log["time"][1:][same_cpu]
    ran = (log["b"] >= 0) & (end_ns > log["time"])
    log, end_ns = log[ran], end_ns[ran]
    tasks = run.workload.tasks
    table = pd.DataFrame(
        {
            "cpu": log["cpu"],
            "start_ns": log["time"],
            "end_ns": end_ns,
            "task": _names([task.name for task in tasks], log["b"]),
            "group": _names([task.group for task in tasks], log["b"]),
        }
    )
    moves = [event for event in run.workload.events if isinstance(event, SetGroup)]
    for event in sorted(moves, key=lambda event: event.at_ns):
        table = _moved(table, event)
    return table


def _moved(table, event):
    """Return the spans with a task in another group from some time on; the one in which it moves is split there."""
    import pandas as pd

    mine, at_ns = table["task"] == event.task, event.at_ns
    across = table[mine & (table["start_ns"] < at_ns) & (table["end_ns"] > at_ns)]
    table.loc[across.index, "end_ns"] = at_ns
    table.loc[mine & (table["start_ns"] >= at_ns), "group"] = event.group
    after = across.assign(start_ns=at_ns, group=event.group)
    return pd.concat([table, after]).sort_values(["cpu", "start_ns"], kind="stable", ignore_index=True)


def throttled_spans(run):
    """Return when each group was throttled on each CPU; see `Run.throttled_spans`."""
    import pandas as pd

    begin, end = run.kinds.index("throttle"), run.kinds.index("unthrottle")
    log = run.log[(run.log["kind"] == begin) | (run.log["kind"] == end)]
    log = log[np.lexsort((log["a"], log["cpu"]))]  # stable: the order in time stays
    starts = log["kind"] == begin
    end_ns = np.full(len(log), known_until_ns(run))
    closed = np.zeros(len(log), bool)
    if len(log):
        follows = (log["cpu"][1:] == log["cpu"][:-1]) & (log["a"][1:] == log["a"][:-1])
        closed[:-1] = follows
        end_ns[:-1][follows] = log["time"][1:][follows]
    table = pd.DataFrame(
        {
            "cpu": log["cpu"][starts],
            "group": _names(run.workload.group_paths, log["a"][starts]),
            "start_ns": log["time"][starts],
            "end_ns": end_ns[starts],
            "closed": closed[starts],
        }
    )
    return table.sort_values(["cpu", "start_ns"], kind="stable", ignore_index=True)


def _names(names, numbers):
    return np.array([*names, ""], dtype=object)[numbers]


def describe(run, record) -> str:
    """Return one log record of a run in words, without its time: ``switch hog -> idle on CPU 0``."""
    kind = run.kinds[record["kind"]]
    a, b = (_said(run, means, int(record[name])) for means, name in zip(FIELDS.get(kind, PLAIN), "ab"))
    joint = _JOINTS.get(kind, ", " if a and b else "")
    where = f" on CPU {record['cpu']}" if record["cpu"] >= 0 else ""
    return f"{kind} {a}{joint}{b}{where}"


def _said(run, means, number):
    if means == "task":
        return run.workload.tasks[number].name if number >= 0 else "idle"
    if means == "group":
        return run.workload.group_paths[number]
    said = {"": "", "number": f"{number}", "cpu": f"CPU {number}", "cookie": f"cookie {number}"}
    return said.get(means, f"{means} {number} ns")


def say_time(time_ns: int) -> str:
    """Return a time in ms, exact to the ns, zeros at the end left out.

    Examples
    --------
    >>> say_time(12_000_500)
    '12.0005 ms'
    """
    whole, rest = divmod(int(time_ns), NS_PER_MS)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".") + " ms"
