"""hackbench three levels deep: what a message costs without and with the series, boot by boot."""

from functools import lru_cache

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from ...simulate import Simulation
from ...units import NS_PER_US
from ...workloads.hackbench import nested_hackbench
from .._threads import in_threads
from .scenario import CONTEXT_SWITCH_NS, TIP, Scenario
from .statistics import runs_needed, welch

#: CPU time a message in the published runs (fact sheet D5: 207.8 s on 8 CPUs for 20 * 20 * 5e6 messages a leaf), us.
US_PER_MESSAGE = 0.83
#: Cost of a write and of a read at which the fit begins, and its change for the second point of the line, ns.
FIT_FROM_NS, FIT_STEP_NS = 400, 40
#: Length of a run of the fit (periods), its boots, and its number of steps.
FIT_PERIODS, FIT_BOOTS, FIT_STEPS = 2, 2, 2
QUICK_FIT_PERIODS, QUICK_FIT_BOOTS = 1, 1
#: Boots and periods of the further numbers of groups, which a quick run leaves out.
MORE_BOOTS, MORE_PERIODS = 3, 3
#: Length of a period of the posted tree, s.
PERIOD_S = 0.1
COUNTERS = ("nr_throttles", "nr_rethrottled", "nr_works", "overrun_ns")
STATS = ("usage_usec", "nr_periods", "nr_throttled", "throttled_usec")


def _workload(scenario, groups, cost_ns):
    return nested_hackbench(groups=groups, coarsen=scenario.coarsen, cost_write=cost_ns, cost_read=cost_ns)


def _period_ns(work):
    return work.groups[0].period_us * NS_PER_US


def boot(scenario: Scenario, kernel, work, seed: int, periods: int) -> dict:
    """Return what one boot does in so many periods, after a first one that is not counted.

    Returns
    -------
    dict
        messages, wall_us, cpu_us (each a message; wall is simulated time over all messages of the four leaves),
        schedules (calls of __schedule), and levels: a table of counters by group. All without the first period.
    """
    job, period_ns = Simulation(scenario.machine, kernel, work, seed=seed), _period_ns(work)
    before, after = (_totals(job, n * period_ns) for n in (1, 1 + periods))
    read, kernel_ns, schedules = (after[name] - before[name] for name in ("read", "kernel_ns", "schedules"))
    wall_ns = periods * period_ns
    return {
        "messages": read,
        "wall_us": wall_ns / read / NS_PER_US,
        "cpu_us": kernel_ns / read / NS_PER_US,
        "schedules": schedules,
        "levels": after["levels"] - before["levels"],
    }


def _totals(job, until_ns):
    while not job.advance(until_ns):
        pass
    run = job.result()
    table = run.throttles()[list(COUNTERS)].join(run.cpu_stat()[list(STATS)])
    return {
        "read": int(run.channels()["read"].sum()),
        "kernel_ns": int(run.tasks()["kernel_ns"].sum()),
        "schedules": int(run.cpus()["nr_schedules"].sum()),
        "levels": table.drop("/"),
    }


@lru_cache(maxsize=8)
def _fit(scenario: Scenario) -> tuple[tuple[int, float], ...]:
    """Return the points (cost of a write and of a read in ns, us of CPU a message) of the fit; the last one is used."""
    kernel, points = scenario.kernels[TIP], []
    nr_boots, periods = (QUICK_FIT_BOOTS, QUICK_FIT_PERIODS) if scenario.quick else (FIT_BOOTS, FIT_PERIODS)

    def cpu_us(cost_ns):
        work, seeds = _workload(scenario, scenario.groups, cost_ns), range(scenario.seed, scenario.seed + nr_boots)
        boots = in_threads(lambda seed: boot(scenario, kernel, work, seed, periods), seeds)
        points.append((cost_ns, float(np.mean([one["cpu_us"] for one in boots]))))

    cpu_us(FIT_FROM_NS)
    cpu_us(FIT_FROM_NS + FIT_STEP_NS)
    for _ in range(FIT_STEPS):
        (x0, y0), (x1, y1) = points[-2:]
        cost_ns = max(1, round(x1 + (US_PER_MESSAGE - y1) * (x1 - x0) / (y1 - y0)))
        if cost_ns in (x0, x1):
            break
        cpu_us(cost_ns)
    points.sort(key=lambda point: -abs(point[1] - US_PER_MESSAGE))
    return tuple(points)


