"""Channels in the engine and in the reference: the same log, the same counters."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from compare import differences

import schedlab as sl
from schedlab import Channel, read, repeat, run, sleep, write
from schedlab.workloads.hackbench import hackbench

MS = 1_000_000


def kernels():
    """6.1 and 6.12, the latter also with the rule of 6.18 for pipes (the engine has no later row's throttling here)."""
    costs = sl.Costs(context_switch_ns=1_500, ipi_ns=2_000, tick_ns=700)
    for release in ("6.1", "6.12"):
        for free in (False, True):
            for name, chosen in (("free", sl.Costs()), ("costly", costs)):
                kernel = sl.Kernel.version(release, pipe_wake_on_free=free, costs=chosen)
                yield pytest.param(kernel, id=f"{release}-{'on_free' if free else 'every_read'}-{name}")


def few_cpus(kind, n, datasize):
    """Three writers and two readers, at different paces, in a limited group and beside it."""
    groups = (sl.Group("/a", quota_us=20_000, period_us=25_000), sl.Group("/a/b", quota_us=9_000, period_us=10_000))
    programs = {
        "w0": repeat(None, write("c", sl.exponential("20us"), n)),
        "w1": repeat(None, write("c", "30us"), run("11us")),
        "w2": (sleep("2ms"), repeat(900, write("c", "7us", n), write("d", "5us"))),
        "r0": repeat(None, read("c", "15us", n), sleep("40us")),
        "r1": repeat(None, read("c", sl.uniform("5us", "50us"))),
        "r2": repeat(None, sleep("5ms"), repeat(300, read("d", "3us"))),
    }
    tasks = tuple(sl.Task(t, p, group=("/a", "/a/b", "/")[k % 3]) for k, (t, p) in enumerate(programs.items()))
    return sl.Workload(groups, tasks, channels=(Channel("c", kind, datasize), Channel("d")))


@pytest.mark.parametrize("kernel", list(kernels()))
@pytest.mark.parametrize(
    "kind, n, datasize", [("pipe", 1, 100), ("pipe", 7, 2000), ("socket", 1, 100), ("pipe", 40, 9000)]
)
def test_same_log__few_tasks(kernel, kind, n, datasize):
    for machine in (sl.Machine.uniform(2), sl.Machine.uniform(4, 2)):
        found = differences(machine, kernel, few_cpus(kind, n, datasize), 60 * MS, seed=1)
        assert not found, found


@pytest.mark.parametrize("kernel", list(kernels()))
@pytest.mark.parametrize("pipe", [True, False])
@pytest.mark.parametrize("coarsen", [1, 7])
def test_same_log__hackbench(kernel, pipe, coarsen):
    limited = sl.Group("/h", quota_us=3_000, period_us=5_000)
    job = hackbench(groups=2, fds=3, loops=60, pipe=pipe, coarsen=coarsen, group=limited, datasize=1000)
    found = differences(sl.Machine.uniform(4, 2), kernel, job, 30 * MS)
    assert not found, found
