"""Workloads by name: functions that return a Workload, with the real tools' parameter names."""

from . import hackbench, hogs, hypervisor, schbench, stress_ng

__all__ = ["hackbench", "hogs", "hypervisor", "schbench", "stress_ng"]
