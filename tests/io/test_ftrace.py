import gzip
from pathlib import Path

import pandas as pd
import pytest
from traces import HEADER, switch, wakeup

from schedlab.io import ftrace
from schedlab.tables import save_table

DATA = Path(__file__).parent / "data"


@pytest.fixture
def read(tmp_path):
    def read_text(text, name="t.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return ftrace.read(path)

    return read_text


def _same(a, b):
    pd.testing.assert_frame_equal(a.events, b.events)


def test_read__switch_and_wakeup_fields(read):
    trace = read(HEADER + wakeup(1, 0, 7) + switch(1.000010, 0, 0, 7, "R"))
    wake, come = trace.events.itertuples(index=False)
    assert (wake.event, wake.pid, wake.name, wake.prio, wake.target_cpu, wake.context) == (
        "sched_wakeup",
        7,
        "task7",
        120,
        0,
        1,
    )
    assert (come.time_ns, come.pid, come.next_pid, come.next_name, come.state, come.context) == (
        1_000_010_000,
        0,
        7,
        "task7",
        "R",
        0,
    )
    assert not trace.report.found


def test_read__spans(read):
    trace = read(
        "# entries-in-buffer/entries-written: 5/5   #P:1\n"
        + switch(1.0, 0, 0, 7, "R")
        + switch(1.010, 0, 7, 0, "R")
        + switch(1.080, 0, 0, 7, "R")
        + switch(1.090, 0, 7, 0, "S")
        + wakeup(1.095, 0, 7)
    )
    spans = trace.spans()
    mine = spans[spans["pid"] == 7]
    assert mine["state"].tolist() == ["running", "throttled", "running", "sleeping"]
    assert (mine["end_ns"] - mine["start_ns"]).tolist() == [10_000_000, 70_000_000, 10_000_000, 5_000_000]
    assert mine["whole"].tolist() == [True] * 4


def test_read__br23_placeholder_is_no_name(read):
    names = {101: "<...>", 102: "<...>", 0: "swapper/0"}
    text = (
        switch(1, 0, 0, 101, "R", names=names) + switch(2, 0, 101, 102, names=names) + switch(3, 0, 102, 0, names=names)
    )
    trace = read(text)
    assert trace.name_of(101) == "pid-101" and trace.name_of(102) == "pid-102"
    assert set(trace.spans()["pid"]) >= {101, 102}
    assert "<...>" not in set(trace.spans()["name"])
    later = read(text + switch(4, 0, 0, 101, "R", names={0: "swapper/0", 101: "found"}))
    assert later.name_of(101) == later.name_of(101, at_ns=1) == "found"


def test_read__br24_odd_names(read, tmp_path):
    names = {1: "Web Content", 2: "kworker/u8:2", 3: "a=b pid=3", 4: "[x]", 5: "x:1 [120] S", 6: "tab\there", 7: "ünï"}
    text = "".join(switch(k, 0, k, k + 1, names=names) for k in range(1, 7))
    trace = read(text)
    switches = trace.switches()
    assert switches["prev_pid"].tolist() == [1, 2, 3, 4, 5, 6] and switches["next_pid"].tolist() == [2, 3, 4, 5, 6, 7]
    assert switches["prev_comm"].tolist() == [names[k] for k in range(1, 7)]
    assert set(switches["prev_prio"]) == {120} and set(switches["prev_state"]) == {"S"}
    ftrace.write(trace, tmp_path / "again.txt")
    _same(trace, ftrace.read(tmp_path / "again.txt"))


def test_read__bytes_that_are_not_utf8(read, tmp_path):
    trace = read(switch(1, 0, 1, 2, names={1: "X", 2: "y"}).encode().replace(b"comm=X", b"comm=\xff\xfe"))
    assert trace.name_of(1) == "\\xff\\xfe"
    ftrace.write(trace, tmp_path / "again.txt")
    _same(trace, ftrace.read(tmp_path / "again.txt"))


def test_read__br26_buffers_begin_and_end_apart_and_the_last_line_is_cut(read):
    zero = [switch(0.1 * k, 0, 1 + k % 2, 1 + (k + 1) % 2) for k in range(40)]
    one = [switch(1.2 + 0.1 * k, 1, 3 + k % 2, 3 + (k + 1) % 2) for k in range(10)]
    lines = sorted(zero + one, key=lambda line: float(line[37:49]))
    trace = read("".join(lines) + switch(5, 0, 1, 2)[:70])
    assert trace.report["truncated last line"] == 1
    assert trace.window == (1_200_000_000, 2_100_000_000)
    assert trace.report["CPU whose buffer begins late"] == 1 and trace.report["CPU whose buffer ends early"] == 1
    assert "1.200000 s after" in str(trace.report)
    spans = trace.spans()
    assert spans["start_ns"].min() == 1_200_000_000 and spans["end_ns"].max() == 2_100_000_000
    assert 0 not in set(spans["pid"])  # no idle time is made up


def test_read__br27_clocks_disagree(read):
    migrate = f"{'x':>16}-9       [002] d..2. {1.0:12.6f}: sched_migrate_task: "
    migrate += "comm=task5 pid=5 prio=120 orig_cpu=1 dest_cpu=2\n"
    trace = read(
        switch(0.5, 1, 0, 5, "R")
        + switch(0.9, 1, 5, 0)
        + migrate
        + switch(1.000003, 1, 0, 5, "R")
        + switch(1.000004, 2, 0, 5, "R")
        + switch(1.1, 1, 5, 6)
        + switch(1.2, 2, 5, 0)
    )
    spans = trace.spans((0, 2_000_000_000))
    assert trace.report["conflict: a task runs on another CPU than it has just migrated to"] == 1
    assert "1.000003 s on CPU 1" in str(trace.report)
    running = spans[(spans["pid"] == 5) & (spans["state"] == "running")].sort_values("start_ns")
    assert (running["start_ns"].shift(-1).dropna().to_numpy() >= running["end_ns"].to_numpy()[:-1]).all()
    assert running["start_ns"].iloc[0] == 500_000_000  # the rest is usable


def test_read__br28_header_and_field_variants_are_one_table(read):
    lines = [(1.0, "sched_wakeup"), (1.1, "sched_waking"), (1.2, "sched_wakeup_new")]
    plain = read("".join(wakeup(t, 0, 7, event=e) for t, e in lines) + switch(2, 0, 0, 7, "R"))
    four = read("".join(wakeup(t, 0, 7, "d.h1", " success=1", e) for t, e in lines) + switch(2, 0, 0, 7, "R", "d..2"))
    _same(plain, four)
    tgid = read(
        "".join(wakeup(t, 0, 7, event=e).replace(" [000]", " (-----) [000]") for t, e in lines)
        + switch(2, 0, 0, 7, "R")
    )
    _same(plain, tgid)
    more = read(
        "".join(wakeup(t, 0, 7, event=e).rstrip("\n") + " new_field=3\n" for t, e in lines) + switch(2, 0, 0, 7, "R")
    )
    _same(plain, more)
    assert more.report["unknown field new_field of sched_wakeup (ignored)"] == 1


def test_read__trace_cmd_report(read):
    text = (
        "cpus=2\n"
        "     Web Content-12    [001]     1.000001: sched_wakeup:         Web Content:12 [120] CPU:001\n"
        "          <idle>-0     [001]     1.000005: sched_switch:       swapper/1:0 [120] R ==> Web Content:12 [120]\n"
        "CPU:1 [3 EVENTS DROPPED]\n"
        "     Web Content-12    [001]     1.000105: sched_switch:       Web Content:12 [120] S ==> swapper/1:0 [120]\n"
    )
    trace = read(text)
    assert trace.events["pid"].tolist() == [12, 0, 12] and trace.name_of(12) == "Web Content"
    assert trace.report["lost events"] == 3 and trace.complete is False
    assert not (trace.spans()["state"] == "running").any()  # what was lost is not bridged


def test_read__lost_events_and_buffer_marks(read):
    text = (
        "# entries-in-buffer/entries-written: 4/9   #P:2\n"
        + switch(1, 0, 1, 2)
        + "##### CPU 1 buffer started ####\n"
        + switch(2, 1, 3, 4)
        + "CPU:0 [LOST 7 EVENTS]\n"
        + switch(3, 0, 2, 1)
        + switch(4, 1, 4, 3)
    )
    trace = read(text)
    assert trace.report["lost events"] == 7 and trace.report["overwritten events"] == 5
    assert trace.begins == {1: 2_000_000_000} and trace.complete is False
    assert trace.cpus()["nr_lost"].tolist() == [7, 0]
    spans = trace.spans((0, 5_000_000_000))
    assert not len(spans[(spans["pid"] == 2) & (spans["state"] == "running")])


def test_read__renamed_pid_has_names_by_time(read):
    trace = read(
        switch(1, 0, 0, 7, "R", names={7: "sh"}) + switch(2, 0, 7, 0) + switch(3, 0, 0, 7, "R", names={7: "new"})
    )
    assert trace.name_of(7, 1_500_000_000) == "sh" and trace.name_of(7, 3_000_000_000) == "new"


def test_read__a_missing_switch_is_a_gap(read):
    trace = read(switch(1, 0, 0, 7, "R") + switch(2, 0, 8, 0))
    running = trace.spans()
    assert not len(running[(running["state"] == "running") & (running["pid"] == 7)])
    assert trace.report["switch missing: another task left than had come"] == 1


def test_read__gzip_and_zstd(read, tmp_path):
    pa = pytest.importorskip("pyarrow")
    text = (switch(1, 0, 0, 7, "R") + switch(2, 0, 7, 0)).encode()
    plain = read(text)
    _same(plain, read(gzip.compress(text), "a.bin"))
    _same(plain, read(pa.compress(text, codec="zstd", asbytes=True), "b.bin"))
    cut = read(gzip.compress(text * 1000)[:-30], "c.gz")
    assert "ends early" in cut.report.notes[0] and len(cut.events) > 10


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.gz")))
def test_read__recordings(name, tmp_path):
    trace = ftrace.read(DATA / name)
    odd = [kind for kind in trace.report.found if not kind.startswith(("switch missing", "event "))]
    assert len(trace.events) > 100 and not odd
    ftrace.write(trace, tmp_path / "again.txt.gz")
    _same(trace, ftrace.read(tmp_path / "again.txt.gz"))


def test_spans__of_a_recording_fill_the_cpus():
    trace = ftrace.read(DATA / "guest_d.busy2_25_40_60.trace.gz")
    spans = trace.spans()
    running = spans[spans["state"] == "running"]
    start, end = trace.window
    assert (running["end_ns"] - running["start_ns"]).sum() == 4 * (end - start)
    # 3 nested limits of 60, 40 and 25 ms in 100 ms: the two busy threads have 25 % of a CPU
    busy = running[running["name"].str.startswith("L3.")]
    assert 0.2 < (busy["end_ns"] - busy["start_ns"]).sum() / (end - start) < 0.3
    assert (spans["state"] == "throttled").sum() > 20


def test_write__same_bytes_and_plain_text(read, tmp_path):
    trace = read(switch(1, 0, 0, 7, "R") + switch(2, 0, 7, 0))
    for name in ("a.gz", "b.gz"):
        ftrace.write(trace, tmp_path / name)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_trace__html_is_escaped(read):
    trace = read(switch(1, 0, 1, 2, names={1: "<b>x</b>"}) + "<script>alert(1)</script>\n" + switch(2, 0, 2, 1))
    assert "<script>" not in trace._repr_html_()


def test_names_out_of_a_trace__are_no_formulas_in_csv(read, tmp_path):
    names = {1: "=1+1", 2: "@x", 3: "+cmd", 4: "-2", 5: "plain"}
    trace = read("".join(switch(k, 0, k, k + 1, names=names) for k in range(1, 5)))
    save_table(trace.names(), tmp_path, "names")
    save_table(trace.spans(), tmp_path, "spans")
    shown = pd.read_csv(tmp_path / "tables/names.csv", dtype=str)["name"].tolist()
    assert shown == ["'=1+1", "'@x", "'+cmd", "-2", "plain"]
    assert not pd.read_csv(tmp_path / "tables/spans.csv", dtype=str)["name"].str.match(r"[=@+]").any()
