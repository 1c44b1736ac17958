"""What stood in the way of a virtual CPU that measured: the cause of each gap in a hwlat window."""

import numpy as np
import pandas as pd

from ...workloads.hypervisor import HWLAT, STRESS

#: Causes of a gap: another task ran on its CPU, or its CPU was forced idle because of the sibling.
CAUSES = (
    "queued behind a vCPU of its own guest",
    "queued behind a stress vCPU",
    "queued behind a VMM thread",
    "forced idle beside a stress vCPU",
    "forced idle beside a VMM thread",
    "other",
)
_OWN, _STRESS, _VMM, _BESIDE_STRESS, _BESIDE_VMM, _OTHER = range(len(CAUSES))
_IDLE = -1


def causes_of(run, gaps: pd.DataFrame) -> np.ndarray:
    """Return the cause of each gap (number in CAUSES): that of its beginning, though a gap may outlast it.

    Parameters
    ----------
    run : Run
        Of a `hypervisor`.
    gaps : pandas.DataFrame
        From `windows_and_gaps`.
    """
    tasks = run.workload.tasks
    # one entry more: the idle task, -1
    kinds = [[task.label.endswith(end) for task in tasks] + [False] for end in (f"-{HWLAT}", f"-{STRESS}", "-vmm")]
    measures, stress, vmm = map(np.array, kinds)
    away = run.log[gaps["record"].to_numpy()]
    cause = np.full(len(gaps), _OTHER)
    # where several guests measure, the other ones count as own
    for kind, number in ((measures, _OWN), (stress, _STRESS), (vmm, _VMM)):
        cause[kind[away["b"]]] = number
    idle = np.flatnonzero(away["b"] == _IDLE)
    for beside in _beside(run, away[idle]):
        cause[idle[stress[beside]]], cause[idle[vmm[beside]]] = _BESIDE_STRESS, _BESIDE_VMM
    return cause


def _beside(run, away):
    """Yield for each sibling in turn what it runs at the time of each switch away, -1 for nothing."""
    switches = run.log[run.log["kind"] == run.kinds.index("switch")]
    others = np.array([[c for c in run.machine.siblings(cpu) if c != cpu] for cpu in range(run.machine.nr_cpus)])
    for sibling in others[away["cpu"]].T if len(away) else ():
        runs = np.full(len(away), _IDLE)
        for cpu in np.unique(sibling):
            there, log = sibling == cpu, switches[switches["cpu"] == cpu]
            # the sibling switches at the same instant
            at = np.searchsorted(log["time"], away["time"][there], side="right") - 1
            runs[there] = np.where(at >= 0, log["b"][np.maximum(at, 0)], _IDLE)
        yield runs


def longest(gaps: pd.DataFrame) -> np.ndarray:
    """Return which gaps are the longest of their window (one each)."""
    order = gaps.sort_values(["window", "gap_ns"], ascending=[True, False], kind="stable")
    return np.isin(np.arange(len(gaps)), order.index[~order.duplicated("window")])
