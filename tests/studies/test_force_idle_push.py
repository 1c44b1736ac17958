"""The study of the push on force idle: small cases by hand, and the numbers that it must show."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab import published
from schedlab.studies import force_idle_push as study
from schedlab.studies.force_idle_push import (
    comparison,
    cost,
    factorial,
    gaps,
    measure,
    micro,
    scenario,
    smt_off,
    statistics,
    tornado,
)


@pytest.fixture(scope="module")
def small():
    return study.Scenario.of(runs=2, seconds=2, factorial_runs=2, factorial_seconds=1, sizes=[16, 32])


# ------------------------------------------------------------------ the scenario


def test_scenario__what_is_judged(small):
    full = study.Scenario.of()
    assert full.is_published and full.is_enough and not small.is_enough
    assert not study.Scenario.of(vcpus=4).is_published
    quick = study.Scenario.of(quick=True)
    assert not quick.is_enough and len(quick.sizes) == 3 and "A quick run" in study.say_scenario(quick)


def test_scenario__every_variant_is_on_top_of_the_authors_baseline():
    full = study.Scenario.of()
    for variant, patches in study.VARIANTS.items():
        assert full.kernel_with(variant).patches - full.kernel.patches == set(patches)
    assert full.kernel.has("wake-cookie-check") and full.kernel.balance == "kernel" and full.kernel.hz == 250


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (dict(runs=1), "^runs=1: at least 2"),
        (dict(sizes=[48]), "^sizes=48: a power of two"),
        (dict(sizes=[8]), "^sizes=8: at least 16"),
        (dict(vmm_burst_us=10_000), "^vmm_burst_us=10000: below the period"),
        (dict(machine="vm-32cpu"), "^machine='vm-32cpu': with SMT"),
        (dict(kernel="5.0"), "^version='5.0'"),
    ],
)
def test_scenario__refused_in_one_line(options, rule):
    with pytest.raises(ValueError, match=rule):
        study.Scenario.of(**options)


def test_published__as_posted():
    by = published.load("force_idle_noise").set_index("variant")["noise_percent"]
    assert by.to_dict() == {
        "baseline": 1.2, "force_idle_aware_balance": 0.63, "push": 0.66, "push+force_idle_aware_balance": 0.45,
    }  # fmt: skip
    assert {study.PUBLISHED[v] for v in ("baseline", "push", "lb_c", "push+lb_c")} == set(by)


# ------------------------------------------------------------------ one core


def test_micro__within_one_point():
    table = study.df_micro()
    assert len(table) == 14 and set(table["hz"]) == {250, 1000}
    assert (table["largest_error"] < 1).all()
    assert (abs(table["forced_idle"] - table["expected_forced_idle"]) < 1).all()
    assert (abs(table["core_use"] - table["expected_core_use"]) < 1).all()
    assert study.say_micro(table).count("\n") == 17


def test_schedules__the_push_ends_it_and_the_steal_halves_it():
    table = study.df_schedules()
    for scene, moves, idle in (("baseline", [], 38), ("steal", [("steal", "D")], 22), ("push", [("push", "A")], 6)):
        part = table[table["scene"] == scene]
        move = part[part["what"].isin(["steal", "push"])]
        assert list(zip(move["what"], move["task"])) == moves
        forced = part[part["what"] == "forced idle"]
        after = (forced["end_ms"] - forced["start_ms"].clip(lower=micro.RELEASE_MS)).clip(lower=0)
        assert after.sum() == pytest.approx(idle)
    assert "for 100 % with nothing to steal" in study.say_schedules(table)


# ------------------------------------------------------------------ what is measured


def test_causes__by_hand():
    """Task 0 leaves for its sibling guest's CPU, a VMM thread, and for nothing beside a task on the other sibling."""
    labels = ("vm1-hwlat", "vm0-stress", "vm0-vmm", "vm1-hwlat")
    rows = [(0, 0, 1, -1, 1), (5, 0, 0, 0, 3), (9, 0, 0, 0, 2), (12, 0, 0, 0, -1), (20, 0, 1, 1, 2), (20, 0, 0, 0, -1)]
    log = np.array(rows, [(name, "i8") for name in ("time", "kind", "cpu", "a", "b")])
    tasks = [SimpleNamespace(label=label) for label in labels]
    run = SimpleNamespace(
        log=log, kinds=("switch",), workload=SimpleNamespace(tasks=tasks), machine=sl.Machine.uniform(2, 2)
    )
    table = pd.DataFrame({"window": [0, 0, 1, 1], "gap_ns": [3, 3, 1, 2], "record": [1, 2, 3, 5]})
    assert [gaps.CAUSES[k] for k in gaps.causes_of(run, table)] == [
        "queued behind a vCPU of its own guest", "queued behind a VMM thread", "forced idle beside a stress vCPU",
        "forced idle beside a VMM thread",
    ]  # fmt: skip
    assert gaps.longest(table).tolist() == [True, False, False, True]


