"""What a push costs: CPUs looked at, queues locked, and tasks sent back and forth, against the size of the machine."""

import numpy as np
import pandas as pd

from ...machine import Machine
from ...simulate import simulate
from ...units import NS_PER_MS, NS_PER_S
from .._threads import in_threads
from .scenario import Scenario

VARIANTS = ("baseline", "push", "push+lb_c")
#: A task that is pushed again within this time was pushed in vain, ms.
AGAIN_MS = 100
#: Runs, and length of one in s, of each size.
RUNS, SECONDS, QUICK_RUNS, QUICK_SECONDS = 3, 10, 2, 4
#: CPUs of a last-level cache, and of a node, at most.
LLC_CPUS, NODE_CPUS = 64, 256


def machine_of(size: int) -> Machine:
    """Return a machine of so many CPUs, two siblings a core (assumed: caches of 64 CPUs, nodes of 256)."""
    return Machine.uniform(
        size,
        2,
        numbering="split",
        nr_llcs=max(1, size // LLC_CPUS),
        nr_nodes=max(1, size // NODE_CPUS),
        name=f"{size} CPUs",
    )


def df_cost(scenario: Scenario, *, progress: bool = True) -> pd.DataFrame:
    """Return what stealing and pushing look at and lock on machines of several sizes, under the same load a CPU.

    Guests have eight virtual CPUs (fewer where the machine has under 64 CPUs), one guest of eight measures.

    Returns
    -------
    pandas.DataFrame
        cpus, variant, runs; callbacks, steals, pushes, scanned (CPUs), locked (queues), active_balances: per second of
        the machine; scanned_per_callback, scanned_per_push, locked_per_push (totals over pushes), pushed_again (of a
        second: tasks that are pushed again within AGAIN_MS), again_percent (of pushes); n_max (percent).
    """
    count, seconds = (QUICK_RUNS, QUICK_SECONDS) if scenario.quick else (RUNS, SECONDS)
    cells = [(size, variant) for size in scenario.sizes for variant in VARIANTS]
    cases = [(*cell, scenario.seed + k) for cell in cells for k in range(count)]
    rows = in_threads(lambda case: _count(scenario, *case, seconds), cases, progress=progress)
    names = list(rows[0])
    table = []
    for k, (size, variant) in enumerate(cells):
        part = rows[k * count : (k + 1) * count]
        table.append({"cpus": size, "variant": variant, "runs": count})
        table[-1] |= {name: float(np.mean([row[name] for row in part])) for name in names}
    table = pd.DataFrame(table)
    pushes = table["pushes"].where(table["pushes"] > 0)
    table["scanned_per_callback"] = table["scanned"] / table["callbacks"]
    table["scanned_per_push"], table["locked_per_push"] = table["scanned"] / pushes, table["locked"] / pushes
    return table.assign(again_percent=100 * table["pushed_again"] / pushes)


def _count(scenario, size, variant, seed, seconds):
    machine = machine_of(size)
    vcpus = min(8, size // 8)
    vms = size // vcpus
    work = scenario.workload(machine=machine, vms=vms, vcpus=vcpus, hwlat_vms=max(1, vms // 8))
    kernel = scenario.kernel_with(variant)
    run = simulate(machine, kernel, work, seconds * NS_PER_S, seed=seed, log=("push",))
    columns = {
        "callbacks": "nr_core_balances", "steals": "nr_steals", "pushes": "nr_pushes", "scanned": "nr_scanned",
        "locked": "nr_locked", "active_balances": "nr_active_balances",
    }  # fmt: skip
    row = {name: float(run.core_table[column].sum() / seconds) for name, column in columns.items()}
    return row | {"pushed_again": pushed_again(run) / seconds}


def pushed_again(run) -> int:
    """Return how many pushes of a run move a task that was pushed within AGAIN_MS before."""
    pushes = run.log[run.log["kind"] == run.kinds.index("push")]
    pushes = pushes[np.argsort(pushes["a"], kind="stable")]
    same = pushes["a"][1:] == pushes["a"][:-1]
    return int((same & (np.diff(pushes["time"]) <= AGAIN_MS * NS_PER_MS)).sum())
