"""What-if: the question, the host as it was, the search, and the example against what was measured."""

import dataclasses
import shutil

import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab.studies import what_if as study
from schedlab.studies.what_if.host import Host
from schedlab.studies.what_if.question import parse_limit
from schedlab.studies.what_if.runs import scenario
from schedlab.studies.what_if.search import _bisect
from schedlab.studies.what_if.seen import seen_latencies

NOW = study.Limit(40_000, 100_000)


@pytest.fixture(scope="module")
def example():
    return study.load(study.path_of("example"), "/service/web")


def _made(*tasks, quota_us=30_000, duration="2s", cpus=1, **fields):
    """A host that is made up: a group with some tasks."""
    work = sl.Workload((sl.Group("/a", quota_us=quota_us),), tasks)
    kernel = sl.Kernel.version("6.12")
    base = dict(demand="as made up", demand_known=True, measured={}, measured_ns=sl.s(2), seen_ns={}) | fields
    return Host("made", "/a", sl.Machine.uniform(cpus), kernel, work, sl.units.to_ns(duration), **base)


def _job(work, period):
    return sl.Task(
        "job", (sl.mark(), sl.repeat(None, sl.run(work), sl.sample(), sl.timer(period, period))), "/a", label="/a"
    )


# ---- the question ----------------------------------------------------------------------------------------------------


def test_question__all_combinations_and_those_that_the_kernel_refuses():
    asked = study.Question.of(NOW, quota="150ms,200ms", burst="0,50ms", period="100ms,20ms", phase="aligned,random")
    assert len(asked.limits) == 8 and asked.phases == ("aligned", "random") and not asked.skipped
    asked = study.Question.of(NOW, quota="20ms,60ms", burst="0,50ms")
    assert [str(one) for one in asked.limits] == ["20 ms / 100 ms", "60 ms / 100 ms", "60 ms / 100 ms, burst 50 ms"]
    assert asked.skipped == ("20 ms / 100 ms, burst 50 ms: burst_us=50000: at most quota_us=20000",)


def test_question__millicores_go_with_the_period_and_max_has_no_burst():
    asked = study.Question.of(NOW, quota="500m,max", burst="20ms", period="100ms,50ms")
    assert [(one.quota_us, one.burst_us) for one in asked.limits] == [
        (50_000, 20_000),
        (None, 0),
        (25_000, 20_000),
        (None, 0),
    ]
    assert study.Question.of(NOW).limits == (NOW,)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"quota": "150"}, "quota='150': a time is a number and a unit"),
        ({"quota": "0.5ms"}, "quota='0.5ms': at least 1 ms"),
        ({"period": "2s"}, "period='2s': at least 1 ms, at most 1000 ms"),
        ({"burst": "-1ms"}, "burst='-1ms': at least 0 ms"),
        ({"burst": "60ms"}, "the kernel takes none of the combinations"),
        ({"phase": "randum"}, "did you mean 'random'"),
        ({"quota": "1.0005us"}, "quota="),
    ],
)
def test_question__refused_in_one_line(given, told):
    with pytest.raises(ValueError) as error:
        study.Question.of(NOW, **given)
    assert told in str(error.value) and "\n" not in str(error.value)


def test_parse_limit():
    assert parse_limit("max") == study.Limit(None, 100_000)
    assert str(parse_limit("40ms/50ms/5ms")) == "40 ms / 50 ms, burst 5 ms"
    with pytest.raises(ValueError, match="quota/period/burst"):
        parse_limit("1ms/1ms/1ms/1ms")


def test_around__a_limit_and_none():
    assert study.around(study.Limit(2_000, 100_000), 4) == ["1.6ms", "1.8ms", "2ms", "2.4ms", "2.8ms", "3.2ms"]
    assert study.around(study.Limit(1_000, 100_000), 4)[:2] == ["1ms", "1.2ms"]
    assert study.around(study.Limit(None, 100_000), 4)[-1] == "400ms"


