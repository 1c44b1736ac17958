"""Run: tables, saving and loading, histograms."""

import json

import numpy as np
import pytest

import schedlab as sl
from schedlab.engine import record


@pytest.fixture(scope="module")
def run():
    groups = (sl.Group("/a", quota_us=20_000, phase_us=0), sl.Group("/free"))
    nap = sl.repeat(None, sl.run("3ms"), sl.sleep(sl.exponential("2ms")), sl.sample())
    tasks = (sl.Task("hog", sl.run("9s"), group="/a"), sl.Task("nap", nap, group="/free"))
    return sl.simulate(sl.Machine.uniform(2), sl.Kernel.version("6.12"), sl.Workload(groups, tasks), "1s", log=True)


def test_save_and_load__same_digest(run, tmp_path):
    again = sl.Run.load(run.save(tmp_path / "run"))
    assert again.digest() == run.digest()
    assert again.workload == run.workload and again.kernel == run.kernel and again.machine == run.machine
    assert again.latencies().equals(run.latencies())
    assert again.events().equals(run.events())


def test_load__changed_table_is_refused(run, tmp_path):
    folder = run.save(tmp_path / "run")
    head = json.loads((folder / "run.json").read_text())
    head["seed"] += 1
    (folder / "run.json").write_text(json.dumps(head))
    with pytest.raises(ValueError, match="do not match"):
        sl.Run.load(folder)


@pytest.mark.parametrize("name", ["hists.parquet", "buckets.parquet", "bucket_edges.csv", "task_table.parquet"])
@pytest.mark.parametrize("content", [None, b"", b"PAR1 and no more"])
def test_load__file_missing_or_damaged_is_one_line(run, tmp_path, name, content):
    folder = run.save(tmp_path / "run")
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(
        ValueError, match="^folder=.*: (a file of it is missing or damaged|the tables do not match)"
    ) as caught:
        sl.Run.load(folder)
    assert "\n" not in str(caught.value)


def test_load__no_run_there(tmp_path):
    with pytest.raises(ValueError, match="run.json"):
        sl.Run.load(tmp_path)


def test_cpu_stat__usage_adds_up(run):
    stat, tasks = run.cpu_stat(), run.tasks()
    assert stat.loc["/", "usage_usec"] == tasks["exec_ns"].sum() // 1000
    assert (tasks["exec_ns"] == tasks["user_ns"] + tasks["kernel_ns"]).all()
    assert (tasks["exec_ns"] + tasks["wait_ns"]).max() <= run.duration_ns


def test_throttling__says_what_is_not_limited(run):
    said = run.throttling()
    assert said["/free"] == "not limited"
    assert said["/a"].startswith("throttled in 9 of 9 periods (100 %)")


def test_switches__names(run):
    table = run.switches()
    assert set(table["next"]) == {"hog", "nap", "idle"}
    assert (table["time_ns"].diff().dropna() >= 0).all()


def test_events__need_a_log(run):
    quiet = sl.simulate(run.machine, run.kernel, run.workload, "10ms")
    with pytest.raises(ValueError, match="log=True"):
        quiet.events()


def test_log_limit__loss_is_said(run):
    short = sl.simulate(run.machine, run.kernel, run.workload, "1s", log=True, log_limit=10)
    assert short.log_lost == len(run.log) - 10
    with pytest.warns(UserWarning, match="lost"):
        assert len(short.events()) == 10


def test_histogram__bucket_holds_its_value():
    edges = record.bucket_edges()
    assert (np.diff(edges) > 0).all()
    assert edges[128] == 128 and edges[192] == 256  # 64 buckets an octave from 128 ns on
    assert (np.diff(edges)[128:] / edges[128:-1]).max() <= 1 / 64


def test_latencies__wakeup_of_an_idle_machine_is_immediate():
    work = sl.Workload(tasks=(sl.Task("t", sl.repeat(50, sl.run("1ms"), sl.sleep("5ms"))),))
    costs = sl.Costs(context_switch_ns=2_000)
    kernel = sl.Kernel.version("6.1", costs=costs)
    table = sl.simulate(sl.Machine.uniform(1), kernel, work, "1s").latencies()
    assert table.loc[0, "count"] == 50
    assert table.loc[0, "max_us"] == 2.0


def test_power__from_watts():
    machine = sl.Machine.uniform(4, 2, smt_throughput=(1.0, 1.2), watts=sl.Watts(10.0, 4.0, 1.0))
    work = sl.Workload(tasks=(sl.Task("a", sl.run("9s")), sl.Task("b", sl.run("9s")), sl.Task("c", sl.run("9s"))))
    power = sl.simulate(machine, sl.Kernel.version("6.1"), work, "1s").power()
    assert power["mean_w"] == pytest.approx(10 + 2 * 4 + 3 * 1)


def test_bad_arguments__one_line():
    machine, kernel = sl.Machine.uniform(1), sl.Kernel.version("6.1")
    work = sl.Workload(tasks=(sl.Task("t", sl.run("1ms")),))
    for options, text in (({"stop": "never"}, "stop="), ({"log": ["swich"]}, "log=")):
        with pytest.raises(ValueError, match=text):
            sl.simulate(machine, kernel, work, "1s", **options)
    with pytest.raises(ValueError, match="duration="):
        sl.simulate(machine, kernel, work, 10**13)
    with pytest.raises(ValueError, match="n=0"):
        sl.replicate(machine, kernel, work, "1s", 0)


def test_replicate__workers_do_not_matter(run):
    one = sl.replicate(run.machine, run.kernel, run.workload, "300ms", 4, workers=1, progress=False)
    four = sl.replicate(run.machine, run.kernel, run.workload, "300ms", 4, workers=4, progress=False)
    assert [r.digest() for r in one] == [r.digest() for r in four]
    assert len({r.digest() for r in one}) == 4


def test_replicate__interrupt_stops(run):
    def stop(result):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sl.replicate(run.machine, run.kernel, run.workload, "300ms", 4, workers=2, progress=False, reduce=stop)


def test_program__without_time_is_an_error():
    spin = sl.repeat(10_000_000, sl.mark())
    work = sl.Workload(tasks=(sl.Task("t", spin),))
    with pytest.raises(RuntimeError, match="task t"):
        sl.simulate(sl.Machine.uniform(1), sl.Kernel.version("6.1"), work, "1s")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"machine": "laptop-8cpu"}, "machine='laptop-8cpu': a Machine, such as Machine.load"),
        ({"kernel": "6.12"}, "kernel='6.12': a Kernel, such as Kernel.version"),
        ({"workload": ()}, r"workload=\(\): a Workload"),
        ({"duration": 1.5}, "duration=1.5: a time is"),
        ({"duration": "1"}, "duration='1': a time is"),
        ({"seed": -1}, "seed=-1: at least 0"),
        ({"seed": 0.5}, "seed=0.5: a whole number"),
    ],
)
def test_simulate__argument_of_another_kind_is_named(change, message):
    nouns = {"machine": sl.Machine.uniform(1), "kernel": sl.Kernel.version("6.12"), "workload": sl.Workload()}
    with pytest.raises(ValueError, match=message):
        sl.simulate(**(nouns | {"duration": "1ms"} | change))
