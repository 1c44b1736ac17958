"""Public reports about throttling, each a small scenario with its right outcome (HZ 1000 and aligned ticks mostly)."""

from collections import Counter

import pytest
from quota_runs import FOREVER, MS, RELEASES, hogs, limited, samples_ms, stat, times_ms, usage_ms, windows

import schedlab as sl


def stalls_ms(run, cpu):
    """How long each throttling of a CPU's queue lasted (those that ended)."""
    begun, ended = times_ms(run, "throttle", cpu), times_ms(run, "unthrottle", cpu)
    return [b - a for a, b in zip(begun, ended)]


# ---- BR01: kubernetes #67577 -----------------------------------------------------------------------------------------


def burst_each_second(kernel, nr_helpers, helper_work):
    """20 bursts of 5 ms, each 1005 ms, on CPUs 0 to 6 in turn, 20 ms of 100; helpers wake 3 ms before each burst."""
    bursts = []
    for k in range(20):
        bursts += [sl.timer("1005ms"), sl.affinity(k % 7), sl.mark(), sl.run("5ms"), sl.sample()]
    helper = sl.repeat(None, sl.timer("1005ms"), sl.run(helper_work))
    tasks = [sl.Task("worker", bursts, group="/g", start_ns="3ms")]
    tasks += [sl.Task(f"helper{c}", helper, group="/g", cpus=7 + c, start_ns=c * MS // 10) for c in range(nr_helpers)]
    machine = sl.Machine.uniform(7 + nr_helpers)
    return sl.simulate(machine, kernel, sl.Workload((limited(20),), tasks), "20.5s", log=True)


@pytest.mark.parametrize("hz", [250, 1000])
@pytest.mark.parametrize("release", RELEASES)
def test_br01__burst_each_second_is_not_throttled(release, hz):
    """BR01: 6.5 ms a second never meet a limit of 20 ms of 100: each burst takes 5 ms of wall time."""
    run = burst_each_second(sl.Kernel.version(release, hz=hz), 1, "1.5ms")
    assert samples_ms(run) == [5.0] * 20
    assert (stat(run)["nr_throttled"], stat(run)["throttled_usec"]) == (0, 0)


def test_br01__slices_that_expire_lengthen_bursts():
    """BR01: the same 1.5 ms of helpers on 15 CPUs, 0.1 ms each, just before the burst.

    Each helper without local runtime takes 5 ms and gives 3.9 back: 15 * 1.1 = 16.5 of the 20 are gone, the burst stops
    after 3.5 ms until the refill. That is so once; later helpers live on the 1 ms that each CPU kept. Where it
    expires with the period (4.18 to 5.3) it is so at every burst, up to the whole period: about 100 ms.
    (With one helper at most four slices are taken in a period, 20 ms, and expiry does no harm.)
    """
    kernel = sl.Kernel.version("6.1", hz=1000)
    kept = samples_ms(burst_each_second(kernel, 15, "0.1ms"))[1:]
    expired = samples_ms(burst_each_second(kernel.with_patch("expire-local-slices"), 15, "0.1ms"))[1:]
    assert kept == [5.0] * 19
    assert sum(burst > 20 for burst in expired) >= 10
    assert 90 < max(expired) < 200


# ---- BR03: koordinator #489 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset_us", [5, 100])
def test_br03__timer_that_is_late_now_and_then(offset_us):
    """BR03: quota = period; the timer is 0.5 ms late in 1 % of 3,076 periods, ticks are 5 to 100 us after the boundary.

    A late refill is noticed at that tick and lasts 500 us - offset. Throttled periods are binomial: 30.8 +- 5.5 (the
    report: 34, 12.07 ms in all). The hog never loses a slice: usage is 99.9 % at least.
    """
    late = dict(tick_offset_us=offset_us, timer_late_probability=0.01, timer_late_us=500)
    counts = []
    for seed in range(6):
        work = sl.Workload((limited(100),), (sl.Task("hog", FOREVER, group="/g"),))
        kernel = sl.Kernel.version("6.12", hz=250, **late)
        run = sl.simulate(sl.Machine.uniform(1), kernel, work, 3076 * 100 * MS, seed=seed)
        seen = stat(run)
        counts.append(seen["nr_throttled"])
        assert seen["throttled_usec"] == seen["nr_throttled"] * (500 - offset_us)
        assert seen["usage_usec"] >= 0.999 * 307_600_000
    assert all(30.8 - 3 * 5.5 < count < 30.8 + 3 * 5.5 for count in counts)
    assert len(set(counts)) > 1


# ---- BR04: kubernetes #97445 -----------------------------------------------------------------------------------------


def one_busy_of_twenty(sleeper):
    tasks = [sl.Task("hog", FOREVER, group="/g", cpus=0)]
    for k in range(19):
        tasks.append(sl.Task(f"thread{k}", sleeper, group="/g", cpus=1 + k % 7, start_ns=37 * k % 100 * MS))
    kernel = sl.Kernel.version("6.12", hz=1000)
    return sl.simulate(sl.Machine.uniform(8), kernel, sl.Workload((limited(100),), tasks), "2s", log=True)


def test_br04__idle_threads_take_nothing():
    """BR04: one of 20 threads is busy under "1000m": it gets the whole CPU, not a slice of 5 ms.

    In the first period the 7 CPUs on which the others began keep 1 ms each.
    """
    used = usage_ms(one_busy_of_twenty(sl.sleep("1000s")), 20, cpu=0)
    assert used[0] == 93 and used[1:] == [100] * 19


def test_br04__threads_that_wake_take_their_use_and_a_stash():
    """BR04: 19 threads use 0.1 ms a period on 7 CPUs: the busy one loses at most 1.9 ms and 7 stashes of 1 ms."""
    used = usage_ms(one_busy_of_twenty(sl.repeat(None, sl.run("0.1ms"), sl.sleep("99.9ms"))), 20, cpu=0)
    assert min(used) >= 100 - 1.9 - 7
    assert sum(used) >= 20 * (100 - 1.9) - 7


# ---- BR05, BR07: how slices divide a quota ---------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
def test_br05__half_a_cpu_for_two_threads(release):
    """BR05: slices at 0, 5, .. 20 on both CPUs: 25 each, throttled at 25. Later both begin with 1 ns: 26 and 24.

    Each queue waits for 75 ms of wall time (74 and 76), 150 ms of throttled_usec a period.
    """
    run = hogs(2, limited(50), release, 1000, periods=10)
    each = [usage_ms(run, 10, cpu=c) for c in (0, 1)]
    assert list(zip(*each)) == [(25, 25)] + [(26, 24)] * 9
    assert times_ms(run, "throttle")[:4] == [25, 25, 124, 126]
    seen = stat(run)
    assert (seen["nr_throttled"], seen["nr_periods"], seen["throttled_usec"]) == (10, 10, 10 * 150_000)


def test_br05__half_a_cpu_for_one_thread():
    """BR05: 50 ms on, 50 ms off."""
    run = hogs(1, limited(50), "6.12", 1000, periods=10)
    assert usage_ms(run, 10) == [50] * 10 and stalls_ms(run, 0) == [50] * 10


@pytest.mark.parametrize("release", RELEASES)
def test_br07__four_cpus_of_quota_on_thirty_two(release):
    """BR07: 160 ms are granted at 0 and at 5, the last 80 at 10: 16 CPUs stop at 10 ms, 16 at 15; never all at 12.5.

    After a refill all begin with 1 ns, take 6, then 5: 22 CPUs run 11 ms, one 14, nine 16.
    """
    run = hogs(32, limited(400), release, 1000, periods=3)
    each = [usage_ms(run, 3, cpu=c) for c in range(32)]
    assert Counter(used[0] for used in each) == {10: 16, 15: 16}
    for k in (1, 2):
        assert Counter(used[k] for used in each) == {11: 22, 14: 1, 16: 9}
    assert usage_ms(run, 3) == [400] * 3


# ---- BR08, BR14: how long a stall lasts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hz", "quota_ms", "period_ms", "longest"),
    [(1000, 400, 1000, 903), (1000, 40, 100, 93), (250, 400, 1000, 900), (250, 40, 100, 96)],
)
def test_br08__long_periods_stall_long(hz, quota_ms, period_ms, longest):
    """BR08: 4 hogs with 40 % of a CPU: they stop for nine tenths of the period, up to a slice more or less."""
    run = hogs(4, limited(quota_ms, period_ms=period_ms), "6.12", hz, periods=20)
    assert max(max(stalls_ms(run, cpu)) for cpu in range(4)) == longest
    share = stat(run)["usage_usec"] / (20 * period_ms * 1000)
    assert share == pytest.approx(0.4, abs=0 if hz == 1000 else 0.01)


def test_br14__eight_percent_with_timers_on_time():
    """BR14: 8 ms on, 92 ms off."""
    assert stalls_ms(hogs(1, limited(8), "6.12", 1000, periods=40), 0) == [92] * 40


@pytest.mark.parametrize("offset_us", [500, 1000, 2000, 3000])
def test_br14__eight_percent_with_ticks_of_4_ms(offset_us):
    """BR14: measured waits of 87 to 96 ms, mean 91.9; a debt is repaid, so the mean is 92 whatever the tick."""
    waits = stalls_ms(hogs(1, limited(8), "6.12", 250, periods=40, tick_offset_us=offset_us), 0)
    assert all(87 <= wait <= 96 for wait in waits)
    assert sum(waits) / len(waits) == pytest.approx(92, abs=0.2)


# ---- BR09: kubernetes #104516 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hz", "burst_used_ms"), [(1000, 30), (250, 28)])
@pytest.mark.parametrize("release", RELEASES)
def test_br09__burst_for_demand_that_alternates(release, hz, burst_used_ms):
    """BR09: demand 50, 130, 50, .. ms on 4 CPUs under 100 of 100, 41 periods, so 20 heavy ones.

    Without burst each heavy one is throttled and its rest done in the next; with it none is. Burst used is 130 - 100;
    at HZ 250 some of the use is charged a tick late. Both use the same in the end.
    """
    step = sl.repeat(None, sl.timer("100ms"), sl.run("12.5ms"), sl.timer("100ms"), sl.run("32.5ms"))
    tasks = [sl.Task(f"thread{c}", step, group="/g", cpus=c) for c in range(4)]
    kernel = sl.Kernel.version(release, hz=hz)
    without, with_burst = (
        stat(sl.simulate(sl.Machine.uniform(4), kernel, sl.Workload((limited(100, burst_ms=b),), tasks), 4100 * MS))
        for b in (0, 100)
    )
    assert (without["nr_throttled"], without["nr_bursts"], without["burst_usec"]) == (20, 0, 0)
    assert (with_burst["nr_throttled"], with_burst["throttled_usec"], with_burst["nr_bursts"]) == (0, 0, 20)
    assert with_burst["burst_usec"] / 20 / 1000 == pytest.approx(burst_used_ms, abs=0 if hz == 1000 else 0.2)
    assert without["usage_usec"] == with_burst["usage_usec"] == (21 * 50 + 20 * 130) * 1000


def test_br07__windows_cover_the_usage():
    """What the windows add up to is what cpu.stat says."""
    run = hogs(32, limited(400), "6.12", 1000, periods=3)
    assert sum(end - start for *_, start, end in windows(run)) // 1000 == stat(run)["usage_usec"]