# ---- the search ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("border", "found"), [(0, 10), (10, 10), (37, 40), (94, 95), (95, 95), (96, None)])
def test_bisect__smallest_on_the_grid(border, found):
    tried = []

    def fails(value):
        tried.append(value)
        return value < border

    assert _bisect(fails, 10, 95, 5) == (found, len(tried))
    assert len(tried) <= 7 and len(set(tried)) == len(tried)


def test_smallest_quota__of_a_job_is_what_it_uses():
    """45 ms every 100 ms on one CPU: 45 ms are enough wherever the timer lies, 44 are not."""
    runs = study.Runs(_made(_job("45ms", "100ms")), 3)
    asked = study.Question.of(runs.host.now)
    row = study.df_quota(runs, asked).iloc[0]
    assert 44_000 <= row["quota_us"] <= 46_000 and row["seeds"] == 3 and row["resolution_us"] == 1000
    assert not runs.throttles(study.Limit(int(row["quota_us"]), 100_000), "random")
    assert runs.throttles(study.Limit(int(row["quota_us"]) - 1000, 100_000), "random")


def test_smallest_burst__of_alternating_jobs():
    """10 and 50 ms in turn: 30 ms are the mean, and 20 ms of burst carry over what the small ones leave."""
    program = sl.repeat(None, sl.run("10ms"), sl.timer("100ms", "100ms"), sl.run("50ms"), sl.timer("100ms", "100ms"))
    runs = study.Runs(_made(sl.Task("job", program, "/a", label="/a"), quota_us=35_000), 2)
    table = study.df_burst(runs, study.Question.of(runs.host.now, quota="35ms,80ms"))
    small, large = table.itertuples()
    assert 8_000 <= small.burst_us <= 20_000 and large.burst_us == 0


def test_search__without_an_answer():
    runs = study.Runs(
        _made(*(sl.Task(f"hog{k}", sl.repeat(None, sl.run("1s")), "/a", label="/a") for k in range(2))), 2
    )
    asked = study.Question.of(runs.host.now)
    burst = study.df_burst(runs, asked)
    assert burst["burst_us"].isna().all()
    said = study.say_answers(runs.host, asked, study.df_quota(runs, asked), burst)
    assert "no burst removes throttling" in said and "Demand: as made up" in said


# ---- the runs --------------------------------------------------------------------------------------------------------


def test_runs__same_numbers_again_and_remembered():
    host, counted = _made(_job("45ms", "100ms")), []
    first, again = study.Runs(host, 3, counted.append), study.Runs(host, 3)
    assert repr(first.rows(host.now, "random")) == repr(again.rows(host.now, "random"))  # nan is not itself
    first.rows(host.now, "random")
    assert len(counted) == len(first) == 3


def test_scenario__aligned_timers_share_a_clock_and_random_ones_do_not():
    host = _made(_job("45ms", "100ms"))
    kernel, work = scenario(host, study.Limit(50_000, 20_000, 5_000), "aligned", 1)
    (group,) = work.groups
    assert (group.quota_us, group.period_us, group.burst_us) == (50_000, 20_000, 5_000)
    assert scenario(host, host.now, "aligned", 1)[1].groups[0].phase_us == group.phase_us
    assert scenario(host, host.now, "aligned", 2)[1].groups[0].phase_us != group.phase_us
    old = dataclasses.replace(host, kernel=sl.Kernel.version("6.1"))
    kernel, work = scenario(old, host.now, "random", 1)
    assert kernel.timer_phase == "random" and work.groups[0].phase_us is None and old.default_phase == "aligned"


def test_combinations__a_job_and_its_latency():
    runs = study.Runs(_made(_job("20ms", "100ms")), 2)
    table = study.df_combinations(runs, study.Question.of(runs.host.now, quota="30ms,10ms,max"))
    enough, less, free = (table.iloc[k] for k in range(3))
    assert enough["nr_throttled_high"] == 0 and less["nr_throttled_low"] >= 17
    assert enough["completion_p50_ms"] == pytest.approx(20, rel=0.02) and enough["nr_completed"] == 20
    assert less["completion_p99_ms"] > 500 and pd.isna(free["quota_us"]) and free["nr_periods"] == 0
    assert set(table["demand"]) == {"as made up"}


