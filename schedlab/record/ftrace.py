"""ftrace's text: run intervals, expiries of period timers, and the phase of the tick. All times are us of its clock."""

import re
from collections import Counter
from statistics import median

_LINE = re.compile(r"^\s*.{1,16}-\d+\s+(?:\(\s*[\d-]+\)\s+)?\[(\d+)\]\s+\S+\s+([\d.]+): (\w+): (.*)$")
_SWITCH = re.compile(r"prev_comm=(.*) prev_pid=(\d+) prev_prio=\S+ prev_state=\S+ ==> next_comm=(.*) next_pid=(\d+) ")
_RUNTIME = re.compile(r"comm=(.*) pid=(\d+) runtime=(\d+) ")
_EXPIRY = re.compile(r"hrtimer=(\S+) function=(\S+)(?: softexpires?=\d+)? now=(\d+)")
#: Charges of one thread on one CPU that lie closer than this (us) are one interval.
GAP_US = 60


def lines(text: str):
    """Yield (time in us, CPU, event, rest) of each event of a text trace."""
    for line in text.splitlines():
        found = None if line.startswith("#") else _LINE.match(line)
        if found:
            yield 1e6 * float(found[2]), int(found[1]), found[3], found[4]


def timer_expiries(events) -> dict[str, list[float]]:
    """Return when each hrtimer of the bandwidth period expired (us), by the timer's address."""
    timers = {}
    for _, _, event, rest in events:
        found = _EXPIRY.match(rest) if event == "hrtimer_expire_entry" else None
        if found and found[2] == "sched_cfs_period_timer":
            timers.setdefault(found[1], []).append(int(found[3]) / 1000)
    return timers


def tick_phase_us(events, tick_us: int) -> float | None:
    """Return where in the tick's period most charges of CPU time lie, us; None without charges.

    The tick charges whatever runs, so its phase is the densest 50 us. It is that of the handler, some 20 us late.
    """
    phases = [time % tick_us for time, _, event, _ in events if event == "sched_stat_runtime"]
    if not phases:
        return None
    densest = Counter(int(phase / 50) for phase in phases).most_common(1)[0][0]
    return median(phase for phase in phases if int(phase / 50) == densest)


def _names(events) -> dict[int, str]:
    """Last name of each pid: threads are renamed after they begin."""
    names = {}
    for _, _, event, rest in events:
        if event == "sched_switch" and (found := _SWITCH.match(rest)):
            names[int(found[2])], names[int(found[4])] = found[1], found[3]
        elif event == "sched_stat_runtime" and (found := _RUNTIME.match(rest)):
            names[int(found[2])] = found[1]
    return names


def runs_charged(events) -> list[tuple[int, str, float, float]]:
    """Return (CPU, thread's last name, start, end) from charges of CPU time: complete whatever it was called."""
    events = list(events)
    names, open_, done = _names(events), {}, []
    for time, cpu, event, rest in events:
        found = _RUNTIME.match(rest) if event == "sched_stat_runtime" else None
        if not found:
            continue
        pid, start = int(found[2]), time - int(found[3]) / 1000
        if cpu in open_ and open_[cpu][0] == pid and start - open_[cpu][2] < GAP_US:
            open_[cpu][2] = time
            continue
        if cpu in open_:
            done.append((cpu, *open_.pop(cpu)))
        open_[cpu] = [pid, start, time]
    done += [(cpu, *rest) for cpu, rest in open_.items()]
    return sorted(((cpu, names[pid], start, end) for cpu, pid, start, end in done), key=lambda run: run[2])


def runs_switched(events) -> list[tuple[int, str, float, float]]:
    """Return (CPU, thread's last name, start, end) from context switches, idle left out."""
    events = list(events)
    names, since, done = _names(events), {}, []
    for time, cpu, event, rest in events:
        found = _SWITCH.match(rest) if event == "sched_switch" else None
        if not found:
            continue
        pid, start = since.get(cpu, (0, time))
        if pid:
            done.append((cpu, names[pid], start, time))
        since[cpu] = int(found[4]), time
    return sorted(done, key=lambda run: run[2])