def df_fit(scenario: Scenario) -> pd.DataFrame:
    """Return the fit of what a write and a read cost: a straight line through the last two points, again and again.

    Fitted is the CPU time of a message on tip alone, in short runs; a run with the series has no part in it.

    Returns
    -------
    pandas.DataFrame
        cost_ns (of a write, and of a read), cpu_us_per_message (tip), off_us (against the published 0.83), in_use.
    """
    points = _fit(scenario)
    table = pd.DataFrame(points, columns=["cost_ns", "cpu_us_per_message"])
    return table.assign(
        off_us=table["cpu_us_per_message"] - US_PER_MESSAGE, in_use=[point == points[-1] for point in points]
    )


def fitted_cost_ns(scenario: Scenario) -> int:
    """Return the fitted cost of a write and of a read, ns."""
    return _fit(scenario)[-1][0]


def df_hackbench_runs(scenario: Scenario) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return every boot of hackbench, on tip, on tip with the series and on 6.18, and its counters by group.

    A boot is a seed: the timers of the seven groups draw new phases. The kernels see the same seeds. Further numbers of
    groups (-g) have fewer and shorter boots.

    Returns
    -------
    runs : pandas.DataFrame
        groups (-g), kernel, seed, periods, messages, wall_us (simulated time over all messages), cpu_us (system time
        of all tasks a message), schedules (calls of __schedule on all CPUs).
    levels : pandas.DataFrame
        groups, kernel, seed, periods, group (path), level (1: outermost), nr_throttles, nr_rethrottled, nr_works,
        overrun_ns, usage_usec, nr_periods, nr_throttled, throttled_usec (all of the periods counted).
    """
    cost_ns = fitted_cost_ns(scenario)
    plan = [(scenario.groups, scenario.nr_boots, scenario.nr_periods)]
    more = [n for n in scenario.more_groups if n != scenario.groups]
    plan += [(n, MORE_BOOTS, MORE_PERIODS) for n in ([] if scenario.quick else more)]
    cases = [
        (groups, name, scenario.seed + k, periods)
        for groups, boots, periods in reversed(plan)  # the long ones first
        for k in range(boots)
        for name in scenario.kernels
    ]
    works = {groups: _workload(scenario, groups, cost_ns) for groups, _, _ in plan}
    with tqdm(total=len(cases), leave=False, unit="boot") as bar:

        def one(case):
            groups, name, seed, periods = case
            done = boot(scenario, scenario.kernels[name], works[groups], seed, periods)
            bar.update()
            return done

        found = in_threads(one, cases)
    heads = [dict(zip(("groups", "kernel", "seed", "periods"), case)) for case in cases]
    runs = pd.DataFrame([head | {k: v for k, v in one.items() if k != "levels"} for head, one in zip(heads, found)])
    levels = pd.concat([one["levels"].reset_index().assign(**head) for head, one in zip(heads, found)])
    levels["level"] = levels["group"].str.count("/")
    first = ["groups", "kernel", "seed", "periods", "group", "level"]
    levels = levels[[*first, *(c for c in levels.columns if c not in first)]]
    order = {name: k for k, name in enumerate(scenario.kernels)}
    by = dict(by=["groups", "kernel", "seed"], key=lambda c: c.map(order) if c.name == "kernel" else c, kind="stable")
    return runs.sort_values(**by, ignore_index=True), levels.sort_values(**by, ignore_index=True)


def df_hackbench(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the boots summed up, and each kernel's difference from tip.

    Parameters
    ----------
    runs : pandas.DataFrame
        From `df_hackbench_runs`.

    Returns
    -------
    pandas.DataFrame
        groups, kernel, boots, mean_us, sd_us, cov_percent, min_us, median_us, max_us (wall-clock time a message),
        cpu_us (mean), schedules_per_s, and against tip: identical (whether each boot passes as many messages as tip's),
        schedules_cost_percent (of the CPU time, what tip's additional calls of __schedule would take at the price of a
        whole switch; the model has them for nothing), difference_percent of the means, low_percent, high_percent (95 %
        confidence interval, Welch), p, paired_low_percent, paired_high_percent (the interval of the differences boot by
        boot: the same seed has the same phases), boots_needed (a side, to find this difference with 80 % power at 5 %;
        missing where no number of boots would).
    """
    rows = []
    for (groups, kernel), part in runs.groupby(["groups", "kernel"], sort=False):
        base = runs[(runs["groups"] == groups) & (runs["kernel"] == TIP)]["wall_us"].to_numpy()
        ours = part["wall_us"].to_numpy()
        row = {
            "groups": groups,
            "kernel": kernel,
            "boots": len(ours),
            "mean_us": ours.mean(),
            "sd_us": ours.std(ddof=1),
        }
        row["cov_percent"] = 100 * row["sd_us"] / row["mean_us"]
        row |= {
            "min_us": ours.min(),
            "median_us": np.median(ours),
            "max_us": ours.max(),
            "cpu_us": part["cpu_us"].mean(),
            "schedules_per_s": part["schedules"].sum() / (part["periods"].sum() * PERIOD_S),
        }
        if kernel != TIP:
            theirs = runs[(runs["groups"] == groups) & (runs["kernel"] == TIP)]
            row["identical"] = part["messages"].tolist() == theirs["messages"].tolist()
            saved_us = (theirs["schedules"].sum() - part["schedules"].sum()) * CONTEXT_SWITCH_NS / NS_PER_US
            row["schedules_cost_percent"] = 100 * saved_us / (theirs["messages"] * theirs["cpu_us"]).sum()
            row |= _against(base, ours)
        rows.append(row)
    return pd.DataFrame(rows)


