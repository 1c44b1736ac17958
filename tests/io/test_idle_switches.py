"""Switches from idle that a trace lacks."""

from traces import HEADER, switch, wakeup

from schedlab.io import ftrace
from schedlab.io.idle_switches import with_idle_switches


def _read(tmp_path, *lines):
    path = tmp_path / "t.txt"
    path.write_text(HEADER + "".join(lines))
    return ftrace.read(path)


def test_fill__task_runs_from_the_wake_up_on_its_cpu(tmp_path):
    trace = _read(
        tmp_path,
        switch(1.0, 1, 5, 0),
        wakeup(1.1, 1, 7, event="sched_waking"),
        wakeup(1.2, 1, 7),
        switch(1.5, 1, 7, 0),
        switch(2.0, 1, 0, 5, "R"),
    )
    filled = with_idle_switches(trace)
    (row,) = filled.events[(filled.events["event"] == "sched_switch") & (filled.events["next_pid"] == 7)].itertuples()
    assert (row.time_ns, row.cpu, row.pid, row.name, row.next_name, row.next_prio) == (
        1_200_000_000, 1, 0, "swapper/1", "task7", 120,
    )  # fmt: skip
    spans = filled.spans((0, 3_000_000_000))
    running = spans[(spans["pid"] == 7) & (spans["state"] == "running")]
    assert running[["start_ns", "end_ns"]].values.tolist() == [[1_200_000_000, 1_500_000_000]]
    assert "1 x switch from idle missing, taken to be at the wake-up of the task, first at 1.200000 s" in str(
        filled.report
    )
    assert "idle missing" not in str(trace.report)
    ftrace.write(filled, tmp_path / "again.txt")
    assert ftrace.read(tmp_path / "again.txt").events.equals(filled.events)


def test_fill__nothing_without_a_wake_up_there_or_across_lost_events(tmp_path):
    whole = _read(tmp_path, switch(1.0, 1, 5, 0), wakeup(1.2, 1, 7), switch(1.3, 1, 0, 7, "R"), switch(1.5, 1, 7, 0))
    assert with_idle_switches(whole) is whole
    elsewhere = _read(tmp_path, switch(1.0, 1, 5, 0), wakeup(1.2, 0, 7), switch(1.5, 1, 7, 0))
    assert with_idle_switches(elsewhere) is elsewhere
    lost = _read(tmp_path, switch(1.0, 1, 5, 0), wakeup(1.2, 1, 7), "CPU:1 [LOST 7 EVENTS]\n", switch(1.5, 1, 7, 0))
    assert with_idle_switches(lost) is lost
    busy = _read(tmp_path, switch(1.0, 1, 5, 6), wakeup(1.2, 1, 7), switch(1.5, 1, 7, 0))
    assert with_idle_switches(busy) is busy
