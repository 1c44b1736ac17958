import pickle

import pytest

from schedlab import cgroup, steps
from schedlab.events import SetAffinity, SetCpuMax, SetCpuOnline, SetGroup
from schedlab.kernel import Kernel
from schedlab.machine import Machine
from schedlab.steps import ALL, affinity, barrier, repeat, run, sleep, timer, wait, wake, yield_
from schedlab.workload import Group, Task, Workload

HOG = Task("hog", run("1s"))


def refused(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


# ---- groups and limits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (dict(quota_us=500), "^quota_us=500: at least 1000"),
        (dict(quota_us=0), "^quota_us=0: at least 1000"),
        (dict(quota_us=1 << 44), "^quota_us=17592186044416: at most 17592186044415"),
        (dict(quota_us=1000.5), "^quota_us=1000.5: a whole number"),
        (dict(period_us=999), "^period_us=999: at least 1000"),
        (dict(period_us=1_000_001), "^period_us=1000001: at most 1000000"),
        (dict(quota_us=1000, burst_us=1001), "^burst_us=1001: at most quota_us=1000"),
        (dict(quota_us=1000, burst_us=-1), "^burst_us=-1: at least 0"),
        (dict(quota_us=(1 << 44) - 1, burst_us=1), "^burst_us=1: quota_us \\+ burst_us at most"),
        (dict(weight=0), "^weight=0: at least 1"),
        (dict(weight=10_001), "^weight=10001: at most 10000"),
        (dict(phase_us=-1), "^phase_us=-1: at least 0"),
        (dict(path="/"), "^path='/': the root"),
        (dict(path="a"), "^path='a': starts with"),
        (dict(path="/a/"), "^path='/a/': starts with"),
        (dict(path="/a//b"), "^path='/a//b': starts with"),
    ],
)
def test_group__refused(fields, message):
    refused(lambda: Group(**dict(path="/a") | fields), message)


@pytest.mark.parametrize(
    "fields",
    [
        dict(quota_us=1000, period_us=1000, burst_us=1000),
        dict(quota_us=(1 << 44) - 1, period_us=1_000_000),
        dict(quota_us=1e5),
        dict(weight=10_000),
    ],
)
def test_group__edges_accepted(fields):
    Group("/a", **fields)


def test_group__parent():
    assert Group("/a/b/c").parent == "/a/b" and Group("/a").parent == "/"


def test_v1_ratio__fact_sheet_f8():
    assert cgroup.v1_ratio(1_148, 11_484) == 104_821
    assert cgroup.v1_ratio(1_000, 10_000) == cgroup.v1_ratio(2_000, 20_000) == 104_857
    assert cgroup.v1_ratio(None, 10_000) is None


