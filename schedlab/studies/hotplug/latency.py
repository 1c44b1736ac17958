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
    """Return operations on one CPU, off and on in turn, at an even rate but out of step with the tasks."""
    step = round(NS_PER_S / per_second)
    count = round(seconds * per_second)
    times = [k * step + step // 4 + k * 618_034 % 1_000_000 * (step // 2) // 1_000_000 for k in range(count)]
    return [(at, f"{'online' if k % 2 else 'offline'} cpu {CHANGING}") for k, at in enumerate(times)]


def df_latency(
    groups=(101, 1001, 4001),
    per_second=(1.0, 4.0, 16.0),
    levels=("base", "patch1", "patch1+2", "V1a", "V2"),
    *,
    quick: bool = False,
    progress: bool = True,
) -> pd.DataFrame:
    """Return how late latency-sensitive tasks wake, by groups on the host, operations a second and patch level.

    A quick run simulates 1 s of each case instead of 4, and leaves out the case in the middle of each sweep.

    Returns
    -------
    pandas.DataFrame
        level, groups, per_second, call_us (predicted time with interrupts off of one rq_attach_root()), wakeups,
        p99_us, p99.9_us, max_us (lateness over all CPUs but the one that changes), held_percent (share of its time for
        which the executing CPU is held).
    """
    from tqdm.auto import tqdm

    seconds = 1.0 if quick else 4.0
    if quick:
        groups, per_second = ({values[0], values[-1]} for values in (groups, per_second))
    machine = Machine.load(GUEST)
    work = scenario(machine)
    cells = [(level, nr, rate) for level in levels for nr in sorted(groups) for rate in sorted(per_second)]
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


def say_latency(latency: pd.DataFrame) -> str:
    """Return what hotplug costs a task that waits, for the author's and for the reviewer's host.

    Parameters
    ----------
    latency : pandas.DataFrame
        From `df_latency`.
    """
    base = latency[latency["level"] == "base"]
    worst, mildest = base.loc[base["p99.9_us"].idxmax()], base.loc[base["p99.9_us"].idxmin()]
    few = base["per_second"].min()
    rare = base[base["per_second"] == few]
    both = latency[(latency["level"] == "patch1+2") & (latency["groups"] == worst["groups"])]
    both = both[both["per_second"] == worst["per_second"]].iloc[0]
    return (
        "*Why do you care about the rebuild performance?* One task on each CPU of the guest wakes every ms and works "
        "50 us; one CPU goes and comes. Each rq_attach_root() holds the executing CPU with interrupts off and "
        "the run queue of the CPU that it moves. Percentiles are over the tasks of all CPUs but the one that changes, "
        f"{worst['wakeups']:,} wakings of one run: the tasks of the one CPU that executes operations wait more than "
        "such a percentile says.\n\n"
        f"With {few:g} operation a second and {rare['groups'].max() - 1:,} cgroups the 99.9th percentile of the "
        f"lateness is {rare['p99.9_us'].max():.0f} us (worst single waking {rare['max_us'].max():.0f} us): who "
        "changes CPUs rarely sees them in single wakings alone, which is the reviewer's point. "
        f"With {worst['per_second']:g} a second it is {worst['p99.9_us']:.0f} us at base with {worst['groups'] - 1:,} "
        f"cgroups, where the executing CPU is held {worst['held_percent']:.0f} % of its time, and "
        f"{both['p99.9_us']:.0f} us with both patches; with {mildest['groups'] - 1:,} cgroups "
        f"{mildest['p99.9_us']:.0f} us. "
        "With both patches the walks that remain are those of an offline and an online CPU; a host that only switches "
        "partitions has none. What is not modelled: the time with interrupts off of stop_machine(), and that the "
        "executing task takes CPU time between the calls."
    )
