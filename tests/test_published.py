"""The rule that says whether the model agrees, and the tables that it is applied to."""

import numpy as np
import pandas as pd
import pytest

from schedlab import published, tables
from schedlab.published import Comparison, extreme_of, load, widen


def _row(**kwargs):
    comparison = Comparison()
    comparison.add("claim", "q", "s", **kwargs)
    return comparison.table().iloc[0]


# ------------------------------------------------------------------ data


def test_load__stress_ng_as_posted():
    table = load("bandwidth_stress_ng")
    assert table.query("kernel == 'interleaved' and cgroups == 2")["time_s"].tolist() == [32.3, 38.7, 29.7, 31.5]
    assert table.query("kernel == 'interleaved' and cgroups == 2")["power_w"].tolist() == [104, 96, 106, 105]
    assert len(table) == 16


def test_load__schbench_as_posted():
    table = load("bandwidth_schbench").set_index(["kernel", "groups", "percentile"])["latency_us"]
    assert table["aligned", 16, 99.0] == 4166
    assert table["interleaved", 64, 99.9] == 140032
    assert len(table) == 2 * 3 * 7


def test_load__earlier_postings():
    table = load("bandwidth_rfc_v2").query("series == 'rfc_v2' and cgroups == 2")
    aligned = table[table["kernel"] == "aligned"].groupby("cores")["time_low_s"].mean()
    assert aligned.tolist() == [315, 157.5, 89.5, 48]


def test_load__unknown_name():
    with pytest.raises(ValueError, match="name='nosuch': no published table"):
        load("nosuch")


def test_every_table_has_a_source():
    sources = (published.data_path("published", "SOURCES.md")).read_text()
    assert all(f"`{name}.csv`" in sources for name in published.names())


# ------------------------------------------------------------------ the rule


def test_widen__by_each_tolerance():
    assert widen(10, 20) == (10, 20)
    assert widen(10, 20, plus_minus=1) == (9, 21)
    assert widen(10, 20, percent=5) == (9.5, 21)
    assert widen(-10, 20, percent=10) == (-11, 22)
    assert widen(10, 20, factor=2) == (5, 40)
    assert widen(10, 20, accept=(12, None)) == (12, np.inf)


@pytest.mark.parametrize(
    "tolerance",
    [{"plus_minus": -1}, {"percent": -1}, {"factor": 0.5}, {"accept": (2, 1)}, {"percent": 1, "plus_minus": 1}],
)
def test_widen__refuses(tolerance):
    with pytest.raises(ValueError):
        widen(10, 20, **tolerance)


def test_agrees__mean_at_the_edge_and_beyond():
    assert _row(published=[10, 20], model=20)["agrees"] is True
    assert _row(published=[10, 20], model=20.001)["agrees"] is False
    assert _row(published=[10, 20], model=20.001, plus_minus=0.01)["agrees"] is True


def test_agrees__wide_model_interval_does_not_help():
    row = _row(published=[10, 11], model=[5, 12, 25])
    assert (row["model"], row["model_low"], row["model_high"]) == (14, 5, 25)
    assert row["agrees"] is False


def test_published_columns_are_mean_and_range_of_the_runs():
    row = _row(published=[32.3, 38.7, 29.7, 31.5], model=33, accept=(32.5, 33.7))
    assert (row["published"], row["published_low"], row["published_high"]) == (pytest.approx(33.05), 29.7, 38.7)


def test_context_without_published_number_has_no_verdict():
    row = _row(published=None, model=3, role="context")
    assert row["agrees"] is None and np.isnan(row["published"])


def test_prediction_needs_something_to_be_held_against():
    with pytest.raises(ValueError, match="nothing was published"):
        _row(published=None, model=3)
    assert _row(published=None, model=3, accept=(None, 4))["agrees"] is True


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"model": float("nan")}, "q: model"),
        ({"model": []}, "q: model"),
        ({"published": float("inf")}, "q: published"),
        ({"role": "guess"}, "role='guess'"),
    ],
)
def test_comparison__refuses(wrong, message):
    with pytest.raises(ValueError, match=message):
        _row(**({"published": 1, "model": 1} | wrong))


def test_comparison__quantity_once():
    comparison = Comparison()
    comparison.add("claim", "q", "s", 1, 1)
    with pytest.raises(ValueError, match="quantity='q': already"):
        comparison.add("claim", "q", "s", 1, 1)


