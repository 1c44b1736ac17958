"""What a Run leaves in the formats of others."""

import dataclasses
import json

import pandas as pd
import pytest

import schedlab as sl
from schedlab.io import chrome, cpustat, ftrace, perfetto, trace_of


@pytest.fixture(scope="module")
def run():
    tasks = (
        sl.Task("a=b pid=3", sl.repeat(None, sl.run("7ms"), sl.sleep("1ms")), group="/a"),
        sl.Task("Web <b> Content", sl.repeat(20, sl.run("3.000001ms"), sl.sleep("2ms")), group="/a", nice=5),
        sl.Task("[x] ü, a very long name\n", sl.repeat(None, sl.run("3ms"), sl.sleep("2ms"))),
    )
    work = sl.Workload((sl.Group("/a", quota_us=20_000), sl.Group("/free")), tasks)
    return sl.simulate(sl.Machine.uniform(2), sl.Kernel.version("6.12"), work, "500ms", log=True)


def test_ftrace__reads_back_to_the_same_table(run, tmp_path):
    ftrace.write(run, tmp_path / "run.txt")
    again = ftrace.read(tmp_path / "run.txt")
    pd.testing.assert_frame_equal(trace_of(run).events, again.events)
    assert not again.report.found and again.complete
    assert again.of("sched_switch")["name"].str.contains("\\n", regex=False).any()


def test_trace_of__has_the_runs_spans(run):
    spans = trace_of(run).spans()
    mine = spans[(spans["state"] == "running") & (spans["pid"] > 0)].sort_values(["cpu", "start_ns"])
    known = run.spans()
    assert mine["start_ns"].tolist() == known["start_ns"].tolist()
    ends = zip(mine["end_ns"], known["end_ns"])
    assert sum(a != b for a, b in ends) <= 2  # what still runs ends with the last event
    assert set(spans["state"]) == {"running", "runnable", "sleeping", "throttled"}


def test_throttled__is_what_the_run_says(run):
    found = chrome.throttled(trace_of(run))
    known = run.throttled_spans()
    assert [start for _, start, _ in found] == sorted(known["start_ns"])
    assert all(name.startswith("throttled /a cpu") for name, *_ in found)


def test_chrome__is_json_with_exact_times(run, tmp_path):
    chrome.write(run, tmp_path / "run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X" and event["pid"] == 0]
    assert sorted(round(event["ts"] * 1000) for event in slices) == sorted(run.spans()["start_ns"])
    assert any(event["name"] == "throttled" for event in events)


def test_perfetto__holds_all_switches(run, tmp_path):
    proto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    perfetto.write(run, tmp_path / "run.pftrace")
    trace = proto.Trace()
    trace.ParseFromString((tmp_path / "run.pftrace").read_bytes())
    events = [event for packet in trace.packet for event in packet.ftrace_events.event]
    switches = [event for event in events if event.HasField("sched_switch")]
    assert sorted(event.timestamp for event in switches) == run.switches()["time_ns"].tolist()
    kinds = {packet.track_event.type for packet in trace.packet if packet.HasField("track_event")}
    assert len(kinds) == 3  # slices that begin and end, and counters


def test_perfetto__without_the_package(run, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace", None)
    with pytest.raises(ValueError, match="schedlab\\[perfetto\\]"):
        perfetto.write(run, tmp_path / "run.pftrace")


@pytest.mark.parametrize("state", ["R", "R+", "S", "D", "D|K", "?"])
def test_state_bits__known_letters(state):
    assert perfetto.state_bits(state) == {"R": 0, "R+": 256, "S": 1, "D": 2, "D|K": 2, "?": 0}[state]


def test_cpu_stat__kernels_spelling(run, tmp_path):
    cpustat.write(run, tmp_path / "cgroup")
    text = (tmp_path / "cgroup/a/cpu.stat").read_text()
    names = [line.split()[0] for line in text.splitlines()]
    assert names == [
        "usage_usec",
        "user_usec",
        "system_usec",
        "nr_periods",
        "nr_throttled",
        "throttled_usec",
        "nr_bursts",
        "burst_usec",
    ]
    row = run.cpu_stat().loc["/a"]
    assert cpustat.read(tmp_path / "cgroup/a/cpu.stat") == {name: int(row[name]) for name in names}
    assert "nr_periods" not in (tmp_path / "cgroup/cpu.stat").read_text()
    assert (tmp_path / "cgroup/a/cpu.stat.local").read_text().startswith("throttled_usec ")


def test_cpu_stat__v1(run, tmp_path):
    kernel = dataclasses.replace(run.kernel, cgroup="v1")
    text = cpustat.text_of(run.cpu_stat().loc["/a"], kernel)
    assert [line.split()[0] for line in text.splitlines()] == [
        "nr_periods",
        "nr_throttled",
        "throttled_time",
        "nr_bursts",
        "burst_time",
    ]
    assert cpustat.parse(text)["throttled_usec"] == int(run.cpu_stat().loc["/a", "throttled_usec"])
