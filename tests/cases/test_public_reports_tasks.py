"""Public reports about fairness, yields, timers and unequal CPUs, each as a small scenario with its right outcome."""

import pytest
from quota_runs import FOREVER, MS, RELEASES, samples_ms, windows

import schedlab as sl
from schedlab.simulate import Simulation


def kernel(release):
    return sl.Kernel.version(release, hz=1000)


@pytest.mark.parametrize("release", ["6.6", "6.12"])
def test_br17__half_time_sleeper_against_a_hog(release):
    """BR17: A runs 10 and sleeps 10 ms, B always runs. A keeps its lag over the sleep.

    Beside B 10 ms of work take 20, then 10 of sleep: A has 10 of 30, 33 % and 67 % (+- 2); 50 and 50 was the bug.
    """
    tasks = [sl.Task("A", sl.repeat(None, sl.run("10ms"), sl.sleep("10ms"))), sl.Task("B", FOREVER)]
    run = sl.simulate(sl.Machine.uniform(1), kernel(release), sl.Workload((), tasks), "60s")
    share_a, share_b = run.tasks()["exec_ns"] / 600_000_000
    assert share_a == pytest.approx(33, abs=2) and share_b == pytest.approx(67, abs=2)


def yielders():
    """Two hogs that each yield every 10 us."""
    return sl.Workload((), [sl.Task(f"y{k}", sl.repeat(None, sl.run("10us"), sl.yield_())) for k in range(2)])


def test_br18__reference_point_stays_near_the_average():
    """BR18: after each event v0 is within a slice (0.70 ms on one CPU) of the mean vruntime, for 20,000 events."""
    sim = Simulation(sl.Machine.uniform(1), kernel("6.12"), yielders())
    slice_ns = int(sim.state["sys_base_slice"][0])
    assert slice_ns == 700_000
    for _ in range(20_000):
        sim.advance(sl.s(100), 1)
        average = int(sim.state["se_vruntime"][:2].sum()) // 2
        assert abs(int(sim.state["rq_min_vruntime"][0]) - average) <= slice_ns


@pytest.mark.parametrize("release", RELEASES)
def test_br18__ten_million_yields(release):
    """BR18: 100 s of a yield every 10 us: half and half (+- 1 %), and no number wrapped round."""
    sim = Simulation(sl.Machine.uniform(1), kernel(release), yielders())
    while not sim.advance(sl.s(100)):
        assert all(0 < int(v) < 1 << 62 for v in sim.state["se_vruntime"][:2])
        assert abs(int(sim.state["rq_sum_vw"][0])) < 1 << 62
    run = sim.result()
    assert run.nr_events > 1e7
    assert (run.tasks()["exec_ns"] / sl.s(100)).tolist() == pytest.approx([0.5, 0.5], abs=0.005)


@pytest.mark.parametrize("release", RELEASES)
def test_br31__periodic_task_has_its_exact_duty_cycle(release):
    """BR31: 125 activations of 8 ms, 16 ms apart, on CPU 1: 1.000 s of 2.000 s."""
    task = sl.Task("pelt1", sl.repeat(125, sl.timer("16ms"), sl.run("8ms")), cpus=1)
    run = sl.simulate(sl.Machine.uniform(2), kernel(release), sl.Workload((), task), "2s", log=True)
    assert windows(run) == [(1, 0, k * 16 * MS, (k * 16 + 8) * MS) for k in range(125)]
    assert run.tasks().loc[0, "exec_ns"] == run.duration_ns // 2


@pytest.mark.parametrize("release", RELEASES)
def test_br37__tasks_that_swap_a_fast_and_a_slow_cpu(release):
    """BR37: speeds 1.0 and 0.2, work 6 in 10 ms, swapped at half time: 5 * 1 + 5 * 0.2 = 6, both end at 10 exactly."""
    machine = sl.Machine.uniform(2).replace(speed=(1.0, 0.2))
    job = sl.repeat(20, sl.timer("10ms"), sl.mark(), sl.run("6ms"), sl.sample())
    tasks = [sl.Task("a", job, cpus=0), sl.Task("b", job, cpus=1)]
    swaps = []
    for k in range(1, 40):
        swaps += [sl.SetAffinity(k * 5 * MS, task, cpus=(k + t) % 2) for t, task in enumerate("ab")]
    run = sl.simulate(machine, kernel(release), sl.Workload((), tasks, swaps), "201ms", log=True)
    assert samples_ms(run, 0) == samples_ms(run, 1) == [10.0] * 20
    assert run.tasks()["end_ns"].tolist() == [200 * MS] * 2
