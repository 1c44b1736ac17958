"""How two virtual CPUs of the measuring guest come to queue on one CPU."""

import numpy as np
import pandas as pd

from ...simulate import simulate
from ...units import NS_PER_S
from ...workloads.hypervisor import windows_and_gaps
from .._threads import in_threads
from .gaps import CAUSES, causes_of
from .scenario import Scenario

VARIANTS = ("baseline", "push", "lb_c", "push+lb_c")
#: How a task came to a CPU, as logged.
ARRIVALS = ("wake", "push", "steal", "active_balance", "migrate")
LOG = ("switch", "block", *ARRIVALS)
RUNS, QUICK_RUNS = 6, 2


def df_meetings(scenario: Scenario, *, progress: bool = True) -> pd.DataFrame:
    """Return how the two came there, for each meeting on one CPU in which one waited for the other.

    Returns
    -------
    pandas.DataFrame
        variant, meetings (per minute), first_wake, first_push, first_balance (of these by how the first of the two
        came: woken there, pushed, or moved by balancing or a steal), second_wakes_on_previous (percent in which the
        second was woken there and had last run there).
    """
    count = min(scenario.runs, QUICK_RUNS if scenario.quick else RUNS)
    cases = [(variant, scenario.seed + k) for variant in VARIANTS for k in range(count)]
    rows = in_threads(lambda case: _meetings(scenario, *case), cases, progress=progress)
    minutes = count * scenario.seconds / 60
    table = pd.DataFrame(rows).groupby("variant", sort=False).sum() / minutes
    share = 100 * table.pop("second_on_previous") / table["meetings"].where(table["meetings"] > 0)
    return table.assign(second_wakes_on_previous=share).reset_index()


def _meetings(scenario, variant, seed):
    work, kernel = scenario.workload(), scenario.kernel_with(variant)
    run = simulate(scenario.machine, kernel, work, scenario.seconds * NS_PER_S, seed=seed, log=LOG)
    gaps = windows_and_gaps(run)[1]
    own = gaps["record"].to_numpy()[causes_of(run, gaps) == CAUSES.index("queued behind a vCPU of its own guest")]
    kind = np.array(run.kinds, dtype=object)[run.log["kind"]]
    arrivals = {task: np.flatnonzero(np.isin(kind, ARRIVALS) & (run.log["a"] == task)) for task in _tasks(run, own)}
    meetings = set()
    for record in own:
        pair = [arrivals[run.log[side][record]] for side in "ab"]
        if all(len(there) and there[0] < record for there in pair):
            meetings.add(tuple(sorted(there[np.searchsorted(there, record) - 1] for there in pair)))
    row = {"variant": variant, "meetings": len(meetings)}
    row |= dict.fromkeys(("first_wake", "first_push", "first_balance", "second_on_previous"), 0)
    for first, second in meetings:
        row[f"first_{_came(run.log, kind, first)}"] += 1
        row["second_on_previous"] += _on_previous(run.log, kind, second)
    return row


def _tasks(run, records):
    return np.unique(np.concatenate([run.log["a"][records], run.log["b"][records]]))


def _came(log, kind, record):
    """A push or steal is logged right before the move that it makes."""
    if kind[record] == "migrate" and record and kind[record - 1] == "push":
        return "push" if log["a"][record - 1] == log["a"][record] else "balance"
    return {"wake": "wake", "push": "push"}.get(kind[record], "balance")


def _on_previous(log, kind, record):
    if kind[record] != "wake":
        return False
    left = np.flatnonzero((kind[:record] == "block") & (log["a"][:record] == log["a"][record]))
    return bool(len(left)) and bool(log["cpu"][left[-1]] == log["cpu"][record])
