"""sweep(): the table, what is refused, and what a store brings back."""

import functools
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sweeps import GRID, counted, digest, plain, scenario

import schedlab as sl
from schedlab import provenance
from schedlab.sweep import Plan, PointFailed
from schedlab.sweep.points import changed, expand
from schedlab.sweep.progress import Estimate, in_words
from schedlab.sweep.work import encode

quiet = functools.partial(sl.sweep, progress=False)


def base():
    return scenario()


# ------------------------------------------------------------------ the table


def test_table__one_row_a_point_and_seed_in_order():
    table = quiet(scenario, GRID, seeds=2)
    assert list(table.columns[:3]) == ["quota_us", "hz", "seed"]
    rows = [(q, hz, seed) for q in GRID["quota_us"] for hz in GRID["hz"] for seed in (0, 1)]
    assert list(table[["quota_us", "hz", "seed"]].itertuples(index=False, name=None)) == rows


def test_table__is_what_simulate_says():
    table = quiet(scenario, GRID, seeds=[7])
    for row in table.to_dict("records"):
        run = sl.simulate(*scenario(row["quota_us"], row["hz"]), seed=7)
        stat = run.cpu_stat().loc["/a"]
        for name in ("usage_usec", "nr_periods", "nr_throttled", "throttled_usec", "throttled_percent"):
            assert row[name] == stat[name], name
        latency = run.latencies().set_index("kind")
        assert row["sample_p99_us"] == latency.loc["sample", "p99_us"]
        assert row["wakeup_max_us"] == latency.loc["wakeup", "max_us"]


def test_table__the_same_with_any_number_of_threads_and_from_fields_or_a_function():
    one = quiet(scenario, GRID, seeds=3, workers=1)
    assert digest(one) == digest(quiet(scenario, GRID, seeds=3, workers=4))
    assert digest(one) == digest(quiet(base(), GRID, seeds=3))
    listed = [{"quota_us": q, "hz": hz} for q in GRID["quota_us"] for hz in GRID["hz"]]
    assert digest(one) == digest(quiet(base(), listed, seeds=3))


def test_table__several_scenarios_by_name_and_by_number():
    named = quiet({"short": scenario(duration="20ms"), "long": scenario()}, {"hz": [250, 1000]}, reduce=plain)
    assert named["scenario"].tolist() == ["short", "short", "long", "long"]
    assert quiet([scenario(), scenario(2_000)], reduce=plain)["scenario"].tolist() == [0, 1]


def test_table__nouns_are_shown_by_name():
    kernels = [sl.Kernel.version("6.12"), sl.Kernel.version("6.1").with_patch("staggered")]
    table = quiet(base(), {"kernel": kernels, "machine": ["vm-32cpu"]}, reduce=plain)
    assert table["kernel"].tolist() == ["6.12", "6.1+staggered"]
    assert table["machine"].tolist() == ["vm-32cpu"] * 2


def test_table__columns_that_not_all_rows_have():
    def odd(run):
        return {"a": 1, "b": 2} if run.seed else {"a": 1}

    table = quiet(base(), seeds=2, reduce=odd)
    assert table["b"].isna().tolist() == [True, False]
    assert list(table.columns) == ["seed", "a", "b"]


def test_reduce__one_number_is_a_column():
    assert quiet(base(), reduce=lambda run: run.nr_events)["value"].dtype == "int64"


def test_encode__missing_is_missing_however_written():
    import numpy as np

    assert json.loads(encode({"a": float("nan"), "b": np.float64("nan"), "c": np.int32(3), "d": np.True_})) == {
        "a": None,
        "b": None,
        "c": 3,
        "d": True,
    }


# ------------------------------------------------------------------ fields


