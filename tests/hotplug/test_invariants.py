"""Invariants of fact sheet I over random sequences of operations on random machines of up to 64 CPUs."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from hotplug_strategies import GROUPS, kernels, machines, operations

from schedlab.hotplug import Isolate, Member, Offline, Online, Partition, SetQuota, State, hotplug
from schedlab.hotplug.invariants import domain_violations, violations
from schedlab.hotplug.published_tables import base_kernel
from schedlab.hotplug.topology import canonical, levels_of
from schedlab.kernel import Kernel
from schedlab.machine import Machine
from schedlab.patches_hotplug import (
    FUSE_REBUILD,
    HOTPLUG_ONLY,
    HOTPLUG_ONLY_NAIVE,
    LARGE_SYSTEMS,
    SKIP_OFFLINE_WALKS,
    SKIP_VALID_RESYNC,
)

KERNEL = base_kernel()


def apply_or_refuse(state, step, snapshot=None):
    """Apply an operation; return its work, or None when it was refused, which must change nothing."""
    before = snapshot(state) if snapshot else None
    try:
        return state.apply(step)
    except ValueError as error:
        assert "=" in str(error) and "\n" not in str(error)
        assert snapshot is None or snapshot(state) == before
        return None


def counted_rightly(state, masks_before, online_before, step, work):
    """Invariants 1 to 5: the counts follow from the masks before and after."""
    masks = state.masks
    detached = [mask for mask in masks_before if mask not in masks]
    attached = [mask for mask in masks if mask not in masks_before]
    counts = work.counts
    assert counts["rq_attach_root"] == sum(map(len, detached)) + sum(map(len, attached))
    kinds = ("clear", "unthrottle", "resync", "fused", "fused_dying")
    assert counts["group_visits"] == state.nr_groups * sum(counts[f"{kind}_walks"] for kind in kinds)
    domains = state.domains()
    built = [cpu for mask in attached for cpu in mask]
    assert counts["sched_domains"] == sum(len(domains[cpu]) for cpu in built)
    assert counts["dl_server_attach"] == (2 * counts["rq_attach_root"] if state.mechanisms.dl_servers else 0)
    plugged = int(state.online.sum()) != online_before
    assert counts["vmstat_touches"] <= plugged * state.online.sum() * state.thresholds.touches_a_cpu
    if plugged and not state.mechanisms.changed_thresholds:
        assert counts["vmstat_touches"] == state.online.sum() * state.thresholds.touches_a_cpu
    if plugged:
        assert counts["grace_periods"] == 2 and counts["rebuilds"] == 1
    if state.mechanisms.linear_span_check:
        plain = int((~levels_of(state.machine).overlap).sum())
        assert counts["span_checks"] == plain * len(built)


@given(data=st.data())
@settings(max_examples=60)
def test_any_sound_kernel__keeps_all_invariants(data, snapshot):
    machine, kernel = data.draw(machines()), data.draw(kernels())
    state = State(machine, kernel, groups=GROUPS)
    step_of = operations(machine.nr_cpus)
    for step in data.draw(st.lists(step_of, max_size=12)):
        masks, online = list(state.masks), int(state.online.sum())
        if data.draw(st.booleans()):
            state.throttle(data.draw(st.sampled_from(GROUPS)), data.draw(st.integers(0, machine.nr_cpus - 1)))
        work = apply_or_refuse(state, step, snapshot)
        assert violations(state) == [], step
        if work is not None:
            counted_rightly(state, masks, online, step, work)
    assert domain_violations(state) == []


@given(st.data())
@settings(max_examples=40)
def test_patches__leave_the_same_state(data):
    """Invariant 8, and what 11, 12, 14 and 15 say of it: no patch changes what is left behind."""
    machine = data.draw(machines(max_cpus=32))
    base = State(machine, KERNEL, groups=GROUPS)
    ways = [
        (SKIP_OFFLINE_WALKS,),
        (SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC),
        (FUSE_REBUILD,),
        (HOTPLUG_ONLY,),
        LARGE_SYSTEMS,
    ]
    others = [State(machine, KERNEL.with_patch(*patches), groups=GROUPS) for patches in ways]
    for step in data.draw(st.lists(operations(machine.nr_cpus), max_size=10)):
        apply_or_refuse(base, step)
        for other in others:
            apply_or_refuse(other, step)
    for other in others:
        assert canonical(other.domains()) == canonical(base.domains())
        assert other.masks == base.masks and sorted(other.total_bw.values()) == sorted(base.total_bw.values())
        for name in ("online", "active", "rq_online", "throttled", "contribution", "tg_load", "extra_bw"):
            assert np.array_equal(getattr(other, name), getattr(base, name)), name
        assert np.array_equal(other.runtime_enabled, base.runtime_enabled)
        assert np.array_equal(other.thresholds.of_cpu, base.thresholds.of_cpu)


def resting(state):
    """Return what must come back when the same CPUs are online again."""
    return (
        canonical(state.domains()),
        state.extra_bw.tolist(),
        sorted(state.total_bw.values()),
        state.thresholds.of_cpu.tolist(),
        state.runtime_enabled.tolist(),
        state.contribution.tolist(),
    )


@given(st.data())
@settings(max_examples=40)
def test_offline_then_online__restores_everything_in_any_order(data):
    """Invariant 16."""
    machine, kernel = data.draw(machines(max_cpus=32)), data.draw(kernels())
    state = State(machine, kernel, groups=GROUPS)
    for step in data.draw(st.lists(operations(machine.nr_cpus), max_size=4)):
        apply_or_refuse(state, step)
    for cpu in np.flatnonzero(~state.online).tolist():
        state.apply(Online(cpu))
    before = resting(state)
    gone = [c for c in data.draw(st.permutations(range(machine.nr_cpus)))[: machine.nr_cpus // 2]]
    one, two = state.copy(), state.copy()
    gone = [cpu for cpu in gone if apply_or_refuse(one, Offline(cpu))]
    for cpu in data.draw(st.permutations(gone)):
        if apply_or_refuse(two, Offline(cpu)) is None:
            return  # another order may run into the last CPU outside of partitions
    assert canonical(one.domains()) == canonical(two.domains())
    assert one.thresholds.values(1).tolist() == two.thresholds.values(1).tolist()
    for cpu in data.draw(st.permutations(gone)):
        one.apply(Online(cpu))
    assert resting(one) == before


@given(st.data())
@settings(max_examples=25)
def test_domains__weights_cached_by_balance_cpu_are_right(data):
    machine = data.draw(machines(max_cpus=32))
    cached = State(machine, KERNEL.with_patch("cache-group-capacity"))
    for cpu in data.draw(st.sets(st.integers(1, machine.nr_cpus - 1), max_size=6)) if machine.nr_cpus > 1 else ():
        cached.apply(Offline(cpu))
    assert domain_violations(cached) == []


# ---- invariant 11: the reviewer's boolean ----------------------------------------------------------------------------

TRACES = [
    (Offline(3), SetQuota("a", 50_000), Online(3)),
    (SetQuota("a", 50_000), Offline(3), Online(3)),
]
SOUND = [(), (SKIP_OFFLINE_WALKS,), (SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC), (FUSE_REBUILD,), (HOTPLUG_ONLY,)]


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("patches", SOUND)
def test_runtime_enabled__follows_the_quota(patches, trace):
    state = State(Machine.uniform(4), KERNEL.with_patch(*patches), groups=("a",))
    for step in trace:
        state.apply(step)
        assert violations(state) == []


@pytest.mark.parametrize("trace", TRACES)
def test_naive_boolean__leaves_runtime_enabled_stale(trace):
    machine, kernel = Machine.uniform(4), KERNEL.with_patch(HOTPLUG_ONLY_NAIVE)
    state, said = State(machine, kernel, groups=("a",)), []
    for step in trace:
        done = hotplug(machine, kernel, step, state=state)
        state = done.state
        said.append(done.violations)
    assert said == [(), (), ("invariant 11: a has a quota, but runtime_enabled on CPU 3 is 0",)]


def test_naive_boolean__no_shorter_trace_fails():
    steps = [Offline(3), Online(3), SetQuota("a", 50_000), SetQuota("a", None), Partition((2, 3)), Isolate((2, 3))]
    for first in steps:
        for second in steps:
            state = State(Machine.uniform(4), KERNEL.with_patch(HOTPLUG_ONLY_NAIVE), groups=("a",))
            for step in (first, second):
                apply_or_refuse(state, step)
            assert violations(state) == []


def test_naive_boolean__an_isolated_cpu_is_in_no_rebuild_and_so_is_resynced():
    state = State(Machine.uniform(4), KERNEL.with_patch(HOTPLUG_ONLY_NAIVE), groups=("a",))
    for step in (Isolate((3,)), Offline(3), SetQuota("a", 50_000), Online(3)):
        state.apply(step)
    assert violations(state) == []


def test_throttled__on_a_dying_cpu_is_let_go_and_stays_so():
    """Invariant 13."""
    state = State(Machine.uniform(4), KERNEL, groups=("a",))
    state.apply(SetQuota("a", 50_000))
    assert state.throttle("a", 3) and state.throttle("a", 2)
    state.apply(Offline(3))
    assert not state.throttled[3, 0] and state.throttled[2, 0]
    assert not state.throttle("a", 3)
    state.apply(Online(3))
    assert state.throttle("a", 3)


def test_violations__are_seen():
    """The checker itself: each broken state is named by its invariant."""

    def broken(number, change):
        state = State(Machine.uniform(8, smt=2), KERNEL, groups=("a",))
        for step in (Partition((6, 7)), Isolate((4,)), Offline(1)):
            state.apply(step)
        assert violations(state) == []
        change(state)
        assert any(line.startswith(f"invariant {number}:") for line in violations(state)), number

    broken(10, lambda s: s.rd_of.__setitem__(2, 0))
    broken(10, lambda s: s.rd_of.__setitem__(4, 7))
    broken(10, lambda s: s.rq_online.__setitem__(2, False))
    broken(10, lambda s: s.active.__setitem__(2, False))
    broken(11, lambda s: s.runtime_enabled.__setitem__((2, 0), True))
    broken(12, lambda s: s.tg_load.__iadd__(1))
    broken(12, lambda s: s.contribution.__setitem__((1, 0), 5))
    broken(13, lambda s: s.throttled.__setitem__((1, 0), True))
    broken(14, lambda s: s.extra_bw.__setitem__(2, 3))
    broken(14, lambda s: s.total_bw.update({max(s.total_bw): 3}))
    broken(15, lambda s: s.thresholds.of_cpu.__setitem__((2, 0), 1))


def test_6_1__leaves_the_load_of_a_dead_cpu_behind():
    """What commit f60a631ab9ed mended: there is no clear walk in 6.1."""
    machine = Machine.uniform(4)
    done = hotplug(machine, Kernel.version("6.1"), Offline(3), groups=("a",))
    assert done.violations == ("invariant 12: a CPU that is offline contributes to tg->load_avg",)
    assert hotplug(machine, Kernel.version("6.12"), Offline(3), groups=("a",)).violations == ()


def test_member__gives_the_state_back():
    state = State(Machine.uniform(16, smt=2, nr_nodes=2), KERNEL, groups=GROUPS)
    before = resting(state)
    for kind in (Partition, Isolate):
        state.apply(kind((2, 3)))
        assert resting(state) != before
        state.apply(Member((2, 3)))
        assert resting(state) == before
