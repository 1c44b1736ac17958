"""How much a limited group runs, and what its counters say: cases of fact sheet F with hogs, bursts and one pool."""

import pytest
from quota_runs import MS, RELEASES, hogs, limited, samples_ms, stat, times_ms, usage_ms, windows

import schedlab as sl


@pytest.mark.parametrize("hz", [250, 1000])
@pytest.mark.parametrize("release", RELEASES)
def test_f1__ten_percent_of_five_seconds(release, hz):
    """F1: a hog under 10 ms of 100 ms uses 50 quotas in 5 s (the real kernel 501 ms), throttled 50 to 51 times."""
    run = hogs(1, limited(10), release, hz, periods=50)
    assert stat(run)["usage_usec"] == 500_000
    assert stat(run)["nr_throttled"] == 50


@pytest.mark.parametrize("hz", [250, 1000])
def test_f1__started_between_boundaries(hz):
    """F1: started 30 ms into a period the hog gets a quota in what is left of it: 500 to 514 ms in 5 s."""
    run = hogs(1, limited(10), "6.12", hz, periods=50, start_ms=30)
    assert 500_000 <= stat(run)["usage_usec"] <= 514_000
    assert 50 <= stat(run)["nr_throttled"] <= 51


@pytest.mark.parametrize("hz", [250, 1000])
@pytest.mark.parametrize("release", RELEASES)
def test_f10__quota_of_one_cpu_with_timers_on_time(release, hz):
    """F10: quota = period, one pinned hog, 3,076 periods: timers without drift throttle in none (at most 2 %)."""
    run = hogs(1, limited(100), release, hz, periods=3076)
    assert (stat(run)["nr_periods"], stat(run)["nr_throttled"], stat(run)["throttled_usec"]) == (3076, 0, 0)


@pytest.mark.parametrize("hz", [250, 1000])
@pytest.mark.parametrize("release", RELEASES)
def test_f12__short_bursts_are_never_throttled(release, hz):
    """F12: burn 5 ms, sleep 100 ms, 100 times under 20 ms of 100: no throttling, each burn takes 5 ms of wall time."""
    burn = sl.repeat(100, sl.mark(), sl.spin("5ms"), sl.sample(), sl.sleep("100ms"))
    work = sl.Workload((limited(20),), (sl.Task("burn", burn, group="/g"),))
    run = sl.simulate(sl.Machine.uniform(1), sl.Kernel.version(release, hz=hz), work, "11s", log=True)
    assert samples_ms(run) == [5.0] * 100
    assert (stat(run)["nr_throttled"], stat(run)["throttled_usec"]) == (0, 0)


# ---- n hogs on n CPUs ------------------------------------------------------------------------------------------------

F20 = [(4, 100), (24, 200), (8, 50)]


@pytest.mark.parametrize(("nr", "quota_ms"), F20)
@pytest.mark.parametrize("release", RELEASES)
def test_f20__hz_1000(release, nr, quota_ms):
    """F20: the group uses its quota in each period, n CPUs then wait for n * P - Q in all; each period counts."""
    run = hogs(nr, limited(quota_ms), release, 1000, periods=20)
    assert usage_ms(run, 20) == [quota_ms] * 20
    seen = stat(run)
    assert seen["throttled_usec"] == 20 * (nr * 100 - quota_ms) * 1000
    assert (seen["nr_throttled"], seen["nr_periods"]) == (20, 20)
    # 5 ms slices: within a period one CPU gets up to a slice more than another
    each = [sum(usage_ms(run, 20, cpu=c)) / 20 for c in range(nr)]
    assert sum(each) == pytest.approx(quota_ms) and max(each) - min(each) <= 5 + 1


@pytest.mark.parametrize(
    ("nr", "quota_ms", "first", "excess"),
    [
        (4, 100, [112, 100, 100], 0.0012),
        (24, 200, [272, 208, 200], 0.0040),
        (8, 50, [72, 56, 48, 52, 48, 52], 0.0056),
    ],
)
@pytest.mark.parametrize("release", RELEASES)
def test_f20__hz_250(release, nr, quota_ms, first, excess):
    """F20: ticks of 4 ms overrun the first periods; over 100 periods the mean is 0.12 to 0.56 % above the quota."""
    run = hogs(nr, limited(quota_ms), release, 250, periods=100)
    used = usage_ms(run, 100)
    assert used[: len(first)] == first
    assert sum(used) / 100 / quota_ms - 1 == pytest.approx(excess)
    assert stat(run)["nr_throttled"] == stat(run)["nr_periods"] == 100


@pytest.mark.parametrize(("hz", "used"), [(250, [160, 288, 100, 100]), (1000, [100, 147, 108, 101])])
@pytest.mark.parametrize("release", RELEASES)
def test_f22__twenty_slices_for_sixty_four_hogs(release, hz, used):
    """F22: 64 hogs, 100 ms: 100 / 5 = 20 CPUs get a slice when they enqueue, the other 44 are throttled at once.

    Whatever is used beyond k quotas is debt, at most a tick for each CPU.
    """
    run = hogs(64, limited(100), release, hz, periods=4)
    assert usage_ms(run, 4) == used
    assert times_ms(run, "throttle").count(0.0) == 44
    for k in range(1, 5):
        assert sum(used[:k]) - k * 100 <= 64 * 1000 / hz


# ---- burst -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
def test_f21__burst_of_the_documentation(release):
    """F21: Q 20, P 50, burst 10, demands 10, 28, 30, 20 ms: pools 20, 30, 22, 20 but for the 1 ms that a CPU keeps.

    50 ms: 20 - 10 + 20 = 30, less the stash of 1. 100: 29 - 28 + 20 = 21 (the stash is still there), so burst 8.
    Period 3 runs 22 (21 and the stash), throttled at 122. 150: 0 + 20, burst 21 - 20 = 1. The 8 ms that period 3 could
    not serve are done in period 4, which is then throttled too: this task carries its work over.
    """
    steps = [step for demand in (10, 28, 30, 20) for step in (sl.timer("50ms"), sl.run(demand * MS))]
    work = sl.Workload((limited(20, period_ms=50, burst_ms=10),), (sl.Task("job", steps, group="/g"),))
    run = sl.simulate(sl.Machine.uniform(1), sl.Kernel.version(release, hz=1000), work, "220ms", log=True)
    events = run.events()
    assert (events.loc[events["kind"] == "period", "b"] / MS).tolist() == [29, 21, 20, 20]
    assert times_ms(run, "throttle") == [122, 170]
    assert (stat(run)["nr_bursts"], stat(run)["burst_usec"], stat(run)["nr_throttled"]) == (2, 9_000, 2)
    assert sum(end - start for *_, start, end in windows(run)) == 88 * MS
