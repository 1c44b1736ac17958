import pandas as pd
import pytest
from traces import HEADER, switch

from schedlab.io import ftrace, perf, read_trace

HEAD = " Web Content  1234/1240 [001]   123.456789: sched:"
SWITCH = (
    "sched_switch: prev_comm=Web Content prev_pid=1240 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 "
    "next_prio=120\n"
)


def _read(tmp_path, text, read=perf.read):
    path = tmp_path / "perf.txt"
    path.write_text(text)
    return read(path)


def test_read__script_and_sched_script_are_one_table(tmp_path):
    one = _read(tmp_path, HEAD + SWITCH)
    two = _read(tmp_path, "     Web Content  1240 [001]   123.456789:      sched:" + SWITCH)
    three = _read(tmp_path, "     Web Content  1240 [001]   123.456789:          1   " + SWITCH)
    short = "     Web Content  1240 [001]   123.456789: sched:sched_switch: "
    short += "Web Content:1240 [120] S ==> swapper/1:0 [120]\n"
    four = _read(tmp_path, short)
    for other in (two, three, four):
        pd.testing.assert_frame_equal(one.events, other.events)
    row = one.events.iloc[0]
    assert (row.time_ns, row.cpu, row.curr, row.pid, row["name"]) == (123_456_789_000, 1, 1240, 1240, "Web Content")


def test_read__nanoseconds_call_chains_and_runtime(tmp_path):
    text = (
        "# captured on: today\n"
        + HEAD.replace("456789", "456789123")
        + SWITCH
        + "\tffffffff81a0 __schedule ([kernel.kallsyms])\n            7f12ab34 main (/bin/x)\n\n"
        + "  sl  7 [000] 124.000000: sched:sched_stat_runtime: comm=sl pid=7 runtime=5 [ns] vruntime=9 [ns]\n"
    )
    trace = _read(tmp_path, text)
    assert trace.events["time_ns"].iloc[0] == 123_456_789_123 and trace.events["value"].iloc[1] == 5
    assert not trace.report.found or set(trace.report.found) <= {
        "CPU whose buffer begins late",
        "CPU whose buffer ends early",
    }


def test_read__br30_no_switches_and_many(tmp_path):
    with pytest.raises(ValueError, match="no sched_switch in it .*2 cycles") as told:
        _read(tmp_path, "  sl  7 [000] 124.000000:     100 cycles:  ffff main (x)\n" * 2)
    assert "perf.txt" in str(told.value)
    nr = 7_211  # the report has 721,192; the slow test below reads as many
    assert len(_read(tmp_path, (HEAD + SWITCH) * nr).events) == nr


@pytest.mark.slow
def test_read__br30_all_rows(tmp_path):
    assert len(_read(tmp_path, (HEAD + SWITCH) * 721_192).events) == 721_192


def test_read_trace__tells_the_two_apart(tmp_path):
    assert len(_read(tmp_path, HEAD + SWITCH, read_trace).events) == 1
    assert len(_read(tmp_path, HEADER + switch(1, 0, 1, 2), read_trace).events) == 1


@pytest.mark.slow
def test_read__br40_two_million_events_in_60_s_and_2_gb(tmp_path):
    """CPU time, since the machine of a test may be shared."""
    import resource
    import time

    path = tmp_path / "big.txt"
    lines = "".join(switch(k / 1000, k % 8, 8 + k % 64, 72 + k % 64) for k in range(20_000))
    with open(path, "w") as file:
        file.writelines(lines for _ in range(100))
    start = time.process_time()
    assert len(ftrace.read(path).events) == 2_000_000
    assert time.process_time() - start < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2_000_000  # KiB
