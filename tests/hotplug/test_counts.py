"""Counts against the fact sheet's vectors and against two slow re-counts."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from hotplug_naive import counts_of_numbers, counts_of_objects
from hotplug_strategies import machines

from schedlab.hotplug import Isolate, Member, Offline, Online, Partition, State, ramp
from schedlab.hotplug.counts import COUNTED, count_build
from schedlab.hotplug.ladder import base_ramp
from schedlab.hotplug.published_tables import base_kernel
from schedlab.hotplug.shapes import like, with_nodes
from schedlab.hotplug.topology import levels_of
from schedlab.kernel import Kernel
from schedlab.machine import Machine
from schedlab.patches_hotplug import REBUILD_OF_6_18

KERNEL = base_kernel()
ATTACHES = ("rq_attach_root", "clear_walks", "unthrottle_walks", "resync_walks")
GUEST8 = Machine.uniform(8, smt=2, nr_llcs=2, nr_nodes=2)  # 2 sockets of 2 cores of 2 threads, 2 nodes


def built(machine, cpus):
    levels = levels_of(machine)
    cpu_map = np.zeros(machine.nr_cpus, dtype=bool)
    cpu_map[list(cpus)] = True
    counts = np.zeros(len(COUNTED), dtype=np.int64)
    arrays = (levels.overlap, levels.class_of, levels.first, levels.last, levels.cpus, levels.core_of)
    count_build(*arrays, cpu_map, counts)
    return dict(zip(COUNTED, counts.tolist()))


# ---- C.3 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("masks", "get_group", "capacity_calls"),
    [
        ([range(8)], 56, 48),
        ([range(7)], 48, 42),
        ([range(4), range(4, 8)], 40, 24),
        ([(4, 5, 6)], 14, 9),
    ],
)
def test_build__counters_of_a_real_8_cpu_guest(masks, get_group, capacity_calls):
    found = [built(GUEST8, mask) for mask in masks]
    assert sum(f["get_group"] for f in found) == get_group
    assert sum(f["sched_domains"] for f in found) == capacity_calls


def test_build__2_cpu_guest_without_smt():
    found = built(Machine.uniform(2), range(2))
    assert (found["get_group"], found["sched_domains"]) == (6, 4)
    found = built(Machine.uniform(2, nr_llcs=2, nr_nodes=2), range(2))
    assert (found["get_group"], found["sched_domains"]) != (6, 4)


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (Machine.load("xeon_6985p_c"), (2880, 577_920, 60_000, 289_440, 230_400, 966)),
        (with_nodes(Machine.load("xeon_6985p_c"), 3), (2880, 424_320, 21_120, 212_640, 345_600, 974)),
        (Machine.load("epyc_9b45"), (3072, 534_528, 14_336, 267_776, 262_144, 1060)),
    ],
    ids=lambda v: v.name if isinstance(v, Machine) else "",
)
def test_build__large_servers(machine, expected):
    found = built(machine, range(machine.nr_cpus))
    names = ("sched_domains", "span_scan", "get_group", "capacity_cores", "balance_iterations", "distinct_groups")
    assert tuple(found[name] for name in names) == expected
    work = State(machine, KERNEL).apply(Offline(machine.nr_cpus - 1))
    assert work.counts["percpu_allocations"] == 20
    assert work.counts["capacity_words"] == 8 * work.counts["capacity_cores"]


@given(st.data())
@settings(max_examples=150)
def test_build__equals_the_slow_recount(data):
    machine = data.draw(machines(max_cpus=32))
    cpus = sorted(data.draw(st.sets(st.integers(0, machine.nr_cpus - 1), min_size=1)))
    found = built(machine, cpus)
    assert found == counts_of_objects(machine, cpus)


@given(st.data())
@settings(max_examples=100)
def test_build__equals_the_recount_from_span_numbers(data):
    machine = data.draw(machines(overlapping=False))
    cpus = sorted(data.draw(st.sets(st.integers(0, machine.nr_cpus - 1), min_size=1)))
    found, expected = built(machine, cpus), counts_of_numbers(machine, cpus)
    assert {name: found[name] for name in expected} == expected


def test_build__nodes_in_a_line_overlap():
    far = [[10, 20, 30, 40], [20, 10, 20, 30], [30, 20, 10, 20], [40, 30, 20, 10]]
    machine = Machine.uniform(8, nr_nodes=4, nr_llcs=4, node_distances=far)
    assert built(machine, range(8)) == counts_of_objects(machine, range(8))


LADDER = (128, 256, 512, 1024)
EXPONENTS = {
    "xeon_6985p_c": dict(
        capacity_cores=(1.99, 1.99, 2.00),
        balance_iterations=(2, 2, 2),
        span_scan=(1.99, 1.99, 2),
        sched_domains=(1,) * 3,
    ),
    "epyc_9b45": dict(capacity_cores=(1.94, 1.97, 1.98), balance_iterations=(2, 2, 2), sched_domains=(1, 1, 1)),
}


@pytest.mark.parametrize("name", EXPONENTS)
def test_exponents__when_the_machine_doubles(name):
    found = [built(like(name, n), range(n)) for n in LADDER]
    words = [f["capacity_cores"] * (n // 64) for f, n in zip(found, LADDER)]
    for count, expected in EXPONENTS[name].items():
        numbers = [f[count] for f in found]
        assert np.diff(np.log2(numbers)) == pytest.approx(np.array(expected), abs=0.05), count
    assert np.diff(np.log2(words)) == pytest.approx(np.array(EXPONENTS[name]["capacity_cores"]) + 1, abs=0.05)
    distinct = np.diff(np.log2([f["distinct_groups"] for f in found]))
    assert ((0.95 <= distinct) & (distinct <= 1.05)).all()


def test_exponents__span_check_and_deadline_servers():
    checks, updates = [], []
    for n in LADDER:
        counts = State(like("xeon_6985p_c", n), KERNEL).apply(Offline(n - 1)).counts
        checks.append(counts["span_checks"])
        updates.append(counts["dl_updates"])
    assert np.diff(np.log2(checks)) == pytest.approx(1, abs=0.05)
    assert np.diff(np.log2(updates)) == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize("name", ["xeon_6985p_c", "epyc_9b45"])
def test_exponents__loops_of_a_ramp_on_a_fixed_machine(name):
    """The machine is thinned evenly, whole cores at a time: the width of a mask stays, so nothing grows as n^3."""
    machine = Machine.load(name)
    spread = sorted(range(len(machine.cores)), key=lambda core: (core * 77) % len(machine.cores))
    order = [cpu for core in spread for cpu in machine.cores[core] if core]
    done = ramp(machine, KERNEL, cpus=tuple(order), directions=("offline",))
    others = np.array([work.other_cpus for work in done.work])
    whole = (others >= 128) & (others % 2 == 0)
    for count in ("capacity_cores", "capacity_words", "span_scan", "balance_iterations", "dl_updates"):
        numbers = done.counts(count)
        slope = np.polyfit(np.log(others[whole]), np.log(numbers[whole]), 1)[0]
        assert slope == pytest.approx(2, abs=0.05), count


def test_exponents__in_the_order_of_the_mail_cores_stay_while_first_threads_go():
    done = base_ramp("xeon_6985p_c")
    cores = done.counts("capacity_cores", "offline")
    # at 241 CPUs half of the threads but all of the cores are left: half of the full machine's work, not a quarter
    assert cores[238] / cores[0] == pytest.approx(0.5, abs=0.01)


# ---- ramps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "scan", "cores", "balance", "cpus", "updates"),
    [
        (Machine.load("xeon_6985p_c"), 190.1, 129.0, 73.1, 230_399, 147_686_717),
        (with_nodes(Machine.load("xeon_6985p_c"), 3), 140.0, 95.3, 112.3, 230_399, 147_686_717),
        (Machine.load("epyc_9b45"), 187.0, 127.1, 88.8, 262_143, 179_219_453),
    ],
    ids=lambda v: v.name if isinstance(v, Machine) else "",
)
def test_ramp__totals_of_the_large_servers(machine, scan, cores, balance, cpus, updates):
    done = base_ramp(machine)
    assert len(done.work) == 2 * (machine.nr_cpus - 1) and done.nr_online == machine.nr_cpus
    for name, millions in (("span_scan", scan), ("capacity_cores", cores), ("balance_iterations", balance)):
        assert round(done.total(name) / 1e6, 1) == millions
    assert done.total("avoidable_vmstat") == cpus
    assert done.total("dl_updates") == updates
    for direction in ("offline", "online"):
        assert done.total("rq_attach_root", direction) == machine.nr_cpus**2 - 1


def test_ramp__16_cpus_as_run_on_a_real_kernel():
    done = ramp(Machine.uniform(16), KERNEL)
    n = 16
    expected = {
        "offline": dict(
            rq_attach_root=n * n - 1, clear_walks=n * n - 1, unthrottle_walks=n - 1, resync_walks=n * (n - 1)
        ),
        "online": dict(rq_attach_root=n * n - 1, clear_walks=n * (n - 1), unthrottle_walks=0, resync_walks=n * n - 1),
    }
    for direction, counts in expected.items():
        assert {name: done.total(name, direction) for name in counts} == counts
    assert done.total("dl_updates") == 5725


# ---- A.4 -------------------------------------------------------------------------------------------------------------


def row(work):
    return tuple(work.counts[name] for name in ATTACHES)


@pytest.mark.parametrize("n", [2, 8, 16, 32, 64])
def test_operations__attaches_and_walks(n):
    state = State(Machine.uniform(n), KERNEL)
    assert row(state.apply(Offline(n - 1))) == (2 * n - 1, 2 * n - 1, 1, 2 * n - 2)
    assert row(state.apply(Online(n - 1))) == (2 * n - 1, 2 * n - 2, 0, 2 * n - 1)
    k = n // 2
    cpus = tuple(range(n - k, n))
    for step in (Partition(cpus), Member(cpus)):
        assert row(state.apply(step)) == (2 * n, 2 * n, 0, 2 * n)
    for step in (Isolate(cpus), Member(cpus)):
        assert row(state.apply(step)) == (2 * n - k, 2 * n - k, 0, 2 * n - k)


def test_operations__in_a_partition_of_4_of_8():
    state = State(GUEST8, KERNEL)
    state.apply(Partition((4, 5, 6, 7)))
    assert row(state.apply(Offline(7))) == (7, 7, 1, 6)
    assert row(state.apply(Online(7))) == (7, 6, 0, 7)


def test_operations__identical_partition_attaches_nothing():
    state = State(GUEST8, KERNEL)
    state.apply(Partition((4, 5, 6, 7)))
    assert row(state.apply(Partition((4, 5, 6, 7)))) == (0, 0, 0, 0)


def test_operations__isolated_cpus_are_in_no_mask_but_active():
    state = State(GUEST8, KERNEL)
    state.apply(Isolate((6, 7)))
    assert row(state.apply(Offline(7))) == (0, 1, 1, 0)
    assert row(state.apply(Online(7))) == (0, 0, 0, 1)


def test_operations__other_counters_of_a_hotplug_operation():
    state = State(GUEST8, KERNEL)
    off, on = state.apply(Offline(7)).counts, state.apply(Online(7)).counts
    assert off["dl_server_attach"] == 2 * off["rq_attach_root"]
    assert (off["dl_clear"], on["dl_clear"]) == (2, 1)
    assert (off["rendezvous"], on["mtrr_rendezvous"], off["rebuilds"], on["rebuilds"]) == (1, 1, 1, 1)
    assert (off["grace_periods"], on["grace_periods"]) == (2, 2)
    state.apply(Partition((4, 5)))
    assert state.apply(Offline(7)).counts["dl_clear"] == 3


def test_group_visits__partition_switch_of_the_mail():
    work = State(Machine.load("vm-32cpu"), KERNEL, groups=4001).apply(Partition((28, 29, 30, 31)))
    assert work.counts["group_visits"] == 512_128
    assert 20 * work.counts["rq_attach_root"] == 1280


@pytest.mark.parametrize("groups", [1, 10, 4001])
def test_group_visits__linear_without_intercept(groups):
    work = State(Machine.uniform(16), KERNEL, groups=groups).apply(Offline(3))
    assert work.counts["group_visits"] == groups * (31 + 1 + 30)


def test_rt_group_visits__two_walks_a_call():
    work = State(Machine.uniform(16), KERNEL, rt_groups=5).apply(Partition((3, 4)))
    assert work.counts["rt_group_visits"] == work.counts["rq_attach_root"] * 2 * 5
    assert State(Machine.uniform(16), KERNEL).apply(Partition((3, 4))).counts["rt_group_visits"] == 0


def test_6_12__a_third_walk_and_a_check_of_pairs():
    machine = Machine.uniform(32, smt=2, nr_nodes=2)
    old = State(machine, Kernel.version("6.12")).apply(Partition((30, 31))).counts
    new = State(machine, KERNEL).apply(Partition((30, 31))).counts
    assert [old[f"{kind}_walks"] for kind in ("clear", "unthrottle", "resync")] == [64, 64, 64]
    assert [new[f"{kind}_walks"] for kind in ("clear", "unthrottle", "resync")] == [64, 0, 64]
    assert old["dl_updates"] < new["dl_updates"]
    for kernel, pairs in ((Kernel.version("6.12"), 32 * 31 // 2), (KERNEL, 32)):
        state = State(machine, kernel)
        state.apply(Offline(31))
        assert state.apply(Online(31)).counts["span_checks"] == pairs * 5  # SMT, CLS, MC, PKG, NODE


def test_legacy_two_pass__matches_without_partitions_and_doubles_with_them():
    state = State(Machine.uniform(16), KERNEL)
    assert state.copy().apply(Offline(3), legacy_two_pass=True).counts["rq_attach_root"] == 31
    state.apply(Partition((8, 9, 10, 11, 12, 13, 14, 15)))
    # the first pass merges 16 into 15, the second splits them again
    assert state.apply(Offline(3), legacy_two_pass=True).counts["rq_attach_root"] == 16 + 15 + 15 + 15


# ---- D ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "extra"), [(7, 996153), (8, 996152), (32, 996160), (480, 996256), (512, 996352)])
def test_deadline_servers__bandwidth_left(n, extra):
    state = State(Machine.uniform(n), KERNEL)
    assert set(state.extra_bw.tolist()) == {extra}
    assert state.total_bw == {1: 52428 * n}
    assert extra == (1 << 20) - n * (52428 // n)


@pytest.mark.parametrize("place", [1, 3, 7])
def test_deadline_servers__updates_of_one_operation(place):
    n, state = 8, State(GUEST8, KERNEL)
    off, on = state.apply(Offline(place)).counts, state.apply(Online(place)).counts
    assert off["dl_updates"] == n * (n - 1) // 2 + place + n * (n - 1) // 2 + (n - 1) ** 2
    assert on["dl_updates"] == n * (n + 1) // 2 - 1 + n * (n + 1) // 2 + n**2
    if place == 7:
        assert (off["dl_updates"], on["dl_updates"]) == (112, 135)


def test_deadline_servers__partition_switch_and_isolated_cpus():
    state = State(GUEST8, KERNEL)
    counts = state.apply(Partition((5, 6, 7))).counts
    assert counts["dl_updates"] == sum(range(1, 9)) + sum(range(1, 6)) + sum(range(1, 4)) + 25 + 9
    plain, isolated = State(GUEST8, KERNEL), State(GUEST8, KERNEL)
    isolated.apply(Isolate((6, 7)))
    counts = isolated.apply(Offline(5)).counts
    n, k = 6, 2
    assert counts["dl_updates"] == n * (n - 1) // 2 + 5 + k * n + n * (n - 1) // 2 + (n - 1) ** 2 + k**2
    assert plain.apply(Offline(5)).counts["dl_clear"] == counts["dl_clear"]


def test_deadline_servers__linear_accounting():
    state = State(GUEST8, KERNEL.with_patch("linear-dl-server-accounting"))
    off, on = state.apply(Offline(7)).counts, state.apply(Online(7)).counts
    assert (off["dl_updates"], on["dl_updates"]) == (2 * 7, 2 * 8)
    assert off["avoidable_dl"] == on["avoidable_dl"] == 0


def test_deadline_servers__sum_of_truncated_shares():
    """Bit for bit what the nested loop of writes leaves."""
    for n in (1, 3, 7, 8, 31, 480):
        slow = 1 << 20
        for _ in range(n):
            slow -= 52428 // n
        assert set(State(Machine.uniform(n), KERNEL).extra_bw.tolist()) == {slow}


def test_6_12__with_three_patches_rebuilds_as_7_2_does():
    machine = Machine.uniform(16, smt=2, nr_nodes=2)
    steps = (Offline(3), Partition((8, 9)), Online(3))
    counts = []
    for kernel in (Kernel.version("6.12").with_patch(*REBUILD_OF_6_18), Kernel.version("6.18"), KERNEL):
        state = State(machine, kernel)
        counts.append([state.apply(step).counts for step in steps])
    assert counts[0] == counts[1] == counts[2]
