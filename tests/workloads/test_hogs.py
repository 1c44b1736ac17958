import pytest

from schedlab.steps import Run, Timer
from schedlab.workloads.hogs import hogs, periodic


def test_hogs__pinned_and_finite():
    job = hogs(3, "/a", pinned=True, work="2s")
    assert [task.cpus for task in job.tasks] == [(0,), (1,), (2,)] and job.labels == ("a:hog",)
    assert job.tasks[0].program[0].duration.low_ns == 2 * 10**9
    assert hogs(1).tasks[0].cpus is None


def test_periodic__timer_then_work():
    (loop,) = periodic("10ms", "2ms", offset="1ms", times=5).tasks[0].program
    assert loop.times == 5 and [type(step) for step in loop.steps] == [Timer, Run]
    assert (loop.steps[0].period_ns, loop.steps[0].offset_ns) == (10_000_000, 1_000_000)


def test_hogs__refused():
    with pytest.raises(ValueError, match="^n=0: at least 1"):
        hogs(0)
