import pytest

from schedlab.machine import Machine
from schedlab.steps import Repeat
from schedlab.workload import Group
from schedlab.workloads import stress_ng


def test_stress_ng__work_is_calibrated_on_one_group():
    # even shares of 26.9 s, half of which the quota leaves, at the speed of 4 busy threads a core
    speed = Machine.load("power-8core-smt8").thread_speed_ppm(0, 4) / 1e6
    job = stress_ng.stress_ng()
    assert len(job.tasks) == 32 and len({task.program for task in job.tasks}) == 1
    assert job.tasks[0].program[0].duration.low_ns / speed == pytest.approx(26.9e9 / 2, rel=1e-6)


def test_stress_ng__each_worker_does_the_ceiling():
    assert stress_ng.stress_ng(cpu=3, cpu_ops=10, ops_per_second=1).tasks[2].program[0].duration.low_ns == 4 * 10**9


@pytest.mark.parametrize("cpu_ops", [0, None])
def test_stress_ng__without_a_limit_for_ever(cpu_ops):
    (step,) = stress_ng.stress_ng(cpu=1, cpu_ops=cpu_ops).tasks[0].program
    assert isinstance(step, Repeat) and step.times is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(cpu=0), "^cpu=0: at least 1"),
        (dict(cpu_ops=-1), "^cpu_ops=-1"),
        (dict(ops_per_second=0), "^ops_per_second=0: above 0"),
        (dict(group="a"), "^path='a'"),
    ],
)
def test_stress_ng__refused(options, message):
    with pytest.raises(ValueError, match=message):
        stress_ng.stress_ng(**options)


def test_stress_ng__nested_group_brings_its_parents():
    job = stress_ng.stress_ng(cpu=1, group=Group("/a/b", quota_us=5_000))
    assert job.group_paths == ("/", "/a", "/a/b") and job.tasks[0].name == "a/b:stress-ng-cpu-0"


def test_in_groups__limits_and_phases():
    pair = stress_ng.in_groups(2, 1_600_000, phases_us=(0, None), burst_us=1_000, cpu=4)
    one, two = pair.groups
    assert (one.quota_us, one.period_us, one.burst_us, one.phase_us, two.phase_us) == (
        1_600_000,
        100_000,
        1_000,
        0,
        None,
    )
    assert [task.group for task in pair.tasks] == ["/cg1"] * 4 + ["/cg2"] * 4
    with pytest.raises(ValueError, match=r"phases_us=\(0,\): one a group: 2, not 1"):
        stress_ng.in_groups(2, 1_600_000, phases_us=(0,))
