"""Core scheduling in the plain reference: tables and turns worked out by hand (fact sheet on core scheduling, F)."""

import pytest

import schedlab as sl
from schedlab.reference import simulate

MS = 1_000_000
CORE = sl.Machine.uniform(2, 2)


def hog(name, cookie, cpu, **more):
    return sl.Task(name, sl.run("1000s"), cookie=cookie, cpus=cpu, **more)


def outcome(tasks, kernel, duration_ns=1_200 * MS, groups=(), events=()):
    """Percent of the time that each task ran, percent of forced idle time, and the run."""
    run = simulate(CORE, kernel, sl.Workload(groups, tasks, events), duration_ns)
    forced = sum(row["forced_idle_ns"] for row in run.forced_idle())
    return [100 * task["exec_ns"] / duration_ns for task in run.tasks()], 100 * forced / duration_ns, run


# one core, pinned, equal weights
MICRO = {
    "A1|B2": ([("A", 1, 0), ("B", 2, 1)], [50, 50], 100),
    "A1|B1,C2": ([("A", 1, 0), ("B", 1, 1), ("C", 2, 1)], [50, 50, 50], 50),
    "A1,D2|B1,C2": ([("A", 1, 0), ("D", 2, 0), ("B", 1, 1), ("C", 2, 1)], [50, 50, 50, 50], 0),
    "A1,D3|B1,C2": ([("A", 1, 0), ("D", 3, 0), ("B", 1, 1), ("C", 2, 1)], [100 / 3] * 4, 200 / 3),
    "A0|B1": ([("A", 0, 0), ("B", 1, 1)], [50, 50], 100),
    "A1|B2,C2": ([("A", 1, 0), ("B", 2, 1), ("C", 2, 1)], [100 / 3] * 3, 100),
}


@pytest.mark.parametrize("release", ["6.12", "6.18", "7.2"])
@pytest.mark.parametrize("row", MICRO)
def test_micro_table(row, release):
    tasks, want, forced = MICRO[row]
    percent, idle, run = outcome([hog(*task) for task in tasks], sl.Kernel.version(release, hz=1000))
    # 1.2 s are 400 turns of 3 ms: one turn more or less is 0.25 points
    assert percent == pytest.approx(want, abs=1.5)
    assert idle == pytest.approx(forced, abs=1.5)
    # G7: what idles is charged, one to one with two siblings
    charged = sum(row["forceidle_ns"] for row in run.cookies())
    assert charged == sum(row["forced_idle_ns"] for row in run.forced_idle())


def test_turns__half_a_slice_rounded_up_to_a_tick():
    """HZ 1000, 1.4 ms a slice: B, the last to pick, begins; 0.7 ms are over at the first tick; at a tie it goes on.

    1 ms: B has run 1, A 0: A. 2 ms: 1 and 1, a tie for A, whose CPU picks. 3 ms: A 2, B 1: B, and so on by 2 ms.
    """
    _, _, run = outcome([hog("A", 1, 0), hog("B", 2, 1)], sl.Kernel.version("6.18", hz=1000), 8 * MS)
    began = [(time_ns // MS, task) for time_ns, kind, _, _, task in run.events if kind == "switch" and task >= 0]
    assert began == [(0, 0), (0, 1), (1, 0), (3, 1), (5, 0), (7, 1)]


@pytest.mark.parametrize("patch", ["no-forceidle-snapshot", "no-forceidle-tick"])
def test_f7_f8__without_reference_or_tick_one_sibling_starves(patch):
    percent, idle, _ = outcome([hog("A", 1, 0), hog("B", 2, 1)], sl.Kernel.version("6.18").with_patch(patch), 300 * MS)
    assert max(percent) > 98 and min(percent) < 2
    assert idle == pytest.approx(100, abs=0.1)


def test_f9__a_running_task_that_is_given_a_cookie_was_not_found():
    """A (cookie 1) opposite B, given cookie 1 while it runs, and C (cookie 2): B is not in the list of its CPU.

    HZ 250, as in the engine's case. (With HZ 1000 A pays 4 % in place of more than 10.)
    """
    worker = sl.Task("A", sl.repeat(None, sl.run("2ms"), sl.sleep("200us")), cookie=1, cpus=0)
    tasks = [worker, sl.Task("B", sl.run("1000s"), cpus=1), hog("C", 2, 1)]
    events = [sl.SetCookie("5ms", "B", 1)]
    charged = {}
    for name in ("fixed", "buggy"):
        kernel = sl.Kernel.version("6.18", hz=250)
        kernel = kernel.with_patch("cookie-not-enqueued") if name == "buggy" else kernel
        _, _, run = outcome(tasks, kernel, events=events)
        charged[name] = run.cookies()[0]["forceidle_ns"] / (1_200 * MS)
    assert charged["fixed"] < 0.03 < 0.1 < charged["buggy"]


def test_move_between_groups__asks_nothing_of_a_forced_idle_cpu():
    """sched_move_task() saves and restores (DEQUEUE_SAVE): the last task of a forced-idle CPU does not make it pick."""
    tasks = [hog("A", 1, 0), hog("B", 2, 1)]
    events = [sl.SetGroup(500_000, "A", "/g")]
    _, _, run = outcome(tasks, sl.Kernel.version("6.18", hz=100), 5 * MS, [sl.Group("/g")], events)
    # 0: A alone; B comes and A is forced idle; the move at 0.5 ms changes nothing until the tick at 10 ms
    log = [(time_ns, kind) for time_ns, kind, *_ in run.events if time_ns]
    assert log == [(500_000, "forced_idle")]
