"""The drawings of the study: units on the axes, the finding in the title, published numbers drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from schedlab import published
from schedlab.figures import throttling_unification as draw

SUMMARY = published.load("throttling_hackbench")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def _texts(fig):
    return [text.get_text() for legend in fig.legends for text in legend.get_texts()]


def test_plot_steps():
    steps = pd.DataFrame(
        [(m, k, 320.0, e, e, "hog0") for m in ("6.12", "6.18", "7.2") for k, e in enumerate(("tick", "switch"), 1)],
        columns=["model", "order", "time_ms", "event", "step", "task"],
    )
    schedules = pd.DataFrame(
        [(m, 1, n, n, n) for m, n in (("6.12", 1), ("6.18", 2), ("7.2", 1))],
        columns=["model", "hogs", "schedules", "schedules_low", "schedules_high"],
    )
    fig = draw.plot_steps(steps, schedules)
    assert fig.get_suptitle() == "Calls of __schedule until one hog has stopped: 1 on 6.12, 2 on 6.18, 1 on 7.2"
    assert len(fig.axes[0].patches) == 6


def _runs():
    values = {"tip": [1.0, 1.02], "tip + series": [1.01, 1.03], "6.18": [1.0, 1.02]}
    return pd.DataFrame(
        [(1, kernel, us) for kernel, both in values.items() for us in both], columns=["groups", "kernel", "wall_us"]
    )


@pytest.mark.parametrize("identical", [False, True])
def test_plot_hackbench(identical):
    sums = pd.DataFrame(
        [(1, "tip", 2, 1.01, np.nan, np.nan, np.nan), (1, "tip + series", 2, 1.02, 1.0, -2.0, 4.0),
         (1, "6.18", 2, 1.01, 0.0, -3.0, 3.0)],
        columns=["groups", "kernel", "boots", "mean_us", "difference_percent", "low_percent", "high_percent"],
    )  # fmt: skip
    fig = draw.plot_hackbench(_runs(), sums.assign(identical=identical), SUMMARY, 1)
    changed = "The series changes the mean by +1.0 % in the model (\N{MINUS SIGN}2.0 to +4.0 %); +3.4 % was posted"
    same = "In the model the series changes no boot of hackbench -g 1; +3.4 % was posted"
    assert fig.get_suptitle() == (same if identical else changed)
    assert fig.axes[0].get_xlabel().endswith("(% of the mean of tip)") and fig.axes[1].get_ylabel().endswith("(%)")
    means = [line.get_xdata()[0] for line in fig.axes[0].lines if line.get_marker() == "D"]
    assert means == pytest.approx([100, 100 * 215.36 / 208.29])
    assert {"published mean", "published median"} <= set(_texts(fig))


def test_plot_levels():
    rows = [
        (1, kernel, level, throttles, 5.0, 100.0, 2.0)
        for kernel, throttles in (("tip", 100.0), ("tip + series", 110.0), ("6.18", 100.0))
        for level in (1, 2, 3)
    ]
    columns = ["groups", "kernel", "level", "throttles_per_s", "rethrottled_percent", "works_per_s", "overrun_ms"]
    fig = draw.plot_levels(pd.DataFrame(rows, columns=columns), 1)
    assert fig.get_suptitle() == "hackbench -g 1: +10 % throttles with the series, over the three levels"
    assert all("(" in axis.get_ylabel() for axis in fig.axes)
    same = pd.DataFrame(rows, columns=columns).assign(throttles_per_s=100.0)
    assert "no more or fewer throttles" in draw.plot_levels(same, 1).get_suptitle()


def test_plot_overrun():
    rows = [
        (layout, model, ms, ms + 4, ms + 5, 4 * ms + 4)
        for layout in ("one", "two")
        for model in ("6.12", "6.18", "7.2", "7.2, HRTICK off")
        for ms in (0.1, 10.0)
    ]
    columns = ["layout", "model", "section_ms", "p99_ms", "max_ms", "bound_ms"]
    fig = draw.plot_overrun(pd.DataFrame(rows, columns=columns))
    assert fig.get_suptitle().startswith("With kernel sections of up to 10 ms the tail of the overrun is 14 ms on 6.12")
    assert all(axis.get_xlabel().endswith("(ms)") and axis.get_xscale() == "log" for axis in fig.axes)


def test_plot_told():
    rows = [
        (tree, program, 4, beside, model, 5.0 if model == "7.2" and tree == "a child" else 1.0)
        for tree in ("the group", "a child")
        for program in ("hogs", "sleepers")
        for beside in ("alone", "beside")
        for model in ("6.12", "6.18", "7.2 without the series", "7.2")
    ]
    columns = ["tree", "program", "tasks", "beside", "model", "usage_over_quota"]
    fig = draw.plot_told(pd.DataFrame(rows, columns=columns), 4)
    assert "7.2 a group can use 5.0 times its quota" in fig.get_suptitle() and len(fig.axes) == 4
    assert "its quota" in _texts(fig)


def test_plot_irqoff():
    ways = {"inline": "6.1", "async": "6.12", "per task": "6.18", "per task, series": "7.2"}
    rows = [
        (way, release, groups, cpus, 100.0 if way == "inline" else 1.0)
        for way, release in ways.items()
        for groups in (1, 1000)
        for cpus in (256, 384)
    ]
    table = pd.DataFrame(rows, columns=["way", "release", "groups", "cpus", "longest_ms"])
    anchor, lockup = dict(way="per task", groups=2000, cpus=384), dict(groups=1000, cpus=256)
    fig = draw.plot_irqoff(table, anchor, (2.0, 4.0), lockup)
    assert fig.get_suptitle().endswith("unthrottling inline keeps interrupts off 100 times as long as async")
    assert fig.axes[0].get_ylabel().endswith("(ms)")


def test_plot_hotplug():
    rows = [
        (kernel, rate, used, used, used, used / 10)
        for kernel, most in (("buggy", 20.0), ("fixed", 10.0))
        for rate, used in ((0.0, 10.0), (20.0, most))
    ]
    columns = ["kernel", "operations_per_s", "used_s", "used_low_s", "used_high_s", "over_ideal"]
    times = dict(none=10.81, buggy=14.43, fixed=10.16)
    fig = draw.plot_hotplug(pd.DataFrame(rows, columns=columns), times, 10.0, 8.9)
    assert (
        fig.get_suptitle() == "Up to 2.0 times the quota through hotplug; the published run fits 9 operations a second"
    )
    assert "published, hotplug, without the fix: 14.43 s" in _texts(fig)
    assert fig.axes[0].get_ylabel().endswith("(s)")
