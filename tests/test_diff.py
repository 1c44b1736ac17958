"""diff(): where two logs part, and what else differs."""

import dataclasses

import numpy as np
import pytest

import schedlab as sl

MACHINE = sl.Machine.uniform(1)
KERNEL = sl.Kernel.version("6.6").without_patch("interleave-timers")


def _nap(length, name="t"):
    return sl.Task(name, sl.repeat(2, sl.run(length), sl.sleep("2ms")))


def _run(*tasks, duration="20ms", groups=(), kernel=KERNEL, log=True, **options):
    return sl.simulate(MACHINE, kernel, sl.Workload(groups, tasks), duration, log=log, **options)


@pytest.fixture(scope="module")
def short():
    return _run(_nap("3ms"))


@pytest.fixture(scope="module")
def parted(short):
    return sl.diff(short, _run(_nap("4ms")))


# ------------------------------------------------------------------ logs


def test_diff__equal_runs(short):
    found = sl.diff(short, _run(_nap("3ms")))
    assert found.first is None and found.log_equal is True and found.notes == ()
    assert found.nr_compared == len(short.log) and found.until_ns == 20_000_000
    assert len(found.context()) == len(found.counters()) == len(found.inputs()) == 0
    assert str(found) == f"the logs are equal up to 20 ms ({len(short.log)} records); 0 counters differ"


def test_diff__first_difference_by_hand(parted):
    # start and switch at 0 are the same; then one blocks at 3 ms, the other at 4 ms
    assert (parted.first.index, parted.first.time_ns, parted.nr_compared) == (2, 3_000_000, 2)
    assert parted.first.a == "block t on CPU 0 at 3 ms" and parted.first.b == "block t on CPU 0 at 4 ms"
    assert parted.log_equal is False
    assert str(parted).startswith("the logs part at record 2: a has block t on CPU 0 at 3 ms; b has block t")
    assert "\n" not in str(parted)


def test_context__lines_of_both(parted):
    table = parted.context(1)
    assert list(table.index) == [1, 2, 3]
    assert list(table["same"]) == [True, False, False]
    assert list(table["a"]) == ["switch idle -> t on CPU 0", "block t on CPU 0", "switch t -> idle on CPU 0"]
    assert list(table["b_time_ns"]) == [0, 4_000_000, 4_000_000]
    assert len(parted.context(100)) == max(len(parted.a.log), len(parted.b.log))
    with pytest.raises(ValueError, match="n=-1: at least 0"):
        parted.context(-1)


def test_diff__one_has_nothing_more(short):
    found = sl.diff(short, _run(_nap("3ms"), sl.Task("late", sl.run("1ms"), start_ns="15ms")))
    assert found.first.a is None and found.first.b == "start late on CPU 0 at 15 ms"
    assert "a has nothing more" in str(found)
    assert found.context(0)["a_time_ns"].isna().all()
    mirrored = sl.diff(found.b, found.a)
    assert mirrored.first.b is None and mirrored.first.time_ns == 15_000_000


def test_diff__shorter_run_is_no_difference(short):
    found = sl.diff(_run(_nap("3ms"), duration="6ms"), short)
    assert found.first is None and found.log_equal and found.until_ns == 6_000_000
    assert found.notes == ("the comparison holds up to 6 ms (a ends at 6 ms, b ends at 20 ms)",)
    assert list(found.inputs()["input"]) == ["duration_ns"]


def test_diff__shorter_run_can_differ_before_its_end(short):
    late = sl.Task("late", sl.run("1ms"), start_ns="15ms")
    found = sl.diff(_run(_nap("3ms"), duration="18ms"), _run(_nap("3ms"), late))
    assert found.first.time_ns == 15_000_000 and found.first.a is None


def test_diff__log_that_was_cut(short):
    cut = _run(_nap("3ms"), log_limit=4)
    found = sl.diff(short, cut)
    assert found.first is None and found.nr_compared == 4 and found.until_ns == cut.log["time"][-1]
    assert found.notes[0] == f"the log of b was cut ({len(short.log) - 4} records lost)"
    assert found.notes[1] == "the comparison holds up to 3 ms (a ends at 20 ms, b ends at 20 ms)"
    assert sl.diff(cut, _run(_nap("4ms"))).first.index == 2


def test_diff__common_kinds_alone(short):
    found = sl.diff(short, _run(_nap("3ms"), log=["block", "switch"]))
    assert found.first is None and found.kinds == ("switch", "block")
    assert found.notes[0].startswith("not compared, logged in a alone: wake, exit, start")
    other = sl.diff(_run(_nap("3ms"), log=["switch", "exit"]), _run(_nap("4ms"), log=["switch", "wake"]))
    assert other.kinds == ("switch",) and other.first.index == 1
    assert other.first.a == "switch t -> idle on CPU 0 at 3 ms"
    assert len(other.notes) == 2


@pytest.mark.parametrize(
    "logs, note",
    [
        ((True, False), "run b has no log"),
        ((False, False), "neither run has a log"),
        (("wake", "exit"), "no kind of event was logged in both"),
    ],
)
def test_diff__nothing_to_compare(logs, note):
    found = sl.diff(*(_run(_nap("3ms"), log=log) for log in logs))
    assert found.first is None and found.log_equal is None and found.kinds == ()
    assert str(found) == f"the logs were not compared; {note}; 0 counters differ"
    assert note in found._repr_html_()
    with pytest.raises(ValueError, match=rf"log_kinds=.*context\(\): {note}"):
        found.context()