@pytest.fixture(scope="module")
def runs(small):
    return study.df_runs(small, progress=False)


def test_runs__causes_add_up_and_the_same_again(small, runs):
    causes = runs[list(measure.CAUSE_COLUMNS)].sum(axis=1)
    assert causes.to_numpy() == pytest.approx(runs["n_max"].to_numpy())
    assert (runs["n_max"] <= runs["n_sum"]).all() and (runs["n_max: other"] == 0).all()
    again = study.df_runs(small, ("push",), progress=False)
    pd.testing.assert_frame_equal(again, runs[runs["variant"] == "push"].reset_index(drop=True))
    assert runs.groupby("variant").size().eq(2).all() and set(runs["variant"]) == set(study.VARIANTS)


def test_runs__pushes_with_the_patch_alone(runs):
    pushes = runs.groupby("variant")["pushes"].sum()
    assert all((pushes[variant] > 0) == variant.startswith("push") for variant in pushes.index)


def test_tables__have_what_they_say(runs):
    noise, causes, work = study.df_noise(runs), study.df_causes(runs), study.df_work(runs)
    assert noise["n_max_of_baseline"].iloc[0] == 1 and len(causes) == len(gaps.CAUSES) * len(noise)
    assert (noise["n_max_low"] <= noise["n_max"]).all() and (work["stress_cpus"] <= 56.001).all()
    assert causes.groupby("variant")["n_max"].sum()["push"] == pytest.approx(
        noise.set_index("variant").loc["push", "n_max"]
    )


@pytest.mark.parametrize(
    ("patch", "column"), [("lb-no-active-balance", "nr_active_balances"), ("no-force-idle-steal", "nr_steals")]
)
def test_switches__do_what_they_say(small, patch, column):
    work = small.workload(vmm_burst="1ms")
    plain, without = (
        sl.simulate(small.machine, kernel, work, "10s").core_table[column].sum()
        for kernel in (small.kernel, small.kernel.with_patch(patch))
    )
    assert plain > 0 and without == 0


def test_tornado__every_setting_runs(small, runs):
    for factor, setting in tornado.SETTINGS:
        case = tornado._case(small, factor, setting, "push")
        assert measure.measure(**case | {"seconds": 0.5}, seed=0)["windows"] >= 0
    one = dict.fromkeys(("baseline", "push"), [{"n_max": 1.0, "n_sum": 2.0}, {"n_max": 1.5, "n_sum": 2.0}])
    assert tornado._row("HZ", "100", one)["push_over_baseline"] == 1


# ------------------------------------------------------------------ statistics and the factorial


def test_statistics__intervals():
    assert statistics.mean_interval([2.0, 2.0]) == (2.0, 2.0, 2.0)
    low, high = [1.0, 1.1, 0.9], [2.0, 2.1, 1.9]
    assert statistics.apart(low, high) and not statistics.apart(low, [1.0, 1.2, 1.1])
    ratio = statistics.ratio_interval(high, low)
    assert ratio[0] == pytest.approx(2) and ratio[1] < 2 < ratio[2]


def test_factorial__no_effect_is_mixed_up_with_another():
    levels = np.array(factorial.cells())
    effects = [levels[:, list(c)].prod(axis=1) for order in (1, 2) for c in itertools.combinations(range(5), order)]
    assert len(effects) == 15
    assert all(a @ b == 0 for a, b in itertools.combinations(effects, 2)) and all(e.sum() == 0 for e in effects)


def test_factorial__kernels(small):
    full = dict(zip(factorial.FACTORS, (1, 1, 1, 1, 1)))
    kernel = factorial.kernel_of(small, tuple(full.values()))
    assert kernel.hz == 1000 and kernel.has("force-idle-push") and not kernel.has("lb-no-active-balance")
    none = factorial.kernel_of(small, (-1, -1, -1, -1, -1))
    assert none.hz == 250 and none.has("lb-no-active-balance") and not none.has("wake-cookie-check")


