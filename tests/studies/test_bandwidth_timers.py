"""The study of bandwidth timers: small cases by hand, and the numbers that it must show."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab import published
from schedlab.studies import bandwidth_timers as study
from schedlab.studies.bandwidth_timers import calibration, comparison, payoff, stress
from schedlab.workloads import stress_ng

STRESS_NG, RFC = published.load("bandwidth_stress_ng"), published.load("bandwidth_rfc_v2")


@pytest.fixture(scope="module")
def scenario():
    return study.Scenario.of()


@pytest.fixture(scope="module")
def runs():
    """The runs of few seeds, with the full average over the tick."""
    return study.df_stress_runs(study.Scenario.of(replicates=12))


# ------------------------------------------------------------------ the scenario


def test_scenario__aligned_is_always_there_and_patches_come_on_top():
    scenario = study.Scenario.of(kernel="6.12", phases=["golden"])
    assert scenario.phases == ("aligned", "golden")
    assert scenario.kernel_with("aligned").timer_phase == "aligned"
    assert scenario.kernel_with("random").timer_phase == "random"
    assert not scenario.is_published


def test_scenario__published(scenario):
    assert scenario.is_published and study.Scenario.of(kernel="6.2-rc6", quick=True, seed=5).is_published
    assert not study.Scenario.of(quota_us=3_200_000).is_published
    assert scenario.window_share == 0.5 and scenario.at_full_utilisation().quota_us == 3_200_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(phases=["alligned"]), r"^phases='alligned': one of .*did you mean 'aligned'"),
        (dict(phases=["aligned"]), r"^phases=\['aligned'\]: at least one rule to compare"),
        (dict(machine="power-9"), "^machine='power-9'"),
        (dict(replicates=0), "^replicates=0: at least 1"),
        (dict(quota_us=10), "^quota_us=10: at least 1000"),
    ],
)
def test_scenario__refused(options, message):
    with pytest.raises(ValueError, match=message):
        study.Scenario.of(**options)


def test_scenario__tick_phases_are_even(scenario):
    assert [kernel.tick_offset_us for kernel in scenario.kernels("random", 4)] == [0, 1000, 2000, 3000]


# ------------------------------------------------------------------ by hand


def test_overlap__windows_of_half_a_period(scenario):
    assert [stress.overlap(scenario, ms) for ms in (0, 10, 30, 50, 70, 100)] == [1.0, 0.8, 0.4, 0.0, 0.4, 1.0]


def test_overlap__windows_that_fill_the_period(scenario):
    assert stress.overlap(scenario.at_full_utilisation(), 37.0) == 1.0


def test_time_by_hand__the_fact_sheet_s_table(scenario):
    times = [stress.time_by_hand_s(scenario, 27.6, phase_ms) for phase_ms in (0, 10, 20, 30, 40, 50)]
    assert np.round(times, 2).tolist() == pytest.approx([40.15, 36.81, 33.98, 31.54, 29.44, 27.6], abs=0.02)


def test_published_phases__read_off_a_straight_curve():
    curve = pd.DataFrame({"phase_ms": [0.0, 25, 50, 75, 100], "time_s": [40.0, 35, 30, 35, 40]})
    curve = curve.assign(time_low_s=curve["time_s"] - 1, time_high_s=curve["time_s"] + 1)
    curve = curve.assign(power_w=130 - curve["time_s"], busy_cores=4.0, busy_threads=32.0)
    one = pd.DataFrame([dict(kernel="interleaved", cgroups=2, run=1, time_s=33.0, power_w=100.0)])
    row = study.df_published_phases(curve, one).iloc[0]
    assert (row["phase_ms"], row["phase_low_ms"], row["phase_high_ms"]) == (35.0, 30.0, 40.0)
    assert row["power_w"] == 97.0 and row["error_percent"] == pytest.approx(-3.0)


def test_payoff_limit__between_two_cells():
    cells = pd.DataFrame({"groups": 2, "phases": "random", "utilisation_percent": [25, 50, 75, 100]})
    table = study.df_payoff_limit(cells.assign(time_saved_percent=[10.0, 6.0, 3.0, 0.0]))
    row = table.iloc[0]
    assert (row["best_saved_percent"], row["best_at_percent"], row["saved_at_50_percent"]) == (10.0, 25, 6.0)
    assert row["pays_below_percent"] == pytest.approx(75 + 25 * 2 / 3)
    assert np.isnan(study.df_payoff_limit(cells.assign(time_saved_percent=0.5)).iloc[0]["pays_below_percent"])


# ------------------------------------------------------------------ calibration


def test_calibration__the_machine_s_numbers_follow_from_the_published_ones(scenario, runs):
    table = study.df_calibration(scenario, runs, STRESS_NG, RFC)
    assert table["parameter"].tolist()[1:4] == ["idle_w", "core_w", "thread_w"] and len(table) == 5
    assert table["off_percent"].abs().max() < 0.5


def test_calibration__uses_no_interleaved_run(scenario, runs):
    fake = STRESS_NG.copy()
    fake.loc[fake["kernel"] == "interleaved", ["time_s", "power_w"]] = 1.0
    pd.testing.assert_frame_equal(
        study.df_calibration(scenario, runs, STRESS_NG, RFC), study.df_calibration(scenario, runs, fake, RFC)
    )


def test_fitted_watts__give_the_published_powers_back(scenario):
    core_w, thread_w = calibration.fitted_watts(45.0, 80.425, 91.0, scenario.machine)
    watts = sl.Watts(45.0, core_w, thread_w)
    assert (watts.power(0, 0) + watts.power(8, 32)) / 2 == pytest.approx(80.425)
    assert (watts.power(0, 0) + watts.power(8, 64)) / 2 == pytest.approx(91.0)


@pytest.mark.parametrize(("groups", "low", "high"), [(1, 27.0, 28.2), (2, 39.5, 40.8)])
def test_calibrated__time_of_the_default_kernel_and_over_the_tick(scenario, runs, groups, low, high):
    work = stress_ng.in_groups(groups, 1_600_000)
    run = sl.simulate(scenario.machine, sl.Kernel.version("6.1"), work, "100s", stop="exit")
    assert low <= run.duration_ns / 1e9 <= high
    aligned = runs[(runs["groups"] == groups) & (runs["phases"] == "aligned")]
    assert low <= aligned["time_s"].mean() <= high


def test_calibrated__power(runs):
    table = study.df_stress(runs).set_index(["groups", "phases"])["power_w"]
    assert table[1, "aligned"] == pytest.approx(80.425, rel=0.01) and table[2, "aligned"] == pytest.approx(91, rel=0.01)


# ------------------------------------------------------------------ predictions


def test_stress__phases_in_order(runs):
    table = study.df_stress(runs).set_index(["groups", "phases"])
    time_s = table["time_s"][2]
    assert time_s["staggered"] < time_s["golden"] < time_s["random"] < time_s["aligned"]
    assert table["time_s"][1, "random"] == pytest.approx(table["time_s"][1, "aligned"], rel=0.02)
    assert (table["energy_saved_percent"][2].drop("aligned") > 0).all()


@pytest.mark.slow
def test_stress__200_random_seeds(scenario):
    runs = study.df_stress_runs(dataclasses.replace(scenario, phases=("aligned", "random")))
    times = runs[(runs["groups"] == 2) & (runs["phases"] == "random")]["time_s"]
    aligned = runs[(runs["groups"] == 2) & (runs["phases"] == "aligned")]["time_s"].mean()
    assert len(times) == 200
    assert 32.5 <= times.mean() <= 33.7 and times.min() >= 27.4 and times.max() <= 40.8
    assert times.max() <= aligned + 0.1


def test_phase_curve__follows_the_line_by_hand():
    curve = study.df_phase_curve(study.Scenario.of(quick=True))
    assert curve["phase_ms"].iloc[[0, -1]].tolist() == [0.0, 100.0]
    assert (curve["time_s"] / curve["by_hand_s"] - 1).abs().max() < 0.05
    assert curve["time_s"].idxmin() == 4 and curve["power_w"].idxmax() == 4
    assert curve["time_s"].to_numpy() == pytest.approx(curve["time_s"].to_numpy()[::-1], rel=0.02)


def test_full_utilisation__nothing_to_gain():
    table = study.df_full_utilisation(study.Scenario.of(quick=True)).set_index("phases")
    assert table.loc["random", "over_aligned"] == pytest.approx(1, abs=0.01)


def test_payoff__cells(scenario, monkeypatch):
    monkeypatch.setattr(payoff, "QUICK_UTILISATIONS", (50, 100))
    monkeypatch.setattr(payoff, "QUICK_GROUPS", (2,))
    table = study.df_payoff(dataclasses.replace(scenario, quick=True)).set_index(["utilisation_percent", "phases"])
    saved = table["time_saved_percent"]
    assert saved[50, "staggered"] == pytest.approx(100 * (1 - 27.6 / 40.15), abs=3)
    assert 0 < saved[50, "random"] < saved[50, "golden"] < saved[50, "staggered"]
    assert saved[100].abs().max() < 0.5


def test_mechanism__half_of_each_period(scenario):
    windows = study.df_run_windows(scenario)
    threads = study.df_threads_per_core(scenario, windows)
    shares = study.df_time_shares(scenario, threads).set_index("timers")
    assert shares.loc["aligned", "both_percent"] == pytest.approx(50, abs=4)
    assert shares.loc["aligned", "one_group_percent"] == 0
    percents = shares[["nobody_percent", "one_group_percent", "both_percent"]].sum(axis=1)
    assert percents.to_numpy() == pytest.approx([100, 100])
    assert threads[["cg1", "cg2"]].to_numpy().max() == 4
    # a window belongs to one group on each CPU, and windows of a CPU do not overlap
    for _, part in windows.groupby(["timers", "cpu"]):
        part = part.sort_values("start_ms")
        assert (part["start_ms"].to_numpy()[1:] >= part["end_ms"].to_numpy()[:-1]).all()


def test_schbench__orders_that_the_fact_sheet_asks_for():
    scenario = study.Scenario.of(quick=True, schbench_groups=[32, 64])
    table = study.df_schbench(study.df_schbench_runs(scenario), published.load("bandwidth_schbench"))
    p99 = table[table["percentile"] == 99].pivot(index="threads", columns="phases", values="latency_us")
    assert p99.loc[32, "random"] < p99.loc[32, "aligned"]
    with_64 = table[(table["threads"] == 64) & (table["percentile"] <= 99)]
    assert with_64["model_over_published"].between(0.4, 2.5).all()


# ------------------------------------------------------------------ the comparison


def _found(runs):
    schbench = pd.DataFrame(
        [
            (16, phase, p, value, theirs, value / theirs)
            for phase, value, p99 in (("aligned", 70.0, 4000.0), ("random", 69.0, 2200.0))
            for p, theirs in ((50, 40.0), (99, p99), (99.5, 7000.0))
        ],
        columns=["threads", "phases", "percentile", "latency_us", "published_us", "model_over_published"],
    )
    phases = pd.DataFrame([dict(run=3, power_w=114.0, published_power_w=106.0)])
    full = pd.DataFrame([dict(phases="random", over_aligned=0.998)])
    limits = pd.DataFrame([dict(groups=2, phases="random", pays_below_percent=97.0)])
    return dict(
        runs=runs, phases=phases, full=full, schbench=schbench, schbench_runs=schbench, limits=limits,
        published=STRESS_NG,
    )  # fmt: skip


def test_compare__roles_and_reasons(scenario, runs):
    found = study.compare(scenario, **_found(runs))
    table = found.table().set_index("quantity")
    calibrated = table.index[table["role"] == "calibration"].tolist()
    assert calibrated == ["time_s.1cg", "time_s.2cg.aligned", "power_w.1cg", "power_w.2cg.aligned"]
    assert table.loc["schbench_us.16.random.p99.5", "role"] == "context"
    assert not table.loc["power_w.2cg.random.run3", "agrees"]
    failures = study.df_failures(dataclasses.replace(scenario, replicates=12), found)
    assert set(failures["quantity"]) >= {"power_w.2cg.random.run3", "schbench_us.16.aligned.p99"}
    assert "not explained" not in set(failures["why"])
    said = study.say_verdict(scenario, found)
    assert "power_w.2cg.random.run3" in said
    study.check_calibration(scenario, found)


def test_compare__another_scenario_is_context(scenario, runs):
    other = dataclasses.replace(scenario, cpu_ops=20_000)
    found = study.compare(other, **_found(runs))
    assert set(found.table()["role"]) == {"context"} and found.failures().empty
    assert "not the published scenario" in study.say_scenario(other).lower()
    assert "nothing is judged" in study.say_verdict(other, found)


def test_compare__names_are_the_agreed_ones(scenario, runs):
    names = set(study.compare(scenario, **_found(runs)).table()["quantity"])
    assert names >= {f"time_s.2cg.random.{what}" for what in ("mean", "min", "max")}
    assert names >= {"time_s.1cg", "time_s.2cg.aligned", "power_w.1cg", "power_w.2cg.aligned"}
    assert {"power_w.2cg.random.run3", "schbench_us.16.aligned.p99.5"} <= names


def test_check_calibration__speaks_up(scenario, runs):
    found = _found(runs.assign(time_s=runs["time_s"] * 1.1))
    with pytest.raises(AssertionError, match="calibrated, but off: time_s.1cg, time_s.2cg.aligned"):
        study.check_calibration(scenario, study.compare(scenario, **found))


def test_tolerances__are_those_that_were_named():
    assert (comparison.ALONE_S, comparison.ALIGNED_S, comparison.RANDOM_MEAN_S) == (
        (27.0, 28.2),
        (39.5, 40.8),
        (32.5, 33.7),
    )
    assert (calibration.POWER_PERCENT, comparison.SCHBENCH_FACTOR, comparison.FULL_UTILISATION) == (5, 2, (0.99, 1.01))


def test_say_agreement__one_row_for_a_long_claim(scenario, runs):
    text = study.say_agreement(study.compare(scenario, **_found(runs)).table())
    assert "| `time_s.1cg` | 27.6 (27.5 to 27.7) s |" in text and "| calibrated |" in text
    assert "| `power_w.2cg.random.run3` | 106 W | 114 W | **no** |" in text
