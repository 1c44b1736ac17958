"""Chrome's trace events as JSON: one row a CPU, counters and slices for throttled groups."""

import json
from pathlib import Path

import numpy as np

from .from_run import trace_of
from .trace import MARK, Trace


def write(what, path) -> None:
    """Write a Trace or a Run as Chrome JSON (chrome://tracing, ui.perfetto.dev, speedscope).

    Running tasks are slices of one thread a CPU; throttled times are slices of one thread a group and CPU.
    Times are us with three decimals, exact to the ns.
    """
    trace = what if isinstance(what, Trace) else trace_of(what)
    with open(Path(path), "w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        file.write(",\n".join(_events(trace)))
        file.write("\n]}\n")


def _events(trace):
    yield _meta("process_name", 0, 0, "CPUs")
    for cpu in sorted(set(trace.events["cpu"].tolist())):
        yield _meta("thread_name", 0, cpu, f"CPU {cpu}")
    spans = trace.spans()
    running = spans[(spans["state"] == "running") & (spans["pid"] != 0)]
    for row in running.itertuples():
        yield _slice(str(row.name), row.start_ns, row.end_ns, 0, row.cpu, {"pid": int(row.pid)})
    groups: dict[str, int] = {}
    for name, start, end in throttled(trace):
        tid = groups.setdefault(name, len(groups))
        if tid == len(groups) - 1:
            yield _meta("thread_name", 1, tid, name)
        yield _slice("throttled", start, end, 1, tid, {})
    if groups:
        yield _meta("process_name", 1, 0, "throttled groups")


def throttled(trace):
    """Return (counter, start_ns, end_ns) of each throttled time that a trace of a run tells."""
    marks = trace.events[trace.events["event"].cat.codes == MARK]
    since: dict[str, int] = {}
    found = []
    last = int(trace.events["time_ns"].iloc[-1]) if len(trace.events) else 0
    for time_ns, name, value in zip(marks["time_ns"].tolist(), marks["name"].tolist(), marks["value"].tolist()):
        if value and name not in since:
            since[name] = time_ns
        elif not value and name in since:
            found.append((name, since.pop(name), time_ns))
    found += [(name, start, last) for name, start in since.items()]
    return sorted(found, key=lambda item: item[1])


def _us(ns) -> str:
    ns = int(ns)
    return f"{ns // 1000}.{ns % 1000:03d}" if ns >= 0 else str(np.float64(ns) / 1000)


def _slice(name, start, end, pid, tid, args) -> str:
    head = json.dumps({"name": name, "ph": "X", "pid": int(pid), "tid": int(tid), "args": args})
    return f'{head[:-1]}, "ts": {_us(start)}, "dur": {_us(end - start)}}}'


def _meta(kind, pid, tid, name) -> str:
    return json.dumps({"name": kind, "ph": "M", "pid": int(pid), "tid": int(tid), "args": {"name": name}})