def test_seen__latencies_of_a_recording():
    spans = pd.DataFrame(
        [
            (7, "sleeping", 0, 10), (7, "runnable", 10, 12), (7, "running", 12, 20), (7, "runnable", 20, 25),
            (7, "running", 25, 30), (7, "sleeping", 30, 50), (7, "running", 50, 51), (7, "sleeping", 60, 70),
            (7, "running", 70, 75), (7, "sleeping", 75, 80), (8, "running", 0, 5), (8, "sleeping", 5, 9),
        ],
        columns=["pid", "state", "start_ns", "end_ns"],
    )  # fmt: skip
    seen = seen_latencies(spans, {7, 8})
    # what ends at 51 is not known, and 8 ran when the recording began
    assert sorted(seen["wakeup"]) == [0, 0, 2] and sorted(seen["completion"]) == [5, 20]


# ---- hosts -----------------------------------------------------------------------------------------------------------


def test_example__is_replayed_as_it_was(example):
    """The snapshot of a busy host: usage, periods and throttling from its recording alone."""
    replay = study.df_replay(study.Runs(example, 6)).set_index("measure")
    assert example.now == study.Limit(50_000, 100_000) and example.kernel.release == "6.18"
    for name in ("nr_periods", "nr_throttled", "throttled_ms", "usage_ms"):
        assert replay.loc[name, "inside"], replay.loc[name]
    assert len(example.seen_ns["completion"]) > 400


def test_example__other_limits_in_the_order_in_which_they_were_measured(example):
    runs, measured = study.Runs(example, 4), study.df_measured()
    measured = measured[measured["period_us"] == 100_000].groupby(["quota_us", "burst_us"])["nr_throttled"].mean()
    limits = [study.Limit(quota_us, 100_000, burst_us) for quota_us, burst_us in measured.index]
    model = [np.mean([row["nr_throttled"] for row in runs.rows(limit, "random")]) for limit in limits]
    assert np.corrcoef(model, measured.to_numpy())[0, 1] > 0.97


def test_example__text_names_what_is_not_known(example):
    said = study.say_host(example, study.Question.of(example.now, quota="20ms,60ms", burst="30ms"))
    assert "switch from idle missing" in said and "not asked: 20 ms / 100 ms, burst 30 ms" in said
    assert "Demand: as recorded in service-web" in said
    assert "requests that came meanwhile" in study.say_replay(example, study.df_replay(study.Runs(example, 1)))


def test_replay__says_what_lies_outside_the_range_but_is_allowed(example):
    names = ["measure", "unit", "measured", "predicted", "low", "high", "slack", "inside", "source"]
    rows = [
        ("nr_throttled", "", 5.0, 8.0, 5.993, 12.98, 1.0, True, "cpu.stat"),
        ("throttled_ms", "ms", 107.0, 141.0, 66.0, 237.0, 0.0, True, "cpu.stat"),
    ]
    said = study.say_replay(example, pd.DataFrame(rows, columns=names))
    assert "1 of them only by what was allowed (a count by 1, usage by 2 %): nr_throttled (5, model 5.993 to" in said


def test_combinations__each_is_a_row_with_all_percentiles(example):
    runs = study.Runs(example, 2)
    table = study.df_combinations(runs, study.Question.of(example.now, quota="60ms", burst="0,20ms"))
    head, _, first, second = study.say_combinations(table).splitlines()[2:]
    assert head.count(" p99.9 (ms)") == 2 and head.count("|") == first.count("|") == 11
    assert first.startswith("| 60 ms / 100 ms | random |") and "burst 20 ms" in second


def test_failures__numbers_of_the_explanation_are_those_of_the_table(example):
    runs = study.Runs(example, 2)
    comparison = study.compare(runs, study.df_replay(runs), others=True)
    why = study.df_failures(example, comparison).set_index("quantity")["why"]
    tail = why[why.index.str.endswith("completion_p99_ms")]
    now = study.df_measured().query("quota_us == 50_000")["response_p99_us"] / 1000
    assert len(tail) and f"measured later {now.min():.3g} to {now.max():.3g} ms" in tail.iloc[0]


