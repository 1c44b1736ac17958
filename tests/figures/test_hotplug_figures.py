"""The drawings of the hotplug study: units on the axes, the finding in the title, published points drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from schedlab.figures import hotplug as draw

OPERATIONS = ("partition_root", "cpu_offline", "cpu_online")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def _published(axis):
    """Heights or places of the published points of an axis, without those that stand for the legend alone."""
    return [line for line in axis.lines if line.get_marker() == "D" and len(line.get_xdata())]


def _operations():
    rows = []
    for level, ms, known in (("base", 13.0, 13.3), ("V1a", 9.0, np.nan), ("patch1+2", 1.2, 1.2), ("V2", 1.2, np.nan)):
        rows += [(level, name, ms, known, ms - 1, 1.0) for name in OPERATIONS]
    return pd.DataFrame(rows, columns=["kernel", "operation", "predicted_ms", "published_ms", "walks_ms", "fixed_ms"])


def test_plot_operations__the_level_that_breaks_an_invariant_is_marked():
    review = pd.DataFrame([("base", ""), ("V2", "invariant 11")], columns=["kernel", "violation"])
    fig = draw.plot_operations(_operations(), review)
    title = "A partition switch: 13.0 ms, 9.0 with one loop, 1.2 with both patches and as much (1.2) with the boolean"
    assert fig.get_suptitle() == title
    assert all(axis.get_xlabel().endswith("(ms)") for axis in fig.axes)
    names = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert names == ["base", "V1a", "patch1+2", "V2\n(loses a quota)"]
    (points,) = _published(fig.axes[0])
    assert list(points.get_xdata()) == [13.3, 1.2]


def test_plot_visits():
    visits = pd.DataFrame(
        [("partition", 21.9, 25.3), ("offline", 56.4, 70.6), ("online", 33.7, 63.1)],
        columns=["operation", "clear_ns", "resync_ns"],
    )
    fits = pd.DataFrame(
        [("M0b", 4, 9, 28.0, 28.0, 1.0, 1.0, 32.6), ("M1", 7, 9, 20.0, 26.0, 2.75, 2.21, 4.7),
         ("M2", 9, 9, 21.9, 25.3, 1.0, 1.0, 0.0)],
        columns=["model", "parameters", "numbers", "clear_ns", "resync_ns", "factor_offline", "factor_online",
                 "max_error_percent"],
    )  # fmt: skip
    fig = draw.plot_visits(visits, fits)
    assert fig.get_suptitle() == (
        "A visit costs 2.2 to 2.8 times as much in hotplug; the fit spends 7 parameters on 9 numbers"
    )
    assert fig.axes[0].get_ylabel().endswith("(ns)") and fig.axes[1].get_ylabel().endswith("(%)")
    assert len(_published(fig.axes[0])) == 2


def _growth(x, values):
    rows = [
        (value, level, name, 13.0 + factor * value / 1000, 2.0 + factor * value / 10)
        for level, factor in (("base", 8), ("patch1", 4), ("V1a", 5), ("patch1+2", 0.1), ("V2", 0.1))
        for name in OPERATIONS
        for value in values
    ]
    return pd.DataFrame(rows, columns=[x, "kernel", "operation", "predicted_ms", "irq_off_us"])


def test_plot_growth():
    fig = draw.plot_growth(_growth("cgroups", (0, 10_000)), _growth("cpus", (8, 64)))
    assert fig.get_suptitle() == (
        "With 10,000 cgroups a CPU goes offline in 93 ms, with both patches in 14, of which walks are 1.0 ms"
    )
    assert fig.axes[0].get_ylabel() == "time (ms)" and fig.axes[3].get_xscale() == "log"
    assert fig.axes[0].get_xlabel().startswith("cgroups") and fig.axes[3].get_xlabel().startswith("CPUs")


def test_plot_irq_off__the_nearest_number_of_cgroups_is_named():
    irq_off = pd.DataFrame(
        [("base", "median", 188.0, 186.0, 2.0), ("base", "max", 938.0, 186.0, 752.0),
         ("patch1+2", "typical", 2.0, 2.0, 0.0)],
        columns=["kernel", "statistic", "published_us", "predicted_us", "unexplained_us"],
    )  # fmt: skip
    fig = draw.plot_irq_off(_growth("cgroups", (0, 3000, 9000)), irq_off)
    assert fig.get_suptitle() == (
        "752 of the 938 µs of the longest call are unexplained; with both patches the CPU that goes keeps 32 µs"
    )
    assert fig.axes[0].get_ylabel().endswith("(µs)")
    assert sorted(line.get_ydata()[0] for line in _published(fig.axes[0])) == [2, 188, 938]


def test_plot_partitions():
    table = pd.DataFrame(
        [(1, 8000, 261_632, 523_264), (2, 4000, 65_280, 196_096), (4, 2000, 16_256, 81_664)],
        columns=["partitions", "group_visits", "span_scan", "dl_updates"],
    )
    fig = draw.plot_partitions(table)
    assert fig.get_suptitle() == (
        "4 partitions: 4 times fewer group visits, 16 times fewer scans, 6 times fewer server updates"
    )


def _waterfall(totals):
    rows = [(0, "", totals[0] / 2, totals[0] / 2, totals[0], 0.0)]
    for number in range(1, 9):
        rows.append((number, f"patch-{number}", totals[number] / 2, totals[number] / 2, totals[number],
                     totals[number - 1] - totals[number]))  # fmt: skip
    return pd.DataFrame(rows, columns=["after_patch", "patch", "offline_s", "online_s", "total_s", "removed_s"])


def test_plot_waterfall():
    intel = _waterfall([106, 52, 23, 21, 18, 9, 6, 5.5, 5])
    amd = _waterfall([8, 8, 8, 8, 7, 5, 4, 3.5, 3.0])
    cells = pd.DataFrame([(0, "total", 106.2), (8, "total", 5.1)], columns=["after_patch", "column", "published_s"])
    fig = draw.plot_waterfall(intel, amd, cells, cells.assign(published_s=[8.4, 3.4]))
    assert fig.get_suptitle() == (
        "Intel 106 to 5.0 s, 82 % of it by two cache flushes less; AMD 8.0 to 3.0 s, all of it by patches 4 to 8"
    )
    assert all(axis.get_xlabel().endswith("(s)") for axis in fig.axes)
    assert list(_published(fig.axes[2])[0].get_xdata()) == [8.4, 3.4]
    assert list(_published(fig.axes[1])[0].get_xdata()) == [5.1]


def test_plot_held_out__a_miss_is_seen():
    held_out = pd.DataFrame(
        [("heldout.a", 90.0, 85.0, 95.0, 100.0, -10.0, 30.0), ("heldout.b", 150.0, 150.0, 150.0, 100.0, 50.0, 30.0)],
        columns=["quantity", "predicted", "predicted_low", "predicted_high", "published", "error_percent",
                 "allowed_percent"],
    )  # fmt: skip
    transfer = pd.DataFrame(
        [("p4", "as it is", 200.0, False), ("p4", "by memory", 5.0, True), ("p8", "as it is", 400.0, False),
         ("p8", "by memory", 49.0, False)],
        columns=["patch", "carried", "error_percent", "named_before"],
    )  # fmt: skip
    fig = draw.plot_held_out(held_out, transfer)
    assert fig.get_suptitle() == "1 of 2 held-out predictions hold; p8 carries over in neither way"
    assert fig.axes[0].get_xlabel().endswith("(%)")
    assert "outside" in [text.get_text() for text in fig.legends[0].get_texts()]


def test_plot_sizes():
    rows = [
        (n, part, low * n, high * n)
        for n in (128, 256)
        for part, low, high in (("cache-group-capacity", 0.01, 0.01), ("final", 0.02, 0.04))
    ]
    table = pd.DataFrame(rows, columns=["cpus", "part", "low_s", "high_s"])
    known = pd.DataFrame(
        [("i", 200, 5.0, 2.0), ("a", 250, 6.0, 3.0)], columns=["machine", "cpus", "without_s", "with_s"]
    )
    fig = draw.plot_sizes(table, table, known)
    assert fig.get_suptitle() == (
        "At 256 CPUs: Intel 8 to 13 s, with the series 5.1 to 10.2; AMD 8 to 13 s, with the series 5.1 to 10.2"
    )
    assert list(_published(fig.axes[0])[0].get_ydata()) == [5.0, 2.0]


def test_plot_both_series():
    rows = [
        (groups, walks, large, (1 if walks else groups / 20) + (5 if large else 106))
        for groups in (1, 4001)
        for walks in (False, True)
        for large in (False, True)
    ]
    both = pd.DataFrame(rows, columns=["groups", "walks", "large", "total_s"])
    lattice = pd.DataFrame(
        [("a", 100.0, 100.0, 1000.0), ("b", 1.5, 1.5, 15.0)],
        columns=["patch", "least_ms", "most_ms", "share_of_final_percent"],
    )
    fig = draw.plot_both_series(both, lattice)
    assert fig.get_suptitle() == (
        "With 4,000 cgroups a ramp of 306 s becomes 107 (walks), 205 (large systems), 6.0 with both"
    )
    assert fig.axes[0].get_xlabel().endswith("(s)") and fig.axes[1].get_xlabel().endswith("(ms)")
