"""The hypervisor workload: what counts as a gap of a hwlat window, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

import schedlab as sl
from schedlab.workloads.hypervisor import Hwlat, hypervisor, noise, stress_throughput, windows, windows_and_gaps

MS = 1_000_000
KINDS = ("switch", "block")
OTHER, IDLE = 1, -1


def logged(records):
    """A run of one virtual CPU that measures (task 0), from (ms, kind, cpu, a, b)."""
    rows = [(round(ms * MS), KINDS.index(kind), cpu, a, b) for ms, kind, cpu, a, b in records]
    log = np.array(rows, [(name, "i8") for name in ("time", "kind", "cpu", "a", "b")])
    tasks = [SimpleNamespace(name="vm0-vcpu0", label="vm0-hwlat"), SimpleNamespace(name="o", label="vm1-stress")]
    return SimpleNamespace(
        log=log, kinds=KINDS, workload=SimpleNamespace(tasks=tasks), duration_ns=300 * MS, _need_log=lambda *_: None
    )


def into(ms, cpu=0):
    return (ms, "switch", cpu, IDLE, 0)


def away(ms, to=IDLE, cpu=0):
    return (ms, "switch", cpu, 0, to)


def blocks(ms, cpu=0):
    return [(ms, "block", cpu, 0, 0), away(ms, cpu=cpu)]


def found(records):
    return windows(logged(records))[["start_ns", "max_ns", "sum_ns", "count"]].to_numpy().tolist()


def test_windows__gaps_above_the_threshold():
    records = [into(1), away(10), into(12), away(20, OTHER), into(20.1), away(30), into(31), *blocks(101)]
    assert found(records) == [[MS, 2 * MS, 3 * MS, 2]]


def test_windows__the_wait_before_the_first_look_at_the_clock_is_no_gap():
    assert found([into(0), away(0), into(3), *blocks(100)]) == [[0, 0, 0, 0]]


def test_windows__switched_in_to_block():
    """A gap that outlasts the width counts whole; the next window did not begin in that instant."""
    first = [into(0), away(95), into(104), *blocks(104)]
    second = [into(300), away(310), into(313), *blocks(400)]
    assert found(first + second) == [[0, 9 * MS, 9 * MS, 1], [300 * MS, 3 * MS, 3 * MS, 1]]


def test_windows__a_move_in_mid_run_is_no_gap():
    """The CPU that it comes to may switch first."""
    moved = [into(0), into(50, cpu=1), away(50), away(60, cpu=1), into(62, cpu=1), *blocks(100, cpu=1)]
    assert found(moved) == [[0, 2 * MS, 2 * MS, 1]]


def test_windows__not_those_cut_by_the_end():
    assert found([into(0), away(10), into(12)]) == []
    assert len(windows_and_gaps(logged([into(0)]))[1]) == 0


def test_windows_and_gaps__where_each_gap_began():
    run = logged([into(0), away(10, OTHER), into(12), *blocks(100)])
    _, gaps = windows_and_gaps(run)
    assert gaps["gap_ns"].tolist() == [2 * MS]
    assert run.log["b"][gaps["record"]].tolist() == [OTHER]


def test_noise__scaled_by_the_window():
    run = logged([into(0), away(10), into(13), *blocks(100)])
    assert noise(run)["n_max"] == pytest.approx(3.0)  # 3 ms of 300 ms, looked at for a third of the time
    assert noise(run) == noise(run, table=windows(run))


def test_noise__a_guest_alone_has_none():
    machine = sl.Machine.uniform(8, 2)
    work = hypervisor(1, 4, vmm_period=None)
    run = sl.simulate(machine, sl.Kernel.version("6.18"), work, "3s", log=("switch", "block"))
    assert noise(run)["n_max"] == noise(run)["n_sum"] == 0 and noise(run)["windows"] > 30


def test_noise__no_more_of_the_longest_than_of_all():
    machine = sl.Machine.uniform(8, 2)
    work = hypervisor(2, 4, vmm_period="5ms", vmm_burst="1ms", hwlat=Hwlat(start_gap=0))
    run = sl.simulate(machine, sl.Kernel.version("6.18", balance="kernel"), work, "3s", log=("switch", "block"))
    assert 0 < noise(run)["n_max"] <= noise(run)["n_sum"]
    assert 3 < stress_throughput(run) <= 4
