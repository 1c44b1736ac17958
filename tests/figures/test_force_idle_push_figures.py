"""The drawings of the push study: units on the axes, the finding in the title, published points drawn."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from schedlab.figures import force_idle_push as draw


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def _published(axis):
    return [line for line in axis.lines if line.get_marker() == "D" and len(line.get_xdata())]


def test_plot_schedules__forced_idle_and_moves_marked():
    rows = [
        ("baseline", 0, 0.0, 4.0, "task", "A", 1), ("baseline", 1, 0.0, 4.0, "forced idle", "", 1),
        ("push", 0, 0.0, 2.0, "task", "A", 1), ("push", 1, 0.0, 2.0, "forced idle", "", 1),
        ("push", 2, 2.0, 2.0, "push", "B", 2), ("push", 2, 2.0, 4.0, "task", "B", 2),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["scene", "cpu", "start_ms", "end_ms", "what", "task", "cookie"])
    fig = draw.plot_schedules(table, 1.0)
    assert fig.get_suptitle().endswith("ends that at 2 of 4 ms, its first chance")
    assert fig.axes[-1].get_xlabel() == "time (ms)"
    assert [text.get_text() for text in fig.axes[1].texts] == ["A", "push B", "B"]
    assert any(span.get_hatch() for span in fig.axes[0].collections)


def _noise():
    table = pd.DataFrame({"variant": ["baseline", "push", "lb_c", "push by quality"], "runs": 10})
    table["n_max"], table["n_sum"] = [1.2, 1.1, 0.5, 1.0], [4.0, 2.0, 3.0, 2.0]
    for name in ("n_max", "n_sum"):
        table[f"{name}_low"], table[f"{name}_high"] = 0.9 * table[name], 1.1 * table[name]
        table[f"{name}_of_baseline"] = table[name] / table[name].iloc[0]
    return table.assign(published=[1.2, 0.66, 0.63, np.nan])


def test_plot_noise__published_points():
    fig = draw.plot_noise(_noise())
    assert fig.get_suptitle() == "The push leaves 92 % of N_max (posted: 55 %) and 50 % of N_sum; LB-c 42 and 75 %"
    (points,) = _published(fig.axes[0])
    assert list(points.get_xdata())[:3] == [1.2, 0.66, 0.63] and not _published(fig.axes[1])
    assert all("(%" in axis.get_xlabel() for axis in fig.axes)


def test_plot_causes__title_adds_up():
    rows = [("baseline", "queued behind x", 0.2), ("baseline", "forced idle beside y", 0.9), ("baseline", "other", 0.0)]
    rows += [("push", "queued behind x", 1.0), ("push", "forced idle beside y", 0.1), ("push", "other", 0.0)]
    fig = draw.plot_causes(pd.DataFrame(rows, columns=["variant", "cause", "n_max"]))
    assert fig.get_suptitle() == (
        "With the push gaps of forced idle go from 0.90 to 0.10 %, those of queueing from 0.20 to 1.00 %"
    )
    assert len(fig.legends[0].get_texts()) == 2  # a cause that does not occur is left out


def test_plot_burst__ratio_in_the_title():
    rows = [(variant, burst, n, n - 0.1, n + 0.1) for variant, burst, n in
            (("baseline", 100, 0.5), ("baseline", 200, 1.0), ("push", 100, 0.6), ("push", 200, 0.9))]  # fmt: skip
    table = pd.DataFrame(rows, columns=["variant", "burst_us", "n_max", "n_max_low", "n_max_high"])
    fig = draw.plot_burst(table, 150, {"baseline": 1.2, "push": 0.66})
    assert fig.get_suptitle() == "Push over no push: 0.90 to 1.20 over these bursts (posted: 0.55)"
    assert fig.axes[0].get_xlabel().endswith("(us)") and "(%" in fig.axes[0].get_ylabel()


def test_plot_tornado__largest_change_first():
    table = pd.DataFrame({"factor": ["", "HZ", "tracer"], "setting": ["as is", "100", "round-robin"]})
    for variant, values in (("baseline", [1.0, 1.1, 4.0]), ("push", [1.0, 1.0, 0.8])):
        table[f"{variant}_n_max"] = values
        table[f"{variant}_n_max_low"], table[f"{variant}_n_max_high"] = 0.9 * np.array(values), 1.1 * np.array(values)
    table["push_over_baseline"], table["ratio_low"], table["ratio_high"] = (
        [1, 0.9, 0.2],
        [0.8] * 2 + [0.1],
        [1.2] * 2 + [0.3],
    )
    fig = draw.plot_tornado(table, 0.55)
    assert "up to 4.0-fold" in fig.get_suptitle()
    assert "lowers N_max in 1 of 3 settings, raises it in 0" in fig.get_suptitle()
    labels = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert labels == ["as is", "tracer: round-robin", "HZ: 100"]


def test_plot_tornado__a_setting_in_which_the_push_raises_the_noise_is_counted():
    table = pd.DataFrame({"factor": ["", "VMM burst"], "setting": ["as is", "half"]})
    for variant, value in (("baseline", 1.0), ("push", 2.0)):
        for end, by in (("", 1), ("_low", 0.9), ("_high", 1.1)):
            table[f"{variant}_n_max{end}"] = by * value
    table["push_over_baseline"], table["ratio_low"], table["ratio_high"] = 2.0, [0.8, 1.4], [3.0, 3.1]
    assert "lowers N_max in 0 of 2 settings, raises it in 1" in draw.plot_tornado(table, 0.55).get_suptitle()


def test_plot_effects__both_kinds_of_mean_in_the_title():
    names = ["push", "LB-c", "push x LB-c"]
    rows = [(measure, name, 1 + (k == 2), 0.5 + k / 2, 0.4 + k / 2, 0.7 + k / 2, k == 0, 1.0, 0.9, 1.1, False)
            for measure, (k, name) in itertools.product(("n_max", "n_sum"), enumerate(names))]  # fmt: skip
    columns = ["measure", "effect", "order", "factor", "low", "high", "clear", "plain", "plain_low", "plain_high"]
    fig = draw.plot_effects(pd.DataFrame(rows, columns=[*columns, "plain_clear"]))
    assert fig.get_suptitle() == (
        "N_max by geometric (plain) means: push x0.50 (1.00), LB-c x1.00 (1.00), each makes the other x1.50 (1.00)"
    )
    assert [label.get_text() for label in fig.axes[0].get_yticklabels()] == names


def test_plot_cost__sizes_on_the_axis():
    cells = enumerate(itertools.product((32, 64), ("baseline", "push", "push+lb_c")), 1)
    rows = [(size, variant, 500.0 / k, 40.0 * k, 90.0 * k, 2.0 * k, 30.0, 3.0) for k, (size, variant) in cells]
    columns = ["cpus", "variant", "callbacks", "scanned_per_callback", "scanned_per_push", "locked_per_push", "pushes",
               "pushed_again"]  # fmt: skip
    fig = draw.plot_cost(pd.DataFrame(rows, columns=columns))
    assert (
        fig.get_suptitle() == "64 CPUs: 450 looked at and 10 locked a push, but attempts fall from 125 to 100 a second"
    )
    assert [label.get_text() for label in fig.axes[-1].get_xticklabels()] == ["32", "64"]


def test_plot_smt_off__both_kinds_of_guests():
    rows = [(guests, host, load, 1.0 + 0.2 * load * (guests == "pairs"), 1.0)
            for guests, host, load in itertools.product(
                ("pairs", "singles"), ("SMT on", "core scheduling", "core scheduling + push", "SMT off"), (0.5, 2.0)
            )]  # fmt: skip
    table = pd.DataFrame(rows, columns=["guests", "host", "load", "of_smt_off", "response_of_smt_off"])
    fig = draw.plot_smt_off(table)
    assert fig.get_suptitle() == (
        "At full load core scheduling does 1.40 times as much as SMT off where guests fill cores, 1.00 where not"
    )
    assert [axis.get_title(loc="left") for axis in fig.axes[:2]] == ["pairs", "singles"]