def test_scale_period__legacy_loses_what_a_child_needs():
    period, quota, _ = cgroup.scale_period(10_000_000, 1_000_000, 0, legacy=True)
    assert (period, quota) == (11_484_375, 1_148_437)
    assert cgroup.v1_ratio(quota // 1000, period // 1000) == 104_821
    period, quota, _ = cgroup.scale_period(10_000_000, 1_000_000, 0)
    assert cgroup.v1_ratio(quota // 1000, period // 1000) == 104_857


def test_scale_period__doubles_up_to_below_a_second():
    limit, periods = (1_000_000, 1_000_000, 500_000), []
    for _ in range(11):
        limit = cgroup.scale_period(*limit)
        periods.append(limit[0] // 1_000_000)
        assert limit[1] == limit[0] and limit[2] * 2 == limit[0]
    assert periods == [2, 4, 8, 16, 32, 64, 128, 256, 512, 512, 512]
    assert cgroup.scale_period(100_000_000, 50, 0)[0] == 200_000_000
    assert cgroup.scale_period(800_000_000, 50, 0)[0] == 800_000_000


def test_scale_period__legacy_stops_at_a_second():
    assert cgroup.scale_period(900_000_000, 90_000_000, 9, legacy=True) == (1_000_000_000, 100_000_000, 10)


# ---- tasks and programs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: run(-1), "^run=-1: a duration is not negative"),
        (lambda: run(0), "^run=0: at least 1 ns"),
        (lambda: run("9001s"), "^run='9001s': at most 9000 s"),
        (lambda: run(2.5), "^run=2.5: a time is whole nanoseconds"),
        (lambda: sleep("5"), "^sleep='5': a time is a number and a unit"),
        (lambda: timer(0), "^period=0: at least 1"),
        (lambda: timer("1ms", offset=-1), "^offset=-1: at least 0"),
        (lambda: wake("a", n=0), "^n=0: at least 1"),
        (lambda: wake("a", keep=17), "^keep=17: at most 16"),
        (lambda: wake(""), "^name='': a non-empty name"),
        (lambda: wait("a", order="filo"), "did you mean 'fifo'|did you mean 'lifo'"),
        (lambda: barrier("b", 0), "^n=0"),
        (lambda: affinity(()), r"^cpus=\(\): at least one CPU"),
        (lambda: affinity((1, 1)), "each CPU once"),
        (lambda: repeat(0, run(1)), "^times=0: at least 1"),
        (lambda: repeat(run(1)), "how often comes first"),
        (lambda: repeat(3), r"^steps=\(\): at least one step"),
        (lambda: repeat(None, yield_()), "endless loop needs a step by which time passes"),
        (lambda: repeat(None, barrier("b", 2), wake("a")), "endless loop needs"),
        (lambda: Task("t", ()), "^program=.*at least one step"),
        (lambda: Task("t", (run(1), 5)), "^program=5: not a step"),
        (lambda: Task("t", (repeat(None, run(1)), sleep(1))), "never reached"),
        (lambda: Task("t", repeat(2, repeat(None, run(1)), sleep(1))), "never reached"),
        (lambda: Task("t", (repeat(2, repeat(None, run(1))), sleep(1))), "never reached"),
        (lambda: Task("", run(1)), "^name=''"),
        (lambda: Task("t", run(1), nice=20), "^nice=20: at most 19"),
        (lambda: Task("t", run(1), cpus=()), "^cpus="),
        (lambda: Task("t", run(1), cpus=-1), "^cpus=-1: at least 0"),
        (lambda: Task("t", run(1), start_ns=-1), "^start_ns=-1: at least 0"),
        (lambda: Task("t", run(1), start_ns="soon"), "^start_ns='soon'"),
        (lambda: Task("t", run(1), slice_us=99), "^slice_us=99: at least 100"),
        (lambda: Task("t", run(1), group="a"), "^group='a': starts with"),
    ],
)
def test_programs__refused(make, message):
    refused(make, message)


def test_repeat__nests_six_deep():
    program = run(1)
    for _ in range(6):
        program = repeat(2, program)
    assert steps.nesting((program,)) == 6
    refused(lambda: repeat(2, program), "nests at most 6 deep")


def test_task__times_and_defaults():
    task = Task("t", run("5ms"), start_ns="1ms", cpus=[3, 1])
    assert task.start_ns == 1_000_000 and task.cpus == (1, 3) and task.label == "t"
    assert task.program == (steps.Run(steps.as_duration("x", 5_000_000)),)


# ---- workloads ---------------------------------------------------------------------------------------------------


def test_workload__numbers_groups_in_preorder():
    workload = Workload(groups=(Group("/b/y"), Group("/a"), Group("/b"), Group("/b/x"), Group("/a/z")))
    assert workload.group_paths == ("/", "/a", "/a/z", "/b", "/b/y", "/b/x")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (dict(groups=(Group("/a"), Group("/a"))), "^groups='/a': occurs twice"),
        (dict(groups=(Group("/a/b"),)), r"^path='/a/b': its parent '/a' is not among the groups"),
        (dict(tasks=(HOG, HOG)), "^tasks='hog': occurs twice"),
        (
            dict(groups=(Group("/web"),), tasks=(Task("t", run(1), group="/wep"),)),
            "^group='/wep': task t: .*did you mean '/web'",
        ),
        (dict(tasks=(run(1),)), "^tasks=.*not one of tasks"),
        (dict(events=(SetCpuMax(0, "/a", 1000),)), "^group='/a': event"),
        (dict(tasks=(HOG,), events=(SetAffinity(0, "hug", 0),)), "^task='hug': .*did you mean 'hog'"),
        (
            dict(tasks=(Task("w", wait("work")), Task("p", wake("wrok")))),
            "^wait='work': task w: nothing wakes that name; did you mean 'wrok'",
        ),
        (dict(tasks=(Task("a", wait("x")), Task("b", (wait("x", order="lifo"), wake("x"))))), "^order='lifo'|^wait"),
        (dict(tasks=(Task("a", barrier("x", 2)), Task("b", barrier("x", 3)))), "^n=3: barrier 'x' has n=2"),
        (dict(tasks=(Task("a", barrier("x", 2)),)), "^n=2: barrier 'x' never opens: only 1"),
    ],
)
def test_workload__refused(fields, message):
    refused(lambda: Workload(**fields), message)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ((SetCpuMax("1s", "/a", 500),), r"^quota_us=500: at least 1000 .*write of /a at 1000000000 ns"),
        ((SetCpuMax("1s", "/a", 4000),), "^burst_us=5000: at most quota_us=4000"),
        ((SetCpuMax("1s", "/a", 9000, period_us=2_000_000),), "^period_us=2000000"),
        # in order of time, not as listed: the burst is lowered before the quota
        ((SetCpuMax("2s", "/a", 4000), SetCpuMax("1s", "/a", 10_000, burst_us=4_001)), "^burst_us=4001: at most"),
    ],
)
def test_events__writes_that_the_kernel_refuses(events, message):
    group = Group("/a", quota_us=10_000, burst_us=5_000)
    refused(lambda: Workload(groups=(group,), events=events), message)


