"""Many groups come back at once: who spends how long with interrupts off, by the kernel that does it."""

import numpy as np
import pandas as pd

from ...kernel import Kernel
from ...machine import Machine
from ...simulate import Simulation
from ...steps import run as user_work
from ...units import NS_PER_MS
from ...workload import Group, Task, Workload
from .._threads import in_threads
from .scenario import Scenario

#: How quota is handed back, and the release that stands for it.
WAYS = {"inline": "6.1", "async": "6.12", "per task": "6.18", "per task, series": "7.2"}
COUNTS = ("nr_served", "nr_walked", "nr_requeued")
#: The anchor (fact sheet D4): longest distribution on the per-task kernel, ms, and what it was seen with.
ANCHOR_MS, ANCHOR = (2.0, 4.0), dict(way="per task", groups=2000, cpus=384)
TASKS_PER_GROUP = 10
#: F15: inline distribution and hard lockups on 256 CPUs with on the order of 1000 groups.
LOCKUP = dict(groups=1000, cpus=256)
GROUPS = (1, 4, 16, 64, 256, 1000, 2000, 4000)
CPUS = (8, 16, 32, 64, 128, 256, 384, 512)
#: Sizes that are simulated: CPUs, groups, tasks a CPU.
SIMULATED = ((2, 1, 1), (4, 3, 2), (8, 5, 3), (8, 40, 4), (16, 24, 2))
QUICK_SIMULATED = SIMULATED[:3]
#: A task's group is two levels below the root: it is queued on so many levels.
LEVELS = 3
QUOTA_MS = 10


def tasks_per_cpu(groups: int, cpus: int) -> int:
    """Return how many throttled tasks a CPU has: ten a group as at the anchor, spread evenly, at least one."""
    return max(1, round(TASKS_PER_GROUP * groups / cpus))


def counts(way: str, groups: int, cpus: int, tasks: int) -> dict[str, dict[str, int]]:
    """Return what one refill does when a limited group, throttled on every CPU, has so many groups below it.

    Parameters
    ----------
    way : {"inline", "async", "per task", "per task, series"}
    groups, cpus, tasks : int
        Groups below the limited one, CPUs, and throttled tasks on each CPU.

    Returns
    -------
    dict
        "timer" (the CPU on which the period timer runs) and "other" (each other one): nr_served (throttled queues
        looked at), nr_walked (groups walked over), nr_requeued (levels queued on), as `Run.cpus` counts them.

    Examples
    --------
    >>> counts("inline", 3, 4, 2)["timer"], counts("per task", 3, 4, 2)["other"]["nr_requeued"]
    ({'nr_served': 4, 'nr_walked': 16, 'nr_requeued': 4}, 6)
    """
    walk = groups + 1
    requeue = 1 if way in ("inline", "async") else tasks * LEVELS
    if way == "inline":
        timer = (cpus, cpus * walk, cpus * requeue)
        other = (0, 0, 0)
    else:
        timer, other = (cpus, walk, requeue), (0, walk, requeue)
    return {who: dict(zip(COUNTS, numbers)) for who, numbers in (("timer", timer), ("other", other))}


def simulated_counts(way: str, groups: int, cpus: int, tasks: int) -> dict[str, dict[str, int]]:
    """Return the same from the engine: the counters of `Run.cpus` before and after one refill."""
    kernel = Kernel.version(WAYS[way], hz=1000)
    limited = Group("/p", quota_us=cpus * QUOTA_MS * 1000, phase_us=0)
    below = [Group(f"/p/c{k}") for k in range(groups)]
    made = [
        Task(f"t{cpu}-{k}", user_work("1000s"), group=below[(cpu * tasks + k) % groups].path, cpus=cpu)
        for cpu in range(cpus)
        for k in range(tasks)
    ]
    job = Simulation(Machine.uniform(cpus), kernel, Workload((limited, *below), tuple(made)))
    before, after = (_cpus(job, until_ns) for until_ns in (200 * NS_PER_MS - 1, 200 * NS_PER_MS + 1))
    done = (after - before)[list(COUNTS)]
    rows = [dict(zip(COUNTS, map(int, row))) for row in done.to_numpy()]
    if any(row != rows[1] for row in rows[1:]):
        raise RuntimeError(f"way={way}: the CPUs without the timer do not do the same: {rows}")
    return {"timer": rows[0], "other": rows[1]}


