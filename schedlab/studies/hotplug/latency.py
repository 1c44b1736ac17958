"""Wake-up latency on a host on which CPUs come and go: what a rebuild's cost means for a task that waits."""

from __future__ import annotations

import pandas as pd

from ...events import SetCpuOnline
from ...hotplug import as_events
from ...machine import Machine
from ...simulate import simulate
from ...steps import mark, repeat, run, sample, sleep
from ...units import NS_PER_S
from ...workload import Task, Workload
from .series_a import GUEST, LEVELS, base_kernel

#: What each CPU's latency-sensitive task does: wakes each ms and works 50 us.
PERIOD, WORK = "1ms", "50us"
#: The CPU that goes and comes.
CHANGING = 31


def scenario(machine: Machine) -> Workload:
    """Return a task that wakes each ms, and says how late, for each CPU that stays."""
    program = repeat(None, mark(), sleep(PERIOD), sample(PERIOD), run(WORK))
    cpus = [c for c in range(machine.nr_cpus) if c != CHANGING]
    # out of step with each other and with the operations
    tasks = [Task(f"cpu{c}", program, cpus=c, label="waits", start_ns=c * 31_337) for c in cpus]
    return Workload((), tasks, name="latency under hotplug")


def operations(per_second: float, seconds: float) -> list[tuple[int, str]]:
    """Return operations on one CPU, off and on in turn, evenly spaced."""
    step = round(NS_PER_S / per_second)
    times = range(step // 2, round(seconds * NS_PER_S), step)
    return [(at, f"{'online' if k % 2 else 'offline'} cpu {CHANGING}") for k, at in enumerate(times)]


def df_latency(
    groups=(101, 1001, 4001), per_second=(1.0, 4.0, 16.0), levels=tuple(LEVELS), seconds: float = 2.0, progress=True
) -> pd.DataFrame:
    """Return how late latency-sensitive tasks wake, by groups on the host, operations a second and patch level.

    Returns
    -------
    pandas.DataFrame
        level, groups, per_second, call_us (predicted time with interrupts off of one rq_attach_root()), wakeups,
        p99_us, p99.9_us, max_us (lateness over all CPUs but the one that changes), held_percent (share of its time for
        which the executing CPU is held).
    """
    from tqdm.auto import tqdm

    machine = Machine.load(GUEST)
    work = scenario(machine)
    cells = [(level, nr, rate) for level in levels for nr in groups for rate in per_second]
    rows = []
    for level, nr, rate in tqdm(cells, disable=not progress, leave=False, unit="run"):
        kernel = base_kernel().with_patch(*LEVELS[level])
        events = as_events(machine, kernel, operations(rate, seconds), groups=nr)
        ended = simulate(machine, kernel, work.replace(events=events), round(seconds * NS_PER_S))
        holds = [event for event in events if not isinstance(event, SetCpuOnline)]
        own = [event.duration_ns for event in holds if event.cpu == 0]
        row = {"level": level, "groups": nr, "per_second": rate, "call_us": max(own, default=0) / 1000}
        late = ended.latencies().query("kind == 'sample'").iloc[0]
        row["wakeups"] = int(late["count"])
        row |= {name: float(late[name]) for name in ("p99_us", "p99.9_us", "max_us")}
        row["held_percent"] = 100 * sum(own) / (seconds * NS_PER_S)
        rows.append(row)
    return pd.DataFrame(rows)
