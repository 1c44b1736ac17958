"""Readers and writers: what other programs left becomes a noun or a table, and a Run leaves as what they read.

Modules: ``lscpu``, ``snapshot`` (a host), ``ftrace`` and ``perf`` (traces), ``rtapp`` (JSON of rt-app), ``cpustat``,
``kubernetes``, ``recordings`` (of real kernels), ``chrome`` and ``perfetto`` (written only).
"""

import importlib

_MODULES = (
    "chrome", "cpustat", "ftrace", "kubernetes", "lscpu", "perf", "perfetto", "recordings", "rtapp",
    "snapshot", "trace", "trace_workload",
)  # fmt: skip
_NAMES = {
    "Trace": "trace",
    "Snapshot": "snapshot",
    "trace_of": "from_run",
    "workload_from_trace": "trace_workload",
    "account": "accounting",
    "read_trace": "any_trace",
}

__all__ = [*_MODULES, *_NAMES]


def __getattr__(name):
    # pandas is imported by the trace readers, so they come with their first use
    if name in _NAMES:
        return getattr(importlib.import_module(f".{_NAMES[name]}", __name__), name)
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