def _cpus(job, until_ns):
    while not job.advance(until_ns):
        pass
    return job.result().cpus()


def df_counts(scenario: Scenario) -> pd.DataFrame:
    """Return the counts of one refill at small sizes, from the engine and from the closed form.

    Returns
    -------
    pandas.DataFrame
        way, cpus, groups, tasks_per_cpu, cpu ("timer" or "other"), nr_served, nr_walked, nr_requeued (engine),
        closed_form (the same three as text), equal.
    """
    sizes = QUICK_SIMULATED if scenario.quick else SIMULATED
    cases = [(way, groups, cpus, tasks) for way in WAYS for cpus, groups, tasks in sizes]
    rows = []
    for case, found in zip(cases, in_threads(lambda case: simulated_counts(*case), cases)):
        for cpu, expected in counts(*case).items():
            row = dict(zip(("way", "groups", "cpus", "tasks_per_cpu"), case)) | {"cpu": cpu} | found[cpu]
            row["closed_form"] = ", ".join(map(str, expected.values()))
            rows.append(row | {"equal": found[cpu] == expected})
    return pd.DataFrame(rows)


def price_ns() -> float:
    """Return the price of a unit of work (a queue served, a group walked over, a level queued on) in ns.

    One anchor fixes one price, so all three units have the same. Fitted: the longest distribution with 2000 groups
    and 20 000 tasks on 384 CPUs took 2 to 4 ms; the middle is taken. How that machine's groups were nested is not
    said: one limited group above them all is assumed.
    """
    units = sum(counts(tasks=tasks_per_cpu(ANCHOR["groups"], ANCHOR["cpus"]), **ANCHOR)["timer"].values())
    return float(np.mean(ANCHOR_MS)) * NS_PER_MS / units


def irqoff(way: str, groups: int, cpus: int, price: float | None = None) -> dict[str, float]:
    """Return how long one refill keeps interrupts off: longest_ms (on one CPU) and total_ms (over all).

    Examples
    --------
    >>> irqoff("per task", 2000, 384)["longest_ms"]
    3.0
    """
    price = price_ns() if price is None else price
    work = counts(way, groups, cpus, tasks_per_cpu(groups, cpus))
    timer, other = (sum(work[who].values()) * price / NS_PER_MS for who in ("timer", "other"))
    return {"longest_ms": max(timer, other), "total_ms": timer + (cpus - 1) * other}


def df_irqoff() -> pd.DataFrame:
    """Return the time with interrupts off of one refill, over groups and CPUs, from the closed form.

    Returns
    -------
    pandas.DataFrame
        way, release, groups, cpus, tasks_per_cpu, longest_ms (on one CPU in one go), total_ms (over all CPUs).
    """
    rows = [
        {"way": way, "release": release, "groups": groups, "cpus": cpus, "tasks_per_cpu": tasks_per_cpu(groups, cpus)}
        | irqoff(way, groups, cpus)
        for way, release in WAYS.items()
        for groups in GROUPS
        for cpus in CPUS
    ]
    return pd.DataFrame(rows)


def inline_over_async(groups: int, cpus: int) -> float:
    """Return how many times longer the longest section is inline than async.

    Examples
    --------
    >>> round(inline_over_async(1000, 256))
    204
    """
    return irqoff("inline", groups, cpus)["longest_ms"] / irqoff("async", groups, cpus)["longest_ms"]
