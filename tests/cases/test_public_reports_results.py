"""Public reports about results: what counters say, and that the same parameters give the same bytes."""

import os
import subprocess
import sys

import pytest
from quota_runs import FOREVER, limited

import schedlab as sl

# ---- BR39 ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three_groups():
    """One group at its limit, one under it, one without any, on three CPUs for ten periods."""
    groups = [limited(20, path="/tight"), limited(50, path="/roomy"), sl.Group("/free")]
    little = sl.repeat(None, sl.timer("100ms"), sl.run("5ms"))
    tasks = [
        sl.Task("hog", FOREVER, group="/tight", cpus=0),
        sl.Task("light", little, group="/roomy", cpus=1),
        sl.Task("busy", FOREVER, group="/free", cpus=2),
    ]
    kernel = sl.Kernel.version("6.12", hz=1000)
    return sl.simulate(sl.Machine.uniform(3), kernel, sl.Workload(groups, tasks), sl.s(1) + 1)


def test_br39__ratio_of_throttled_periods(three_groups):
    """BR39: 100 % for the first, 0 % for the second, and no figure (not 0 %) for the group without a limit."""
    table = three_groups.cpu_stat()
    assert table.loc["/tight", ["nr_periods", "nr_throttled", "throttled_percent"]].tolist() == [10, 10, 100.0]
    assert table.loc["/roomy", ["nr_periods", "nr_throttled", "throttled_percent"]].tolist() == [10, 0, 0.0]
    assert table["limited"].to_dict() == {"/": False, "/tight": True, "/roomy": True, "/free": False}
    assert table["throttled_percent"].isna().to_dict() == {"/": True, "/tight": False, "/roomy": False, "/free": True}


def test_br39__text_says_what_is_counted(three_groups):
    """BR39: periods are counted, time is summed over CPUs (10 * 80 ms here), and "not limited" is said in words."""
    assert three_groups.throttling() == {
        "/tight": "throttled in 10 of 10 periods (100 %), 800.0 ms summed over CPUs",
        "/roomy": "throttled in 0 of 10 periods (0 %), 0.0 ms summed over CPUs",
        "/free": "not limited",
    }


# ---- BR36 ------------------------------------------------------------------------------------------------------------

# Random phases, random durations, three groups, more tasks than CPUs.
SCENARIO = """
import schedlab as sl
machine = sl.Machine.uniform(4, smt=2)
kernel = sl.Kernel.version("6.12", costs=sl.Costs(context_switch_ns=1500))
groups = [sl.Group("/a", quota_us=60_000), sl.Group("/a/b", quota_us=30_000, burst_us=9000), sl.Group("/c", weight=300)]
work = sl.repeat(None, sl.run(sl.exponential("2ms")), sl.sleep(sl.lognormal("3ms", 1.0)))
tasks = [sl.Task(f"t{k}", work, group=("/a", "/a/b", "/c")[k % 3], nice=k % 5) for k in range(12)]
scenario = machine, kernel, sl.Workload(groups, tasks), "1s"
"""


@pytest.fixture(scope="module")
def scenario():
    names = {}
    exec(SCENARIO, names)
    return names["scenario"]


def test_br36__six_runs_are_one(scenario):
    """BR36: the same parameters and seed, six times: one digest over counters, tables, histograms and log."""
    assert len({sl.simulate(*scenario, seed=3, log=True).digest() for _ in range(6)}) == 1


def test_br36__another_seed_is_another_run(scenario):
    """The digest sees a difference where there is one."""
    assert sl.simulate(*scenario, seed=3).digest() != sl.simulate(*scenario, seed=4).digest()


def test_br36__number_of_workers_does_not_matter(scenario):
    """BR36: 8 seeds by 1 and by 4 threads, the same digests in the same order, each that of the single run."""
    by_one, by_four = (
        [run.digest() for run in sl.replicate(*scenario, 8, workers=workers, progress=False, log=True)]
        for workers in (1, 4)
    )
    assert by_one == by_four and len(set(by_one)) == 8
    assert by_one[5] == sl.simulate(*scenario, seed=5, log=True).digest()


def test_br36__hash_seed_does_not_matter(scenario):
    """BR36: two more processes, with other hash seeds, compute the same bytes."""
    program = SCENARIO + "print(sl.simulate(*scenario, seed=3, log=True).digest())"
    digests = {sl.simulate(*scenario, seed=3, log=True).digest()}
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout.strip())
    assert len(digests) == 1
