"""The kernel's balancing (6.18) where the plain reference found the engine apart from the kernel's source, by hand.

Ticks come every ms, on every CPU at the same time, unless a test says otherwise.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from test_kernel_balance import KERNEL, MS, hog, log_of

import schedlab as sl


def moves_of(tasks, machine, duration, events, kernel=KERNEL):
    """(ms, task, CPU, from) of each migration."""
    run = sl.simulate(machine, kernel, sl.Workload(tasks=tasks, events=events), duration, log=("migrate",))
    return [(int(r["time"]) / MS, tasks[r["a"]].name, int(r["cpu"]), int(r["b"])) for r in run.log]


def test_record_wakee__a_task_of_one_cpu_counts_for_nobody():
    """select_task_rq() does not ask the policy for a task of one CPU, so that no waker's flips count it.

    The waker and x woke p and q, in turns, 40 and 8 times; counted, 40 // 2 + 1 and 8 would be wide for two CPUs. At
    about 2 s both CPUs are busy with as much load: the waker's CPU (102400 < 110592), not the last one.
    """
    waker = (sl.repeat(20, sl.wake("p"), sl.wake("q"), sl.run("5ms")), sl.run("2s"), sl.wake("x"), sl.run("1s"))
    x = (sl.affinity(1), sl.repeat(4, sl.wake("p"), sl.wake("q"), sl.sleep("7ms")), sl.affinity((0, 1)), sl.wait("x"))
    pinned = [sl.Task(n, sl.repeat(None, sl.wait(n), sl.run("10us")), cpus=1) for n in "pq"]
    tasks = [sl.Task("waker", waker, cpus=0), sl.Task("x", (*x, sl.run("1ms"))), *pinned, hog("h", 1)]
    wakes = [(t, cpu) for t, task, cpu, _ in log_of(tasks, 2, "2200ms", ("wake",)) if task == "x"]
    assert wakes[-1] == (2100, 0)


def test_active_balance__the_tick_of_the_source_stays():
    """A moves from CPU 1 at CPU 0's tick at 24 ms; CPU 1, which goes on with P, still has its own tick then.

    P is pinned and seldom runs, A is pinned to 8.5 ms: CPU 3 looks at 4 and 12 ms (pinned: twice the interval), then
    every 4 ms: 12, 16, 20 and 24 ms are more than 3 attempts in vain.
    """
    tasks = [hog("h", 0), hog("a", 1, nice=-20), hog("p", 1, nice=19)]
    events = [sl.SetAffinity(8_500_000, "a", (0, 1, 2, 3))]
    found = log_of(tasks, 4, "26ms", ("active_balance", "tick"), events=events)
    assert [(t, task, cpu) for t, task, cpu, src in found if src == 1 and task == "a"] == [(24, "a", 3)]
    assert [(t, task) for t, task, cpu, _ in found if cpu == 1 and t >= 23] == [(23, "a"), (24, "p"), (25, "p")]


def test_calculate_imbalance__the_mean_above_the_busiest():
    """Loads are 88761, 15, 2 * 15, 15: the mean is above the busiest, of two tasks, whose difference is unsigned.

    So the other side counts, 22205 - 15: a task moves. All are busy: due after 63 ticks (spare capacity since 10 ms),
    then 127 more: CPU 1 is fully busy (999 * 117 > 102400) at 190 ms, and the first to look.
    """
    tasks = [hog("big", 0, nice=-20), hog("d", 1, nice=19), hog("x", 2, nice=19), hog("y", 2, nice=19)]
    tasks = [sl.Task(t.name, t.program, cpus=t.cpus, nice=t.nice, start_ns=10 * MS) for t in tasks]
    tasks.append(hog("e", 3, nice=19, start_ns=10 * MS))
    events = [sl.SetAffinity(10_001_000, name, (0, 1, 2, 3)) for name in "xy"]
    (time, name, cpu, src), *_ = moves_of(tasks, sl.Machine.uniform(4), "191ms", events)
    assert (time, name in "xy", cpu, src) == (190, True, 1, 2)


def test_find_src_rq__tasks_that_wait_count_as_used():
    """CPU 2 has four tasks since 60 ms, CPU 3 two since 0: of what is wanted both have 1024, so that it is the first.

    All are pinned to 100 ms: the domain over both caches is looked at after 4, 12, 28, 60, 124 ms (busy CPUs look at
    theirs after 31 and 94 ms).
    """
    late = [hog(f"t{k}", 2, start_ns=60 * MS) for k in range(4)]
    tasks = [*late, hog("u", 3), hog("v", 3)]
    events = [sl.SetAffinity(100_500_000, task.name, (0, 1, 2, 3)) for task in tasks]
    (time, _, cpu, src), *_ = moves_of(tasks, sl.Machine.uniform(4, nr_llcs=2), "125ms", events)
    assert (time, cpu, src) == (124, 0, 2)


def test_can_migrate_task__failures_are_those_of_who_balances():
    """X may go to CPU 1 alone, for which CPU 0 balances; it always ran less than 500 us ago, as Y interrupts it.

    CPU 0 failed at 4 and 8 ms: at 12 ms that is more than cache_nice_tries, and hot tasks go too.
    """
    y = sl.Task("y", sl.repeat(None, sl.run("350us"), sl.timer("1ms")), cpus=2, nice=-20, start_ns=700_000)
    events = [sl.SetAffinity("1us", "x", (1, 2))]
    assert moves_of([hog("x", 2), y], sl.Machine.uniform(4, 2), "20ms", events) == [(12, "x", 1, 2)]


def test_interval__at_most_a_tenth_of_a_second_for_each_cpu_online():
    """HZ 100, CPU 3 offline: at most 30 ticks. Pinned, the interval doubles to 512 ms: 1, 2, 4, 8, 15, 28, 54, 84."""
    kernel = sl.Kernel.version("6.18", hz=100, balance="kernel")
    tasks = [hog("a", 1), hog("b", 1)]
    events = [sl.SetCpuOnline("1us", 3, False), *(sl.SetAffinity("700ms", name, (0, 1, 2)) for name in "ab")]
    (time, _, cpu, src), *_ = moves_of(tasks, sl.Machine.uniform(4), "900ms", events, kernel)
    assert (time, cpu, src) == (840, 2, 1)
