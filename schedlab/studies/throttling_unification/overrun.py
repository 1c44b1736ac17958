"""Overrun: CPU time beyond the quota, against the length of kernel sections; and tasks that nobody tells to leave."""

import pandas as pd

from ...durations import uniform
from ...machine import Machine
from ...simulate import simulate
from ...steps import kernel as kernel_section
from ...steps import repeat, sleep
from ...steps import run as user_work
from ...units import NS_PER_MS, NS_PER_US
from ...workload import Group, Task, Workload
from .._threads import in_threads
from .scenario import Scenario, models, tip

#: The longest kernel section of a task, ms: sections are drawn evenly from 1 us to it.
SECTIONS_MS = (0.1, 0.3, 1, 3, 10, 30, 50)
QUICK_SECTIONS_MS = (0.1, 3, 50)
#: Simulated time of a run.
SECONDS, QUICK_SECONDS = 20, 5
#: Quota of a CPU, ms of 100 ms.
QUOTA_MS = 30
NO_HRTICK = "7.2, HRTICK off"
ONE, MANY, NESTED = "1 CPU, 4 tasks", "4 CPUs, 16 tasks", "1 CPU, 3 tasks that sleep, one level down"
LAYOUTS = (ONE, MANY, NESTED)


def _layout(name, section_ms):
    """Return CPUs and workload: tasks in the kernel and in user mode by turns, without and with a sleep between."""
    longest = uniform(NS_PER_US, int(section_ms * NS_PER_MS))
    busy = repeat(None, kernel_section(longest), user_work(uniform(NS_PER_US, NS_PER_MS)))
    sleepy = repeat(None, kernel_section(longest), sleep(longest), user_work(uniform(NS_PER_US, NS_PER_MS // 10)))
    cpus, tasks, program = {ONE: (1, 4, busy), MANY: (4, 16, busy), NESTED: (1, 3, sleepy)}[name]
    groups = [Group("/g", quota_us=cpus * QUOTA_MS * 1000)]
    if name == NESTED:
        groups.append(Group("/g/c"))
    work = Workload(tuple(groups), tuple(Task(f"t{k}", program, group=groups[-1].path) for k in range(tasks)))
    return cpus, work


def df_overrun(scenario: Scenario) -> pd.DataFrame:
    """Return the overrun of a limited group against the length of its tasks' kernel sections.

    The overrun of a throttle is the debt at the next grant: CPU time used beyond the quota, on one CPU.

    Returns
    -------
    pandas.DataFrame
        layout, model (release; 7.2 also with HRTICK off), section_ms (longest kernel section), throttles, mean_ms,
        p50_ms, p99_ms, max_ms (over throttles), bound_ms (a tick and the longest section of each task on a CPU: G5k).
    """
    kernels = models()
    kernels[NO_HRTICK] = kernels["7.2"].with_(hrtick=False)
    sections = QUICK_SECTIONS_MS if scenario.quick else SECTIONS_MS
    cases = [(layout, model, ms) for layout in LAYOUTS for model in kernels for ms in sections]

    def one(case):
        layout, model, ms = case
        cpus, work = _layout(layout, ms)
        seconds = QUICK_SECONDS if scenario.quick else SECONDS
        run = simulate(Machine.uniform(cpus), kernels[model], work, f"{seconds}s", seed=scenario.seed)
        mine = run.throttles().loc["/g"]
        row = {"layout": layout, "model": model, "section_ms": ms, "throttles": mine["nr_throttles"]}
        row["mean_ms"] = mine["overrun_ns"] / max(1, mine["nr_throttles"]) / NS_PER_MS
        row |= {f"p{p}_ms": run.throttle_percentile_ns(p) / NS_PER_MS for p in (50, 99)}
        row["max_ms"] = mine["overrun_max_ns"] / NS_PER_MS
        row["bound_ms"] = kernels[model].tick_ns / NS_PER_MS + len(work.tasks) / cpus * ms
        return row

    return pd.DataFrame(in_threads(one, cases))


#: Where the group's tasks are: in the limited group itself, or in a child of it, without and with a limit of its own.
TREES = {
    "the group itself": ("/g", None),
    "child without limit": ("/g/c", None),
    "child with a limit": ("/g/c", 90_000),
}
BESIDE = ("alone", "beside a hog of another group")
#: cpu.max of the limited group, and what its tasks do.
TOLD_QUOTA_MS, TOLD_SECONDS, QUICK_TOLD_SECONDS = 20, 10, 4
HOG = user_work("1000s")
SLEEPER = repeat(None, user_work("50us"), kernel_section("150us"), sleep("50us"))
PROGRAMS = {"user hogs": HOG, "tasks that sleep": SLEEPER}
COUNTS = (2, 4)


def df_told(scenario: Scenario) -> pd.DataFrame:
    """Return how much CPU time a limited group gets when its tasks are one level further down.

    Read in v7.2.13: once a level has a `curr`, set_next_task_fair() does not look at it, nor at those above. Where one
    task of a child group follows another one of it, the limited parent is not looked at, so the next task is not told
    that the parent is throttled. To 7.1 the pick looks at every level.

    Returns
    -------
    pandas.DataFrame
        tree, program, tasks, beside (what else the CPU has), model ("6.12", "6.18", "7.2 without the series", "7.2"),
        usage_percent (of the CPU), usage_over_quota, throttles, works (tasks stopped), overrun_max_ms (grants only).
    """
    kernels = models()
    kernels = {"6.12": kernels["6.12"], "6.18": kernels["6.18"], "7.2 without the series": tip(kernels["7.2"])} | {
        "7.2": kernels["7.2"]
    }
    counts = COUNTS[1:] if scenario.quick else COUNTS
    cases = [
        (tree, program, n, beside, model)
        for tree in TREES
        for program in PROGRAMS
        for n in counts
        for beside in BESIDE
        for model in kernels
    ]

    def one(case):
        tree, program, n, beside, model = case
        work, seconds = told_workload(tree, program, n, beside), QUICK_TOLD_SECONDS if scenario.quick else TOLD_SECONDS
        run = simulate(Machine.uniform(1), kernels[model], work, f"{seconds}s", seed=scenario.seed)
        table, usage = run.throttles(), run.cpu_stat().loc["/g", "usage_usec"] / 1e6 / seconds
        row = dict(zip(("tree", "program", "tasks", "beside", "model"), case))
        row |= {"usage_percent": 100 * usage, "usage_over_quota": usage / (TOLD_QUOTA_MS / 100)}
        row |= {"throttles": table.loc["/g", "nr_throttles"], "works": table["nr_works"].sum()}
        return row | {"overrun_max_ms": table.loc["/g", "overrun_max_ns"] / NS_PER_MS}

    return pd.DataFrame(in_threads(one, cases))


def told_workload(tree: str, program: str, tasks: int, beside: str = "alone") -> Workload:
    """Return a limited group with so many tasks, in it or in a child of it."""
    path, quota_us = TREES[tree]
    groups = [Group("/g", quota_us=TOLD_QUOTA_MS * 1000)]
    if path != "/g":
        groups.append(Group(path, quota_us=quota_us))
    made = [Task(f"t{k}", PROGRAMS[program], group=path) for k in range(tasks)]
    if beside != "alone":
        made.append(Task("other", HOG))
    return Workload(tuple(groups), tuple(made))
