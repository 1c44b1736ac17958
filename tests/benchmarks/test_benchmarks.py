"""Each benchmark in small: scenarios build and run, the rivals do the jobs, numba and C leave the same events."""

import importlib
import sys
from pathlib import Path

import pytest

from schedlab.simulate import Simulation

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def load(monkeypatch):
    """A module of the benchmarks by name, found as when they run as scripts."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_scenarios__have_the_sizes_that_the_bench_is_about(load):
    found = {s.key: s for s in load("scenarios").scenarios()}
    sizes = {key: (s.machine.nr_cpus, len(s.workload.tasks), len(s.workload.groups)) for key, s in found.items()}
    assert sizes == {
        "a": (8, 64, 0),
        "b": (64, 512, 16),
        "c": (512, 4096, 128),
        "d": (64, 64, 2),
        "s": (16, 128, 4),
    } | {
        "e": (512, 160, 7),
        "f": (512, 160, 7),
    }


def test_scenarios__half_of_the_tasks_in_groups_and_half_of_the_groups_limited(load):
    work = load("scenarios").bursts(64, "bursts")
    assert sum(task.group == "/" for task in work.tasks) == 256
    assert sum(group.quota_us is None for group in work.groups) == 8
    members = [sum(task.group == group.path for task in work.tasks) for group in work.groups]
    assert set(members) == {16}


def test_periodic_tasks__total_utilisation_and_rate(load):
    tasks = load("scenarios").periodic_tasks()
    assert len(tasks) == 64
    assert sum(work * 1_000_000 // period for period, work in tasks) == 7_200_000
    assert sum(1_000_000_000 // period for period, _ in tasks) == 4490
    assert all(0 < work <= period for period, work in tasks)


@pytest.mark.parametrize("key", "abcdefs")
def test_scenarios__run(load, key):
    (scenario,) = (s for s in load("scenarios").scenarios() if s.key == key)
    sim = Simulation(scenario.machine, scenario.kernel, scenario.workload)
    while not sim.advance(20_000_000):
        pass
    assert sim.nr_events > 64
    assert sim.result().thread_busy_ns > 0


def test_bench__prints_every_goal(load, capsys):
    bench = load("bench")
    bench.print_goals({"a/simso": 900.0, "b": 20.0, "c": 0.5, "c/s": 2.4})
    lines = capsys.readouterr().out.strip().splitlines()
    ends = [line.split("   ")[-1].strip() for line in lines[1:]]
    assert ends == [
        "aim met",
        "not measured",
        "floor met",
        "BELOW THE FLOOR",
        "not measured",
        "not measured",
        "aim met",
    ]


def test_simpy__does_the_jobs_of_its_tasks(load):
    pytest.importorskip("simpy")
    peer = load("peers_simpy")
    # one CPU: 3 of each 10 ms and 4 of each 20 ms, released from the first period on
    assert peer.prepare([(10_000_000, 3_000_000), (20_000_000, 4_000_000)], 1, 0.1)() == 9 + 4
    tasks = load("scenarios").periodic_tasks()
    released = sum(int(0.2e9 - 1) // period for period, _ in tasks)
    done = peer.prepare(tasks, 8, 0.2)()
    assert released - 64 <= done <= released


def test_simso__does_the_jobs_of_its_tasks(load):
    pytest.importorskip("simso")
    peer = load("peers_simso")
    assert peer.prepare([(10_000_000, 3_000_000), (20_000_000, 4_000_000)], 1, 0.1)() == 9 + 4


def test_limit__numba_and_c_leave_the_same_events(load, tmp_path):
    limit = load("limit")
    compiler = limit.find_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    in_c = limit.compile_c(tmp_path, compiler)
    for nr_cpus in (1, 5):
        in_numba, in_c_s = limit.measure(in_c, nr_cpus, rounds=2, nr_events=3000)  # stops where they differ
        assert len(in_numba) == len(in_c_s) == 2