def test_events__keep_what_is_not_written():
    events = (SetCpuMax("2s", "/a", 4000), SetCpuMax("1s", "/a", None, burst_us=0), SetCpuMax("3s", "/a", None))
    workload = Workload(groups=(Group("/a", quota_us=10_000, period_us=50_000, burst_us=5_000),), events=events)
    assert [limits["/a"] for _, limits in workload._limits()] == [
        (10_000, 50_000, 5_000),
        (None, 50_000, 0),
        (4_000, 50_000, 0),
        (None, 50_000, 0),
    ]
    assert [event.at_ns for event in workload.cpu_max_events] == [10**9, 2 * 10**9, 3 * 10**9]


def test_hierarchical_ratio__smallest_on_the_way_up():
    groups = (
        Group("/a", quota_us=50_000),
        Group("/a/b"),
        Group("/a/b/c", quota_us=20_000),
        Group("/a/d", quota_us=90_000),
    )
    workload = Workload(groups=(*groups, Group("/free")))
    ratio = workload.hierarchical_ratio
    assert ratio("/a") == ratio("/a/b") == ratio("/a/d") == 1 << 19
    assert ratio("/a/b/c") == (20_000 << 20) // 100_000
    assert ratio("/free") is None and ratio("/") is None
    refused(lambda: ratio("/fee"), "did you mean '/free'")


NEST = (Group("/a", quota_us=1148, period_us=11_484), Group("/a/b", quota_us=1000, period_us=10_000))


def test_check__v1_refuses_a_child_above_its_parent_with_the_kernels_arithmetic():
    workload = Workload(groups=NEST)
    workload.check(Kernel.version("6.1"))
    message = r"^quota_us=1000: group /a/b at 0 ns: \(1000 << 20\) // 10000 = 104857 is above its parent's 104821"
    refused(lambda: workload.check(Kernel.version("6.1", cgroup="v1")), message)


def test_check__v1_looks_through_groups_without_a_limit():
    nest = (Group("/a", quota_us=10_000), Group("/a/b"), Group("/a/b/c", quota_us=10_001))
    refused(lambda: Workload(groups=nest).check(Kernel.version("6.1", cgroup="v1")), "/a/b/c")


def test_check__v1_accepts_equal_ratios_and_oversubscription():
    nest = (Group("/a", quota_us=20_000), *(Group(f"/a/{k}", quota_us=20_000) for k in range(3)))
    Workload(groups=nest).check(Kernel.version("6.1", cgroup="v1"))


