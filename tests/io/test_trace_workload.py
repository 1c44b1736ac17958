from pathlib import Path

import numpy as np
import pytest
from traces import switch, wakeup

import schedlab as sl
from schedlab import steps
from schedlab.io import account, ftrace, trace_of, workload_from_trace

DATA = Path(__file__).parent / "data"


@pytest.fixture
def trace(tmp_path):
    """Task 7 runs 10 ms and sleeps 5 ms twice; task 8 is woken by it and runs 1 ms; task 9 is real-time on CPU 1."""
    lines = [
        switch(1.000, 0, 0, 7, "R"),
        switch(1.000, 1, 0, 0, "R"),
        wakeup(1.004, 0, 8, "d..2.", event="sched_waking", curr=7, target=1),
        switch(1.004, 1, 0, 8, "R"),
        switch(1.005, 1, 8, 0),
        switch(1.010, 0, 7, 0),
        switch(1.012, 1, 0, 9, "R").replace("next_prio=120", "next_prio=10"),
        switch(1.013, 1, 9, 0).replace("prev_prio=120", "prev_prio=10", 1),
        wakeup(1.015, 0, 7),
        switch(1.015, 0, 0, 7, "R"),
        wakeup(1.019, 0, 8, "d..2.", event="sched_waking", curr=7, target=1),
        switch(1.019, 1, 0, 8, "R"),
        switch(1.020, 1, 8, 0),
        switch(1.025, 0, 7, 0),
        wakeup(1.030, 0, 7),
        switch(1.030, 0, 0, 7, "R"),
        switch(1.031, 0, 7, 0),
    ]
    path = tmp_path / "t.txt"
    path.write_text("# entries-in-buffer/entries-written: 9/9   #P:2\n" + "".join(lines))
    return ftrace.read(path)


def test_tape__runs_sleeps_and_wakers(trace):
    work = workload_from_trace(trace, {"task7": "/a", 8: "/b/c"})
    seven, eight, busy = work.tasks
    ms = 1_000_000
    wake = steps.wake("wake 8", keep=steps.MAX_KEEP)
    # the first wake-up of task 8 ends no sleep that is seen: it starts then
    assert seven.program == (
        steps.run(10 * ms),
        steps.sleep(5 * ms),
        steps.run(4 * ms),
        wake,
        steps.run(6 * ms),
        steps.sleep(5 * ms),
        steps.run(1 * ms),
    )
    assert eight.program == (steps.run(1 * ms), steps.wait("wake 8"), steps.run(1 * ms), steps.sleep(11 * ms))
    assert (seven.group, eight.group, eight.start_ns) == ("/a", "/b/c", 4 * ms) and "/b" in work.group_paths
    assert busy.name == "occupied CPU 1" and busy.cpus == (1,) and busy.program == (steps.kernel(1 * ms),)


def test_tape__arrivals_as_recorded_with_samples(trace):
    work = workload_from_trace(trace, {"task7": "/a", 8: "/b"}, arrivals="recorded", samples=True, wakers=False)
    seven, eight, busy = work.tasks
    ms = 1_000_000
    assert seven.program == (
        steps.mark(),
        steps.run(10 * ms),
        steps.sample(),
        steps.until(15 * ms),
        steps.run(10 * ms),
        steps.sample(),
        steps.until(30 * ms),
        steps.run(1 * ms),
    )
    assert eight.program[3] == steps.until(15 * ms) and eight.start_ns == 4 * ms  # woken at 19 ms, 15 after its start
    with pytest.raises(ValueError, match="arrivals='recorded': times that are drawn anew"):
        workload_from_trace(trace, mode="resample", arrivals="recorded")


