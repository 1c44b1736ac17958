"""The examples in the docstrings of the nouns, the workloads, io, diff and sweep run and give what they say."""

import doctest
import importlib

import pytest

MODULES = (
    *("units", "machine", "kernel", "patches", "phases", "cgroup", "steps", "durations", "workload", "_topology"),
    *("workloads.stress_ng", "workloads.schbench", "workloads.hogs", "io.lscpu", "timeline", "diff"),
    *("provenance", "sweep", "sweep.points", "sweep.progress", "sweep.summary"),
    *(f"hotplug.{name}" for name in ("topology", "vmstat", "grace", "operations", "leastsq", "ramp", "predict")),
    *(f"hotplug.{name}" for name in ("fit", "shapes")),
    "studies.what_if.question",
)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings__examples(name):
    result = doctest.testmod(importlib.import_module(f"schedlab.{name}"))
    assert result.failed == 0 and result.attempted > 0


def test_import__nouns_need_numpy_alone():
    import subprocess
    import sys

    code = (
        "import sys, schedlab.workload, schedlab.kernel, schedlab.machine, schedlab.phases, schedlab.workloads;"
        "heavy = {'numba', 'pandas', 'matplotlib', 'papermill'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