@pytest.fixture
def silent(tmp_path):
    """The example without its recording."""
    folder = tmp_path / "snap"
    shutil.copytree(study.path_of("example"), folder)
    (folder / "trace.txt.gz").unlink()
    return folder


def test_snapshot__without_a_trace_needs_a_named_demand_model(silent):
    with pytest.raises(
        ValueError, match="snap: a snapshot without a trace does not tell .*constant or periodic"
    ) as told:
        study.load(silent, "/service/web")
    assert "\n" not in str(told.value)
    for demand, text in (("constant", "a share of each ms"), ("periodic", "each 50 ms")):
        answer = study.ask(
            silent, "/service/web", demand=demand, demand_period="50ms", duration="1s", quota="20ms", seeds=2
        )
        assert not answer.host.demand_known
        for table in answer.tables.values():
            assert (
                table["demand"].str.contains("NOT RECORDED, assumed").all() and table["demand"].str.contains(text).all()
            )
        usage = answer.replay.set_index("measure").loc["usage_ms"]
        assert usage["predicted"] == pytest.approx(usage["measured"], rel=0.02)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"group": "/service/wbe"}, "did you mean '/service/web'"),
        ({"group": "/"}, "the root group has no limit"),
        ({"group": "/service", "tasks": "web*"}, "a snapshot tells it"),
        ({"group": "/service/web", "kernel": "5.15"}, "before 6.1 is not modelled"),
        ({"group": "/service/web", "demand": "wild"}, "one of constant, periodic"),
    ],
)
def test_snapshot__refused_in_one_line(options, told):
    with pytest.raises(ValueError) as error:
        study.load(study.path_of("example"), **options)
    assert told in str(error.value) and "\n" not in str(error.value)


def test_trace_alone__needs_the_groups_tasks(tmp_path):
    trace = study.path_of("example") / "trace.txt.gz"
    with pytest.raises(ValueError, match="does not tell which tasks a group holds"):
        study.load(trace, "/web")
    with pytest.raises(ValueError, match="no task of /web ran"):
        study.load(trace, "/web", tasks="nobody*")
    with pytest.raises(ValueError, match="a trace tells the demand"):
        study.load(trace, "/web", tasks="web.*", demand="constant")
    stat = tmp_path / "cpu.stat"
    stat.write_text("usage_usec 2220319\nnr_periods 60\nnr_throttled 5\nthrottled_usec 107046\n")
    host = study.load(trace, "/web", tasks="web.*", was="50ms/100ms", kernel="6.18", cpu_stat=str(stat))
    assert host.now == study.Limit(50_000, 100_000) and host.measured["nr_throttled"] == 5
    assert study.df_replay(study.Runs(host, 2)).set_index("measure").loc["usage_ms", "inside"]
    bare = study.load(trace, "/web", tasks="web.*")
    assert any("6.12 is taken" in note for note in bare.notes) and bare.now.quota_us is None


def test_v1__a_child_above_its_parent_is_refused(silent):
    (silent / "sys/fs/cgroup/cpu/service/cpu.cfs_quota_us").write_text("60000\n")
    with pytest.raises(ValueError, match="/service"):
        study.ask(silent, "/service/web", demand="constant", quota="70ms", seeds=1)


def test_names_out_of_files_are_escaped(example):
    host = dataclasses.replace(example, name="<script>x</script>", demand="<b>|`$")
    asked = study.Question.of(host.now)
    quota = pd.DataFrame(columns=["period_us", "burst_us", "phase", "quota_us"])
    burst = pd.DataFrame(columns=["quota_us", "period_us", "phase", "burst_us"])
    said = study.say_host(host, asked) + study.say_answers(host, asked, quota, burst)
    assert "<script>" not in said and "<b>" not in said and "&lt;script&gt;" in said
    answer = study.Answer(host, asked, quota, quota, quota, burst, 0)
    assert "<script>" not in answer._repr_html_() and "<b>|" not in answer._repr_html_()
