"""Random machines, kernels and operations for the property tests."""

from hypothesis import strategies as st

from schedlab.hotplug import Isolate, Member, Offline, Online, Partition, SetQuota
from schedlab.kernel import Kernel
from schedlab.machine import Machine
from schedlab.patches_hotplug import (
    FUSE_DYING,
    FUSE_REBUILD,
    HOTPLUG_ONLY,
    LARGE_SYSTEMS,
    SKIP_OFFLINE_WALKS,
    SKIP_VALID_RESYNC,
)

GROUPS = ("a", "b", "c")
SERIES = ((), (SKIP_OFFLINE_WALKS,), (SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC), (FUSE_REBUILD,), (HOTPLUG_ONLY,))


@st.composite
def machines(draw, max_cpus=64, overlapping=True):
    """Cores, caches, nodes, packages, numbering and, where asked for, distances that nest in no order."""
    smt = draw(st.sampled_from((1, 2)))
    nr_nodes = draw(st.sampled_from((1, 2, 3, 4)))
    llcs_a_node, cores_an_llc = draw(st.sampled_from((1, 2))), draw(st.integers(1, 4))
    cores_an_llc = min(cores_an_llc, max_cpus // (smt * nr_nodes * llcs_a_node))
    nr_cpus = smt * nr_nodes * llcs_a_node * cores_an_llc
    distances = ()
    if overlapping and nr_nodes > 2:
        far = {(i, j): draw(st.sampled_from((12, 20, 30))) for i in range(nr_nodes) for j in range(i)}
        rows = range(nr_nodes)
        distances = tuple(tuple(10 if i == j else far[max(i, j), min(i, j)] for j in rows) for i in rows)
    return Machine.uniform(
        nr_cpus,
        smt=smt,
        nr_llcs=nr_nodes * llcs_a_node,
        nr_nodes=nr_nodes,
        nr_packages=draw(st.sampled_from([p for p in (1, nr_nodes, nr_nodes // 2) if p and nr_nodes % p == 0])),
        numbering=draw(st.sampled_from(("adjacent", "split"))),
        node_distances=distances,
    )


@st.composite
def kernels(draw):
    """Any sound kernel: one of the series about walks, any of the series for large systems, or a plain 6.12."""
    kernel = Kernel.version(draw(st.sampled_from(("7.2", "6.18", "6.12"))))
    patches = set(draw(st.sampled_from(SERIES))) | set(draw(st.sets(st.sampled_from(LARGE_SYSTEMS))))
    return kernel.with_patch(*patches, *draw(st.sampled_from(((), (FUSE_DYING,)))))


def operations(nr_cpus: int):
    """Operations, possible or not."""
    cpu = st.integers(0, nr_cpus - 1)
    cpus = st.sets(cpu, min_size=1, max_size=max(1, nr_cpus // 2)).map(lambda s: tuple(sorted(s)))
    # a few fixed partitions, so that Member finds one
    fixed = st.sampled_from([(0,), tuple(range(1, max(2, nr_cpus // 2))), (nr_cpus - 1,)])
    quota = st.builds(SetQuota, st.sampled_from(GROUPS), st.sampled_from((None, 1000, 50_000)))
    changed = [st.builds(kind, fixed | cpus) for kind in (Partition, Isolate)]
    return st.one_of(st.builds(Offline, cpu), st.builds(Online, cpu), *changed, st.builds(Member, fixed), quota)
