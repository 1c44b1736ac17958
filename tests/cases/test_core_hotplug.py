"""Core scheduling while CPUs are held with interrupts off, or go offline and come back: worked out by hand.

HZ 250: ticks every 4 ms. A task that runs alone opposite a sibling forced idle gives way at the first tick that finds
it half a slice in (1.4 ms of two CPUs, 2.1 ms of four) and further ahead than the other.
"""

import pytest

import schedlab as sl
from schedlab.hotplug import as_events

MS = 1_000_000
CORE = sl.Machine.uniform(2, 2)
TWO_CORES = sl.Machine.uniform(4, 2)
KERNEL = sl.Kernel.version("6.18", hz=250)


def hog(name, cookie, cpus, **more):
    return sl.Task(name, sl.run("1000s"), cookie=cookie, cpus=cpus, **more)


def run_of(tasks, events, duration, machine=CORE, kernel=KERNEL):
    return sl.simulate(machine, kernel, sl.Workload(tasks=tasks, events=events), duration, log=True)


def spans(run):
    """(task, CPU, from, to) of each stretch on a CPU, in ms, in time."""
    table = run.spans().sort_values(["start_ns", "cpu"])
    return [(r.task, int(r.cpu), r.start_ns / MS, r.end_ns / MS) for r in table.itertuples()]


# ---- interrupts off --------------------------------------------------------------------------------------------------


def test_hold__no_tick_no_turn():
    """A runs from 4 ms on and gives way at 12 ms; held from 11 to 15 ms, its tick comes at 15 ms.

    Then A has run 11 ms and B 4. B is at 5 at 16 ms, 9 at 20 ms and 13 at 24 ms, when A gets its turn.
    """
    run = run_of([hog("A", 1, 0), hog("B", 2, 1)], [sl.HoldCpu("11ms", 0, "4ms")], "27ms")
    assert spans(run) == [("B", 1, 0, 4), ("A", 0, 4, 15), ("B", 1, 15, 24), ("A", 0, 24, 27)]


def test_hold__a_sibling_runs_on_beside_another_cookie():
    """C starts at 6 ms on CPU 0 and wins a tie; B, held from 5 to 7.5 ms, learns at 7.5 ms that it has to go.

    B's reference is taken by the first comparison of the episode, C's tick at 8 ms: B is 0 ahead of it, C 2 ms. So B
    runs from 8 ms on; at 12 ms it is 4 ms ahead. The CPU whose tick it is switches first.
    """
    tasks = [hog("B", 1, 1), hog("C", 2, 0, start_ns=6 * MS)]
    run = run_of(tasks, [sl.HoldCpu("5ms", 1, "2500us")], "13ms")
    assert spans(run) == [("B", 1, 0, 7.5), ("C", 0, 6, 8), ("B", 1, 8, 12), ("C", 0, 12, 13)]
    forced = run.log[run.log["kind"] == run.kinds.index("forced_idle")]
    assert [(r["time"] / MS, int(r["cpu"]), int(r["a"])) for r in forced] == [
        (7.5, 1, 1), (8, 0, 1), (8, 1, 0), (12, 1, 1), (12, 0, 0),
    ]  # fmt: skip


def test_hold__a_pick_made_meanwhile_is_carried_out_at_the_end():
    """HZ 1000: B runs from 0; CPU 0 is held from 0.5 to 1.25 ms. At 1 ms B's pick (2 * 1 ms > 1.4 ms) chooses A.

    Nobody runs then until 1.25 ms, when CPU 0 takes that pick as it is: a fast pick, the second (that at 0 was idle).
    """
    tasks, kernel = [hog("A", 1, 0), hog("B", 2, 1)], KERNEL.with_(hz=1000)
    run = run_of(tasks, [sl.HoldCpu("500us", 0, "750us")], "1500us", kernel=kernel)
    assert spans(run) == [("B", 1, 0, 1), ("A", 0, 1.25, 1.5)]
    assert run.core_table["nr_fast_picks"].tolist() == [2, 0]


# ---- offline and online ----------------------------------------------------------------------------------------------


def test_offline__the_sibling_is_free_at_once():
    """A and B alternate; A's CPU goes offline at 10 ms, A moves to the idle core, B runs.

    Back online at 20 ms, and A back on CPU 0 at 22 ms: a tie, which goes to the caller A. At 24 ms B, forced idle since
    then, has not moved from its reference, A is 2 ms ahead of its own. Charged: A 6 + 2 ms, B 4 + 3.
    """
    tasks = [hog("A", 1, 0), hog("B", 2, 1)]
    events = [
        sl.SetCpuOnline("10ms", 0, online=False),
        sl.SetCpuOnline("20ms", 0, online=True),
        sl.SetAffinity("22ms", "A", 0),
    ]
    run = run_of(tasks, events, "27ms", TWO_CORES)
    assert spans(run) == [
        ("B", 1, 0, 4), ("A", 0, 4, 10), ("B", 1, 10, 22), ("A", 2, 10, 22), ("A", 0, 22, 24), ("B", 1, 24, 27),
    ]  # fmt: skip
    assert run.cookies()["forceidle_ns"].tolist() == [8 * MS, 7 * MS]
    assert run.forced_idle()["forced_idle_ns"].tolist() == [7 * MS, 8 * MS, 0, 0]


