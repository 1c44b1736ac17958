"""The group walks of each patch and variant, and what they cost (fact sheet A.7, B, L.6, L.8)."""

import pytest

from schedlab.hotplug import Offline, Online, Partition, State
from schedlab.hotplug.costs import price
from schedlab.hotplug.fit import GUEST, GUEST_GROUPS, fit_operations
from schedlab.hotplug.published_tables import base_kernel
from schedlab.hotplug.work import WALKS
from schedlab.kernel import Kernel
from schedlab.machine import Machine
from schedlab.patches_hotplug import (
    FUSE_DYING,
    FUSE_REBUILD,
    HOTPLUG_ONLY,
    HOTPLUG_ONLY_NAIVE,
    SKIP_OFFLINE_WALKS,
    SKIP_VALID_RESYNC,
)

KERNEL = base_kernel()
N = 32
#: Walks of a partition switch, an offline and an online, in the order of WALKS.
TABLE_B = {
    (): ((2 * N, 0, 2 * N, 0, 0), (2 * N - 1, 1, 2 * N - 2, 0, 0), (2 * N - 2, 0, 2 * N - 1, 0, 0)),
    (SKIP_OFFLINE_WALKS,): ((0, 0, 2 * N, 0, 0), (1, 1, 2 * N - 2, 0, 0), (0, 0, 2 * N - 1, 0, 0)),
    (SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC): ((0,) * 5, (1, 1, 0, 0, 0), (0, 0, 1, 0, 0)),
    (FUSE_REBUILD,): ((0, 0, 0, 2 * N, 0), (1, 1, 0, 2 * N - 2, 0), (0, 0, 1, 2 * N - 2, 0)),
    (FUSE_DYING,): (
        (2 * N, 0, 2 * N, 0, 0),
        (2 * N - 2, 0, 2 * N - 2, 0, 1),
        (2 * N - 2, 0, 2 * N - 1, 0, 0),
    ),
    (HOTPLUG_ONLY,): ((0,) * 5, (1, 1, 0, 0, 0), (0, 0, 1, 0, 0)),
    (HOTPLUG_ONLY, FUSE_DYING): ((0,) * 5, (0, 0, 0, 0, 1), (0, 0, 1, 0, 0)),
    (HOTPLUG_ONLY_NAIVE,): ((0,) * 5, (1, 1, 0, 0, 0), (0,) * 5),
}


def three_operations(kernel, nr_cpus=N):
    """Return the work of a partition switch of 4 CPUs, of an offline and of an online."""
    machine = Machine.load(GUEST) if nr_cpus == N else Machine.uniform(nr_cpus)
    switch = State(machine, kernel, groups=GUEST_GROUPS).apply(Partition(tuple(range(nr_cpus - 4, nr_cpus))))
    state = State(machine, kernel, groups=GUEST_GROUPS)
    steps = (Offline(nr_cpus - 1), Online(nr_cpus - 1))
    return {"partition": switch, **dict(zip(("offline", "online"), (state.apply(step) for step in steps)))}


@pytest.mark.parametrize("patches", TABLE_B, ids="+".join)
def test_walks__of_each_variant(patches):
    found = three_operations(KERNEL.with_patch(*patches))
    assert tuple(tuple(w.counts[f"{kind}_walks"] for kind in WALKS) for w in found.values()) == TABLE_B[patches]
    # an extra set_rq_offline() and set_rq_online() of the CPU that came is the price of the right order
    extra = int(HOTPLUG_ONLY in patches)
    assert found["online"].counts["rq_online"] == 2 * N - 1 + extra
    assert found["online"].counts["rq_offline"] == 2 * N - 2 + extra


def milliseconds(kernel, phi=1.0, nr_cpus=N, nr_groups=GUEST_GROUPS):
    """Return the three times in ms at the units of each operation of its own (the saturated fit)."""
    fit, found = fit_operations("M2"), {}
    for name, work in three_operations(kernel, nr_cpus).items():
        found[name] = sum(price(work, name, nr_groups, fit.costs(name, fuse_phi=phi)).values()) / 1e6
    return tuple(found.values())


@pytest.mark.parametrize(
    ("patches", "phi", "expected"),
    [
        ((), 1.0, (13.28, 44.95, 36.84)),
        ((FUSE_REBUILD,), 0.54, (7.7, 31.0, 28.5)),
        ((FUSE_REBUILD,), 0.65, (9.1, 33.9, 28.5)),
        ((FUSE_REBUILD,), 0.80, (10.9, 38.65, 32.0)),
        ((FUSE_REBUILD,), 1.0, (13.28, 44.95, 36.84)),
        ((FUSE_DYING,), 0.65, (13.28, 44.84, 36.84)),
        ((SKIP_OFFLINE_WALKS,), 1.0, (7.68, 30.96, 28.48)),
        ((SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC), 1.0, (1.21, 13.44, 12.82)),
        ((HOTPLUG_ONLY,), 1.0, (1.21, 13.44, 12.82)),
        ((HOTPLUG_ONLY_NAIVE,), 1.0, (1.21, 13.44, 12.57)),
    ],
)
def test_price__variants_at_the_units_of_each_operation(patches, phi, expected):
    assert milliseconds(KERNEL.with_patch(*patches), phi) == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize(
    ("nr_cpus", "groups", "expected"),
    [
        (8, 4001, (4.2, 20.6, 18.2)),
        (32, 1001, (4.2, 21.1, 18.6)),
        (64, 4001, (25, 78, 62)),
        (128, 4001, (50, 143, 111)),
        (256, 4001, (98, 273, 210)),
        (32, 10001, (31, 93, 73)),
    ],
)
def test_price__other_sizes(nr_cpus, groups, expected):
    found = milliseconds(KERNEL, nr_cpus=nr_cpus, nr_groups=groups)
    # the sheet's figures are rounded, one of them (50 for 49.49) upwards
    assert found == pytest.approx(expected, abs=0.07 if expected[0] < 10 else 0.65)


def test_price__third_walk_of_6_12():
    assert milliseconds(Kernel.version("6.12")) == pytest.approx((16.1, 51.9, 41.0), abs=0.2)