def _against(base, ours):
    percent = 100 / base.mean()
    test = welch(ours.mean() - base.mean(), base.std(ddof=1), len(base), ours.std(ddof=1), len(ours))
    pairs = ours - base
    # one sample: Welch with a second one that has no spread
    paired = welch(pairs.mean(), pairs.std(ddof=1), len(pairs), 0.0, len(pairs))
    needed = runs_needed(test["difference"], base.std(ddof=1), ours.std(ddof=1)) if pairs.any() else None
    return {
        "difference_percent": percent * test["difference"],
        "low_percent": percent * test["low"],
        "high_percent": percent * test["high"],
        "p": test["p"] if pairs.any() else 1.0,
        "paired_low_percent": percent * paired["low"],
        "paired_high_percent": percent * paired["high"],
        "boots_needed": np.nan if needed is None else needed,
    }


def df_levels(levels: pd.DataFrame) -> pd.DataFrame:
    """Return the counters of throttling at each level of the tree, a group and a second.

    Parameters
    ----------
    levels : pandas.DataFrame
        From `df_hackbench_runs`.

    Returns
    -------
    pandas.DataFrame
        groups (-g), kernel, level (1: the outermost group), throttles_per_s (queues throttled), rethrottled_percent
        (of them: the last unthrottle was of no use), works_per_s (tasks stopped at their return to user space),
        overrun_ms (CPU time beyond the quota at a grant, mean over throttles), periods_throttled_percent
        (nr_throttled / nr_periods), throttled_cpus (throttled_usec over time), usage_cpus. All are means over boots
        and the groups of a level.
    """
    table = levels.assign(seconds=levels["periods"] * PERIOD_S)
    sums = table.groupby(["groups", "kernel", "level"], sort=False)[[*COUNTERS, *STATS, "seconds"]].sum().reset_index()
    return pd.DataFrame(
        {
            **{name: sums[name] for name in ("groups", "kernel", "level")},
            "throttles_per_s": sums["nr_throttles"] / sums["seconds"],
            "rethrottled_percent": 100 * sums["nr_rethrottled"] / sums["nr_throttles"].clip(lower=1),
            "works_per_s": sums["nr_works"] / sums["seconds"],
            "overrun_ms": sums["overrun_ns"] / sums["nr_throttles"].clip(lower=1) / 1e6,
            "periods_throttled_percent": 100 * sums["nr_throttled"] / sums["nr_periods"].clip(lower=1),
            "throttled_cpus": sums["throttled_usec"] / 1e6 / sums["seconds"],
            "usage_cpus": sums["usage_usec"] / 1e6 / sums["seconds"],
        }
    )
