"""Per-task throttling (6.18 and 7.2) in the plain reference against traces worked out by hand (B11, D3, F14)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_worked import FOREVER, MS, hogs, times_ms, usage_ms

from schedlab.kernel import Kernel
from schedlab.machine import Machine
from schedlab.reference import simulate
from schedlab.steps import kernel, repeat, run, sleep
from schedlab.workload import Group, SetCpuMax, Task, Workload

ROWS = ("6.18", "7.2")


def simulate_group(release, tasks, duration_ms, quota_us=10_000, events=(), nr_cpus=1, patches=(), **tunables):
    """Tasks of one limited group /g whose period begins at multiples of 100 ms; HZ 1000 unless said."""
    linux = Kernel.version(release, **{"hz": 1000, **tunables}).with_patch(*patches)
    tasks = tuple(
        Task(t.name, t.program, "/g", t.nice, t.cpus, t.start_ns, kernel_thread=t.kernel_thread) for t in tasks
    )
    job = Workload((Group("/g", quota_us=quota_us, phase_us=0),), tasks, tuple(events))
    return simulate(Machine.uniform(nr_cpus), linux, job, int(duration_ms * MS), log_all=True)


def events_at(result, ms, *kinds):
    """The records of some kinds at a time, without it."""
    return [tuple(rest) for time, *rest in result.events if time == ms * MS and rest[0] in kinds]


def limbo(result, path="/g", cpu=0):
    """Numbers of the tasks in limbo at the end."""
    group = next(g for g in result.model.groups if g.path == path)
    return [task.index for task in group.cfs_rqs[cpu].limbo]


# ---- one hog under a limit that is written at time 0 -----------------------------------------------------------------

# the ns that the write creates makes exhaustion miss a tick once; then the rows of 6.12 go on, shifted
B11 = [
    (250, 10, 0, [12], [12, 8]),
    (250, 10, 1, [13, 9, 9], [13, 9, 9, 9]),
    (250, 20, 0, [24], [20]),
    (250, 20, 1, [21], [21, 21, 21, 17]),
    (250, 25, 0, [28, 24, 24], [28, 24, 24, 24]),
    (250, 50, 0, [52], [52, 48]),
    (100, 25, 0, [30], [30, 20]),
    (100, 10, 1, [11], [11] * 9 + [1]),
    (1000, 7, 0, [8], [7]),
    (1000, 33, 0, [34], [33]),
]


@pytest.mark.parametrize("release", ROWS)
@pytest.mark.parametrize("hz, quota, offset, first, pattern", B11)
def test_b11__usage_per_period(release, hz, quota, offset, first, pattern):
    result = hogs(1, quota, release, hz, 40, offset)
    assert usage_ms(result, 100, 40) == (first + pattern * 40)[:40]
    stat = result.cpu_stat()["/g"]
    assert stat["usage_usec"] == 40 * quota * 1000 + 1_000_000 // hz
    assert stat["nr_periods"] == stat["nr_throttled"] == 40
    assert result.balance("/g") == 0


@pytest.mark.parametrize("release, schedules, used", [("6.12", 1, 10), ("6.18", 2, 11), ("7.2", 1, 11)])
def test_d3__schedules_of_one_throttle(release, schedules, used):
    result = simulate_group(release, [Task("hog", FOREVER)], 50)
    assert len(events_at(result, used, "schedule")) == schedules
    assert len(events_at(result, used, "throttle")) == 1
    # and one at the start
    assert result.cpus()[0] == {"nr_schedules": schedules + 1, "nr_works": int(release != "6.12"), "nr_warnings": 0}


@pytest.mark.parametrize("release, kinds", [("6.18", "schedule throttle work limbo schedule switch"),
                                            ("7.2", "throttle work limbo schedule switch")])  # fmt: skip
def test_d3__order_of_one_throttle(release, kinds):
    result = simulate_group(release, [Task("hog", FOREVER)], 50)
    wanted = kinds.split()
    assert [kind for kind, *_ in events_at(result, 11, *wanted)] == wanted


@pytest.mark.parametrize("release", ROWS)
def test_d3__siblings_are_bounced_once_each(release):
    # a slice that does not end: nothing else asks for a schedule
    tasks = [Task(f"hog{k}", FOREVER) for k in range(4)]
    result = simulate_group(release, tasks, 50, hrtick=False, base_slice_ns=200 * MS)
    assert sorted(a for _, _, a, _ in events_at(result, 11, "limbo")) == [0, 1, 2, 3]
    assert len(events_at(result, 11, "work")) == result.cpus()[0]["nr_works"] == 4
    # each leaves by a schedule of its own; in 6.18 it took another to tell the first
    assert len(events_at(result, 11, "schedule")) == (5 if release == "6.18" else 4)
    # nobody ran in between: no more was used
    assert result.cpu_stat()["/g"]["usage_usec"] == 11_000


def test_g25__the_rows_differ_by_a_schedule_for_each_throttle():
    tasks = [Task(f"hog{c}", FOREVER, cpus=c) for c in range(3)]
    runs = [simulate_group(release, tasks, 2000, 47_000, nr_cpus=3, hz=250) for release in ROWS]
    assert usage_ms(runs[0], 100, 20) == usage_ms(runs[1], 100, 20)
    schedules = [sum(cpu["nr_schedules"] for cpu in result.cpus()) for result in runs]
    assert schedules[0] - schedules[1] == len(times_ms(runs[1], "throttle")) > 40


# ---- the return to user space ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ROWS)
def test_kernel_section__runs_on_to_its_return(release):
    result = simulate_group(release, [Task("t", (kernel("30ms"), FOREVER))], 250)
    # marked at 11 ms, stopped at 30 ms; two refills pay the debt of 20 ms
    assert times_ms(result, "throttle")[0] == 11
    assert times_ms(result, "limbo")[0] == 30
    assert times_ms(result, "unthrottle") == [200]
    stat = result.cpu_stat()["/g"]
    # the clock starts when the task leaves
    assert stat["throttled_usec"] == stat["local_throttled_usec"] == 170_000
    # its last ns are then used up by the next tick
    assert result.cpu_stat()["/g"]["usage_usec"] == 31_000


def test_kernel_section__is_throttled_inside_before_6_18():
    result = simulate_group("6.12", [Task("t", (kernel("30ms"), FOREVER))], 250)
    assert times_ms(result, "throttle") == [10, 110, 210]


@pytest.mark.parametrize("release", ROWS)
def test_wake__into_a_throttled_group(release):
    tasks = [Task("hog", FOREVER), Task("s", (sleep("20ms"), FOREVER)), Task("new", FOREVER, start_ns="25ms")]
    result = simulate_group(release, tasks, 90)
    # it is enqueued, picked, and thrown out before its next step; a new task likewise
    wake = times_ms(result, "wake")[0]
    assert [kind for kind, *_ in events_at(result, wake, "wake", "work", "limbo")] == ["wake", "work", "limbo"]
    assert [kind for kind, *_ in events_at(result, 25, "start", "work", "limbo")] == ["start", "work", "limbo"]
    assert [task["exec_ns"] for task in result.tasks()] == [11 * MS, 0, 0]
    assert limbo(result) == [2, 1, 0]


@pytest.mark.parametrize("release", ROWS)
def test_limbo__the_latest_comes_back_first(release):
    tasks = [Task(f"hog{k}", FOREVER) for k in range(3)]
    before = simulate_group(release, tasks, 50, hrtick=False)
    order = [a for _, _, a, _ in events_at(before, 11, "limbo")]
    assert limbo(before) == order[::-1]
    after = simulate_group(release, tasks, 100.1, hrtick=False)
    assert limbo(after) == []
    # the CPU's list has the last enqueued at its head, and before it the one that runs
    listed = [task.index for task in after.model.cpus[0].tasks]
    running = after.model.cpus[0].curr.index
    assert listed == [running] + [index for index in order if index != running]


@pytest.mark.parametrize("release", ROWS)
def test_work__is_dropped_when_the_quota_came_back_first(release):
    result = simulate_group(
        release, [Task("t", (kernel("20ms"), FOREVER))], 40, events=[SetCpuMax("15ms", "/g", 50_000)]
    )
    assert (times_ms(result, "throttle"), times_ms(result, "unthrottle")) == ([11], [15])
    assert times_ms(result, "work") == [11]
    assert times_ms(result, "limbo") == []
    assert result.cpus()[0]["nr_works"] == 0
    assert result.tasks()[0]["exec_ns"] == 40 * MS


@pytest.mark.parametrize("release, released", [("6.18", [15.5]), ("7.2", [])])
def test_write__while_a_kernel_section_runs(release, released):
    # 7.2 charges first what ran since the tick: the 1 ns of the write is gone, and the group stays throttled
    event = SetCpuMax("15.5ms", "/g", 50_000)
    result = simulate_group(release, [Task("t", (kernel("20ms"), FOREVER))], 40, events=[event])
    assert times_ms(result, "unthrottle") == released
    assert times_ms(result, "limbo") == ([] if released else [20])


@pytest.mark.parametrize("release", ROWS)
def test_kernel_thread__is_never_stopped(release):
    tasks = [Task("kthread", FOREVER, kernel_thread=True), Task("hog", FOREVER)]
    result = simulate_group(release, tasks, 90)
    # the hog leaves, the kernel thread has the CPU for itself
    assert [a for _, kind, _, a, _ in result.events if kind in ("work", "limbo")] == [1, 1]
    assert sum(task["exec_ns"] for task in result.tasks()) == 90 * MS
    assert limbo(result) == [1]


@pytest.mark.parametrize("release", ROWS)
def test_exit__needs_no_work(release):
    # the last charge, that of the exit, finds the quota used up: 7.2 throttles there, 6.18 when the task is put
    result = simulate_group(release, [Task("t", run("10.5ms"))], 40)
    assert (times_ms(result, "work"), times_ms(result, "limbo")) == ([], [])
    assert result.tasks()[0]["end_ns"] == 10_500_000
    assert times_ms(result, "throttle") == [10.5]


# ---- lazy preemption -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lazy, step, starts_ms", [(True, kernel, 10), (False, kernel, 4), (True, run, 4)])
def test_lazy__wake_up_preemption_waits_for_user_space_or_the_tick(lazy, step, starts_ms):
    tasks = (Task("long", repeat(None, step("25ms"))), Task("s", (sleep("4ms"), run("1ms")), slice_us=100))
    linux = Kernel.version("6.18", hz=100, lazy_resched=lazy)
    result = simulate(Machine.uniform(1), linux, Workload(tasks=tasks), 20 * MS)
    assert [time / MS for time, kind, _, _, b in result.events if kind == "switch" and b == 1][-1] == starts_ms


# ---- nested groups ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("patches, warns", [(("zero-runtime-at-write",), 1), ((), 0)])
def test_f14__a_fresh_limit_below_a_throttled_group(patches, warns):
    # a kernel thread on CPU 1 uses up what /a/b/c gets at 30 and 50 ms; on CPU 0 two tasks of it wait in limbo.
    # When /a is let go at 100 ms the first of them finds no runtime and throttles /a/b/c again, the other in limbo
    groups = (Group("/a", quota_us=20_000, phase_us=0), Group("/a/b"), Group("/a/b/c", phase_us=50_000))
    tasks = [Task(f"hog{k}", FOREVER, "/a/b/c", cpus=0) for k in range(2)]
    tasks.append(Task("kthread", FOREVER, "/a/b/c", cpus=1, kernel_thread=True))
    job = Workload(groups, tuple(tasks), (SetCpuMax("30ms", "/a/b/c", 1_000, 100_000),))
    result = simulate(Machine.uniform(2), Kernel.version("6.18", hz=1000).with_patch(*patches), job, 100 * MS + 1)
    assert [event[0] / MS for event in result.events if event[1] == "warn"] == [100] * warns
    assert [a for time, kind, cpu, a, _ in result.events if (time, kind, cpu) == (100 * MS, "throttle", 0)] == [
        3
    ] * warns


@pytest.mark.parametrize("local_list", [True, False])
def test_series__the_last_patch_without_the_one_before_warns(local_list):
    # /a is used up at 20.3 ms, between two ticks, while r runs in it. At 20.5 ms /a/c is let go: to enqueue the first
    # of its tasks in limbo charges /a, which is throttled with the other still in limbo
    groups = (Group("/a", quota_us=20_300, phase_us=0), Group("/a/c", quota_us=5_000, phase_us=20_500))
    tasks = tuple(Task(f"c{k}", FOREVER, "/a/c") for k in range(2)) + (Task("r", FOREVER, "/a"),)
    linux = Kernel.version("7.2", hz=1000)
    linux = linux if local_list else linux.without_patch("limbo-local-list")
    result = simulate(Machine.uniform(1), linux, Workload(groups, tasks), 30 * MS)
    at = [(kind, a) for time, kind, _, a, _ in result.events if time == 20_500_000 and kind in ("throttle", "warn")]
    assert at == ([("throttle", 1)] if local_list else [("warn", 2), ("throttle", 1)])
    # in the end all are in limbo anyway, and nothing is lost
    assert limbo(result, "/a") == [2]
    assert sorted(limbo(result, "/a/c")) == [0, 1]