def test_offline__the_runner_goes_while_its_sibling_is_held():
    """As above, but CPU 1 is held from 9 to 13 ms: B begins at 13 ms."""
    tasks = [hog("A", 1, 0), hog("B", 2, 1)]
    events = [sl.HoldCpu("9ms", 1, "4ms"), sl.SetCpuOnline("10ms", 0, online=False)]
    run = run_of(tasks, events, "14ms", TWO_CORES)
    assert spans(run) == [("B", 1, 0, 4), ("A", 0, 4, 10), ("A", 2, 10, 14), ("B", 1, 13, 14)]


@pytest.mark.parametrize("held_ms", [0, 3])
def test_offline__nobody_is_charged_while_the_sibling_is_held(held_ms):
    """A runs on CPU 1 opposite B, forced idle, from 0 to 1 ms; then it goes to CPU 2. A is charged 1 ms, held or not.

    B, held from 1 to 1 + `held_ms`, picks at the end of the hold. Until then nobody runs on its core.
    """
    tasks = [hog("B", 2, 0), hog("A", 1, 1)]
    events = [sl.HoldCpu("1ms", 0, held_ms * MS)] if held_ms else []
    run = run_of(tasks, [*events, sl.SetCpuOnline("1ms", 1, False)], "10ms", machine=TWO_CORES)
    assert sorted(spans(run)) == [("A", 1, 0, 1), ("A", 2, 1, 10), ("B", 0, 1 + held_ms, 10)]
    assert run.cookies().set_index("task")["forceidle_ns"].to_dict() == {"A": MS, "B": 0}
    assert run.forced_idle()["forced_idle_ns"].tolist() == [(1 + held_ms) * MS, 0, 0, 0]


def test_offline__no_steal_and_no_push_there():
    """At 4 ms B is forced idle on CPU 1 and pushed: to CPU 3, since CPU 2 is offline.

    Looked at: CPU 0 (SMT), 3 and 0 (MC) for something to steal, then 3 (MC) to push to.
    """
    tasks = [hog("A", 1, 0), hog("B", 2, 1)]
    events = [sl.SetCpuOnline("500ns", 2, online=False), sl.SetAffinity("1us", "B", (1, 2, 3))]
    run = run_of(tasks, events, "8ms", TWO_CORES, KERNEL.with_patch("force-idle-push"))
    pushes = run.log[run.log["kind"] == run.kinds.index("push")]
    assert [(int(r["time"]), int(r["cpu"]), int(r["b"])) for r in pushes] == [(4 * MS, 3, 1)]
    assert run.core_table["nr_scanned"][1] == 4


@pytest.mark.parametrize("release", ["6.12", "6.18", "6.19", "7.2"])
@pytest.mark.parametrize("balance", ["simple", "kernel"])
def test_offline__a_whole_core_comes_back(release, balance):
    """Both CPUs of a core offline and online again: the core forgets its cookie, and its CPUs are used again."""
    tasks = [sl.Task(f"t{k}", sl.run("1000s"), cookie=1 + k % 2) for k in range(4)]
    events = [sl.SetCpuOnline(f"{10 + k}ms", cpu, online) for k, (cpu, online) in enumerate(
        [(0, False), (1, False), (1, True), (0, True)]
    )]  # fmt: skip
    kernel = sl.Kernel.version(release, hz=1000, balance=balance)
    run = run_of(tasks, events, "400ms", TWO_CORES, kernel)
    late = run.spans()[lambda table: table["end_ns"] > 300 * MS]
    assert set(late["task"]) == {f"t{k}" for k in range(4)}
    before = run.spans()[lambda table: (table["start_ns"] >= 11 * MS) & (table["start_ns"] < 12 * MS)]
    assert set(before["cpu"]) <= {2, 3}


# ---- hotplug operations ----------------------------------------------------------------------------------------------


def test_as_events__under_core_scheduling_the_lock_is_the_cores():
    """Whatever holds a CPU other than the executing one then holds its siblings as long, at the same time."""
    machine, kernel = sl.Machine.load("epyc_9b45"), sl.Kernel.version("6.18")
    last = machine.nr_cpus - 1
    operations = [("1s", f"offline cpu {last}"), ("2s", f"online cpu {last}")]
    plain = as_events(machine, kernel, operations, groups=101)
    shared = as_events(machine, kernel, operations, groups=101, core_scheduling=True)
    holds = {(e.at_ns, e.cpu, e.duration_ns) for e in shared if isinstance(e, sl.HoldCpu)}
    gone = range(10**9 + 1, 2 * 10**9)
    for event in plain:
        if isinstance(event, sl.HoldCpu) and event.cpu != 0:
            online = [c for c in machine.siblings(event.cpu) if c != last or event.at_ns not in gone]
            assert all((event.at_ns, cpu, event.duration_ns) in holds for cpu in online if cpu != 0)
    assert {e for e in plain if isinstance(e, sl.SetCpuOnline)} <= set(shared)
    assert len(shared) > len(plain)
