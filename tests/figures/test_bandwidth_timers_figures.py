"""The drawings of the study: units on both axes, the finding in the title, published points drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from schedlab.figures import bandwidth_timers as draw

PUBLISHED = pd.DataFrame(
    [
        ("aligned", 1, 1, 27.5, 80.0),
        ("aligned", 2, 1, 40.0, 90.0),
        ("interleaved", 1, 1, 27.4, 81.0),
        ("interleaved", 2, 1, 32.0, 104.0),
    ],
    columns=["kernel", "cgroups", "run", "time_s", "power_w"],
)
PHASES = pd.DataFrame(
    [(1, 32.0, 27.0, 25.0, 30.0, 107.0, 104.0, 2.9)],
    columns=["run", "published_time_s", "phase_ms", "phase_low_ms", "phase_high_ms", "power_w", "published_power_w",
             "error_percent"],
)  # fmt: skip


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def _headline(fig):
    return fig.get_suptitle()


def _points(axis, y):
    """Markers drawn at the published heights."""
    return [line for line in axis.lines if line.get_marker() == "D" and set(np.atleast_1d(y)) <= set(line.get_ydata())]


def test_plot_phase_curve():
    x = np.array([0.0, 25, 50, 75, 100])
    curve = pd.DataFrame({"phase_ms": x, "time_s": [40.0, 34, 28, 34, 40], "power_w": [90.0, 105, 120, 105, 90]})
    curve = curve.assign(time_low_s=curve["time_s"] - 1, time_high_s=curve["time_s"] + 1, by_hand_s=curve["time_s"])
    fig = draw.plot_phase_curve(curve, PHASES, PUBLISHED)
    time, power = fig.axes
    assert _headline(fig) == "From timers in step to half a period apart, time falls by 30 % and power rises by 33 %"
    assert time.get_ylabel().endswith("(s)") and power.get_ylabel().endswith("(W)")
    assert time.get_xlabel().endswith("(ms)") and power.get_xlabel().endswith("(ms)")
    assert _points(time, 32.0) and _points(power, 104.0) and _points(power, 90.0)


def test_plot_stress():
    runs = pd.DataFrame(
        [(1, "aligned", 27.0, 80.0, 2000.0), (2, "aligned", 40.0, 91.0, 1800.0), (2, "random", 34.0, 104.0, 1700.0)]
        * 3,
        columns=["groups", "phases", "time_s", "power_w", "energy_j_per_job"],
    )
    table = runs.groupby(["groups", "phases"], sort=False).mean().reset_index()
    table = table.assign(runs=3, time_saved_percent=[0, 0, 15.0], energy_saved_percent=[0, 0, 5.6])
    fig = draw.plot_stress(runs, table, PUBLISHED)
    assert (
        _headline(fig) == "Random phases save 15 % of the time (mean of 3 runs) at 14 % more power and 6 % less energy"
    )
    assert [axis.get_xlabel()[-3:] for axis in fig.axes] == ["(s)", "(W)", "(J)"]
    names = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert names == ["1 group, alone", "2 groups, aligned", "2 groups, random"]


def test_plot_idle_watts():
    table = pd.DataFrame(
        [(40.0, 3, 114.0, 106.0, 7.5, False, True), (46.0, 3, 109.0, 106.0, 2.8, True, False)],
        columns=["idle_w", "run", "power_w", "published_power_w", "error_percent", "agrees", "in_use"],
    )
    fig = draw.plot_idle_watts(table, 5.0)
    assert _headline(fig) == "All four interleaved runs agree at 46 to 46 W of idle power"
    assert fig.axes[0].get_xlabel().endswith("(W)") and "(%" in fig.axes[0].get_ylabel()


def test_plot_schbench__one_group_that_was_not_published():
    rows = [
        (threads, phase, p, 100.0, 90.0, 110.0, theirs, 100.0 / theirs)
        for threads, theirs in ((8, np.nan), (16, 150.0))
        for phase in ("aligned", "random")
        for p in (50, 99, 99.9)
    ]
    columns = ["threads", "phases", "percentile", "latency_us", "latency_low_us", "latency_high_us", "published_us",
               "model_over_published"]  # fmt: skip
    fig = draw.plot_schbench(pd.DataFrame(rows, columns=columns), 2.0, 99)
    assert _headline(fig) == "Within a factor of 2 of the published percentiles: 4 of 4 with -t 16"
    assert fig.axes[0].get_ylabel() == "wake-up latency (µs)" and fig.axes[0].get_yscale() == "log"


def test_plot_payoff():
    rows = [
        (groups, used, phase, saved, saved - 1, saved + 1)
        for groups in (2, 8)
        for phase in ("random", "staggered")
        for used, saved in ((10, 25.0), (50, 12.0), (100, 0.0))
    ]
    columns = ["groups", "utilisation_percent", "phases", "time_saved_percent", "time_saved_low_percent",
               "time_saved_high_percent"]  # fmt: skip
    limits = pd.DataFrame([dict(groups=2, phases="random", saved_at_50_percent=12.0, pays_below_percent=96.0)])
    fig = draw.plot_payoff(pd.DataFrame(rows, columns=columns), limits)
    assert _headline(fig) == "Two groups with random phases save 12 % at half load, less than 1 % from 96 % load on"
    assert all(axis.get_xlabel().endswith("(%)") for axis in fig.axes)


def test_plot_mechanism():
    windows = pd.DataFrame(
        [("aligned", 0.0, 0, "cg1", 0.0, 50.0), ("aligned", 0.0, 1, "cg2", 0.0, 50.0),
         ("interleaved", 30.0, 0, "cg1", 0.0, 50.0), ("interleaved", 30.0, 1, "cg2", 30.0, 80.0)],
        columns=["timers", "phase_ms", "cpu", "group", "start_ms", "end_ms"],
    )  # fmt: skip
    threads = pd.DataFrame(
        [("aligned", 0.0, 1.0, 1.0), ("aligned", 50.0, 0.0, 0.0), ("interleaved", 0.0, 1.0, 0.0),
         ("interleaved", 30.0, 1.0, 1.0), ("interleaved", 50.0, 0.0, 1.0), ("interleaved", 80.0, 0.0, 0.0)],
        columns=["timers", "time_ms", "cg1", "cg2"],
    )  # fmt: skip
    shares = pd.DataFrame(
        [("aligned", 50.0, 2.0), ("interleaved", 20.0, 1.25)],
        columns=["timers", "both_percent", "threads_per_core_when_busy"],
    )
    fig = draw.plot_mechanism(windows, threads, shares)
    assert _headline(fig) == "A core in use is shared by 1.2 threads in place of 2.0"
    titles = [axis.get_title(loc="left") for axis in fig.axes[:2]]
    assert titles == ["aligned: both run 50 % of the time", "interleaved by 30 ms: both run 20 % of the time"]
    assert fig.axes[2].get_xlabel() == "time (ms)"
