"""The drawings of the combined study: units on the axes, the finding in the title, zeros hollow."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from schedlab.figures import combined as draw
from schedlab.studies import combined as study


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def runs():
    rows = []
    for cell in study.factorial():
        for seed in range(3):
            push, walks = "push" in cell.on, "walks" in cell.on
            value = 100 + 5 * push - 2 * (push and walks)
            head = {"cell": cell.name, "label": "", "design": True, "seed": seed}
            levels = {name: name in cell.on for name in study.FACTORS}
            rows.append(head | levels | {response.column: value for response in study.RESPONSES})
    return pd.DataFrame(rows)


def test_plot_effects__those_that_are_zero_are_hollow(runs):
    fig = draw.plot_effects(study.df_effects(runs), study.RESPONSES)
    assert fig.get_suptitle().endswith("what changes the work done is above all push (+4.0 %)")
    assert [axis.get_xlabel().endswith(f"({r.unit})") for axis, r in zip(fig.axes, study.RESPONSES)] == [True] * 5
    filled = [line for line in fig.axes[0].lines if line.get_marker() == "o" and line.get_markerfacecolor() != "white"]
    assert len(filled[0].get_xdata()) == 2


def test_plot_interactions__numbers_where_not_zero(runs):
    fig = draw.plot_interactions(study.df_interactions(runs), study.RESPONSES)
    assert fig.get_suptitle().startswith("5 of 75 interactions are told apart from 0, 5 of them")
    assert [text.get_text() for text in fig.axes[0].texts] == ["\N{MINUS SIGN}2.0\N{DAGGER}"]


def test_plot_steps__alone_last_and_together(runs):
    fig = draw.plot_steps(study.df_steps(runs), study.RESPONSES)
    assert fig.get_suptitle() == "All together change the batch work by +3.0 %; the six alone add up to +5.0 %"
    names = [label.get_text() for label in fig.axes[0].get_yticklabels()]
    assert names == [*study.FACTORS, "all together", "sum of alone"]


def test_plot_follow__ends_where_it_began():
    fig = draw.plot_follow(study.df_follow(), study.UP_MS, study.CYCLE_MS)
    assert "CPUs come back within" in fig.get_suptitle() and fig.axes[0].get_xlabel().endswith("(ms)")
    assert all(line.get_ydata()[-1] == 32 for line in fig.axes[0].lines)
