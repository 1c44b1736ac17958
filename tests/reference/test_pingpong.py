"""Two tasks that wake each other at one instant, on different CPUs: nobody is woken while still on a CPU."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from compare import differences

from schedlab import Kernel, Machine, Task, Workload, mark, repeat, run, sample, wait, wake


@pytest.mark.parametrize("release", ["6.1", "6.6", "6.12"])
@pytest.mark.parametrize("nr_cpus", [2, 3])
@pytest.mark.parametrize("pinned", [None, ((1,), (0,)), ((0,), (1,))])
def test_pingpong__same_log_and_an_end(release, nr_cpus, pinned):
    first, second = pinned or (None, None)
    a = Task("A", (run("1ms"), repeat(3, wake("b"), wait("a"), run("100us"))), cpus=first)
    b = Task("B", (run("500us"), repeat(3, wait("b"), wake("a"), mark(), sample())), cpus=second)
    for tasks in ((a, b), (b, a)):
        kernel = Kernel.version(release, hz=1000)
        assert not differences(Machine.uniform(nr_cpus), kernel, Workload(tasks=tasks), 5_000_000)