def test_failures__predictions_alone():
    comparison = Comparison()
    comparison.add("c", "a", "s", 1, 2, role="calibration")
    comparison.add("c", "b", "s", 1, 2)
    comparison.add("c", "d", "s", 1, 1)
    assert comparison.failures()["quantity"].tolist() == ["b"]


# ------------------------------------------------------------------ extremes


def test_extreme_of__two_draws_from_two_values():
    # of two draws from {0, 1}, the larger is 0 with probability 1/4
    assert extreme_of([1, 0], 2, "max") == (0.75, 0, 1)
    assert extreme_of([1, 0], 2, "min") == (0.25, 0, 1)


def test_extreme_of__one_draw_is_the_distribution_itself():
    mean, low, high = extreme_of(np.arange(1, 1001), 1, "max")
    assert mean == pytest.approx(500.5)
    assert (low, high) == (25, 975)


def test_extreme_of__as_simulated():
    rng = np.random.default_rng(3)
    draws = rng.normal(size=200)
    simulated = rng.choice(draws, size=(100_000, 4)).min(axis=1)
    mean, low, high = extreme_of(draws, 4, "min")
    assert mean == pytest.approx(simulated.mean(), abs=0.02)
    assert [low, high] == pytest.approx(np.quantile(simulated, [0.025, 0.975]).tolist(), abs=0.05)


def test_add_extreme__published_extreme_inside_the_models_distribution():
    comparison = Comparison()
    model = np.linspace(27.6, 40.2, 200)
    comparison.add_extreme("c", "inside", "s", [32.3, 38.7, 29.7, 31.5], model, "min")
    comparison.add_extreme("c", "outside", "s", [20.0, 38.7, 29.7, 31.5], model, "min")
    table = comparison.table().set_index("quantity")
    assert table["agrees"].tolist() == [True, False]
    assert table.loc["inside", "published"] == 29.7
    assert comparison.rules()["statistic"].tolist() == ["min of 4", "min of 4"]


# ------------------------------------------------------------------ on disk


def test_write_comparison__round_trip(tmp_path):
    comparison = Comparison()
    comparison.add("c", "a", "s", [1, 3], 2.0)
    comparison.add("c", "b", "", None, 1 / 3, role="context")
    tables.write_comparison(comparison.table(), tmp_path)
    text = (tmp_path / "comparison.csv").read_bytes().decode()
    assert text.splitlines()[1:] == [
        "c,a,s,2,1,3,2,2,2,prediction,True",
        "c,b,,,,,0.3333333333,0.3333333333,0.3333333333,context,",
    ]
    assert "\r" not in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="unit"), "columns="),
        (lambda t: t.assign(more=1), "columns="),
        (lambda t: t.assign(role="guess"), "role='guess'"),
        (lambda t: pd.concat([t, t]), "quantity='a': occurs twice"),
    ],
)
def test_write_comparison__refuses(tmp_path, change, message):
    comparison = Comparison()
    comparison.add("c", "a", "s", [1, 3], 2.0)
    with pytest.raises(ValueError, match=message):
        tables.write_comparison(change(comparison.table()), tmp_path)
    assert not list(tmp_path.iterdir())


def test_save_table__no_cell_becomes_a_formula(tmp_path):
    table = pd.DataFrame({"=name": ["=1+1", "+x", "-R", "@y", "-1.5", "plain"], "value": [-1.0, 0.1, 1e-9, 2, 3, 1e12]})
    tables.save_table(table, tmp_path, "t")
    lines = (tmp_path / "tables" / "t.csv").read_text().splitlines()
    assert lines == ["'=name,value", "'=1+1,-1", "'+x,0.1", "'-R,1e-09", "'@y,2", "-1.5,3", "plain,1e+12"]


def test_save_table__named_index_is_written(tmp_path):
    table = pd.DataFrame({"usage_usec": [5, 6]}, index=pd.Index(["/a", "/b"], name="path"))
    tables.save_table(table, tmp_path, "cpu.stat")
    assert (tmp_path / "tables" / "cpu.stat.csv").read_text() == "path,usage_usec\n/a,5\n/b,6\n"
    tables.save_table(table.reset_index(), tmp_path, "again")
    assert (tmp_path / "tables" / "again.csv").read_text() == "path,usage_usec\n/a,5\n/b,6\n"


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden"])
def test_save_table__refuses_a_name_that_leaves_the_folder(tmp_path, name):
    with pytest.raises(ValueError, match="name="):
        tables.save_table(pd.DataFrame({"a": [1]}), tmp_path, name)
