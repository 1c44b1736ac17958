"""Tables and picture of a run, without widgets; by hand where the numbers are small."""

import pandas as pd
import pytest

import schedlab as sl
from schedlab.explore import Scenario, Tables, View, export
from schedlab.explore.tables import df_forced_idle, df_usage


def _run(groups, tasks, length, kernel="6.12", machine=None):
    workload = sl.Workload(groups, tasks)
    return sl.simulate(machine or sl.Machine.uniform(1), sl.Kernel.version(kernel), workload, length, log=True)


def _hog(name, group):
    return sl.Task(name, sl.repeat(None, sl.run("1s")), group=group)


def test_usage__one_hog_on_one_cpu_by_hand():
    """Quota 20 of 50 ms, timer at 10 + 50 k: what the log says the hog ran, split at 10, 60 and 110 ms."""
    run = _run((sl.Group("/a", quota_us=20_000, period_us=50_000, phase_us=10_000),), (_hog("h", "/a"),), "120ms")
    usage = df_usage(run)
    assert usage["start_ns"].tolist() == [0, 10_000_000, 60_000_000, 110_000_000]
    assert usage["end_ns"].tolist() == [10_000_000, 60_000_000, 110_000_000, 120_000_000]
    assert usage["whole"].tolist() == [False, True, True, False]
    spans = run.spans()
    for row in usage.itertuples():
        ran = spans["end_ns"].clip(upper=row.end_ns) - spans["start_ns"].clip(lower=row.start_ns)
        assert row.usage_ns == ran.clip(lower=0).sum()
    assert usage["usage_ns"].sum() == run.cpu_stat().loc["/a", "usage_usec"] * 1000
    assert (usage["quota_ns"] == 20_000_000).all()


def test_usage__a_group_without_a_limit_counts_in_windows_of_100_ms():
    usage = df_usage(_run((sl.Group("/a"),), (_hog("h", "/a"),), "250ms"))
    assert usage["usage_ns"].tolist() == [100_000_000, 100_000_000, 50_000_000]
    assert usage["quota_ns"].isna().all() and usage["whole"].tolist() == [True, True, False]


@pytest.mark.parametrize("seed", range(4))
def test_usage__adds_up_to_the_usage_of_each_group(seed):
    run = Scenario.of(nr_groups=3, period_ms=[20, 70], quota_ms=[30, 90, 0], load=[60, 100], seed=seed).run()
    sums = df_usage(run).groupby("group")["usage_ns"].sum() // 1000
    assert sums.to_dict() == run.cpu_stat()["usage_usec"].iloc[1:].to_dict()


def test_forced_idle__adds_up_to_what_the_run_counts():
    run = Scenario(machine="uniform-4cpu-smt2", cookies=True, length_ms=300).run()
    idle = df_forced_idle(run)
    sums = (idle["end_ns"] - idle["start_ns"]).groupby(idle["cpu"]).sum().reindex(range(4), fill_value=0)
    assert sums.tolist() == run.forced_idle()["forced_idle_ns"].tolist() and sums.sum() > 0


def test_forced_idle__none_without_core_scheduling():
    idle = df_forced_idle(Scenario(length_ms=100).run())
    assert len(idle) == 0 and list(idle.columns) == ["cpu", "start_ns", "end_ns"]


# ------------------------------------------------------------------ the picture


def test_svg__is_well_formed_and_names_what_it_shows():
    from xml.etree import ElementTree

    view = View.of(Scenario(cookies=True, machine="uniform-4cpu-smt2", length_ms=300))
    root = ElementTree.fromstring(view.svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"/a", "/b", "idle", "CPU 0", "CPU 3", "ms", "forced idle by core scheduling"} <= set(texts)
    assert root.find("{http://www.w3.org/2000/svg}title").text.startswith("Schedule of 4 CPUs")


def test_svg__boxes_are_where_the_schedule_is():
    """One hog on one CPU for the whole of 100 ms: a single box over the whole width of the panel."""
    from schedlab.figures.explore import Shown, lay_out
    from schedlab.figures.explore.layout import _LEFT, _RIGHT, _WIDTH, PALETTE
    from schedlab.figures.explore.scene import Boxes

    run = _run((sl.Group("/a"),), (_hog("h", "/a"),), "100ms")
    tables = Tables.of(run)
    shown = Shown(tables.spans, tables.throttled, tables.forced_idle, tables.usage, ("/a",), ((0,),), 0, 100_000_000)
    boxes = [item for item in lay_out(shown).items if isinstance(item, Boxes) and item.colour == PALETTE[0]]
    assert boxes[0].corners[:, [0, 2]].tolist() == [[_LEFT, _WIDTH - _RIGHT]]


def test_view__window_alone_does_not_simulate_again():
    whole = View.of(Scenario(length_ms=200))
    part = View.of(Scenario(length_ms=200), 50, 60, last=whole)
    assert part.run is whole.run and part.svg != whole.svg
    assert View.of(Scenario(length_ms=200, seed=1), 50, 60, last=whole).run is not whole.run


@pytest.mark.parametrize("window", [(0, 0), (200, 200), (150, 999), (0, 1)])
def test_view__any_window_shows_at_least_a_millisecond(window):
    view = View.of(Scenario(length_ms=200), *window)
    assert 0 <= view.start_ms <= view.end_ms - 1 <= 199
    assert "<svg" in view.svg


def test_view__the_same_picture_in_each_run():
    assert View.of(Scenario(length_ms=200)).svg == View.of(Scenario(length_ms=200)).svg


def test_cpu_stat__is_a_table_in_the_kernels_words():
    text = View.of(Scenario.of(quota_ms=[0, 300], burst_ms=[0, 50], length_ms=200)).cpu_stat_html
    assert "max 100000" in text and "300000 100000, burst 50000" in text and "nr_throttled" in text


# ------------------------------------------------------------------ export


def test_export__files_are_what_the_view_shows(tmp_path):
    view = View.of(Scenario(length_ms=200), 50, 150)
    exported = export(view, tmp_path)
    assert {path.name for path in exported.paths} == {
        "explore.svg", "explore.pdf", "explore.png", "cpu_stat.csv", "usage.csv", "spans.csv", "throttled.csv",
        "forced_idle.csv", "explore.py",
    }  # fmt: skip
    assert all(path.is_file() for path in exported.paths)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "tables" / "usage.csv"), view.tables.usage, check_dtype=False)
    stat = pd.read_csv(tmp_path / "tables" / "cpu_stat.csv")
    assert stat["usage_usec"].tolist() == view.tables.cpu_stat["usage_usec"].tolist()
    assert (tmp_path / "scenarios" / "explore.py").read_text() == view.scenario.code()
    assert str(tmp_path) not in exported._repr_html_()


def test_export__the_same_bytes_twice(tmp_path):
    view = View.of(Scenario(length_ms=100, cookies=True))
    first, second = (export(view, tmp_path / name) for name in "ab")
    assert [path.read_bytes() for path in first.paths] == [path.read_bytes() for path in second.paths]
