"""The model against real kernels: every row that held still holds, and those that do not have not become worse."""

import json
from pathlib import Path

import numpy as np
import pytest

from schedlab.io.recordings import load
from schedlab.studies import real_kernels as study
from schedlab.studies.real_kernels import hole, periods, phases, runs

#: Rows that do not agree, with the model's value: found with 8 seeds.
KNOWN = json.loads((Path(__file__).parent / "real_kernels_known.json").read_text())
#: How much a row that does not agree may move, of its value.
MOVES = 0.02


@pytest.fixture(scope="module")
def comparison():
    scenario = study.Scenario.of(seeds=8)
    walks = study.df_walks()
    found = dict(counters=study.df_counters(scenario), alignment=study.df_alignment(study.df_run_per_period(scenario)))
    found |= dict(scans=study.df_phases(), shared_cores=study.df_cookies(scenario))
    found |= dict(calls=study.df_calls(), walks=walks, slopes=study.df_slopes(walks))
    return study.compare(**found, measured_hole=study.df_hole_measured(), model_hole=study.df_hole_model(scenario))


def test_comparison__rows_that_held_hold(comparison):
    failed = comparison.failures().set_index("quantity")["model"]
    assert sorted(set(failed.index) - set(KNOWN)) == []


def test_comparison__rows_that_failed_are_no_worse(comparison):
    table = comparison.table().set_index("quantity")
    worse = {
        name: (float(table.loc[name, "model"]), was)
        for name, was in KNOWN.items()
        if table.loc[name, "agrees"] is False
        and abs(table.loc[name, "model"] - table.loc[name, "published"])
        > abs(was - table.loc[name, "published"]) * (1 + MOVES) + 1e-6
    }
    assert worse == {}


def test_comparison__every_failure_has_a_reason(comparison):
    assert not (study.df_failures(comparison)["why"] == "not explained").any()


def test_comparison__a_measured_line_is_held_against_the_models_not_against_itself(comparison):
    rows = comparison.table().set_index("quantity").filter(like=".r_squared", axis=0)
    asked = rows[rows["role"] == "prediction"]
    assert (rows["model"] == 1).all() and len(asked) == 4 and asked["agrees"].eq(True).all()
    assert (asked["published"] < 1).any()


def test_comparison__what_must_show(comparison):
    table = comparison.table().set_index("quantity")
    assert table.loc["host/i_1thr_pin.r2.A.near_share", "model"] >= 0.6
    assert abs(table.loc["host/i_1thr_pin.r2.A.throttled_ms", "model"] / 2243.469 - 1) < 0.01
    assert table.loc["patch_1_share_of_slope", "agrees"]
    nested = table[table["claim"] == "What the row 7.3 does not claim: nested quotas"]
    assert len(nested) and set(nested["role"]) == {"context"}


def test_cookies__laws_of_one_core_and_either_branch_on_two(comparison):
    table = comparison.table()
    one, two = (table[table["claim"].str.startswith(f"Core scheduling on {n}")] for n in ("one core", "two cores"))
    idle = one[one["quantity"].str.endswith("force_idle_ms")]
    assert len(idle) == 8 and idle["agrees"].all() and two["agrees"].all()
    assert {name.split("/")[1].split(".")[0] for name in (*one["quantity"], *two["quantity"])} == {
        recording.name.split("/")[1] for recording in load("cookies")
    }


# ------------------------------------------------------------------ parts, by hand


def test_per_period__spans_are_cut_at_the_edges():
    spans = np.array([[90.0, 110.0], [150.0, 160.0]])
    assert periods.per_period_us(spans, 0, 200, 100).tolist() == [10.0, 20.0]


def test_concentration__aligned_spread_and_rayleigh():
    assert phases.concentration([3.0, 3.0], 100) == pytest.approx(1.0)
    assert phases.concentration([0.0, 50.0], 100) == pytest.approx(0.0)
    assert phases.rayleigh_p(1.0, 64) == pytest.approx(0.0, abs=1e-12) and phases.rayleigh_p(0.0, 64) == 1.0


def test_longest__full_windows_in_a_row():
    assert hole.longest_ms([100, 95, 30, 100, 10]) == 195.0
    assert hole.longest_ms([12, 8]) == 0.0


def test_hole__another_task_on_the_cpu_is_the_condition():
    (alone, _), (with_other, burst) = (hole._model("7.2", "nestNN", other, 0) for other in (False, True))
    assert alone > 90 and with_other < 20 and burst >= 100
    assert hole._model("6.18", "nestNN", False, 0)[0] < 10.5


def test_measured_counters__periods_of_a_guest_are_those_of_its_trace():
    (one,) = load("quota", "d-6.18.15-ic3/busy2_60_40_25")
    assert one.measured["/L1/L2/L3"]["nr_periods"] == 33 and len(one.raw["timers_us"]["/L1/L2/L3"]) == 31
    assert runs.measured_counters(one, "/L1/L2/L3")["nr_periods"] == 31
    assert runs.measured_counters(one, "/L1")["nr_periods"] == 31