def test_check__v1_looks_at_later_writes_too():
    nest = (Group("/a", quota_us=20_000), Group("/a/b", quota_us=10_000))
    lowered = Workload(groups=nest, events=(SetCpuMax("1s", "/a", 9_999),))
    lowered.check(Kernel.version("6.1"))
    refused(lambda: lowered.check(Kernel.version("6.1", cgroup="v1")), "group /a/b at 1000000000 ns")


def test_check__slices_of_a_tasks_own_need_612():
    workload = Workload(tasks=(Task("t", run(1), slice_us=500),))
    workload.check(Kernel.version("6.12"))
    refused(lambda: workload.check(Kernel.version("6.8")), "^slice_us=500: task t: kernel 6.8")


@pytest.mark.parametrize(
    "workload",
    [
        Workload(tasks=(Task("t", run(1), cpus=(1, 2)),)),
        Workload(tasks=(Task("t", repeat(2, run(1), affinity(2))),)),
        Workload(tasks=(HOG,), events=(SetAffinity(0, "hog", 2),)),
    ],
)
def test_check_machine__cpu_that_is_not_there(workload):
    workload.check_machine(Machine.uniform(3))
    refused(lambda: workload.check_machine(Machine.uniform(2)), r"^cpus=.*uniform-2cpu has the CPUs 0 to 1")


def test_add__merges_groups_and_keeps_names_unique():
    limit = Group("/a", quota_us=20_000)
    one = Workload(groups=(limit,), name="limit")
    two = Workload(groups=(Group("/a"), Group("/b")), tasks=(Task("t", run(1), group="/a"),), name="job")
    for total in (one + two, two + one):
        assert total.group_of["/a"] == limit and len(total.tasks) == 1
    assert (one + two).name == "limit + job"
    refused(lambda: two + two, "^tasks='t': occurs twice")
    refused(lambda: one + one.replace(groups=(Group("/a", quota_us=30_000),)), "differs from")


def test_workload__names_in_order():
    tasks = (
        Task("a", repeat(None, wait("x"), wake("y", n=ALL)), label="one"),
        Task("b", repeat(None, wait("y"), wake("x"), barrier("meet", 1)), label="one"),
    )
    workload = Workload(tasks=tasks)
    assert workload.wait_names == ("x", "y") and workload.barrier_names == ("meet",) and workload.labels == ("one",)
    assert pickle.loads(pickle.dumps(workload)) == workload


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([SetCpuOnline(0, 2, False)], "^cpu=2: .* has the CPUs 0 to 1"),
        ([SetCpuOnline(0, 1, True)], "^cpu=1: it is online already"),
        ([SetCpuOnline(5, 1, False), SetCpuOnline(6, 0, False)], "^cpu=0: the last CPU stays online"),
    ],
)
def test_hotplug__refused_in_one_line(events, message):
    with pytest.raises(ValueError, match=message):
        Workload(tasks=(HOG,), events=events).check_machine(Machine.uniform(2))


def test_events__of_what_is_not_there():
    with pytest.raises(ValueError, match="^group='/a': event"):
        Workload(tasks=(HOG,), events=(SetGroup(0, "hog", "/a"),))
    with pytest.raises(ValueError, match="^task='hug': .*did you mean 'hog'"):
        Workload(tasks=(HOG,), events=(SetGroup(0, "hug", "/"),))
    with pytest.raises(ValueError, match="^online=1: True or False"):
        SetCpuOnline(0, 1, 1)


def test_missing_parent__the_group_itself_is_not_offered():
    with pytest.raises(ValueError, match=r"its parent '/a' is not among the groups; add Group\('/a'\)$"):
        Workload((Group("/a/b"),), ())


@pytest.mark.parametrize("program", [None, "run", 5])
def test_task__program_that_is_no_sequence_of_steps(program):
    with pytest.raises(ValueError, match=f"program={program!r}: a sequence of steps"):
        Task("t", program)


def test_bound__note_stands_by_the_upper_one():
    with pytest.raises(ValueError, match=r"burst_us=-1: at least 0, at most 17592186044415 \(2\*\*44 - 1 us\)"):
        Group("/a", quota_us=5000, burst_us=-1)
