"""One hog under a quota, period by period: the worked micro-traces of fact sheet B11, exact to the nanosecond.

The only calls of update_curr are ticks, so a hog overruns its quota by up to a tick and repays the debt at the refill.
The first row by hand (HZ 250, Q = 10 ms): 5 ms are granted at 0; tick 4: 1 left; tick 8: -3, grant 5, 2 left; tick 12:
-2 and the pool is empty, throttled after 12. The refill pays the debt of 2 and 1 ns; tick 4: -4, grant 8, 4 left;
tick 8: 0 and the pool is empty, throttled after 8. The 1 ns cancels out.
"""

import pytest
from quota_runs import RELEASES, hogs, limited, stat, usage_ms

# HZ, quota in ms, first tick after a boundary in ms, usage of successive periods in ms (repeating)
B11 = [
    (250, 10, 0, [12, 8]),
    (250, 10, 1, [13, 9, 9, 9]),
    (250, 20, 0, [20]),
    (250, 20, 1, [21, 21, 21, 17]),
    (250, 25, 0, [28, 24, 24, 24]),
    (250, 50, 0, [52, 48]),
    (100, 25, 0, [30, 20]),
    (100, 10, 1, [11] * 9 + [1]),
    (1000, 7, 0, [7]),
    (1000, 7, 1, [7]),
    (1000, 60, 0, [60]),
    (1000, 60, 1, [60]),
]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("hz", "quota_ms", "offset_ms", "pattern"), B11)
def test_worked_trace__usage_per_period(release, hz, quota_ms, offset_ms, pattern):
    """B11: ticks at multiples of the tick, boundaries `offset` before them; the hog starts at the first boundary.

    Every period is throttled, and 40 periods use 40 quotas to the nanosecond.
    """
    phase_ms = (100 - offset_ms) % 100
    run = hogs(1, limited(quota_ms, phase_ms=phase_ms), release, hz, periods=40, start_ms=phase_ms)
    assert usage_ms(run, 40, begin_ms=phase_ms) == (pattern * 40)[:40]
    # the last boundary lets the hog go, 1 ns before the run ends
    assert run.tasks().loc[0, "exec_ns"] == 40 * quota_ms * 1_000_000 + 1
    assert stat(run)["nr_throttled"] == 40
    # a boundary at the hog's start, before anything ran, is counted too
    assert stat(run)["nr_periods"] == 40 + (phase_ms > 0)


@pytest.mark.parametrize(("hz", "quota_ms", "offset_ms", "pattern"), [row for row in B11 if row[2]])
def test_worked_trace__same_by_the_tick_offset(hz, quota_ms, offset_ms, pattern):
    """B11 with the boundaries at multiples of 100 ms and the ticks moved: only the difference matters (G24 iv)."""
    run = hogs(1, limited(quota_ms), "6.12", hz, periods=40, tick_offset_us=offset_ms * 1000 % (1_000_000 // hz))
    assert usage_ms(run, 40) == (pattern * 40)[:40]