def test_tape__late_work_does_not_move_what_comes_after(trace):
    """Ten ms of another task first: with arrivals as recorded the third activation still begins at 30 ms."""
    work = workload_from_trace(trace, {"task7": "/a"}, arrivals="recorded", samples=True, wakers=False)
    hog = sl.Task("hog", sl.run("20ms"), nice=-20)
    run = sl.simulate(
        sl.Machine.uniform(1), sl.Kernel.version("6.12"), work.replace(tasks=(hog, work.tasks[0])), "1s", log=True
    )
    seven = run.tasks().iloc[1]
    assert seven["end_ns"] < 50_000_000 and seven["nr_samples"] == 2


def test_account__forked_tasks_are_where_their_parent_is(tmp_path):
    fork = f"{'x':>16}-7       [000] d..2. {1.1:12.6f}: sched_process_fork: comm=x pid=7 child_comm=x child_pid={{}}\n"
    path = tmp_path / "t.txt"
    path.write_text(
        switch(1.0, 0, 0, 7, "R") + fork.format(8) + fork.format(9) + switch(1.2, 0, 7, 8) + switch(1.3, 0, 8, 9)
        + switch(1.4, 0, 9, 0)
    )  # fmt: skip
    told = account(ftrace.read(path), {7: "/a", 9: "/b"})
    assert dict(zip(told.tasks["pid"], told.tasks["group"])) == {7: "/a", 8: "/a", 9: "/b"}


def test_account__shares_and_what_is_not_placed(trace):
    told = account(trace, {7: "/a"})
    assert told.shares["real-time"] == pytest.approx(1 / 62) and told.shares["fair"] == pytest.approx(23 / 62)
    assert sum(told.shares.values()) == pytest.approx(1)
    assert told.tasks["placed"].tolist() == [True, False, False] and "2 of 3 tasks" in told.notes[0]


def test_resample__is_seeded(trace):
    assert workload_from_trace(trace, mode="resample", seed=1) == workload_from_trace(trace, mode="resample", seed=1)
    assert not any(
        isinstance(s, steps.Wait) for t in workload_from_trace(trace, mode="resample").tasks for s in t.program
    )


def test_groups__from_a_table(trace, tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("pid,group\n7,/web\n")
    assert workload_from_trace(trace, path).tasks[0].group == "/web"
    path.write_text("pid,group\n7,web\n")
    with pytest.raises(ValueError, match="groups.csv:2"):
        workload_from_trace(trace, path)


def test_wrong__no_switch():
    with pytest.raises(ValueError, match="no sched_switch"):
        workload_from_trace(ftrace.read(DATA / "guest_scan.trace.gz"))


def test_tape__of_a_run_uses_the_same_cpu_time():
    """A run without contention, out as a trace and in as a tape, is the same run."""
    task = sl.Task("t", sl.repeat(30, sl.run("2ms"), sl.sleep("3ms")))
    machine, kernel = sl.Machine.uniform(2), sl.Kernel.version("6.12")
    first = sl.simulate(machine, kernel, sl.Workload(tasks=(task,)), "200ms", log=True)
    second = sl.simulate(machine, kernel, workload_from_trace(trace_of(first)), "200ms", log=True)
    assert first.spans()["start_ns"].tolist() == second.spans()["start_ns"].tolist()
    assert np.array_equal(first.tasks()["exec_ns"], second.tasks()["exec_ns"])


def test_tape__of_a_recording_runs():
    trace = ftrace.read(DATA / "guest_d.busy2_25_40_60.trace.gz")
    limits = tuple(
        sl.Group(path, quota_us=q) for path, q in (("/L1", 60_000), ("/L1/L2", 40_000), ("/L1/L2/L3", 25_000))
    )
    work = workload_from_trace(trace, {"L3.*": "/L1/L2/L3"}, limits=limits)
    run = sl.simulate(sl.Machine.uniform(4), sl.Kernel.version("6.12"), work, "3s")
    stat = run.cpu_stat().loc["/L1/L2/L3"]
    assert stat["nr_throttled"] > 20 and 0.6e6 < stat["usage_usec"] < 0.9e6
