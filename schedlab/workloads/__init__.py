"""Workloads by name: functions that return a Workload, with the real tools' parameter names."""

from . import hackbench, hogs, schbench, stress_ng

__all__ = ["hackbench", "hogs", "schbench", "stress_ng"]
