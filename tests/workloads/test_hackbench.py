import pytest

import schedlab as sl
from schedlab.steps import Repeat
from schedlab.workloads.hackbench import hackbench, messages, nested_hackbench, us_per_message

KERNEL = sl.Kernel.version("6.12")


def test_hackbench__defaults_of_the_tool():
    job = hackbench()
    assert len(job.tasks) == 400 and len(job.channels) == 200
    assert {(c.kind, c.datasize) for c in job.channels} == {("socket", 100)}
    assert messages(job) == 10 * 20 * 20 * 100
    receiver, sender = job.tasks[0].program, job.tasks[20].program
    assert receiver[:2] == sender[:2] == (sl.run("100us"), sl.barrier("hackbench:start", 400))
    assert receiver[2] == sl.repeat(2000, sl.read("hackbench-g0-c0", 1500))
    assert [step.channel for step in sender[2].steps] == [c.name for c in job.channels[:20]]
    assert sender[2].times == 100


def test_hackbench__names_and_labels():
    job = hackbench(groups=1, fds=2, pipe=True, thread=True, group="/a", name="hb")
    assert [task.name for task in job.tasks] == ["a:hb-g0-rt0", "a:hb-g0-rt1", "a:hb-g0-st0", "a:hb-g0-st1"]
    assert {task.group for task in job.tasks} == {"/a"} and job.channels[0].kind == "pipe"


@pytest.mark.parametrize("loops, coarsen", [(100, 20), (7, 5), (3, 20), (10, 1)])
def test_hackbench__coarsen_keeps_the_number_of_messages(loops, coarsen):
    job = hackbench(groups=2, fds=3, loops=loops, coarsen=coarsen)
    assert messages(job) == 2 * 3 * 3 * loops
    for task in job.tasks:
        moved = 0
        for step in task.program[2:]:
            inner, times = (step.steps, step.times) if isinstance(step, Repeat) else ((step,), 1)
            moved += times * sum(s.n for s in inner)
        assert moved == 3 * loops


@pytest.mark.parametrize("pipe", [True, False])
@pytest.mark.parametrize("release", ["6.1", "6.12"])
def test_hackbench__all_messages_arrive(pipe, release):
    job = hackbench(groups=2, fds=5, loops=30, pipe=pipe, start="1ms")
    run = sl.simulate(sl.Machine.uniform(4), sl.Kernel.version(release), job, "10s", stop="exit")
    table, tasks = run.channels(), run.tasks()
    assert (table.written == 5 * 30).all() and (table.read == 5 * 30).all()
    assert (tasks.end_ns > 0).all() and (tasks.start_ns == 1_000_000).all()
    # CPU time is that of the system calls alone
    cost = 800 if pipe else 3000
    assert tasks.kernel_ns.sum() == messages(job) * cost and (tasks.user_ns == 100_000).all()
    assert us_per_message(run) == pytest.approx(cost / 1000)
    assert us_per_message(run, "wall") == pytest.approx(tasks.end_ns.max() / messages(job) / 1000)


def test_hackbench__tasks_are_spread_when_they_start():
    run = sl.simulate(sl.Machine.uniform(64, nr_llcs=8), KERNEL, hackbench(groups=1, loops=None), "10ms", log="switch")
    assert run.events().cpu.nunique() >= 40


def test_hackbench__nobody_begins_before_the_last_has_come():
    late = sl.Workload(tasks=(sl.Task("hog", sl.run("50ms"), cpus=0, nice=-20),))
    job = hackbench(groups=1, fds=2, loops=5)
    pinned = job.replace(tasks=(*job.tasks[:3], sl.Task(**{**vars(job.tasks[3]), "cpus": 0})))
    run = sl.simulate(sl.Machine.uniform(4), KERNEL, late + pinned, "1s", log="wake", stop="exit")
    # three wait for the fourth, which is kept off its CPU for a while; then one wake-up of all
    wakes = run.events()
    assert (wakes.time_ns[:3] == wakes.time_ns[0]).all() and len(set(wakes.a[:3])) == 3


