"""The form of a recording: one JSON object that says what ran where, in which phases, and what the kernel did.

Times are us after ``zero_ns`` of CLOCK_MONOTONIC, shortly before the first program starts.
"""

import gzip
import json
import re
from pathlib import Path
from statistics import median

from . import ftrace

HZ_TICK_US = {100: 10_000, 250: 4_000, 300: 3_333, 1000: 1_000}
#: How long before the first program's start the groups were made: what lies between is a fork and an exec.
LEAD_US = 2_000
_OPTIONS = {"-n": "threads", "-t": "secs", "-w": "work_us", "-p": "period_us", "-r": "seed", "-c": "cpus", "-N": "name"}


def program(command: str, out: str, group: str) -> dict:
    """Return what a command of ``sl`` does and what it printed, as one dict.

    Parameters
    ----------
    command : str
        Such as ``sl busy -N A -n 4 -t 3 -c 0,1``.
    out : str
        Its line: ``busy A threads=4 wall_ms=... cpu_ms=... start_ns=...``.
    group : str
        Path of its cgroup.
    """
    words = command.split()
    words = words[1:] if words[0] == "sl" else words
    spec = {"kind": words[0], "group": group, "threads": 1, "secs": 1.0}
    for option, value in zip(words[1:], words[2:]):
        if option in _OPTIONS:
            spec[_OPTIONS[option]] = value
    for name in ("threads", "work_us", "period_us", "seed"):
        if name in spec:
            spec[name] = int(spec[name])
    spec["secs"] = float(spec["secs"])
    if "cpus" in spec:
        spec["cpus"] = [int(cpu) for cpu in str(spec["cpus"]).split(",")]
    for name, value in re.findall(r"(\w+)=([\d.]+)", out):
        spec[name] = float(value) if "." in value else int(value)
    return spec


def cpu_stat(text: str) -> dict[str, dict[str, int]]:
    """Return the counters of several cpu.stat files, each after a line ``== GROUP limit``."""
    groups, now = {}, None
    for line in text.splitlines():
        words = line.split()
        if line.startswith("=="):
            now = groups.setdefault("/" + words[1], {})
        elif now is not None and len(words) == 2:
            now[words[0]] = int(words[1])
    return groups


def quota_recording(name, what, kernel, machine, groups, programs, measured, events=(), *, lead_us=LEAD_US, **more):
    """Return a recording of groups with quotas; ``events`` is the trace from `ftrace.lines`, if there is one.

    Parameters
    ----------
    groups : list of dict
        path, quota_us, period_us, burst_us.
    programs : list of dict
        From `program`; those without ``start_ns`` (pipes) start when the trace first shows them.
    measured : dict of dict
        Counters by group's path, in the names of cgroup v2 and us.
    """
    events = list(events)
    tick_us = HZ_TICK_US[kernel["hz"]]
    runs = (ftrace.runs_charged if more.pop("charged", False) else ftrace.runs_switched)(events)
    mine = {p["name"] for p in programs}
    runs = [run for run in runs if run[1].rpartition(".")[0] in mine]
    starts = [p["start_ns"] / 1000 for p in programs if "start_ns" in p] or [runs[0][2] if runs else LEAD_US]
    timers = _timers_of(groups, programs, runs, ftrace.timer_expiries(events))
    # the first expiry may come before the programs start
    zero = min([min(starts) - lead_us, *(times[0] - 50 for times in timers.values())])
    recording = {
        "name": name,
        "kind": "quota",
        "what": what,
        "kernel": kernel,
        "machine": machine,
        "zero_ns": round(1000 * zero),
    }
    recording["groups"] = groups
    for one in programs:
        first = [run[2] for run in runs if run[1].rpartition(".")[0] == one["name"]]
        start = one.pop("start_ns", None)
        one["start_us"] = round((start / 1000 if start else min(first, default=min(starts))) - zero)
        end = one.pop("end_ns", None)
        if end:
            one["end_us"] = round(end / 1000 - zero)
    recording["programs"] = programs
    recording["measured"] = measured
    phase = more.pop("tick_phase_us", None)
    phase = ftrace.tick_phase_us(events, tick_us) if phase is None else phase
    if phase is not None:
        recording["tick_phase_us"] = round((phase - zero) % tick_us, 1)
    if events:
        recording["timers_us"] = {path: [round(t - zero, 1) for t in times] for path, times in timers.items()}
        if not any(p["kind"] == "pipe" for p in programs):
            recording["runs_us"] = _compact(runs, zero)
    return recording | more


def _compact(runs, zero):
    """Join runs of one thread on one CPU that lie close together, relative to zero, whole us."""
    joined = []
    last = {}
    for cpu, thread, start, end in runs:
        before = last.get(cpu)
        if before and before[1] == thread and start - before[3] < ftrace.GAP_US:
            before[3] = end
            continue
        last[cpu] = [cpu, thread, start, end]
        joined.append(last[cpu])
    return [[cpu, thread, round(start - zero), round(end - zero)] for cpu, thread, start, end in joined]


def _timers_of(groups, programs, runs, timers):
    """Return the expiries of each group's period timer (us of the trace), where the trace tells whose they are.

    A timer is of a group with its period when it expires throughout. Among several groups with one period only the
    tightest can be told: its tasks begin to run right after its timer.
    """
    found, left = {}, dict(timers)
    length = 1e6 * max(program["secs"] for program in programs)
    for group in sorted(groups, key=lambda group: _share(group, programs)):
        period = group["period_us"]
        names = {
            p["name"] for p in programs if p["group"] == group["path"] or p["group"].startswith(group["path"] + "/")
        }
        mine = sorted(run[2] for run in runs if run[1].rpartition(".")[0] in names)
        fits = {key: times for key, times in left.items() if _is_of_period(times, period, length)}
        lies_on_path = [g for g in groups if g["period_us"] == period and _related(g["path"], group["path"])]
        if fits and _is_alone(group, lies_on_path, programs):
            key = max(fits, key=lambda key: _follows(fits[key], mine))
            found[group["path"]] = left.pop(key)
    return found


def _share(group, programs):
    """Share of CPU that each group with a program at or below this one can get of it."""
    below = {p["group"] for p in programs if p["group"] == group["path"] or p["group"].startswith(group["path"] + "/")}
    return group["quota_us"] / group["period_us"] / max(1, len(below))


def _related(one, other):
    return one == other or one.startswith(other + "/") or other.startswith(one + "/")


def _is_alone(group, others, programs):
    """Whether no other group is as tight."""
    return sum(_share(other, programs) <= _share(group, programs) for other in others) == 1


def _is_of_period(times, period, length):
    if len(times) < 4 or len(times) < 0.6 * length / period:
        return False
    return abs(median(b - a for a, b in zip(times, times[1:])) - period) < period / 50


def _follows(times, starts, within_us=600):
    """How many expiries are followed by a start of a run within that time."""
    return sum(any(0 <= start - time < within_us for start in starts) for time in times)


def write(path: Path, recordings: list[dict]) -> None:
    """Write recordings as compressed JSON lines: the same recordings are the same bytes."""
    text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in recordings)
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        packed.write(text.encode())
