"""How prices behave (fact sheet I.17 to I.23, A.6, G.5)."""

from itertools import combinations

import pytest

from schedlab.hotplug import Offline, Online, Partition, State, hotplug, ramp
from schedlab.hotplug.costs import irq_off, price
from schedlab.hotplug.fit import cost_table
from schedlab.hotplug.published_tables import base_kernel
from schedlab.hotplug.shapes import like
from schedlab.kernel import Kernel
from schedlab.machine import Machine
from schedlab.patches_hotplug import (
    FUSE_DYING,
    FUSE_REBUILD,
    HOTPLUG_ONLY,
    HOTPLUG_ONLY_NAIVE,
    LARGE_SYSTEMS,
    SKIP_OFFLINE_WALKS,
    SKIP_VALID_RESYNC,
)

KERNEL = base_kernel()
BOTH = KERNEL.with_patch(SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC)
INTEL, GUEST = cost_table("xeon_6985p_c"), cost_table("vm-32cpu")


def one_of_each(machine, kernel, table, groups=1, **more):
    """Return the priced ns of an offline, an online and a partition switch."""
    last = machine.nr_cpus - 1
    off = hotplug(machine, kernel, Offline(last), groups=groups, costs=table, **more)
    on = hotplug(machine, kernel, Online(last), state=off.state, costs=table, **more)
    switch = hotplug(machine, kernel, Partition((last,)), groups=groups, costs=table, **more)
    return {"offline": off.total_ns, "online": on.total_ns, "partition": switch.total_ns}


def lattice(machine, groups=1):
    """Return the prices of an offline and an online by every subset of the eight patches."""
    found = {}
    for size in range(9):
        for chosen in combinations(LARGE_SYSTEMS, size):
            prices = one_of_each(machine, KERNEL.with_patch(*chosen), INTEL, groups)
            found[frozenset(chosen)] = prices["offline"] + prices["online"]
    return found


def test_lattice__each_patch_helps_by_the_same_whatever_the_others():
    """Invariants 17 and 18, over all 256 subsets."""
    found = lattice(like("xeon_6985p_c", 32))
    base = found[frozenset()]
    alone = {patch: base - found[frozenset({patch})] for patch in LARGE_SYSTEMS}
    assert all(saved > 0 for saved in alone.values())
    for chosen, ns in found.items():
        # a sum of eight roundings
        assert ns == pytest.approx(base - sum(alone[patch] for patch in chosen), abs=10)


@pytest.mark.parametrize("patches", [(SKIP_OFFLINE_WALKS,), (FUSE_REBUILD,), (HOTPLUG_ONLY,), (FUSE_DYING,)])
def test_series_a__no_patch_costs_anything(patches):
    base = one_of_each(Machine.load("vm-32cpu"), KERNEL, GUEST, 4001)
    found = one_of_each(Machine.load("vm-32cpu"), KERNEL.with_patch(*patches), GUEST, 4001)
    assert all(found[name] <= base[name] for name in base)


@pytest.mark.parametrize("kernel", [KERNEL, BOTH, KERNEL.with_patch(*LARGE_SYSTEMS)], ids=("base", "both", "large"))
def test_price__grows_with_cpus_groups_zones_and_levels(kernel):
    table = INTEL

    def times(nr_cpus=32, groups=100, nodes=2, **fields):
        machine = Machine.uniform(nr_cpus, smt=2, nr_nodes=nodes, nr_llcs=nodes).replace(**fields)
        return tuple(one_of_each(machine, kernel, table, groups).values())

    def grows(steps):
        return all(b >= a for before, after in zip(steps, steps[1:]) for a, b in zip(before, after))

    assert grows([times(nr_cpus=n) for n in (8, 16, 32, 64)])
    assert grows([times(groups=g) for g in (1, 10, 1000, 10_000)])
    assert grows([times(memory_zones_mb=((64,) * z, (64,))) for z in (1, 2, 4)])
    near = [[10, 12, 20, 20], [12, 10, 20, 20], [20, 20, 10, 12], [20, 20, 12, 10]]
    # a NUMA level between the nodes and the machine
    assert grows([times(nodes=4), times(nodes=4, node_distances=near)])


def test_price__without_groups_the_variants_tie():
    """Invariant 20."""
    variants = [(), (SKIP_OFFLINE_WALKS,), (FUSE_REBUILD,), (HOTPLUG_ONLY,), (HOTPLUG_ONLY_NAIVE,)]
    machine = Machine.load("vm-32cpu")
    for step, kind in ((Offline(31), "offline"), (Partition((30, 31)), "partition")):
        found = []
        for patches in variants:
            work = State(machine, KERNEL.with_patch(*patches)).apply(step)
            found.append(sum(price(work, kind, 0, GUEST).values()))
        assert max(found) == pytest.approx(min(found), rel=0.01)


def test_price__slope_in_groups_with_both_patches():
    machine = Machine.load("vm-32cpu")

    def slope(kernel):
        few, many = (one_of_each(machine, kernel, GUEST, groups) for groups in (1, 10_001))
        return {name: (many[name] - few[name]) / 10_000 for name in few}

    base, both = slope(KERNEL), slope(BOTH)
    assert both["partition"] == 0
    assert both["offline"] < 0.02 * base["offline"] and both["online"] < 0.02 * base["online"]
    assert both["online"] == pytest.approx(GUEST.resync_ns * GUEST.locality["online"], abs=0.01)
    assert both["offline"] == pytest.approx(1.5 * GUEST.clear_ns * GUEST.locality["offline"], abs=0.01)