def test_effects__finds_what_was_put_in():
    """Push halves, LB-c takes a third off, and together they are twice as bad as independence would have it."""
    rng = np.random.default_rng(1)
    rows = []
    for k, cell in enumerate(factorial.cells()):
        push, keep = cell[0] > 0, cell[1] > 0
        size = (0.5 if push else 1) * (2 / 3 if keep else 1) * (2 if push and keep else 1)
        for _ in range(20):
            value = size * np.exp(rng.normal(0, 0.05))
            rows.append((k, *cell, value, 3 * value))
    runs = pd.DataFrame(rows, columns=["cell", *factorial.FACTORS, "n_max", "n_sum"])
    found = study.df_effects(runs).set_index(["measure", "effect"])
    pair = found.loc[("n_max", "push x LB-c")]
    assert pair["factor"] == pytest.approx(2, rel=0.05) and pair["clear"]
    # a main effect is the geometric mean over both levels of the other
    assert found.loc[("n_max", "push"), "factor"] == pytest.approx(0.5 * 2**0.5, rel=0.02)
    assert not found.loc[("n_sum", "wake check"), "clear"]
    assert pair["plain"] == pytest.approx(2, rel=0.05) and pair["plain_clear"]  # the scatter is small: any mean does
    combined = study.df_combined(runs).set_index(["other", "level"])["factor"]
    assert combined["LB-c", "off"] == pytest.approx(0.5, rel=0.03) and combined["LB-c", "on"] == pytest.approx(
        1, rel=0.03
    )


def test_effects__runs_without_noise_weigh_in_geometric_means_alone():
    """One run in four of the push's cells has next to no noise; the others have a third more."""
    rows = [
        (k, *cell, value, value)
        for k, cell in enumerate(factorial.cells())
        for value in ([0.01, 4 / 3, 4 / 3, 4 / 3] if cell[0] > 0 else [0.9, 1.1, 0.9, 1.1])
    ]
    runs = pd.DataFrame(rows, columns=["cell", *factorial.FACTORS, "n_max", "n_sum"])
    row = study.df_effects(runs).set_index(["measure", "effect"]).loc[("n_max", "push")]
    assert row["factor"] < 0.5 and row["plain"] == pytest.approx(1.0, rel=0.01) and not row["plain_clear"]
    text = study.say_combined(made_up(), study.df_effects(runs), study.df_combined(runs))
    assert "by plain means: none. By both: none." in text and "LB-c off x0.39 (1.00)" in text


def test_tornado__names_the_settings_in_which_the_push_raises_the_noise():
    table = pd.DataFrame({"factor": ["", "HZ", "VMM burst"], "setting": ["as is", "100", "half"]})
    table = table.assign(baseline_n_max=1.0, baseline_n_sum=5.0, push_n_max=1.0, push_n_sum=2.0, push_over_baseline=1.0)
    text = study.say_tornado(table.assign(ratio_low=[0.9, 0.2, 1.4], ratio_high=[1.1, 0.5, 3.1]))
    assert "lies below 1: *HZ: 100*; above 1, so that the push *raises* N_max: *VMM burst: half*." in text


def test_factorial_runs__cells_and_seeds(small):
    table = study.df_factorial_runs(small, progress=False)
    assert len(table) == 32 and table.groupby("cell").size().eq(2).all()
    assert (table[list(factorial.FACTORS)].prod(axis=1) == 1).all()
    assert len(study.df_cells(table)) == 16


# ------------------------------------------------------------------ cost, and SMT off


def test_pushed_again__within_a_tenth_of_a_second_of_the_same_task():
    rows = [(0, 0, 0, 7, 1), (50_000_000, 0, 1, 7, 0), (60_000_000, 0, 1, 8, 0), (190_000_000, 0, 1, 7, 0)]
    log = np.array(rows, [(name, "i8") for name in ("time", "kind", "cpu", "a", "b")])
    assert cost.pushed_again(SimpleNamespace(log=log, kinds=("push",))) == 1


def test_cost__counts(small, monkeypatch):
    monkeypatch.setattr(cost, "RUNS", 1)
    monkeypatch.setattr(cost, "SECONDS", 2)
    table = study.df_cost(small, progress=False).set_index(["cpus", "variant"])
    base, push = table.loc[(32, "baseline")], table.loc[(32, "push")]
    assert base["locked"] == base["pushes"] == 0 and np.isnan(base["scanned_per_push"])
    assert push["scanned_per_callback"] > base["scanned_per_callback"]
    # a steal looks at the sibling, and then at all others of the machine
    assert base["scanned_per_callback"] <= 1 + 31
    assert [len(cost.machine_of(n).llcs) for n in (64, 512)] == [0, 8]


def test_smt_off__core_scheduling_wins_by_the_smt_factor_where_guests_fill_cores():
    table = study.df_smt_off(study.Scenario.of(quick=True), progress=False)
    full = table[table["load"] == 2].set_index(["guests", "host"])["of_smt_off"]
    pairs, singles = smt_off.GUESTS
    assert full[pairs, "core scheduling + push"] == pytest.approx(smt_off.SMT_GAIN, rel=0.02)
    assert full[singles, "core scheduling + push"] == pytest.approx(1, rel=0.02)
    crossover = study.df_crossover(table).set_index(["guests", "host"])
    assert 0.5 < crossover.loc[(pairs, "core scheduling"), "more_throughput_from"] < 1.25
    assert np.isnan(crossover.loc[(singles, "core scheduling"), "more_throughput_from"])


