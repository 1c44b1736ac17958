"""What published runs of stress-ng and schbench measured under a quota (fact sheet F7, F18)."""

import dataclasses

import pytest
from quota_runs import MS, stat

import schedlab as sl
from schedlab.workloads import schbench, stress_ng

# ---- F7: burst -------------------------------------------------------------------------------------------------------


def requests(release, burst_us, start_ms):
    """schbench -m 1 -t 30 -r 10 -c 10000 -R 500 under 600 ms of 100, on 64 CPUs, some time after the limit was written.

    50 us of timer slack let the batches of 20 (200 ms of CPU time every 40 ms) wander through the periods.
    """
    group = sl.Group("/g", quota_us=600_000, burst_us=burst_us, phase_us=0)
    job = schbench.schbench(message_threads=1, threads=30, cputime_us=10_000, rps=500, group=group, wake_cost_ns=1000)
    job = job.replace(tasks=[dataclasses.replace(task, start_ns=start_ms * MS) for task in job.tasks])
    kernel = sl.Kernel.version(release, hz=1000, wake_late_us=50, costs=sl.Costs(context_switch_ns=1500))
    run = sl.simulate(sl.Machine.uniform(64), kernel, job, (start_ms + 10_000) * MS)
    label = job.tasks[1].label
    return {p: run.percentile_ns(label, p) / 1000 for p in (50, 95, 99, 99.9)}, stat(run)


@pytest.mark.parametrize("start_ms", [250, 265, 281])
@pytest.mark.parametrize("release", ["6.1", "6.12"])
def test_f7__burst_removes_the_tail(release, start_ms):
    """F7: 5 CPUs of 6 on average. Without burst p99 = 933 and p99.9 = 3068 us; with 400 ms of it 12 and 19.

    The ratio of the 99.9th percentiles is above 10, and the median is untouched.
    """
    without, seen_without = requests(release, 0, start_ms)
    with_burst, seen_with = requests(release, 400_000, start_ms)
    assert without[99.9] / with_burst[99.9] > 10
    assert without[99.9] > 1000 and with_burst[99.9] < 20
    assert without[50] == with_burst[50] < 10
    assert seen_without["throttled_usec"] > 0 and seen_without["nr_bursts"] == 0
    assert seen_with["throttled_usec"] == 0 and seen_with["nr_bursts"] > 0
    assert seen_with["usage_usec"] == pytest.approx(50_000_000, rel=0.01)


# ---- F18: the job of the timer patch ---------------------------------------------------------------------------------

MACHINE = sl.Machine.load("power-8core-smt8")
KERNEL = sl.Kernel.version("6.1")
QUOTA_US = 1_600_000  # a quarter of 64 CPUs


def seconds(n_groups, *, quota_us=QUOTA_US, kernel=KERNEL, seed=0, phase_ms=None):
    """How long stress-ng --cpu=32 --cpu-ops=50000 takes in each of `n_groups` groups together."""
    phases = None if phase_ms is None else (0, phase_ms * 1000)
    job = stress_ng.in_groups(n_groups, quota_us, phases_us=phases)
    return sl.simulate(MACHINE, kernel, job, "100s", seed=seed, stop="exit").duration_ns / 1e9


def test_f18__one_group():
    """F18, C4: 50 ms of each 100 with 4 threads a core: 27.6 s."""
    assert 27.0 <= seconds(1) <= 28.2


def test_f18__two_groups_at_the_same_time():
    """F18, C4: 8 threads a core are 0.687 times as fast each: 27.6 / 0.687 = 40.15 s."""
    assert 39.5 <= seconds(2) <= 40.8


@pytest.mark.parametrize("phase_ms", [10, 20, 30, 40, 50])
def test_f18__by_phase_difference(phase_ms):
    """F18, C4: windows of 50 ms overlap by f = |1 - 2 phase / 100|: T = 27.6 / (1 - 0.3126 f), symmetric about 50 ms.

    36.8, 34.0, 31.5, 29.4, 27.6 s at 10 to 50 ms by the formula, whose workers have equal shares; 3 % for unequal ones.
    """
    expected = 27.6 / (1 - 0.3126 * abs(1 - 2 * phase_ms / 100))
    assert seconds(2, phase_ms=phase_ms) == pytest.approx(expected, rel=0.03)
    assert seconds(2, phase_ms=100 - phase_ms) == pytest.approx(expected, rel=0.03)


def test_f18__no_difference_at_full_utilisation():
    """C4: with twice the quota the windows fill the period: f = 1 whatever the phase, no difference beyond 1 %."""
    aligned = seconds(2, quota_us=2 * QUOTA_US)
    for phase_ms in (13, 50):
        assert seconds(2, quota_us=2 * QUOTA_US, phase_ms=phase_ms) == pytest.approx(aligned, rel=0.01)


def random_phases(nr):
    kernel = KERNEL.with_patch("interleave-timers")
    job = stress_ng.in_groups(2, QUOTA_US)
    options = dict(stop="exit", progress=False, reduce=lambda run: run.duration_ns / 1e9)
    return sl.replicate(MACHINE, kernel, job, "100s", nr, **options)


def test_f18__random_phases_are_between_the_extremes():
    """C4: never faster than one group alone, never slower than aligned by more than a period."""
    times = random_phases(12)
    assert min(times) >= 27.4
    assert max(times) <= 40.8
    assert max(times) <= seconds(2) + 0.1


@pytest.mark.slow
def test_f18__mean_over_200_random_phases():
    """F18, C4: f is uniform, so the mean is 27.6 * -ln(1 - a) / a = 33.1 s; the four published runs give 33.05 s."""
    times = random_phases(200)
    assert 32.5 <= sum(times) / len(times) <= 33.7
    assert min(times) >= 27.4 and max(times) <= 40.8
