"""The kernel's balancing (6.18) worked out by hand: where a wake-up goes, when a task moves, which, and how many.

Ticks come every ms, on every CPU at the same time. A CPU of the lowest domain is a group of its own; the domain of the
last-level cache (MC) has an imbalance_pct of 117, cache_nice_tries of 1, and as many ms between balances as it has
CPUs. An idle machine's util and load are 0; a new task brings its whole weight (1024) as load at once.
"""

import pytest

import schedlab as sl

MS = 1_000_000
KERNEL = sl.Kernel.version("6.18", hz=1000, balance="kernel")


def hog(name, cpus=None, **more):
    return sl.Task(name, sl.run("1000s"), cpus=cpus, **more)


def log_of(tasks, nr_cpus, duration, kinds, smt=1, events=(), kernel=KERNEL):
    """(ms, task, CPU, b) of each record of some kinds, by task name."""
    work = sl.Workload(tasks=tasks, events=events)
    run = sl.simulate(sl.Machine.uniform(nr_cpus, smt), kernel, work, duration, log=kinds)
    names = [task.name for task in tasks]
    return [(int(r["time"]) / MS, names[r["a"]], int(r["cpu"]), int(r["b"])) for r in run.log]


def wakes_of(name, *args, **more):
    return [(time, cpu) for time, task, cpu, _ in log_of(*args, ("wake",), **more) if task == name]


def sleeper(prev, *steps):
    """A task that may run anywhere, but whose last CPU is `prev` when it waits for the first time."""
    everywhere = (0, 1, 2, 3) if prev < 4 else tuple(range(8))
    return sl.Task("x", (sl.affinity(prev), sl.run("10us"), sl.affinity(everywhere), *steps))


# ---- wake-ups --------------------------------------------------------------------------------------------------------


def test_wake_affine__the_last_cpu_where_it_is_idle():
    """The waker runs on CPU 0. CPU 2, the last one, is idle: it stays there, though CPU 1 comes first by number."""
    waker = sl.Task("waker", (sl.run("2s"), sl.wake("x"), sl.run("1s")), cpus=0)
    tasks = [waker, sleeper(2, sl.wait("x"), sl.run("1ms"))]
    assert wakes_of("x", tasks, 4, "2500ms") == [(2000, 2)]


@pytest.mark.parametrize(
    "on_waker, on_prev, cpu",
    [
        (1, 1, 0),  # (1024 + 0) * 100 < (1024 - 0) * 108: with as much load on both, the waker's
        (2, 1, 2),  # 2048 * 100 > 1024 * 108: the last one
        (2, 2, 0),  # 2048 * 100 < 2048 * 108
        (1, 2, 0),
    ],
)
def test_wake_affine__the_lesser_load(on_waker, on_prev, cpu):
    """All CPUs are busy, so that the target is where it goes; asleep for 2 s, the task's own load is 0.

    The last CPU's load counts 100 + (117 - 100) // 2 = 108 percent.
    """
    waker = sl.Task("waker", sl.repeat(None, sl.run("2s"), sl.wake("x"), sl.run("1000s")), cpus=0)
    tasks = [waker, sleeper(2, sl.wait("x"), sl.run("1ms")), hog("h1", 1), hog("h3", 3)]
    tasks += [hog(f"w{k}", 0) for k in range(on_waker - 1)]
    tasks += [hog(f"p{k}", 2) for k in range(on_prev)]
    ((_, found),) = wakes_of("x", tasks, 4, "5s")
    assert found == cpu


def test_select_idle_sibling__recently_used_before_the_scan():
    """Twice the waker's CPU 0 is the target (equal loads) and busy, and so is the last one.

    2 s: last 3, recently used 0 (where it forked): the scan from CPU 1 finds CPU 1. CPU 3 is now recently used.
    4 s: last 1; 3 is idle again and recently used: taken, though the scan would find CPU 2 first.
    """
    waker = sl.Task("waker", (*(sl.run("2s"), sl.wake("x")) * 2, sl.run("1s")), cpus=0)
    x = sleeper(3, sl.wait("x"), sl.run("1ms"), sl.wait("x"), sl.run("1ms"))
    busy = [sl.Task(f"b{cpu}", sl.run("2ms"), cpus=cpu, start_ns=at) for cpu, at in ((3, 1999 * MS), (1, 3999 * MS))]
    assert wakes_of("x", [waker, x, *busy], 4, "4100ms") == [(2000, 1), (4000, 3)]


@pytest.mark.parametrize(
    "nr_busy, cpu",
    [
        # mean util 4 * 1023 // 8 = 511; 511^2 * 117^2 // (10^4 * 1024) = 349; (1024 - 349) * 8 // 1024 = 5 CPUs
        (4, 4),  # CPUs 1 to 4 are looked at, and 4 is idle
        # 6 * 1023 // 8 = 767: 786 of 1024 used: 1 CPU
        (6, 0),  # CPU 1 is looked at, and busy: on top of the waker
        # 7 * 1023 // 8 = 895: 1070, above 1024: none
        (7, 0),
    ],
)
def test_select_idle_cpu__how_many_are_looked_at(nr_busy, cpu):
    """SIS_UTIL: the busier the last-level cache, the fewer CPUs; from 85.5 % on none at all."""
    waker = sl.Task("waker", (sl.run("2s"), sl.wake("x"), sl.run("1s")), cpus=0)
    x = sl.Task("x", (sl.affinity(1), sl.run("10us"), sl.affinity(tuple(range(8))), sl.wait("x"), sl.run("1ms")))
    tasks = [waker, x, *(hog(f"h{k}", k) for k in range(1, nr_busy))]
    assert [found for _, found in wakes_of("x", tasks, 8, "2100ms")] == [cpu]