def test_changed__every_kind_of_name():
    two = sl.Workload((sl.Group("/a"), sl.Group("/b", quota_us=9_000)), (sl.Task("t", sl.run("1ms"), group="/a"),))
    start = sl.Machine.uniform(2), sl.Kernel.version("6.1"), two, "1s"
    values = {"/b.burst_us": 5_000, "/b.quota_us": 5_000, "hz": 1000, "costs.tick_ns": 7, "patches": "staggered"}
    machine, kernel, work, duration = changed(start, values | {"speed": (1.0, 0.5), "duration": "2s"})
    assert (work.groups[1].quota_us, work.groups[1].burst_us, work.groups[0].quota_us) == (5_000, 5_000, None)
    assert (kernel.hz, kernel.costs.tick_ns, kernel.timer_phase) == (1000, 7, "staggered")
    assert (machine.speed, duration) == ((1.0, 0.5), "2s")


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ({"quotaus": [1]}, "did you mean 'quota_us'"),
        ({"hzz": [1]}, "did you mean 'hz'"),
        ({"/a.quotaus": [1]}, "did you mean '/a.quota_us'"),
        ({"hz": [251]}, "hz=251: one of 100, 250, 300, 1000"),
        ({"quota_us": [5]}, "quota_us=5"),
        ({"hz": 250}, "grid['hz']=250: a list of values"),
        ({"hz": "250"}, "a list of values"),
        ({"hz": []}, "no point in it"),
        ({"hz": [250, 250]}, "occurs twice"),
        ({"seed": [1]}, "columns already"),
        ([{"hz": 250}, {"quota_us": 5_000}], "each point gives the same parameters"),
        (["hz"], "a dict of name and value"),
        ({"machine": ["vm-32cqu"]}, "did you mean 'vm-32cpu'"),
        ({"kernel": ["5.4"]}, "5.4"),
        ({"duration": ["0s"]}, "duration="),
        ({"hz": [object()]}, "a number, a text or one of schedlab's nouns"),
    ],
)
def test_grid__mistake_is_one_line_before_anything_runs(grid, told):
    with pytest.raises(ValueError) as caught:
        quiet(base(), grid, reduce=lambda run: pytest.fail("ran"))
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_grid__field_of_one_of_several_groups():
    two = sl.Workload((sl.Group("/a"), sl.Group("/b")))
    with pytest.raises(ValueError, match="of which group.*: /a.quota_us, /b.quota_us"):
        quiet((*base()[:2], two, "1s"), {"quota_us": [5_000]})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (((scenario, {"quotas_us": [1]})), "scenario() has no parameter of that name; did you mean 'quota_us'"),
        ((lambda x, y: scenario(), {"x": [1]}), "needs y too"),
        ((lambda: 5,), "(machine, kernel, workload, duration)"),
        (("6.12",), "(machine, kernel, workload, duration)"),
        (([],), "none given"),
    ],
)
def test_scenario__mistake_is_one_line(arguments, told):
    with pytest.raises(ValueError) as caught:
        quiet(*arguments)
    assert told in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"seeds": 0}, "seeds=0: at least 1"),
        ({"seeds": [1, 1]}, "each once"),
        ({"seeds": []}, "one or more"),
        ({"seeds": [-1]}, "seeds=-1"),
        ({"seeds": True}, "how many, or which"),
        ({"workers": 0}, "workers=0"),
        ({"reduce": 5}, "reduce=5"),
        ({"lgo": True}, "did you mean 'log'"),
        ({"store": __file__}, "not a folder to write to"),
    ],
)
def test_options__mistake_is_one_line(options, told):
    with pytest.raises(ValueError) as caught:
        quiet(base(), **options)
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_point_that_cannot_run__is_named():
    loop = sl.Workload(tasks=(sl.Task("t", sl.repeat(10_000_000, sl.mark())),))
    with pytest.raises(PointFailed, match="hz=250 seed=0: task t: a million steps"):
        quiet((*base()[:2], loop, "1s"), {"hz": [250]})


@pytest.mark.parametrize("workers", [1, 4])
def test_several_points_that_cannot_run__the_first_is_named_whatever_ends_first(workers):
    fifth_failed = threading.Event()

    def fails(run):
        if run.seed == 5:
            fifth_failed.set()
        elif run.seed == 3 and workers > 1:
            assert fifth_failed.wait(60)
        return plain(run) if run.seed < 3 else {}[run.seed]

    with pytest.raises(PointFailed, match="seed=3: KeyError: 3"):
        quiet(scenario(), seeds=20, workers=workers, reduce=fails)


@pytest.mark.parametrize(
    ("reduce", "told"),
    [
        (lambda run: {"x": [1, 2]}, r"reduce gave x=\[1, 2\]: each column is a number"),
        (lambda run: run.nothing, "seed=0: AttributeError"),
        (lambda run: {"seed": 1}, "a parameter's already"),
    ],
)
def test_reduce__what_is_no_row_is_told(reduce, told):
    with pytest.raises((PointFailed, ValueError), match=told):
        quiet(base(), reduce=reduce)


def test_function_that_makes_something_else_each_time__is_told(tmp_path):
    quotas = iter(range(2_000, 3_000))
    with pytest.raises(ValueError, match="something else of it the second time"):
        quiet(lambda: scenario(next(quotas)))


def test_expand__does_not_make_the_points():
    assert len(expand(lambda x: pytest.fail("made"), {"x": range(1000)})) == 1000


# ------------------------------------------------------------------ the store


def ran(folder):
    return len(list(folder.iterdir()))


@pytest.fixture
def runs(tmp_path):
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def test_store__finished_points_are_not_run_again(tmp_path, runs):
    reduce = functools.partial(counted, str(runs))
    first = quiet(scenario, GRID, seeds=2, reduce=reduce, store=tmp_path / "store")
    assert ran(runs) == 8
    again = quiet(scenario, GRID, seeds=2, reduce=reduce, store=tmp_path / "store")
    assert ran(runs) == 8 and digest(first) == digest(again)
    more = quiet(scenario, GRID | {"hz": [250, 1000, 300]}, seeds=3, reduce=reduce, store=tmp_path / "store")
    assert ran(runs) == 18 and len(more) == 18
    assert digest(quiet(scenario, GRID, seeds=2, reduce=plain)) == digest(first)


