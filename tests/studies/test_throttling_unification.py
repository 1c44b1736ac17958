"""The study of the throttling unification: small cases by hand, and the numbers that it must show."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab import published
from schedlab.studies import throttling_unification as study
from schedlab.studies.real_kernels import df_hole_measured
from schedlab.studies.throttling_unification import (
    comparison,
    hackbench,
    hotplug,
    noise,
    overrun,
    statistics,
    steps,
    unthrottle,
)
from schedlab.studies.throttling_unification.scenario import OLD, SERIES, TIP

SUMMARY = published.load("throttling_hackbench")


@pytest.fixture(scope="module")
def scenario():
    return study.Scenario.of()


# ------------------------------------------------------------------ the scenario


def test_scenario__tip_and_series_differ_in_the_series_alone(scenario):
    tip, series, old = (scenario.kernels[name] for name in (TIP, SERIES, OLD))
    assert series.patches - tip.patches == sl.PATCHES.keys() & {
        "local-csd-unthrottle", "update-curr-before-unthrottle", "limbo-local-list", "throttle-at-account",
    }  # fmt: skip
    assert dataclasses.replace(tip, patches=series.patches) == series
    assert tip.hrtick and series.hrtick and not old.hrtick
    assert (tip.throttle_model, series.throttle_model, old.throttle_model) == ("task", "accounting", "task")


def test_scenario__what_is_judged(scenario):
    assert scenario.is_published and scenario.is_enough
    assert not study.Scenario.of(quick=True).is_enough and not study.Scenario.of(groups=2).is_published
    assert scenario.nr_boots >= 20 and scenario.nr_periods >= 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(machine="epyc"), "^machine='epyc'"),
        (dict(boots=1), "^boots=1: at least 2"),
        (dict(periods=0), "^periods=0: at least 1"),
        (dict(coarsen=0), "^coarsen=0: at least 1"),
        (dict(more_groups=[0]), "^more_groups=0: at least 1"),
    ],
)
def test_scenario__refused(options, message):
    with pytest.raises(ValueError, match=message):
        study.Scenario.of(**options)


# ------------------------------------------------------------------ one throttle (fact sheet D3)


def test_schedules__those_of_the_fact_sheet_exactly():
    table = study.df_schedules(most=4).set_index(["model", "hogs"])
    for model, calls in {"6.12": 1, "6.18": 2, "7.2": 1}.items():
        assert table.loc[(model, 1), ["schedules_low", "schedules_high"]].tolist() == [calls, calls]
    for hogs in range(1, 5):
        assert table.loc[("6.12", hogs), "schedules"] == 1 and table.loc[("6.12", hogs), "works"] == 0
        # each sibling is picked once and leaves
        assert table.loc[("6.18", hogs), ["schedules_low", "schedules_high", "works"]].tolist() == [hogs + 1] * 2 + [
            hogs
        ]
        assert table.loc[("7.2", hogs), ["schedules_low", "works"]].tolist() == [hogs, hogs]


def test_schedules__as_the_cpu_counts_them():
    """Of a hog alone: what the CPU counts in all is what the throttles take, and one for each unthrottle."""
    for kernel in study.scenario.models().values():
        run = steps.throttle_once(kernel)
        events = run.events()
        kinds = events["kind"].value_counts()
        at_throttle = events["time_ns"].isin(events.loc[events["kind"] == "throttle", "time_ns"])
        there = (at_throttle & (events["kind"] == "schedule")).sum()
        start = ((events["time_ns"] == 0) & (events["kind"] == "schedule")).sum()
        assert run.cpus().loc[0, "nr_schedules"] == there + kinds["unthrottle"] + start


def test_steps__in_order():
    table = study.df_steps()
    order = {model: part["event"].tolist() for model, part in table.groupby("model")}
    assert order["6.12"] == ["tick", "schedule", "throttle", "switch"]
    assert order["6.18"] == ["tick", "schedule", "throttle", "work", "limbo", "schedule", "switch"]
    assert order["7.2"] == ["tick", "throttle", "work", "limbo", "schedule", "switch"]
    assert table.groupby("model")["time_ms"].nunique().eq(1).all()


# ------------------------------------------------------------------ statistics, against tables of Student's t


@pytest.mark.parametrize(("df", "t"), [(1, 12.7062), (2, 4.30265), (5, 2.57058), (30, 2.04227), (1000, 1.96234)])
def test_t_quantile__five_percent(df, t):
    assert statistics.t_quantile(0.05, df) == pytest.approx(t, abs=1e-4)
    assert statistics.t_tail(t, df) == pytest.approx(0.05, abs=1e-5)


def test_welch__a_worked_example():
    """Equal spreads and numbers: the two-sample t of the textbooks."""
    found = statistics.welch(2.0, 3.0, 8, 3.0, 8)
    assert found["t"] == pytest.approx(2 / np.sqrt(9 / 8 + 9 / 8)) and found["df"] == pytest.approx(14)
    assert found["high"] - found["difference"] == pytest.approx(2.14479 * np.sqrt(9 / 4), abs=1e-3)


def test_welch__one_sample_where_the_other_has_no_spread():
    found = statistics.welch(1.0, 2.0, 10, 0.0, 10)
    assert found["df"] == pytest.approx(9) and found["t"] == pytest.approx(1 / (2 / np.sqrt(10)))


@pytest.mark.parametrize(("d", "n"), [(0.5, 64), (0.8, 26), (1.0, 17)])
def test_runs_needed__those_of_the_tables(d, n):
    """Two-sided 5 %, power 80 %, equal spreads: Cohen's table."""
    assert statistics.runs_needed(d, 1.0, 1.0) == n
    assert statistics.power_of(d, 1.0, 1.0, n) >= 0.8 > statistics.power_of(d, 1.0, 1.0, n - 1)


