"""Moves between groups and CPUs that go offline, in the plain reference, against traces worked out by hand."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_worked import FOREVER, MS, times_ms

from schedlab.kernel import Kernel
from schedlab.machine import Machine
from schedlab.reference import simulate
from schedlab.steps import run, sleep
from schedlab.workload import Group, SetAffinity, SetCpuMax, SetCpuOnline, SetGroup, Task, Workload

RELEASES = ("6.6", "6.12", "6.18", "7.2")
PER_TASK = ("6.18", "7.2")


def simulate_events(release, tasks, events, duration_ms, groups=(), nr_cpus=1, patches=(), **tunables):
    linux = Kernel.version(release, **{"hz": 1000, **tunables}).with_patch(*patches)
    return simulate(
        Machine.uniform(nr_cpus), linux, Workload(groups, tuple(tasks), tuple(events)), int(duration_ms * MS)
    )


LIMITED = (Group("/g", quota_us=10_000, phase_us=0), Group("/free"))


# ---- SetGroup --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
def test_move__a_running_task_is_charged_to_its_new_group(release):
    result = simulate_events(release, [Task("hog", FOREVER, "/free")], [SetGroup("5ms", "hog", "/g")], 50, LIMITED)
    stat = result.cpu_stat()
    assert stat["/free"]["usage_usec"] == 5_000
    # 6.12 and before begin with nothing, the others with a ns more
    assert stat["/g"]["usage_usec"] == (11_000 if release in PER_TASK else 10_000)
    assert result.tasks()[0]["group"] == "/g"


@pytest.mark.parametrize("release", PER_TASK)
def test_move__out_of_limbo(release):
    tasks = [Task("hog", FOREVER, "/g"), Task("late", run("1ms"), "/free", start_ns="30ms")]
    result = simulate_events(release, tasks, [SetGroup("20ms", "hog", "/free")], 50, LIMITED)
    # up to 6.18 nobody tells the idle CPU: the task waits for the next reason to schedule
    starts = {"6.18": 30, "7.2": 20}[release]
    assert result.tasks()[0]["exec_ns"] + result.tasks()[1]["exec_ns"] == (11 + 50 - starts) * MS
    assert times_ms(result, "limbo") == [11]


@pytest.mark.parametrize("release", PER_TASK)
def test_move__from_limbo_to_limbo(release):
    groups = (Group("/g", quota_us=10_000, phase_us=0), Group("/g/one"), Group("/g/two"))
    tasks = [Task("a", FOREVER, "/g/one"), Task("b", FOREVER, "/g/two")]
    result = simulate_events(release, tasks, [SetGroup("20ms", "a", "/g/two")], 50, groups)
    assert [task.index for task in result.model.groups[3].cfs_rqs[0].limbo] == [0, 1]
    assert result.model.tasks[0].throttled


@pytest.mark.parametrize("release", ("6.12", *PER_TASK))
def test_move__a_delayed_task_stays_delayed(release):
    # b, of little weight, runs for 5 ms without a tick and sleeps with more than its share; it is delayed for some ms
    tasks = [Task("a", FOREVER), Task("b", (run("5ms"), sleep("20ms"), run("1ms")), nice=5, start_ns="1ms")]
    result = simulate_events(release, tasks, [], 50, hz=100, hrtick=False)
    blocked = [time for time, kind, _, a, _ in result.events if kind == "block" and a == 1][0]
    event = SetGroup(blocked + 1, "b", "/free")
    result = simulate_events(release, tasks, [event], (blocked + 2) / MS, LIMITED, hz=100, hrtick=False)
    task = result.model.tasks[1]
    assert task.entity.sched_delayed and task.entity.on_rq
    assert task.entity.cfs_rq is result.model.groups[2].cfs_rqs[0]


def test_move__cfs_is_refused():
    with pytest.raises(ValueError, match="modelled for EEVDF"):
        simulate_events("6.1", [Task("hog", FOREVER)], [SetGroup("5ms", "hog", "/g")], 50, LIMITED)


# ---- SetCpuOnline ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ("6.1", *RELEASES))
def test_offline__tasks_move(release):
    tasks = [Task("zero", FOREVER, cpus=0), Task("one", FOREVER, cpus=(1, 2)), Task("pinned", FOREVER, cpus=1)]
    events = [SetCpuOnline("5.5ms", 1, False), SetCpuOnline("20.5ms", 1, True)]
    result = simulate_events(release, tasks, events, 30, nr_cpus=3)
    assert [(time / MS, cpu, a) for time, kind, cpu, a, _ in result.events if kind == "online"] == [
        (5.5, 1, 0),
        (20.5, 1, 1),
    ]
    # first the one that runs there, to the only idle CPU
    moved = [(time / MS, cpu, a) for time, kind, cpu, a, _ in result.events if kind == "migrate" and time == 5_500_000]
    pinned = [cpu for time, cpu, a in moved if a == 2]
    assert len(pinned) == 1 and pinned[0] != 1
    # while it is offline the CPU runs nothing
    assert result.model.tasks[2].allowed == (0, 1, 2)
    assert not [
        e for e in result.events if e[1] == "switch" and e[2] == 1 and e[4] >= 0 and 5_500_000 < e[0] < 20_500_000
    ]


@pytest.mark.parametrize("release", ("6.1", *RELEASES))
def test_offline__a_blocked_task_finds_another_cpu(release):
    tasks = [Task("s", (sleep("10ms"), run("1ms")), cpus=1)]
    result = simulate_events(release, tasks, [SetCpuOnline("5ms", 1, False)], 30, nr_cpus=2)
    assert [(time / MS, cpu) for time, kind, cpu, *_ in result.events if kind == "wake"] == [(10, 0)]


def test_offline__an_affinity_without_an_online_cpu_is_refused():
    events = [SetCpuOnline("5ms", 1, False), SetAffinity("6ms", "hog", 1)]
    result = simulate_events("6.12", [Task("hog", FOREVER, cpus=0)], events, 10, nr_cpus=2)
    assert result.model.tasks[0].allowed == (0,)


def test_offline__slices_follow_the_number_of_cpus_that_were_there():
    events = [SetCpuOnline("5ms", 3, False), SetCpuOnline("6ms", 2, False)]
    result = simulate_events("6.12", [Task("hog", FOREVER)], events, 10, nr_cpus=4)
    # at 6 ms three are online, one of which leaves
    assert result.model.base_slice == 2 * 700_000


@pytest.mark.parametrize("release", PER_TASK)
def test_offline__limbo_is_let_go_and_moves(release):
    tasks = [Task(f"hog{c}", FOREVER, "/g", cpus=(c, 1 - c)) for c in range(2)]
    result = simulate_events(release, tasks, [SetCpuOnline("50ms", 1, False)], 60, LIMITED[:1], nr_cpus=2)
    assert [(time / MS, cpu) for time, kind, cpu, *_ in result.events if kind == "unthrottle"] == [(50, 1)]
    # CPU 0 is still throttled
    assert sorted(task.index for task in result.model.groups[1].cfs_rqs[0].limbo) == [0, 1]


def test_f5__each_rebuild_lets_everybody_run():
    # 8 hogs on 8 CPUs with half a CPU of quota; a CPU goes and comes every 50 ms
    events = [SetCpuOnline(k * 50 * MS + 1, 7, k % 2 == 1) for k in range(20)]
    groups = (Group("/g", quota_us=50_000, phase_us=0),)
    tasks = [Task(f"hog{k}", FOREVER, "/g") for k in range(8)]
    used = {}
    for patches in ((), ("unthrottle-offline-only",)):
        result = simulate_events("6.12", tasks, events, 1000, groups, nr_cpus=8, patches=patches, hz=250)
        used[patches] = result.cpu_stat()["/g"]["usage_usec"]
        assert result.balance("/g") == 0
    assert used["unthrottle-offline-only",] <= 500_000 + 8 * 4_000
    assert used[()] > 1.2 * 500_000


def test_online__limits_hold_again():
    events = [SetCpuOnline("5ms", 1, False), SetCpuMax("6ms", "/g", 20_000), SetCpuOnline("7ms", 1, True)]
    result = simulate_events("6.18", [Task("hog", FOREVER, "/g", cpus=0)], events, 10, LIMITED[:1], nr_cpus=2)
    queues = result.model.groups[1].cfs_rqs
    assert [q.runtime_enabled for q in queues] == [True, True]
