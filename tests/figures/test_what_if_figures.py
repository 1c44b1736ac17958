"""Figures of what-if: each says where the demand is from, whatever names and numbers there are."""

import numpy as np
import pandas as pd
import pytest

from schedlab.figures import what_if as draw
from schedlab.figures.style import plain
from schedlab.studies.what_if import MEASURES

DEMAND = "NOT RECORDED, assumed: $x_$ <b> & a demand"


def _combinations(nr=6, phases=("aligned", "random")):
    rows = []
    for k in range(nr):
        for phase in phases:
            row = {
                "quota_us": 20_000 + 10_000 * k,
                "period_us": 100_000,
                "burst_us": 0,
                "phase": phase,
                "cpus": 0.2,
                "seeds": 3,
            }
            for measure in MEASURES:
                row |= {measure: 10.0 / (k + 1), f"{measure}_low": 5.0 / (k + 1), f"{measure}_high": 20.0 / (k + 1)}
            rows.append(row | {"demand": DEMAND})
    return pd.DataFrame(rows).astype({"quota_us": "Int64"})


def _texts(fig):
    fig.draw_without_rendering()
    return [text.get_text() for text in fig.findobj(lambda one: hasattr(one, "get_text"))]


def _quota(quota_us=70_000):
    row = {"period_us": 100_000, "burst_us": 0, "phase": "aligned", "quota_us": quota_us, "demand": DEMAND}
    return pd.DataFrame([row]).astype({"quota_us": "Int64"})


def test_each_figure_states_the_demand():
    replay = pd.DataFrame(
        [
            ("nr_throttled", "", 5.0, 6.0, 4.0, 8.0, 1.0, True, "cpu.stat", DEMAND),
            ("nr_periods", "", 5.0, 6.0, 6.0, 6.0, 1.0, True, "cpu.stat", DEMAND),
            ("x_ms", "ms", 5.0, 9.0, 8.0, 9.0, 0.0, False, "recording", DEMAND),
        ],
        columns=["measure", "unit", "measured", "predicted", "low", "high", "slack", "inside", "source", "demand"],
    )  # fmt: skip
    table = _combinations()
    for fig in (draw.plot_combinations(table), draw.plot_curve(table, _quota()), draw.plot_replay(replay)):
        assert any("NOT RECORDED, assumed" in text for text in _texts(fig))
    title = "1 of 3 measured numbers in the model's range, 1 within tolerance"
    assert any(title in text for text in _texts(draw.plot_replay(replay)))


def test_combinations__many_are_cut_and_it_says_so():
    fig = draw.plot_combinations(_combinations(40))
    assert any("first 48 of 80" in text for text in _texts(fig))
    assert any("Throttled under every combination" in text for text in _texts(fig))


def test_combinations__without_latencies_and_without_a_limit():
    table = _combinations(1, ("random",)).assign(quota_us=pd.NA)
    latencies = [name for name in table.columns if name.startswith(("wakeup", "completion"))]
    texts = _texts(draw.plot_combinations(table.assign(**dict.fromkeys(latencies, np.nan))))
    assert texts.count("none seen") == 2 and "no limit" in texts


@pytest.mark.parametrize(
    ("quota_us", "told"), [(70_000, "Never throttled from 70 ms without burst"), (pd.NA, "Throttling over")]
)
def test_curve__states_the_finding(quota_us, told):
    assert any(told in text for text in _texts(draw.plot_curve(_combinations(), _quota(quota_us))))


def test_curve__without_a_quota():
    texts = _texts(draw.plot_curve(_combinations(1).assign(quota_us=pd.NA), _quota()))
    assert "No quota was asked about" in texts and any("NOT RECORDED" in text for text in texts)


def test_plain__no_formula_and_nothing_unprintable():
    assert plain("a$b\x1b") == r"a\$b\x1b"