def test_nested__published_tree():
    job = nested_hackbench(groups=2)
    quotas = {group.path: (group.quota_us, group.period_us) for group in job.groups}
    assert quotas == {
        "/CG0": (3_200_000, 100_000),
        "/CG0/CG00": (1_600_000, 100_000),
        "/CG0/CG01": (1_600_000, 100_000),
        "/CG0/CG00/CG000": (800_000, 100_000),
        "/CG0/CG00/CG001": (800_000, 100_000),
        "/CG0/CG01/CG010": (800_000, 100_000),
        "/CG0/CG01/CG011": (800_000, 100_000),
    }
    assert len(job.tasks) == 4 * 2 * 40 and {c.kind for c in job.channels} == {"pipe"}
    assert messages(job) is None
    assert messages(nested_hackbench(loops=3)) == 4 * 400 * 3


def test_nested__other_shapes():
    job = nested_hackbench(quotas_us=(None, 50_000), fanout=3, period_us=20_000, fds=2)
    assert [g.path for g in job.groups] == ["/CG0", "/CG0/CG00", "/CG0/CG01", "/CG0/CG02"]
    assert [g.quota_us for g in job.groups] == [None, 50_000, 50_000, 50_000]
    assert len(job.tasks) == 3 * 4


# One leaf's share of the published test, on 16 CPUs: 40 tasks, limited to 4 of them, for 5 periods.
QUOTA_US, PERIOD_US, PERIODS = 400_000, 100_000, 5


def coarse(coarsen, loops=None, **options):
    group = sl.Group("/a", quota_us=QUOTA_US, period_us=PERIOD_US, phase_us=0)
    job = hackbench(groups=1, loops=loops, pipe=True, coarsen=coarsen, group=group, **options)
    until = PERIODS * PERIOD_US * 1000 if loops is None else 10**10
    return sl.simulate(sl.Machine.uniform(16), KERNEL, job, until, stop="exit")


@pytest.fixture(scope="module")
def open_ended():
    return {k: coarse(k) for k in (1, 5, 20)}


@pytest.fixture(scope="module")
def finished():
    return {k: coarse(k, loops=200) for k in (1, 5, 20)}


def test_coarsen__equal_when_all_messages_are_passed(finished):
    """A fixed number of messages: their number, and CPU time in all, are the same to the ns."""
    for run in finished.values():
        assert run.channels()[["written", "read"]].sum().tolist() == [80_000, 80_000]
        assert run.tasks().kernel_ns.sum() == 80_000 * 800
        assert us_per_message(run) == pytest.approx(0.8)


def test_coarsen__equal_in_a_given_time(open_ended):
    """Limited throughout: usage, periods and throttled periods are the same."""
    stats = {k: run.cpu_stat().loc["/a"] for k, run in open_ended.items()}
    for stat in stats.values():
        assert stat.nr_periods == stats[1].nr_periods == PERIODS - 1
        assert stat.nr_throttled == stats[1].nr_throttled == PERIODS - 1
        assert stat.usage_usec == pytest.approx(QUOTA_US * PERIODS, rel=0.02)


def test_coarsen__close_but_not_equal(open_ended):
    """Messages in a given time differ by what is in the middle of a section at the end, and by debts."""
    counts = {k: int(run.channels()["read"].sum()) for k, run in open_ended.items()}
    assert counts[5] == pytest.approx(counts[1], rel=0.03) and counts[20] == pytest.approx(counts[1], rel=0.03)


def test_coarsen__what_changes(open_ended):
    """Sleeps and context switches: fewer, for a step of k messages blocks once where k calls could each."""
    switches = [int(open_ended[k].tasks().nr_switches.sum()) for k in (1, 5, 20)]
    assert switches[0] > switches[1] > switches[2]


@pytest.mark.parametrize("field", ["groups", "fds", "loops", "datasize", "coarsen"])
def test_refused__zero(field):
    with pytest.raises(ValueError) as error:
        hackbench(**{field: 0})
    assert str(error.value) == f"{field}=0: at least 1"


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(quotas_us=()), "quotas_us=(): one a level, at least one"),
        (dict(fanout=11), "fanout=11: at most 10"),
        (dict(group="/a"), "group='/a': the leaves are the groups; use hackbench() for a single one"),
        (dict(cost_write=0), "cost=0: at least 1 ns"),
    ],
)
def test_refused__nested(options, message):
    with pytest.raises(ValueError) as error:
        nested_hackbench(**options)
    assert str(error.value) == message


def test_us_per_message__none_read():
    run = sl.simulate(sl.Machine.uniform(1), KERNEL, hackbench(), "1us")
    assert us_per_message(run) != us_per_message(run)
    with pytest.raises(ValueError, match="^kind='clock': one of cpu, wall"):
        us_per_message(run, "clock")