# ---- balancing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after_ns, pulled", [(499_999, False), (500_000, True)])
def test_newidle__a_task_that_ran_within_500_us_stays(after_ns, pulled):
    """CPU 0 has two tasks, in turns; CPU 1's only task blocks `after_ns` after one of them was switched out.

    Two CPUs: a slice of 1.4 ms. H runs first, to the tick at 1 ms (a first request is half a slice); X from 1 to 2 ms,
    H from 2 to 4 ms, X from 4 to 6 ms, when it is switched out. Imbalance: (2 - 0) / 2 = 1 task.
    """
    gone = sl.Task("gone", (sl.run(6 * MS + after_ns), sl.sleep("1s")), cpus=1)
    events = [sl.SetAffinity("1us", "x", (0, 1))]
    moves = log_of([hog("h", 0), hog("x", 0), gone], 2, "6900us", ("migrate",), events=events)
    assert moves == ([((6 * MS + after_ns) / MS, "x", 1, 0)] if pulled else [])


def test_should_we_balance__one_cpu_for_all_idle_ones():
    """Two tasks of CPU 0 may go from 10.5 ms on; CPU 1 is busy, 2 and 3 idle.

    The kick of CPU 0's tick has CPU 2 balance for all idle CPUs: from CPU 3 on, itself last. At 4 ms (4 CPUs: an
    interval of 4) all tasks are pinned, so that the interval doubles: due at 12 ms. A and B take turns of 3 ticks
    (slice 2.1 ms) after a first one of 2 (half of it): A 0-2, B 2-4, A 4-7, B 7-10, A 10-13: B moves, to CPU 3, a group
    of its own. With siblings (0, 1) and (2, 3) the groups are cores: CPU 2 is the first idle CPU of the idle core, and
    CPU 3 has to leave it to it.
    """
    tasks = [hog("a", 0), hog("b", 0), hog("c", 1)]
    events = [sl.SetAffinity(10_500_000, name, (0, 1, 2, 3)) for name in "ab"]
    assert log_of(tasks, 4, "13ms", ("migrate",), events=events) == [(12, "b", 3, 0)]
    assert log_of(tasks, 4, "13ms", ("migrate",), smt=2, events=events) == [(12, "b", 2, 0)]


def test_detach_tasks__half_the_difference():
    """Six tasks on CPU 0, none on CPU 1: (6 - 0) / 2 = 3 move, those that ran longest ago, all in one balance.

    Pinned at first: the interval of 2 ms doubles at each attempt: 2, 6, 14, 30 ms; free from 20.5 ms on. First turns
    are 1 ms (half a slice of 1.4 ms), later ones 2 ms: t0 to t5 to 6 ms, and again to 18 ms; t0 18-20, t1 20-22, ...,
    t5 28-30. At 30 ms t0, t1 and t2 have waited longest.
    """
    tasks = [hog(f"t{k}", 0) for k in range(6)]
    events = [sl.SetAffinity(20_500_000, task.name, (0, 1)) for task in tasks]
    moves = log_of(tasks, 2, "31ms", ("migrate",), events=events)
    assert moves == [(30, "t0", 1, 0), (30, "t1", 1, 0), (30, "t2", 1, 0)]


def test_active_balance__after_four_attempts_in_vain():
    """A and B share core (0, 1); core (2, 3) is idle. One task each: nothing can be detached.

    CPU 2 looks every 4 ms (an imbalance keeps the interval short). More than cache_nice_tries + 2 = 3 failures, at
    16 ms: the stopper of CPU 0, the first with the most tasks, moves A, which runs.
    """
    tasks = [hog("a", 0), hog("b", 1)]
    events = [sl.SetAffinity("1us", name, (0, 1, 2, 3)) for name in "ab"]
    moves = log_of(tasks, 4, "40ms", ("active_balance", "migrate"), smt=2, events=events)
    assert moves == [(16, "a", 2, 0), (16, "a", 2, 0)]


def test_busy_balance__sixteen_times_the_interval():
    """Three tasks on CPU 0, one on CPU 1, which is busy: it looks after 2 * 16 - 1 = 31 ticks. All start at 10 ms.

    CPU 1 has been busy for too short a time then (361 of 1024): it has spare capacity, but is not idle, so nothing
    moves, and the interval doubles: 31 + 4 * 16 - 1 = 94 ticks. 843 * 117 < 1024 * 100: still not. The interval is at
    its longest: 94 + 63 = 157 ticks. 975 * 117 > 1024 * 100: fully busy (it has been so since 104 ms). Loads are 3072
    and 1024, their mean 2048: 1024 is to move, which is one task (of 1024, at most 1024).
    """
    tasks = [hog(name, cpus, start_ns=10 * MS) for name, cpus in (("a", 0), ("b", 0), ("c", 0), ("d", 1))]
    events = [sl.SetAffinity(10_001_000, name, (0, 1)) for name in "abc"]
    moves = log_of(tasks, 2, "180ms", ("migrate",), events=events)
    assert [(time, cpu, src) for time, _, cpu, src in moves] == [(157, 1, 0)]
