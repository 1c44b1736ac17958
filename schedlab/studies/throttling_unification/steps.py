"""One throttle, step by step: who marks the group, who reschedules, and when the task leaves."""

import pandas as pd

from ...machine import Machine
from ...simulate import simulate
from ...steps import run as user_work
from ...units import NS_PER_MS
from ...workload import Group, Task, Workload
from .scenario import models

#: cpu.max of the one group (ms of 100 ms) and the tick: the quota ends at a tick, where no slice ends.
QUOTA_MS, HZ = 20, 1000
#: Which throttle is shown (the first one follows the start), and how many are counted.
SHOWN, COUNTED = 3, 10
#: Most hogs in the group.
HOGS, QUICK_HOGS = 6, 3
KINDS = ("tick", "schedule", "throttle", "work", "limbo", "switch", "unthrottle")
#: The steps of a throttle in the words of the figure, by kind of event.
STEPS = {
    "tick": "tick",
    "throttle": "mark",
    "schedule": "__schedule",
    "work": "work queued",
    "limbo": "dequeue",
    "switch": "switch",
}
#: schedule calls for each throttle of a single user hog (fact sheet D3).
SCHEDULES = {"6.12": 1, "6.18": 2, "7.2": 1}


def throttle_once(kernel, hogs: int = 1):
    """Return a run of so many user hogs in one limited group on one CPU, its timer in step with the ticks."""
    group = Group("/g", quota_us=QUOTA_MS * 1000, phase_us=0)
    tasks = tuple(Task(f"hog{k}", user_work("1000s"), group="/g") for k in range(hogs))
    duration_ns = (COUNTED * 100 - 1) * NS_PER_MS
    return simulate(Machine.uniform(1), kernel.with_(hz=HZ), Workload((group,), tasks), duration_ns, log=KINDS)


def df_steps(hogs: int = 1) -> pd.DataFrame:
    """Return what happens at one throttle, in order, under each throttle model.

    With all costs at 0 the steps are at one instant: their order is what differs. In the whole-queue model `mark`
    takes the group off the CPU's queue as well.

    Returns
    -------
    pandas.DataFrame
        model (release), order (1 is the tick), time_ms, event (kind in the log), step (in words), task.
    """
    rows = []
    for model, kernel in models().items():
        run = throttle_once(kernel, hogs)
        events = run.events()
        time_ns = events.loc[events["kind"] == "throttle", "time_ns"].iloc[SHOWN]
        here = events[(events["time_ns"] == time_ns)]
        for order, event in enumerate(here.itertuples(), start=1):
            number = event.b if event.kind == "switch" else event.a
            task = "" if event.kind == "throttle" else ("idle" if number < 0 else run.workload.tasks[number].name)
            step = STEPS[event.kind]
            if event.kind == "throttle" and kernel.throttle_model == "queue":
                step += ", dequeue group"
            rows.append((model, order, time_ns / NS_PER_MS, event.kind, step, task))
    return pd.DataFrame(rows, columns=["model", "order", "time_ms", "event", "step", "task"])


def df_schedules(most: int = HOGS) -> pd.DataFrame:
    """Return how often the kernel schedules at a throttle, for 1 to `most` user hogs in the group.

    Counted from the tick that ends the quota to the CPU's going idle; the one call that follows an unthrottle and
    those at the ends of slices are no part of it.

    Returns
    -------
    pandas.DataFrame
        model, hogs, throttles (counted), schedules, works, switches (each a throttle), schedules_low, schedules_high
        (over the throttles).
    """
    rows = []
    for model, kernel in models().items():
        for hogs in range(1, most + 1):
            run = throttle_once(kernel, hogs)
            events = run.events()
            times = events.loc[events["kind"] == "throttle", "time_ns"]
            each = events[events["time_ns"].isin(times)].groupby(["time_ns", "kind"], observed=False).size().unstack()
            schedules = each["schedule"]
            rows.append(
                (model, hogs, len(each), schedules.mean(), each["limbo"].mean(), each["switch"].mean(),
                 schedules.min(), schedules.max())
            )  # fmt: skip
    columns = ["model", "hogs", "throttles", "schedules", "works", "switches", "schedules_low", "schedules_high"]
    return pd.DataFrame(rows, columns=columns)
