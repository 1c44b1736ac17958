"""Impossible requests: one line that says what is wrong, and nothing changes."""

import pytest

from schedlab.hotplug import Isolate, Member, Offline, Online, Partition, SetQuota, State, hotplug, parse_operation
from schedlab.hotplug.published_tables import base_kernel
from schedlab.kernel import Kernel
from schedlab.machine import Machine

KERNEL = base_kernel()


def state_of(nr_cpus=8, before=(), **fields):
    state = State(Machine.uniform(nr_cpus, not_hotplugged=(0,), **fields), KERNEL, groups=("a",))
    for step in before:
        state.apply(step)
    return state


@pytest.mark.parametrize(
    ("before", "operation", "message"),
    [
        ((), Offline(0), "^cpu=0: uniform-8cpu cannot take it offline$"),
        ((), Offline(8), "^cpu=8: at most 7"),
        ((), Online(3), "^cpu=3: it is online already$"),
        ((Offline(3),), Offline(3), "^cpu=3: it is offline already$"),
        ((Partition((4, 5)),), Partition((5, 6)), r"^cpus=\(5, 6\): overlaps the partition of CPUs \(4, 5\)$"),
        ((Isolate((4, 5)),), Partition((3, 4, 5)), "overlaps the partition"),
        ((), Partition(tuple(range(8))), "at least one CPU online stays outside"),
        ((Offline(5),), Partition((5,)), "at least one CPU online$"),
        ((), Member((4, 5)), "no partition has exactly these CPUs"),
        ((), SetQuota("b", 50_000), "^group='b': no such task group; known: a$"),
        ((), "offline 3", "^operation='offline 3': an Offline"),
        (tuple(Offline(c) for c in range(1, 4)) + (Partition((4, 5, 6, 7)),), Offline(0), "cannot take it offline"),
    ],
)
def test_apply__refused_changes_nothing(before, operation, message, snapshot):
    state = state_of(before=before)
    was = snapshot(state)
    with pytest.raises(ValueError, match=message) as caught:
        state.apply(operation)
    assert "\n" not in str(caught.value)
    assert snapshot(state) == was


def test_offline__the_last_cpu():
    state = State(Machine.uniform(2), KERNEL)
    state.apply(Offline(0))
    with pytest.raises(ValueError, match="^cpu=1: the last CPU online stays$"):
        state.apply(Offline(1))


def test_offline__the_last_cpu_outside_of_partitions():
    state = State(Machine.uniform(4), KERNEL)
    state.apply(Partition((1, 2, 3)))
    with pytest.raises(ValueError, match="^cpu=0: the last CPU outside of partitions stays$"):
        state.apply(Offline(0))


def test_partition__that_loses_its_last_cpu_drops_out_and_comes_back():
    state = state_of(before=(Partition((6, 7)), Offline(6)))
    assert state.masks == [(0, 1, 2, 3, 4, 5), (7,)]
    state.apply(Offline(7))
    assert state.masks == [(0, 1, 2, 3, 4, 5)]
    state.apply(Online(6))
    assert state.masks == [(0, 1, 2, 3, 4, 5), (6,)]


@pytest.mark.parametrize("kind", [Partition, Isolate])
def test_partition__without_cpus(kind):
    with pytest.raises(ValueError, match=r"^cpus=\(\): a partition has at least one CPU$"):
        kind(())


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("offline cpu 3", Offline(3)),
        ("online 3", Online(3)),
        ("partition cpus 28-31", Partition((28, 29, 30, 31))),
        ("isolate 2,4", Isolate((2, 4))),
        ("member 2,4", Member((2, 4))),
    ],
)
def test_parse_operation(text, operation):
    assert parse_operation(text) == operation


@pytest.mark.parametrize("text", ["offline", "offline 1-2", "remove 3", "offline x", ""])
def test_parse_operation__refused(text):
    with pytest.raises(ValueError, match="="):
        parse_operation(text)


def test_hotplug__refuses_what_does_not_fit():
    machine = Machine.uniform(4)
    state = State(machine, KERNEL)
    with pytest.raises(ValueError, match="kernel=.*state is that of another"):
        hotplug(machine, Kernel.version("6.6"), "offline 3", state=state)
    with pytest.raises(ValueError, match="costs='uniform-4cpu': no cost table"):
        hotplug(machine, KERNEL, "offline 3", costs="uniform-4cpu")
    with pytest.raises(ValueError, match="groups=0: at least 1"):
        hotplug(machine, KERNEL, "offline 3", groups=0)
    with pytest.raises(ValueError, match="linear=2"):
        hotplug(machine, KERNEL, "offline 3", costs="vm-32cpu", linear=2)
    with pytest.raises(ValueError, match="groups=5: the state has its own"):
        hotplug(machine, KERNEL, "offline 3", state=state, groups=5)
    done = hotplug(machine, KERNEL, "offline 3", state=state)
    assert state.online.all() and not done.state.online[3]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (dict(node_distances=((10, 20), (20, 10), (20, 20))), "^node_distances=.*row and a column"),
        (dict(node_distances=((10, 20), (30, 10))), "^node_distances=.*the same both ways"),
        (dict(node_distances=((10, 10), (10, 10))), "^node_distances=.*10 for a node itself"),
        (dict(memory_zones_mb=((64,),)), "^memory_zones_mb=.*each of the 2 nodes"),
        (dict(not_hotplugged=(9,)), "^not_hotplugged=9"),
        (dict(clusters=((0, 1, 2, 3, 4, 5, 6, 7),)), "^nodes=.*cluster .* must lie together"),
        (dict(packages=((0, 1), (2, 3, 4, 5, 6, 7))), "^packages=.*node .* must lie together"),
    ],
)
def test_machine__refuses(fields, message):
    with pytest.raises(ValueError, match=message):
        Machine.uniform(8, nr_nodes=2).replace(**fields)