def test_store__interrupt_leaves_what_was_finished(tmp_path, runs):
    """Ctrl-C after the fifth point; the second call runs the rest, and the table is that of a call in one go."""
    reduce = functools.partial(counted, str(runs))

    def interrupt(done, total, found):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sl.sweep(scenario, GRID, seeds=5, reduce=reduce, store=tmp_path / "store", workers=2, progress=interrupt)
    before = ran(runs)
    assert 5 <= before <= 5 + 4
    told = []
    resumed = sl.sweep(
        scenario, GRID, seeds=5, reduce=reduce, store=tmp_path / "store", progress=lambda *call: told.append(call)
    )
    found = told[0][0]
    assert told[0] == (found, 20, found) and told[-1] == (20, 20, found)
    # what had begun and was dropped may run twice; what was finished does not
    assert 5 <= found <= before and ran(runs) == before + 20 - found
    assert digest(resumed) == digest(quiet(scenario, GRID, seeds=5, reduce=plain))


def test_store__running_points_end_soon_after_an_interrupt(tmp_path):
    """A point that would take minutes does not keep the prompt away."""
    import time

    def interrupt(done, total, found):
        if done:
            raise KeyboardInterrupt

    grid = {"duration": ["10ms", "8000s"]}
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sl.sweep(scenario, grid, store=tmp_path, workers=2, reduce=plain, progress=interrupt)
    assert time.monotonic() - began < 30
    assert Plan(scenario, grid, store=tmp_path, reduce=plain).found == 1


def test_store__other_code_runs_anew_and_leaves_the_old(tmp_path, runs, monkeypatch):
    reduce = functools.partial(counted, str(runs))
    first = quiet(scenario, GRID, reduce=reduce, store=tmp_path / "store")
    with monkeypatch.context() as other:
        other.setattr(provenance, "code_digest", lambda: "0" * 64)
        assert digest(quiet(scenario, GRID, reduce=reduce, store=tmp_path / "store")) == digest(first)
        assert ran(runs) == 8
    quiet(scenario, GRID, reduce=reduce, store=tmp_path / "store")
    assert ran(runs) == 8 and len(list((tmp_path / "store").iterdir())) == 2


def test_store__damaged_and_cut_lines_are_run_again(tmp_path):
    whole = quiet(scenario, GRID, reduce=plain, store=tmp_path)
    (path,) = tmp_path.iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 5
    lines[1] = lines[1].replace(b'"usage_ns": ', b'"usage_ns": 1')
    path.write_bytes(b"".join(lines)[:-20])
    plan = Plan(scenario, GRID, reduce=plain, store=tmp_path)
    assert plan.found == 2
    assert digest(plan.run(progress=False)) == digest(whole)
    assert Plan(scenario, GRID, reduce=plain, store=tmp_path).found == 4


def test_store__every_length_of_a_cut_file_is_read(tmp_path):
    quiet(scenario, {"hz": [250]}, reduce=plain, store=tmp_path)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        assert Plan(scenario, {"hz": [250]}, reduce=plain, store=tmp_path).found == 0


def test_store__holds_no_pickle_and_says_what_a_row_is(tmp_path):
    quiet(scenario, {"hz": [250]}, seeds=[3], store=tmp_path)
    head, row = map(json.loads, next(tmp_path.iterdir()).read_text().splitlines())
    assert head["code_digest"] == provenance.code_digest() and "numba" in head["versions"]
    assert (row["point"], row["seed"]) == ({"hz": 250}, 3) and row["row"]["nr_periods"] > 0
    sources = (path.read_text() for path in Path(sl.__file__).parent.joinpath("sweep").glob("*.py"))
    assert not [text for text in sources if "import pickle" in text or "pickle.load" in text]


def test_store__a_killed_process_leaves_what_was_finished(tmp_path):
    """SIGKILL: rows are written as they end, so nothing is lost but what ran."""
    code = (
        "import sweeps, schedlab as sl, sys\n"
        "sl.sweep(sweeps.scenario, sweeps.GRID, seeds=5, reduce=sweeps.plain, store=sys.argv[1], workers=1,\n"
        "         progress=lambda done, total, found: done == 7 and sweeps.die())\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    ended = subprocess.run([sys.executable, "-c", code, tmp_path], env={**os.environ, "PYTHONPATH": path})
    assert ended.returncode == -9
    assert Plan(scenario, GRID, seeds=5, reduce=plain, store=tmp_path).found == 7


# ------------------------------------------------------------------ progress


def test_estimate__counts_what_was_run_and_not_what_was_found():
    now = [0.0]
    estimate = Estimate(lambda: now[0])
    assert str(estimate) == "no estimate yet"
    now[0] = 10.0
    estimate.update(600, 1000, 500)
    assert (estimate.per_second, estimate.left_s) == (10.0, 40.0)
    assert str(estimate) == "10 points/s, about 40 s left"


def test_in_words():
    assert [in_words(s) for s in (0.4, 59.4, 60, 3599, 3600)] == [
        "0 s",
        "59 s",
        "1 min 0 s",
        "59 min 59 s",
        "1 h 0 min",
    ]


def test_progress__bar_shows_the_time_left(capsys, tmp_path):
    sl.sweep(scenario, GRID, seeds=3, reduce=plain, progress=True)
    assert "12/12" in capsys.readouterr().err
