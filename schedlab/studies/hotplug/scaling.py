"""How work and time grow with groups, CPUs and the size of the machine, and what partitions do about it."""

import numpy as np
import pandas as pd

from ...hotplug import Offline, Partition, State, hotplug
from ...hotplug.fit import GUEST, cost_table
from ...hotplug.published_tables import base_kernel
from ...hotplug.shapes import like
from ...machine import Machine
from .series_a import LEVELS, predict_operations

#: Counts of one rebuild, and the power of the number of CPUs that the mails name for their loops (None: they do not).
GROWING = {
    "capacity_words": 3,
    "capacity_cores": 2,
    "balance_iterations": 2,
    "span_scan": 2,
    "dl_updates": 2,
    "sched_domains": None,
    "distinct_groups": None,
    "span_checks": None,
}
SIZES = (128, 256, 512, 1024)


def df_groups(groups=(0, 500, 1000, 2000, 4000, 8000, 10_000)) -> pd.DataFrame:
    """Return times of the three operations over the number of cgroups (the root group comes on top).

    Columns: cgroups, kernel, operation, predicted_ms, irq_off_us.
    """
    rows = []
    for number in groups:
        for level in LEVELS:
            for name, done in predict_operations(level, number + 1).items():
                rows.append((number, level, name, done.total_ns / 1e6, done.irq_off_max_ns / 1e3))
    return pd.DataFrame(rows, columns=["cgroups", "kernel", "operation", "predicted_ms", "irq_off_us"])


def df_cpus(cpus=(8, 16, 32, 64, 128, 256, 512, 1024), groups: int = 4001) -> pd.DataFrame:
    """Return times of the three operations over the number of CPUs, at the guest's costs.

    Fixed costs are held constant, which nothing published confirms. Columns: cpus, kernel, operation, walks_ms,
    predicted_ms.
    """
    table, rows = cost_table(GUEST), []
    for number in cpus:
        machine = Machine.uniform(number)
        last = number - 1
        for level, patches in LEVELS.items():
            kernel = base_kernel().with_patch(*patches)
            more = dict(costs=table)
            off = hotplug(machine, kernel, Offline(last), groups=groups, **more)
            on = hotplug(machine, kernel, f"online {last}", state=off.state, **more)
            switch = hotplug(machine, kernel, Partition(tuple(range(number - 4, number))), groups=groups, **more)
            for name, done in (("partition_root", switch), ("cpu_offline", off), ("cpu_online", on)):
                rows.append((number, level, name, done.price_ns["walks"] / 1e6, done.total_ns / 1e6))
    return pd.DataFrame(rows, columns=["cpus", "kernel", "operation", "walks_ms", "predicted_ms"])


def df_exponents(machine: str = "xeon_6985p_c", sizes=SIZES) -> pd.DataFrame:
    """Return by which power each count of one CPU online grows as a machine of that shape doubles.

    Columns: count, claimed (power in the mail, missing where it says none), from_cpus, to_cpus, exponent.
    """
    counts = {}
    for size in sizes:
        state = State(like(machine, size), base_kernel())
        state.apply(Offline(size - 1))
        counts[size] = hotplug(state.machine, state.kernel, f"online {size - 1}", state=state).counts
    rows = []
    for name, claimed in GROWING.items():
        for small, large in zip(sizes, sizes[1:]):
            exponent = np.log(counts[large][name] / counts[small][name]) / np.log(large / small)
            rows.append((name, claimed, small, large, exponent))
    columns = ["count", "claimed", "from_cpus", "to_cpus", "exponent"]
    return pd.DataFrame(rows, columns=columns).astype({"claimed": float})


def df_partitions(nr_cpus: int = 512, parts=(1, 2, 4, 8, 16), groups: int = 4001) -> pd.DataFrame:
    """Return the work of one CPU offline on a machine split into equal partitions.

    Columns: partitions, rq_attach_root, group_visits, span_scan, dl_updates.
    """
    rows = []
    for number in parts:
        machine = Machine.uniform(nr_cpus, nr_llcs=number, nr_nodes=number)
        state, size = State(machine, base_kernel(), groups=groups), nr_cpus // number
        for k in range(1, number):
            state.apply(Partition(tuple(range(k * size, (k + 1) * size))))
        counts = state.apply(Offline(nr_cpus - 1)).counts
        rows.append((number, *(counts[name] for name in ("rq_attach_root", "group_visits", "span_scan", "dl_updates"))))
    return pd.DataFrame(rows, columns=["partitions", "rq_attach_root", "group_visits", "span_scan", "dl_updates"])
