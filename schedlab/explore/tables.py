"""What the page shows of a run, as tables."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..cgroup import DEFAULT_PERIOD_US
from ..phases import group_phases
from ..units import NS_PER_US


@dataclass(frozen=True)
class Tables:
    """The tables behind the page.

    Attributes
    ----------
    spans : pandas.DataFrame
        `Run.spans`: what each CPU ran and when.
    throttled : pandas.DataFrame
        `Run.throttled_spans`: when each group was throttled on each CPU.
    forced_idle : pandas.DataFrame
        cpu, start_ns, end_ns: when core scheduling kept a CPU idle though something was queued there.
    usage : pandas.DataFrame
        `df_usage`.
    cpu_stat : pandas.DataFrame
        `Run.cpu_stat` without the root.
    """

    spans: pd.DataFrame
    throttled: pd.DataFrame
    forced_idle: pd.DataFrame
    usage: pd.DataFrame
    cpu_stat: pd.DataFrame

    @classmethod
    def of(cls, run) -> "Tables":
        """Take the tables from a run that has its log."""
        spans = run.spans()
        return cls(spans, run.throttled_spans(), df_forced_idle(run), df_usage(run, spans), run.cpu_stat().iloc[1:])


def df_forced_idle(run) -> pd.DataFrame:
    """Return when each CPU was forced idle, in order of CPU and time: cpu, start_ns, end_ns."""
    log = run.log[run.log["kind"] == run.kinds.index("forced_idle")]
    log = log[np.argsort(log["cpu"], kind="stable")]
    end_ns = np.full(len(log), run.log_until_ns)
    if len(log):
        same_cpu = log["cpu"][1:] == log["cpu"][:-1]
        end_ns[:-1][same_cpu] = log["time"][1:][same_cpu]
    begins = log["a"] == 1
    return pd.DataFrame(
        {"cpu": log["cpu"][begins], "start_ns": log["time"][begins], "end_ns": end_ns[begins]}, dtype=np.int64
    )


def df_usage(run, spans=None) -> pd.DataFrame:
    """Return the CPU time that each group used in each of its periods.

    Parameters
    ----------
    run : Run
        With a log of switches. The groups are not nested.
    spans : pandas.DataFrame, optional
        Its `Run.spans`, where they are there already.

    Returns
    -------
    pandas.DataFrame
        group, period (from 0), start_ns, end_ns, usage_ns, quota_ns (missing where nothing limits the group), whole
        (False: the period began before the run or ends after it). A group without a limit counts in windows of 100 ms.
    """
    spans = run.spans() if spans is None else spans
    phases = dict(zip(run.workload.group_paths, group_phases(run.kernel, run.workload, run.seed)))
    tables = []
    for group in run.workload.groups:
        limited = group.quota_us is not None
        period_ns = (group.period_us if limited else DEFAULT_PERIOD_US) * NS_PER_US
        first_ns = (phases[group.path] if limited else 0) % period_ns
        inner = np.arange(first_ns or period_ns, run.duration_ns, period_ns)
        edges = np.unique([0, *inner, run.duration_ns])
        mine = spans["group"].to_numpy() == group.path
        used = np.diff(_used_before(edges, spans["start_ns"].to_numpy()[mine], spans["end_ns"].to_numpy()[mine]))
        table = {"group": group.path, "period": np.arange(len(used)), "start_ns": edges[:-1], "end_ns": edges[1:]}
        table |= {"usage_ns": used, "quota_ns": float(group.quota_us * NS_PER_US) if limited else np.nan}
        tables.append(pd.DataFrame(table | {"whole": np.diff(edges) == period_ns}))
    return pd.concat(tables, ignore_index=True)


def _used_before(times, starts, ends):
    """Return the CPU time spent in the spans before each of the times."""
    return _past(times, starts) - _past(times, ends)


def _past(times, moments):
    """Return for each time the sum of how long ago the earlier moments are."""
    moments = np.sort(moments)
    sums = np.concatenate([[0], np.cumsum(moments)])
    count = np.searchsorted(moments, times)
    return count * times - sums[count]