def test_busy__the_two_public_reports():
    by = study.df_busy(study.Scenario.of().kernel).set_index("layout")
    assert by["running"].head(3).tolist() == pytest.approx([8, 8, 4], abs=0.02)
    assert by["forced_idle"].head(3).tolist() == pytest.approx([0, 0, 4], abs=0.02)
    assert by.loc["2 guests of 2", "of_smt_off"] == pytest.approx(1.25, rel=0.02)
    assert by.loc["4 guests of 1", "of_smt_off"] == pytest.approx(1.0, rel=0.02)


# ------------------------------------------------------------------ the comparison


def made_up(**levels):
    """Runs of every variant that scatter by 10 % around a level, 1 unless given."""
    rng = np.random.default_rng(0)
    parts = []
    for variant in study.VARIANTS:
        scatter = 1 + 0.1 * rng.standard_normal(30)
        values = levels.get(variant.replace("+", "_"), 1.0) * scatter
        parts.append(pd.DataFrame({"variant": variant, "n_max": values, "n_sum": 4 * values}))
    table = pd.concat(parts, ignore_index=True)
    for column in measure.CAUSE_COLUMNS:
        table[column] = table["n_max"] / len(measure.CAUSE_COLUMNS)
    return table


@pytest.fixture(scope="module")
def compared_with():
    tables = dict(
        micro=study.df_micro(),
        smt_off=study.df_smt_off(study.Scenario.of(quick=True), progress=False),
        busy=study.df_busy(study.Scenario.of().kernel),
    )
    return lambda runs, **options: study.compare(study.Scenario.of(**options), runs=runs, **tables)


def test_compare__what_agrees_and_what_does_not(compared_with):
    runs = made_up(push=1.1, lb_c=0.4, push_lb_c=0.7)
    found = compared_with(runs)
    by = found.table().set_index("quantity")
    assert by.loc["noise_percent.baseline", ["role", "agrees"]].tolist() == ["calibration", True]
    assert by.loc["noise_percent.push", ["role", "agrees"]].tolist() == ["prediction", False]
    assert by.loc["noise_percent.push+lb_c", ["role", "agrees"]].tolist() == ["prediction", False]
    assert by.loc["noise_sum_percent.push_minus_baseline", "agrees"] is False
    assert set(by.loc[["noise_percent.lb_a", "noise_percent.lb_b", "noise_percent.lb_c"], "role"]) == {"context"}
    failures = study.df_failures(found, runs)
    assert set(failures["quantity"]) >= {"noise_percent.push", "noise_percent.push+lb_c"}
    text = study.say_verdict(study.Scenario.of(), found, runs)
    assert "LB-c alone is the quieter one" in text


def test_compare__overlapping_intervals_are_not_shown(compared_with):
    found = compared_with(made_up(push=0.6, lb_c=0.5, push_lb_c=0.49))
    row = found.table().set_index("quantity").loc["noise_percent.push+lb_c"]
    assert row["role"] == "context" and row["claim"].endswith(comparison.NOT_SHOWN)
    line = next(line for line in study.say_comparison(found).splitlines() if "`noise_percent.push+lb_c`" in line)
    assert "| context |" in line and line.endswith("| not shown |")
    clear = compared_with(made_up(push=0.6, lb_c=0.5, push_lb_c=0.3)).table().set_index("quantity")
    assert clear.loc["noise_percent.push+lb_c", ["role", "agrees"]].tolist() == ["prediction", True]
    assert clear.loc["noise_percent.push", "agrees"] is True


def test_compare__another_set_up_is_not_judged(compared_with):
    by = compared_with(made_up(), vcpus=4).table().set_index("quantity")
    assert set(by[by.index.str.startswith("noise")]["role"]) == {"context"}


def test_compare__micro_reports_and_order_agree(compared_with):
    table = compared_with(made_up()).table()
    rest = table[~table["quantity"].str.startswith("noise")]
    assert rest["agrees"].eq(True).all() and len(rest) == 7 + 5 + 4


def test_together__product_and_verdict():
    table = comparison.df_together(made_up(push=0.8, lb_c=0.5, push_lb_c=0.3)).set_index(["other", "measure"])
    row = table.loc[("lb_c", "n_max")]
    assert row["product"] == pytest.approx(0.4, rel=0.1) and (row["best"], row["below_best"]) == ("lb_c", "yes")
    assert table.loc[("lb_a", "n_max"), "below_best"] in ("no", "not shown")
    assert scenario.MAIN[0] == "baseline"
