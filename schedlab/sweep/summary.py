"""What a sweep keeps of a run by default: cpu.stat, latencies and power in one row."""

from __future__ import annotations

import math

from .._check import choice

_TIMES = ("usage", "user", "system")
_COUNTERS = ("nr_periods", "nr_throttled", "throttled_usec", "nr_bursts", "burst_usec", "throttled_percent")
_PERCENTILES = (50, 99, 99.9)


def summary(run, groups=(), labels=()) -> dict:
    """Return one row about a run.

    Parameters
    ----------
    run : Run
    groups : sequence of str
        Groups with columns of their own, ``/path.nr_throttled`` and so on.
    labels : sequence of str
        Labels of latencies with columns of their own, ``label.wakeup_p99_us`` and so on.

    Returns
    -------
    dict
        seconds (simulated); usage_usec, user_usec, system_usec (of all groups); nr_periods, nr_throttled,
        throttled_usec, nr_bursts, burst_usec (sums over the groups with a limit), throttled_percent (nr_throttled /
        nr_periods); wakeup_p50_us, wakeup_p99_us, wakeup_p99.9_us, wakeup_max_us over all labels, and sample_* of what
        sample() steps recorded; mean_w. Missing where there is nothing: no limit, no wake-up, no watts.

    Examples
    --------
    >>> import schedlab as sl
    >>> work = sl.Workload((sl.Group("/a", quota_us=5000),), (sl.Task("t", sl.run("1s"), group="/a"),))
    >>> row = summary(sl.simulate(sl.Machine.uniform(1), sl.Kernel.version("6.12"), work, "1s"))
    >>> row["nr_throttled"], row["nr_periods"]
    (10, 10)
    """
    table, paths = run.groups, run.workload.group_paths
    row = {"seconds": run.duration_ns / 1e9}
    row |= {f"{name}_usec": int(table[f"{name}_ns"][0]) // 1000 for name in _TIMES}
    limited = table[table["limited"] > 0]
    row |= _throttling(limited)
    row |= _latencies(run, "", None)
    row["mean_w"] = run.power()["mean_w"]
    for path in groups:
        choice("groups", path, paths)
        own = table[paths.index(path) :][:1]
        row[f"{path}.usage_usec"] = int(own["usage_ns"][0]) // 1000
        row |= {f"{path}.{name}": value for name, value in _throttling(own[own["limited"] > 0]).items()}
    for label in labels:
        choice("labels", label, run.workload.labels)
        row |= _latencies(run, f"{label}.", label)
    return row


def _throttling(limited) -> dict:
    if len(limited) == 0:
        return dict.fromkeys(_COUNTERS)
    sums = [int((limited[name[:-4] + "ns"] // 1000 if name.endswith("usec") else limited[name]).sum())
            for name in _COUNTERS[:-1]]  # fmt: skip
    return dict(zip(_COUNTERS, [*sums, 100.0 * sums[1] / max(1, sums[0])]))


def _latencies(run, prefix: str, label: str | None) -> dict:
    row = {}
    known = run.workload.labels
    chosen = range(len(known)) if label is None else [known.index(label)]
    for offset, kind in enumerate(("wakeup", "sample")):
        for percentile in _PERCENTILES:
            value = run.percentile_ns(label, percentile, kind)
            row[f"{prefix}{kind}_p{percentile}_us"] = None if math.isnan(value) else value / 1000
        filled = [run.hists[2 * k + offset] for k in chosen if run.hists[2 * k + offset]["count"]]
        row[f"{prefix}{kind}_max_us"] = max((int(hist["max"]) for hist in filled), default=None)
        if filled:
            row[f"{prefix}{kind}_max_us"] /= 1000
    return row