def test_diff__names_count_and_not_numbers():
    hog, nap = sl.Task("hog", sl.run("9s"), group="/a"), sl.Task("late", sl.run("1ms"), start_ns="9s")
    limited = sl.Group("/a", quota_us=5_000)
    one = _run(hog, nap, groups=(limited,), duration="300ms")
    two = _run(nap, hog, groups=(sl.Group("/0"), limited), duration="300ms")
    assert (one.log["a"] != two.log["a"]).any()
    found = sl.diff(one, two)
    assert found.first is None and found.nr_compared == len(one.log)
    assert found.inputs().values.tolist() == [["group /0", None, "there"]]


def test_diff__kinds_by_name_as_well(short):
    kinds = short.kinds[::-1]
    log = short.log.copy()
    log["kind"] = len(kinds) - 1 - log["kind"]
    other = dataclasses.replace(short, kinds=kinds, log=log)
    assert sl.diff(short, other).first is None and sl.diff(other, short).first is None


def test_diff__of_a_run_and_its_method(short, tmp_path):
    loaded = sl.Run.load(short.save(tmp_path / "run"))
    assert short.diff(loaded).log_equal and short.diff(loaded).first is None


@pytest.mark.parametrize("wrong", [None, "run", 3, sl.Run])
def test_diff__needs_runs(short, wrong):
    with pytest.raises(ValueError, match="^run_b=.*: a Run, as simulate"):
        sl.diff(short, wrong)
    with pytest.raises(ValueError, match="^run_a="):
        sl.diff(wrong, short)


# ------------------------------------------------------------------ counters and inputs


def test_counters__values_and_order(parted):
    table = parted.counters()
    row = table.set_index(["table", "name", "counter"]).loc[("task", "t", "exec_ns")]
    assert tuple(row) == (6e6, 8e6, 2e6, pytest.approx(100 / 3))
    sizes = table["percent"].abs().fillna(-1).to_numpy()
    assert (np.diff(sizes) <= 0).all() and (table["a"] != table["b"]).all()
    everything = parted.counters(everything=True)
    assert len(everything) > len(table) and {"run", "power", "cpu.stat", "task"} <= set(everything["table"])


def test_counters__from_zero_first_and_missing_last(short):
    more = _run(_nap("3ms"), _nap("1ms", "other"))
    table = sl.diff(short, more).counters()
    assert table.loc[0, ["counter", "a", "percent"]].tolist() == ["wait_ns", 0.0, np.inf]
    missing = table[table["a"].isna()]
    assert set(missing["name"]) == {"other", "other wakeup"} and missing["percent"].isna().all()
    assert missing.index.tolist() == list(range(len(table) - len(missing), len(table)))


def test_counters__an_open_end_is_missing():
    one, two = _run(_nap("3ms"), duration="5ms"), _run(_nap("3ms"))
    table = sl.diff(one, two).counters().set_index("counter")
    assert np.isnan(table.loc["end_ns", "a"]) and table.loc["end_ns", "b"] == 10_000_000


def test_counters__power_where_it_is_known():
    machine = sl.Machine.uniform(1, watts=sl.Watts(10.0, 4.0, 1.0))
    runs = [sl.simulate(machine, KERNEL, sl.Workload(tasks=(_nap(n),)), "20ms") for n in ("3ms", "4ms")]
    table = sl.diff(*runs).counters().set_index("counter")
    assert table.loc["mean_w", "b_minus_a"] == pytest.approx(5 * 2 / 20)


def test_inputs__what_was_changed():
    limited, wider = sl.Group("/a", quota_us=5_000), sl.Group("/a", quota_us=8_000)
    hog = sl.Task("hog", sl.run("9s"), group="/a")
    one = _run(hog, groups=(limited,))
    other = KERNEL.with_(hz=1000, costs=sl.Costs(context_switch_ns=100)).with_patch("golden")
    two = _run(dataclasses.replace(hog, nice=5), groups=(wider,), kernel=other, seed=4, log=False)
    assert sl.diff(one, two).inputs().values.tolist() == [
        ["kernel.hz", 250, 1000],
        ["kernel.patches", (), ("golden",)],
        ["kernel.costs.context_switch_ns", 0, 100],
        ["group /a quota_us", 5_000, 8_000],
        ["task hog nice", 0, 5],
        ["seed", 0, 4],
    ]
    assert len(sl.diff(one, two).inputs(everything=True)) > 30


def test_inputs__other_version_machine_and_name():
    work = sl.Workload(tasks=(_nap("3ms"),))
    one = sl.simulate(sl.Machine.uniform(1), sl.Kernel.version("6.1"), work, "5ms", log=True)
    two = sl.simulate(sl.Machine.uniform(2), sl.Kernel.version("6.12"), work.replace(name="w"), "5ms", log=True)
    table = sl.diff(one, two).inputs().set_index("input")
    assert tuple(table.loc["kernel.asked"]) == ("6.1", "6.12") and tuple(table.loc["workload.name"]) == ("", "w")
    assert {"machine.name", "machine.cores", "kernel.policy"} <= set(table.index)


def test_repr_html__tables_and_nothing_unescaped():
    runs = [_run(_nap(n, "<b>t</b>")) for n in ("3ms", "4ms")]
    shown = sl.diff(*runs)._repr_html_()
    assert "<b>t</b>" not in shown and "&lt;b&gt;t" in shown
    assert shown.count("<table") == 3 and "What was counted" in shown