def test_power__simulated():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, (4000, 6)), rng.normal(1.5, 2, (4000, 6))
    found = [
        statistics.welch(y.mean() - x.mean(), x.std(ddof=1), 6, y.std(ddof=1), 6)["p"] < 0.05
        for x, y in zip(a[:600], b[:600])
    ]
    assert np.mean(found) == pytest.approx(statistics.power_of(1.5, 1.0, 2.0, 6), abs=0.06)


def test_runs_needed__no_difference():
    assert statistics.runs_needed(0.0, 1.0, 1.0) is None and statistics.runs_needed(1e-6, 1.0, 1.0) is None


@pytest.mark.parametrize("n", [3, 4, 5, 6, 9])
def test_fewest_runs__never_more_than_there_were(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        runs = np.round(rng.gamma(2.0, 2.0, n), 2)
        four = [np.round(f(runs), 2) for f in (np.min, np.median, np.mean, np.max)]
        assert statistics.fewest_runs(*four) <= n


def test_noise__the_published_summary():
    table = study.df_noise(SUMMARY).set_index("runs")
    # Welch by hand for n = 3: 7.07 / sqrt((1.02**2 + 7.37**2) / 3)
    assert table.loc[3, "t"] == pytest.approx(7.07 / np.sqrt((1.02**2 + 7.37**2) / 3))
    assert table.loc[3, "p"] > 0.2 and table.loc[5, "p"] > 0.05 > table.loc[10, "p"]
    assert not table.loc[3, "possible"] and table.loc[5, "possible"]
    assert study.published_fewest(SUMMARY) == 5 and study.published_needed(SUMMARY) == 11
    assert study.significant_from(SUMMARY) == 7
    assert table.loc[10, "power_percent"] < 80 < table.loc[20, "power_percent"]


def test_published__as_posted():
    table = noise.summary(SUMMARY)
    assert table.loc["amean"].tolist() == [208.29, 215.36] and table.loc["amean_stddev"].tolist() == [1.02, 7.37]
    assert len(table) == 8


# ------------------------------------------------------------------ hackbench, on a small machine


@pytest.fixture(scope="module")
def small():
    """A tree of the same shape on 32 CPUs with 4, 2 and 1 CPUs of quota, and hackbench of 8 tasks in each leaf."""
    scenario = study.Scenario.of(machine="vm-32cpu", boots=2, periods=2, more_groups=[])
    work = sl.workloads.hackbench.nested_hackbench(
        fds=4, coarsen=20, quotas_us=(400_000, 200_000, 100_000), cost_write=415, cost_read=415
    )
    boots = {name: hackbench.boot(scenario, kernel, work, 0, 2) for name, kernel in scenario.kernels.items()}
    return scenario, work, boots


def test_boot__what_the_quota_gives(small):
    _, _, boots = small
    for one in boots.values():
        # four CPUs in all, and a message takes its two calls and a share of a switch
        assert 0.83 <= one["cpu_us"] < 0.9
        assert one["wall_us"] == pytest.approx(one["cpu_us"] / 4, rel=0.1)
    assert boots[SERIES]["wall_us"] == pytest.approx(boots[TIP]["wall_us"], rel=0.05)


def test_boot__the_first_period_is_not_counted(small):
    _, _, boots = small
    levels = boots[TIP]["levels"]
    assert "/" not in levels.index and len(levels) == 7
    assert (levels["nr_periods"] == 2).all() and (levels["nr_throttled"] <= 2).all()


def _table(tip, series, old):
    rows = [
        (1, name, k, 10, round(1e6 / us), us, 0.83, 5000 if name == SERIES else 6000)
        for name, values in zip((TIP, SERIES, OLD), (tip, series, old))
        for k, us in enumerate(values)
    ]
    return pd.DataFrame(
        rows, columns=["groups", "kernel", "seed", "periods", "messages", "wall_us", "cpu_us", "schedules"]
    )


RUNS = _table([1.00, 1.01, 0.99, 1.00], [1.02, 1.03, 1.01, 1.02], [1.00, 1.01, 0.99, 1.00])


def test_hackbench__difference_and_interval_by_hand():
    row = study.df_hackbench(RUNS).set_index("kernel").loc[SERIES]
    assert row["difference_percent"] == pytest.approx(2.0)
    reach = 2.44691 * np.sqrt(2 * (0.02 / 300) / 4) * 100  # t of 6 degrees of freedom; variance 0.0002 / 3 each
    assert row["high_percent"] - row["difference_percent"] == pytest.approx(reach, rel=1e-3)
    # boot by boot the difference is always the same
    assert row["paired_low_percent"] == pytest.approx(2.0) and row["paired_high_percent"] == pytest.approx(2.0)
    assert 2 <= row["boots_needed"] <= 6
    assert not row["identical"] and row["schedules_per_s"] == pytest.approx(5000)
    # 4 * 1000 calls of 1.5 us, over 4 million messages of 0.83 us
    assert row["schedules_cost_percent"] == pytest.approx(100 * 6000 / (4e6 * 0.83), rel=0.01)


def test_hackbench__the_same_numbers():
    row = study.df_hackbench(RUNS).set_index("kernel").loc[OLD]
    assert row["difference_percent"] == 0 and row["p"] == 1 and row["identical"] and np.isnan(row["boots_needed"])


def test_fit__hits_the_published_cost(monkeypatch):
    small = study.Scenario.of(machine="vm-32cpu", quick=True, seed=3)
    monkeypatch.setattr(hackbench, "QUICK_FIT_PERIODS", 1)
    table = study.df_fit(small)
    used = table[table["in_use"]].iloc[0]
    assert abs(used["cpu_us_per_message"] - 0.83) < 0.0083 and table["in_use"].sum() == 1


def test_levels__sums_and_rates():
    counters = dict(nr_throttles=6, nr_rethrottled=3, nr_works=12, overrun_ns=12_000_000, usage_usec=400_000,
                    nr_periods=2, nr_throttled=1, throttled_usec=100_000)  # fmt: skip
    head = dict(groups=1, kernel=TIP, seed=0, periods=2, group="/CG0", level=1)
    row = study.df_levels(pd.DataFrame([head | counters])).iloc[0]
    assert row["throttles_per_s"] == pytest.approx(30) and row["rethrottled_percent"] == 50
    assert row["overrun_ms"] == pytest.approx(2.0) and row["usage_cpus"] == pytest.approx(2.0)
    assert row["periods_throttled_percent"] == 50 and row["throttled_cpus"] == pytest.approx(0.5)


# ------------------------------------------------------------------ overrun


@pytest.fixture(scope="module")
def beyond():
    return study.df_overrun(study.Scenario.of(quick=True)).set_index(["layout", "model", "section_ms"]).sort_index()


def test_overrun__whole_queue_stops_within_a_tick(beyond):
    assert (beyond.xs("6.12", level="model")["max_ms"] <= 4).all()


def test_overrun__grows_with_kernel_sections_on_per_task_kernels(beyond):
    for layout in overrun.LAYOUTS:
        for model in ("6.18", "7.2"):
            p99 = beyond.loc[(layout, model), "p99_ms"]
            assert p99.is_monotonic_increasing and p99.iloc[-1] > 10 * p99.iloc[0]


def test_overrun__bound_of_g5k_where_tasks_are_in_the_limited_group(beyond):
    flat = beyond.loc[[overrun.ONE, overrun.MANY]]
    assert (flat["max_ms"] <= flat["bound_ms"]).all()


@pytest.fixture(scope="module")
def told():
    return study.df_told(study.Scenario.of(quick=True)).set_index(["tree", "program", "beside", "model"]).sort_index()


def test_told__every_task_of_the_group_itself_is_stopped(told):
    assert told.loc["the group itself", "usage_over_quota"].max() < 1.06


def test_told__without_the_series_depth_does_not_matter(told):
    old = told[told.index.get_level_values("model") != "7.2"]
    assert old["usage_over_quota"].max() < 1.06


def test_told__tasks_of_a_child_go_on_in_the_model_of_7_2(told):
    """The finding: it follows from set_next_task_fair(), v7.2.13, as the model reads it."""
    new = told.xs("7.2", level="model")
    assert new.loc[("child without limit", "user hogs", "alone"), "usage_over_quota"] == pytest.approx(5, rel=0.01)
    assert new.loc[("child without limit", "user hogs", "alone"), "works"] == 1
    assert new.loc[("child without limit", "user hogs", overrun.BESIDE[1]), "usage_over_quota"] < 1.06


# ------------------------------------------------------------------ unthrottling


def test_counts__closed_form_is_what_the_engine_counts():
    table = study.df_counts(study.Scenario.of())
    assert table["equal"].all() and len(table) == 2 * 4 * len(unthrottle.SIMULATED)


def test_irqoff__price_puts_the_anchor_in_its_middle():
    assert unthrottle.irqoff(**study.ANCHOR)["longest_ms"] == pytest.approx(3.0)
    # 384 queues, 2001 groups, 52 tasks on 3 levels
    assert unthrottle.price_ns() == pytest.approx(3e6 / (384 + 2001 + 156))


def test_irqoff__inline_over_async_is_near_the_number_of_cpus():
    for cpus in (64, 256, 512):
        assert 0.95 * cpus < unthrottle.inline_over_async(1_000_000, cpus) <= cpus
    assert unthrottle.inline_over_async(**study.LOCKUP) == pytest.approx(256, rel=0.25)


def test_irqoff__sums_of_inline_and_async_are_equal():
    table = study.df_irqoff().set_index(["groups", "cpus"])
    inline, later = (table.loc[table["way"] == way, "total_ms"] for way in ("inline", "async"))
    assert inline.to_numpy() == pytest.approx(later.to_numpy())


# ------------------------------------------------------------------ hotplug (fact sheet F5)


def test_hotplug__nothing_to_gain_without_operations_or_with_the_fix():
    for name, kernel in hotplug.kernels().items():
        assert hotplug.used_s(kernel, None) == pytest.approx(10.0, abs=0.032)
        if name == "fixed":
            assert hotplug.used_s(kernel, 53, 0.5) == pytest.approx(10.0, abs=0.032)


def test_hotplug__bypass_without_the_fix():
    used = [hotplug.used_s(hotplug.kernels()["buggy"], ms, 0.5) for ms in (970, 97, 31)]
    assert used[1] > 12 and used == sorted(used)


def test_implied_rate__between_two_points():
    table = pd.DataFrame(dict(kernel="buggy", operations_per_s=[0.0, 10.0, 20.0], used_s=[10.0, 14.0, 13.0]))
    assert study.implied_rate(table, 12.0) == pytest.approx(5.0)
    assert np.isnan(study.implied_rate(table, 15.0)) and np.isnan(study.implied_rate(table, 9.0))


# ------------------------------------------------------------------ the comparison


def _found(runs=None):
    runs = RUNS if runs is None else runs
    fit = pd.DataFrame([dict(cost_ns=415, cpu_us_per_message=0.83, in_use=True)])
    schedules = pd.DataFrame(
        [dict(model=m, hogs=1, schedules_low=n, schedules_high=n) for m, n in steps.SCHEDULES.items()]
    )
    plugged = pd.DataFrame(
        [("buggy", np.nan, 10.01), ("buggy", 97.0, 14.0), ("fixed", np.nan, 10.01), ("fixed", 97.0, 10.02)],
        columns=["kernel", "every_ms", "used_s"],
    )
    return dict(runs=runs, fit=fit, schedules=schedules, hotplugged=plugged, published=SUMMARY)


def test_compare__names_roles_and_verdicts(scenario):
    table = study.compare(scenario, **_found()).table().set_index("quantity")
    assert set(table.index) >= {
        "hackbench_ratio.amean", "hackbench_ratio.median", "hackbench_cov.tip", "hackbench_cov.series",
        "hackbench_us_per_message", "hotplug_bypass_s.none", "hotplug_bypass_s.buggy", "hotplug_bypass_s.fixed",
    }  # fmt: skip
    assert table.loc["hackbench_us_per_message", ["role", "agrees"]].tolist() == ["calibration", True]
    assert table.loc["hackbench_ratio.amean", ["role", "agrees"]].tolist() == ["prediction", True]
    assert table.loc["hackbench_ratio.amean", "published"] == pytest.approx(215.36 / 208.29)
    assert table.loc["schedules_per_throttle.6.18", "agrees"]
    failures = study.df_failures(scenario, study.compare(scenario, **_found()))
    assert failures["quantity"].tolist() == ["hackbench_cov.series"] and "not explained" not in set(failures["why"])


def test_compare__another_scenario_or_few_boots_is_context():
    for other in (study.Scenario.of(groups=4), study.Scenario.of(quick=True)):
        runs = RUNS.assign(groups=other.groups)
        table = study.compare(other, **_found(runs)).table().set_index("quantity")
        assert set(table.loc[table.index.str.startswith("hackbench"), "role"]) == {"context"}
        assert table.loc["hotplug_bypass_s.buggy", "role"] == "prediction"


def test_check_claims__speaks_up(scenario):
    found = _found()
    counts = pd.DataFrame({"equal": [True]})
    study.check_claims(study.compare(scenario, **found), found["schedules"], counts)
    with pytest.raises(AssertionError, match="closed form"):
        study.check_claims(study.compare(scenario, **found), found["schedules"], pd.DataFrame({"equal": [False]}))
    with pytest.raises(AssertionError, match="calibrated, but off: hackbench_us_per_message"):
        dear = _found(RUNS.assign(cpu_us=0.9))
        study.check_claims(study.compare(scenario, **dear), found["schedules"], counts)
    with pytest.raises(AssertionError, match="schedule calls"):
        study.check_claims(study.compare(scenario, **found), found["schedules"].assign(schedules_low=3), counts)


def test_tolerances__are_those_that_were_named():
    assert comparison.MEANS_RATIO == (0.95, 1.05) and comparison.SPREAD_FACTOR == 2 and comparison.RATIO_FACTOR == 2
    assert comparison.HOTPLUG_S["buggy"] == (12.0, None) and comparison.HOTPLUG_S["fixed"] == (9.968, 10.032)


# ------------------------------------------------------------------ sentences


def test_say__numbers_come_from_the_tables(scenario):
    sums = study.df_hackbench(RUNS)
    assert "+2.00 % against tip" in study.say_hackbench(scenario, sums)
    same = study.df_hackbench(RUNS.assign(wall_us=1.0, messages=1000))
    text = study.say_hackbench(scenario, same)
    assert "changes no boot" in text and "for nothing" in text
    assert "boot by boot +0.00 to +0.00 %" in text
    assert "no number of boots" in study.say_noise(study.df_noise(SUMMARY), same, SUMMARY, 1)
    text = study.say_noise(study.df_noise(SUMMARY), sums, SUMMARY, 1)
    assert "**11 runs a side**" in text and "no fewer than 5" in text and "fewer than 7 runs a side it cannot" in text
    assert "HRTICK" in study.say_scenario(scenario)
    assert "A quick run" in study.say_scenario(study.Scenario.of(quick=True))
    assert "1 call of" in study.say_steps(study.df_schedules(most=2))


def test_say_told__what_was_measured_is_read_from_the_recordings():
    row = dict(program="user hogs", tasks=2, usage_over_quota=5.0, throttles=1, works=1)
    rows = [
        row | dict(model=model, beside=beside, tree=tree)
        for model in ("6.18", "7.2")
        for beside in ("alone", "beside a hog")
        for tree in ("child without limit", "child with a limit")
    ]
    runs = df_hole_measured().query("variant != 'Nalone' and condition == 'CPU kept free'")
    share = runs[runs["version"].str.startswith("7.2.")]["share_percent"]
    text = study.say_told(pd.DataFrame(rows))
    assert f"{share.min():.0f} to {share.max():.0f} % where the CPU was kept free" in text
    assert "Guests with 6.12.117, 6.18.15, 6.19.14, 7.0.13, 7.1.13, 7.3.4 got at most 10.1 %" in text


def test_say_overrun__hrtick_does_the_opposite_only_where_it_does():
    rows = [
        dict(layout=overrun.ONE, model=model, section_ms=ms, p99_ms=4.0, max_ms=4.0, bound_ms=9.0)
        for model in ("6.12", "6.18", "7.2", overrun.NO_HRTICK)
        for ms in (0.1, 10.0)
    ]
    table = pd.DataFrame(rows)
    assert "does the opposite" not in study.say_overrun(table)
    worse = table["model"].eq("7.2") & table["section_ms"].eq(10)
    assert "does the opposite: 25 ms" in study.say_overrun(table.assign(p99_ms=table["p99_ms"].mask(worse, 25.0)))
