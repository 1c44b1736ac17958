"""The log as spans: small scenarios whose times are worked out by hand."""

import dataclasses

import pytest

import schedlab as sl
from schedlab import timeline
from schedlab.engine import record

MS = 1_000_000
KERNEL = sl.Kernel.version("6.6").without_patch("interleave-timers")


def _run(tasks, duration, groups=(), cpus=1, kernel=KERNEL, **options):
    return sl.simulate(
        sl.Machine.uniform(cpus), kernel, sl.Workload(groups, tasks), duration, **({"log": True} | options)
    )


def _rows(table):
    return [tuple(row) for row in table.itertuples(index=False)]


HOG = (sl.Task("hog", sl.run("9s"), group="/a"),)
LIMITED = (sl.Group("/a", quota_us=20_000),)


def test_spans__two_cpus():
    # nap runs 3 ms and sleeps 2 ms, twice; job begins at 1 ms
    nap = sl.Task("nap", sl.repeat(2, sl.run("3ms"), sl.sleep("2ms")), cpus=0)
    job = sl.Task("job", sl.run("4ms"), group="/g", cpus=1, start_ns="1ms")
    run = _run((nap, job), "20ms", (sl.Group("/g"),), cpus=2)
    assert _rows(run.spans()) == [
        (0, 0, 3 * MS, "nap", "/"),
        (0, 5 * MS, 8 * MS, "nap", "/"),
        (1, 1 * MS, 5 * MS, "job", "/g"),
    ]


def test_spans__what_still_runs_ends_with_the_run():
    run = _run((sl.Task("hog", sl.run("9s")),), "7ms", log="switch")
    assert _rows(run.spans()) == [(0, 0, 7 * MS, "hog", "/")]


def test_spans__two_tasks_in_turn_fill_the_cpu():
    run = _run((sl.Task("x", sl.run("9s")), sl.Task("y", sl.run("9s"))), "100ms")
    spans = run.spans()
    assert (spans["start_ns"].to_numpy()[1:] == spans["end_ns"].to_numpy()[:-1]).all()
    assert spans["end_ns"].iloc[-1] == 100 * MS
    ran = (spans["end_ns"] - spans["start_ns"]).groupby(spans["task"]).sum()
    assert ran.to_dict() == run.tasks().set_index("name")["exec_ns"].to_dict()


def test_spans__empty_run_has_the_columns():
    run = _run((sl.Task("late", sl.run("1ms"), start_ns="9ms"),), "5ms")
    assert _rows(run.spans()) == [] and list(run.spans()) == ["cpu", "start_ns", "end_ns", "task", "group"]


def test_throttled_spans__a_hog_uses_its_quota_at_once():
    # 20 ms of every 100 ms, used from the refill on; the tick at 20 ms after it finds none left
    run = _run(HOG, "250ms", LIMITED)
    assert _rows(run.spans()) == [
        (0, 0, 20 * MS, "hog", "/a"),
        (0, 100 * MS, 120 * MS, "hog", "/a"),
        (0, 200 * MS, 220 * MS, "hog", "/a"),
    ]
    assert _rows(run.throttled_spans()) == [
        (0, "/a", 20 * MS, 100 * MS, True),
        (0, "/a", 120 * MS, 200 * MS, True),
        (0, "/a", 220 * MS, 250 * MS, False),
    ]


@pytest.mark.parametrize("version", ["6.1", "6.12"])
def test_throttled_spans__closed_ones_are_throttled_usec(version):
    hogs = tuple(sl.Task(f"hog{k}", sl.run("9s"), group=f"/{'ab'[k % 2]}") for k in range(4))
    groups = (sl.Group("/a", quota_us=20_000), sl.Group("/b", quota_us=50_000))
    run = _run(hogs, "1s", groups, cpus=2, kernel=sl.Kernel.version(version))
    spans = run.throttled_spans()
    closed = spans[spans["closed"]]
    sums = (closed["end_ns"] - closed["start_ns"]).groupby(closed["group"]).sum() // 1000
    assert sums.to_dict() == run.cpu_stat()["throttled_usec"].drop("/").to_dict()


def test_spans__of_a_log_that_was_cut_end_with_it():
    run = _run(HOG, "1s", LIMITED, log=["switch", "throttle", "unthrottle"], log_limit=4)
    assert run.log_until_ns == 100 * MS  # switch, throttle, switch, unthrottle
    with pytest.warns(UserWarning, match="lost"):
        assert _rows(run.spans()) == [(0, 0, 20 * MS, "hog", "/a")]
    with pytest.warns(UserWarning, match="lost"):
        assert _rows(run.throttled_spans()) == [(0, "/a", 20 * MS, 100 * MS, True)]


@pytest.mark.parametrize("method", ["spans", "throttled_spans"])
@pytest.mark.parametrize("log", [False, "wake", "unthrottle"])
def test_spans__need_their_log(method, log):
    with pytest.raises(ValueError, match=rf"{method}\(\) needs"):
        getattr(_run(HOG, "10ms", LIMITED, log=log), method)()


def test_spans__a_task_that_moves_changes_its_group():
    nap = sl.Task("nap", sl.repeat(2, sl.run("3ms"), sl.sleep("2ms")))
    run = _run((nap, sl.Task("late", sl.run("1ms"), start_ns="9ms")), "20ms", (sl.Group("/a"), sl.Group("/b")))
    # as if it had moved: the spans are those of the log, their groups those of the workload
    moves = (sl.SetGroup("6ms", "nap", "/b"), sl.SetGroup("1ms", "nap", "/a"))
    run = dataclasses.replace(run, workload=run.workload.replace(events=moves))
    assert _rows(run.spans()) == [
        (0, 0, 1 * MS, "nap", "/"),
        (0, 1 * MS, 3 * MS, "nap", "/a"),
        (0, 5 * MS, 6 * MS, "nap", "/a"),
        (0, 6 * MS, 8 * MS, "nap", "/b"),
        (0, 9 * MS, 10 * MS, "late", "/"),
    ]


def test_fields__every_kind_of_event_has_a_meaning():
    assert set(timeline.FIELDS) == set(record.KINDS)


def test_describe__each_kind():
    run = _run(HOG, "150ms", LIMITED)
    said = {run.kinds[line["kind"]]: timeline.describe(run, line) for line in run.log[::-1]}
    assert said["start"] == "start hog on CPU 0" and said["switch"] == "switch idle -> hog on CPU 0"
    assert said["throttle"] == "throttle /a on CPU 0"
    assert said["period"].startswith("period /a, pool ") and said["period"].endswith(" ns")


@pytest.mark.parametrize("time_ns, text", [(0, "0 ms"), (1, "0.000001 ms"), (12_000_500, "12.0005 ms")])
def test_say_time__exact(time_ns, text):
    assert timeline.say_time(time_ns) == text
