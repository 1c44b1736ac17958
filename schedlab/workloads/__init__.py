"""Workloads by name: functions that return a Workload, with the real tools' parameter names."""

from . import hogs, schbench, stress_ng

__all__ = ["hogs", "schbench", "stress_ng"]
