"""Domain rebuilds: counts of calls, instructions per group, and the slope over groups and CPUs."""

import numpy as np
import pandas as pd

from ...hotplug import hotplug
from ...hotplug.fit import SERIES_A
from ...io.recordings import Recording, load
from ...published import load as published

PARTITION, LAST = "partition 2-3", "offline {}"
#: Our build of 6.1 is noisy there, and its slope is not that of its walks (named in the recordings' notes): context.
NOISY = "c-6.1.192"
#: Boots of Debian's kernels begin cold: their point without groups is warm-up (named in the recording's notes).
WARM_FROM = 500


def _kernel(one: Recording):
    kernel = one.kernel.with_(rcu_expedited=True)
    return kernel.with_patch(*SERIES_A["patch1+2"]) if one.raw["patched"] else kernel


def _line(groups, values):
    """Slope, intercept and R squared of a least-squares line; R squared is 1 for values that do not vary."""
    slope, base = np.polyfit(groups, values, 1)
    rest, spread = np.var(values - (slope * np.asarray(groups) + base)), np.var(values)
    return slope, base, 1.0 if spread < 1 else 1 - rest / spread


def df_calls() -> pd.DataFrame:
    """Return rq_attach_root() calls, traced and in the model.

    Columns: recording, version, cpus, operation ("partition": one switch; "hotplug": offline and online of one CPU),
    measured, model.
    """
    rows = []
    for one in load("rebuild"):
        cpus, kernel = one.machine.nr_cpus, _kernel(one)
        point = one.raw["points"][-1]
        down = hotplug(one.machine, kernel, f"offline {cpus - 1}")
        up = hotplug(one.machine, kernel, f"online {cpus - 1}", state=down.state)
        switch = hotplug(one.machine, kernel, PARTITION)
        head = one.name, one.raw["kernel"]["version"], cpus
        # the trace holds two switches each way, and one offline and online
        rows.append((*head, "partition", point["attaches_partition"] / 4, switch.counts["rq_attach_root"]))
        both = down.counts["rq_attach_root"] + up.counts["rq_attach_root"]
        rows.append((*head, "hotplug", point["attaches_hotplug"], both))
    return pd.DataFrame(rows, columns=["recording", "version", "cpus", "operation", "measured", "model"])


def df_walks() -> pd.DataFrame:
    """Return the instructions that each walk takes for a group, from the function graph (1 ns is 1 instruction).

    Columns: recording, version, walk ("online", "offline"), per_group, fixed, r_squared (from the medians of the walks,
    which no tick has hit), mean_per_group (from the means: with the interrupts that hit them).
    """
    rows = []
    for one in load("rebuild"):
        points = pd.DataFrame(one.raw["points"])
        for walk in ("online", "offline"):
            line = _line(points["groups"], points[f"rq_{walk}_fair_ns"])
            slope, base, r_squared = line
            mean = _line(points["groups"], points[f"rq_{walk}_fair_mean_ns"])[0]
            # instructions are whole; the rest is the last bit of a division
            slope = round(slope, 6) + 0.0
            rows.append((one.name, one.raw["kernel"]["version"], walk, slope, base, r_squared, mean))
    columns = ["recording", "version", "walk", "per_group", "fixed", "r_squared", "mean_per_group"]
    return pd.DataFrame(rows, columns=columns)


def df_slopes(walks: pd.DataFrame) -> pd.DataFrame:
    """Return the slope of a partition switch over groups, measured, and predicted from the model's count of walks.

    The model counts set_rq_offline() and set_rq_online() calls; what a walk takes for a group is the function graph's.
    Columns: recording, version, cpus, patched, noisy (not held against the model), points (numbers of groups),
    measured_per_group_per_cpu, r_squared, model_per_group_per_cpu, interrupted (the same from the means of the walks).
    """
    rows = []
    table = walks.set_index(["recording", "walk"])
    for one in load("rebuild"):
        points = pd.DataFrame(one.raw["points"])
        cold = one.raw["kernel"]["build"].startswith("Debian") or one.kernel.release == "6.1"
        points = points[points["groups"] >= (WARM_FROM if cold else 0)]
        cpus, kernel = one.machine.nr_cpus, _kernel(one)
        slope, _, r_squared = _line(points["groups"], points["root_ns"])
        counts = hotplug(one.machine, kernel, PARTITION, groups=4001).counts
        model, interrupted = (
            sum(counts[f"rq_{walk}"] * table.loc[(one.name, walk), column] for walk in ("online", "offline"))
            for column in ("per_group", "mean_per_group")
        )
        row = (one.name, one.raw["kernel"]["version"], cpus, one.raw["patched"], NOISY in one.name, len(points))
        rows.append((*row, slope / cpus, r_squared, model / cpus, interrupted / cpus))
    columns = ["recording", "version", "cpus", "patched", "noisy", "points"]
    columns += ["measured_per_group_per_cpu", "r_squared", "model_per_group_per_cpu", "interrupted"]
    return pd.DataFrame(rows, columns=columns)


def df_points() -> pd.DataFrame:
    """Return the measured medians: recording, version, cpus, groups, root_us, member_us, offline_us, online_us."""
    tables = []
    for one in load("rebuild"):
        points = pd.DataFrame(one.raw["points"])
        head = {"recording": one.name, "version": one.raw["kernel"]["version"], "cpus": one.machine.nr_cpus}
        times = {f"{name}_us": points[f"{name}_ns"] / 1000 for name in ("root", "member", "offline", "online")}
        tables.append(pd.DataFrame({**head, "groups": points["groups"], **times}))
    return pd.concat(tables, ignore_index=True)


def patch_1_share(walks: pd.DataFrame) -> tuple[float, float]:
    """Return what patch 1 takes off the slope: predicted from the walks of 7.3.4, and published, in percent."""
    per_group = walks[walks["recording"] == "c-7.3.4-sc-ic0/rebuild"].set_index("walk")["per_group"]
    times = published("rebuild_operations").set_index(["operation", "kernel"])["median_ms"]["partition_root"]
    base, one, both = (times[level] for level in ("base", "patch1", "patch1+2"))
    return 100 * per_group["offline"] / per_group.sum(), 100 * (base - one) / (base - both)