@pytest.mark.parametrize("n", [8, 32, 128])
def test_price__without_locality_hotplug_walks_cost_what_a_partition_switch_does(n):
    """Invariant 21: so the published factors of 2 and more are not a matter of counts."""
    table = GUEST.replace(clear_ns=25.0, resync_ns=25.0)
    machine, found = Machine.uniform(n), {}
    state = State(machine, KERNEL, groups=4001)
    for kind, step in (("offline", Offline(n - 1)), ("online", Online(n - 1)), ("partition", Partition((n - 1,)))):
        found[kind] = price(state.apply(step), kind, 4001, table, locality=1)["walks"]
    assert found["online"] / found["partition"] == pytest.approx((2 * n - 1.5) / (2 * n))
    assert found["offline"] / found["partition"] == pytest.approx((2 * n - 1.25) / (2 * n))


def test_irq_off__which_window_is_the_longest():
    """A.6: the accounting loop at 480 CPUs without groups, the walks at 32 CPUs with 4000."""
    large = hotplug(Machine.load("xeon_6985p_c"), KERNEL, "offline 479", groups=1).irq_off_ns
    assert max(large, key=large.get) == "dl_clear_root_domain"
    unit_ns = INTEL.patch_ns["linear-dl-server-accounting"]
    assert large["dl_clear_root_domain"] == pytest.approx(479**2 * unit_ns)
    small = hotplug(like("xeon_6985p_c", 32), KERNEL, "offline 31", groups=4001, costs=INTEL).irq_off_ns
    assert max(small, key=small.get) == "rq_attach_root"


def test_irq_off__linear_accounting():
    kernel = KERNEL.with_patch("linear-dl-server-accounting")
    machine = Machine.load("xeon_6985p_c")
    work = State(machine, kernel).apply(Offline(479))
    assert work.dl_clear_updates == 2 * 479
    # published: below 65 us
    assert irq_off(work, "offline", 1, INTEL)["dl_clear_root_domain"] < 65e3


@pytest.mark.parametrize("parts", [2, 4, 8])
def test_partitions__make_hotplug_cheaper(parts):
    """Invariant 23, for walks and scans; the accounting visits every root domain and so shrinks by p alone."""
    n = 512
    machine = Machine.uniform(n, nr_llcs=parts, nr_nodes=parts)
    whole, split = State(machine, KERNEL), State(machine, KERNEL)
    size = n // parts
    for k in range(1, parts):
        split.apply(Partition(tuple(range(k * size, (k + 1) * size))))
    one, other = (state.apply(Offline(n - 1)).counts for state in (whole, split))
    assert one["clear_walks"] / other["clear_walks"] == pytest.approx(parts, rel=0.03)
    one_domain = State(Machine.uniform(n), KERNEL).apply(Offline(n - 1)).counts
    own_domain = State(Machine.uniform(size), KERNEL).apply(Offline(size - 1)).counts
    assert one_domain["span_scan"] / own_domain["span_scan"] == pytest.approx(parts**2, rel=0.05)
    attach = {"whole": n * n, "split": size * size}
    accounting = {"whole": n * n, "split": n * size}
    expected = (attach["whole"] + accounting["whole"]) / (attach["split"] + accounting["split"])
    assert one["dl_updates"] / other["dl_updates"] == pytest.approx(expected, rel=0.03)


def test_ramp__both_series_at_480_cpus_and_4000_groups():
    """G.5: base walks alone add 180 to 235 s to the ramp, both patches of series A leave tenths of a second."""
    machine, table = Machine.load("xeon_6985p_c"), INTEL
    kernel = KERNEL.with_(rcu_expedited=True).with_patch(*LARGE_SYSTEMS)
    base = ramp(machine, kernel, groups=4001).priced(table)
    both = ramp(machine, kernel.with_patch(SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC), groups=4001).priced(table)
    walks = [sum(parts["walks"] for parts in priced.values()) / 1e9 for priced in (base, both)]
    assert 180 < walks[0] < 235
    assert walks[1] == pytest.approx(0.3, abs=0.1)


def test_h3__expedited_grace_periods_on_a_machine_where_they_are_most_of_it():
    """A report from 400 CPUs of POWER: 350 CPUs off and on 20 times faster and more; its grace period is not known."""
    machine = Machine.uniform(400, smt=8, numbering="adjacent")
    table = GUEST.replace(fixed_ns={"offline": 9.2e6, "online": 7.2e6}, grace_ns=204e6)
    order = tuple(cpu for cpu in range(400) if cpu % 8)
    seconds = {}
    for name, kernel in (("normal", KERNEL), ("expedited", KERNEL.with_patch("expedite-hotplug-grace-periods"))):
        priced = ramp(machine, kernel, cpus=order).priced(table)
        seconds[name] = {kind: sum(parts.values()) / 1e9 for kind, parts in priced.items()}
    assert seconds["normal"]["offline"] / seconds["expedited"]["offline"] > 20


def test_hotplug__the_kernel_of_6_12_without_a_table():
    done = hotplug(Machine.uniform(4), Kernel.version("6.12"), "offline 3")
    assert done.total_ns is None and done.irq_off_max_ns is None
    assert "rq_attach_root" in done._repr_html_()
    known = hotplug(Machine.load("vm-32cpu"), KERNEL, "offline 3", groups=4001)
    assert "total (cost)" in known._repr_html_()
    assert "Ramp of uniform-4cpu" in ramp(Machine.uniform(4), KERNEL)._repr_html_()
