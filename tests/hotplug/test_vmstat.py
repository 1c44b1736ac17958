"""Thresholds of the per-CPU statistics (fact sheet E and L.5)."""

import numpy as np
import pytest

from schedlab.hotplug import Offline, Online, State
from schedlab.hotplug.published_tables import base_kernel
from schedlab.hotplug.vmstat import Thresholds, threshold
from schedlab.machine import Machine

KERNEL = base_kernel()


@pytest.mark.parametrize(
    ("managed_mb", "expected"),
    [(15, (14, 16, 18, 20)), (3072, (84, 96, 108, 120)), (12288, (112, 125, 125, 125)), (20000, (125,) * 4)],
)
def test_threshold__vectors(managed_mb, expected):
    assert tuple(threshold(n, managed_mb) for n in (64, 128, 256, 512)) == expected


def test_touches__one_a_node_and_two_a_zone():
    state = State(Machine.load("xeon_6985p_c"), KERNEL)
    off = state.apply(Offline(479)).counts
    on = state.apply(Online(479)).counts
    assert (off["vmstat_touches"], on["vmstat_touches"]) == (10 * 479, 10 * 480)


def _ramp(machine, patches=()):
    """Return for each operation the entries written on the CPU that comes or goes, and on the others."""
    state = State(machine, KERNEL.with_patch(*patches))
    found = {"offline": [], "online": []}
    for kind, step in (("offline", Offline), ("online", Online)):
        for cpu in range(1, machine.nr_cpus):
            before = state.thresholds.of_cpu.copy()
            state.apply(step(cpu))
            changed = (state.thresholds.of_cpu != before).any(axis=1)
            found[kind].append((int(changed[cpu]), int(changed.sum() - changed[cpu])))
    return {kind: np.array(rows) for kind, rows in found.items()}


def test_write_changed_thresholds__events_of_a_ramp():
    machine = Machine.load("xeon_6985p_c").replace(memory_zones_mb=((64,), (64,)))
    found = _ramp(machine)
    assert (found["offline"][:, 1] > 0).sum() == 8 and (found["offline"][:, 0] == 0).all()
    online = found["online"]
    assert (online.sum(axis=1) > 0).sum() == 450
    assert ((online[:, 0] > 0) & (online[:, 1] == 0)).sum() == 442


@pytest.mark.parametrize(("managed_mb", "reach"), [(64, 256), (3000, 256), (12288, 128), (20000, 64)])
def test_write_changed_thresholds__up_to_where_they_change(managed_mb, reach):
    changes = [n for n in range(2, 481) if threshold(n, managed_mb) != threshold(n - 1, managed_mb)]
    assert max(changes) == reach


def test_thresholds__a_dead_cpu_keeps_its_own():
    machine = Machine.uniform(8, memory_zones_mb=((64,),))
    thresholds = Thresholds(machine)
    online = np.ones(8, dtype=bool)
    online[7] = False
    assert thresholds.refresh(online).sum() == 7 * 2
    assert thresholds.of_cpu[7].tolist() == [8, 8] and thresholds.of_cpu[0].tolist() == [6, 6]
