"""Sched domains: which levels a machine has, and the domains and groups that a set of CPUs gets, in plain Python.

The levels are those of x86 (fact sheet C.1): SMT, CLS (shared L2), MC (shared last-level cache), PKG (node, unless a
package has several), NODE, and one NUMA level for each further distance. `counts.py` builds the same domains compiled
and counts the work; here they are objects that can be looked at.
"""

import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..machine import Machine

LOCAL_DISTANCE, REMOTE_DISTANCE = 10, 20


@dataclass(frozen=True, eq=False)
class Levels:
    """The topology levels of a machine, lowest first, as arrays.

    Attributes
    ----------
    names : tuple of str
        SMT, CLS, MC, PKG, NODE, NUMA (the last as often as there are further distances).
    overlap : (levels,) bool
        NUMA levels: the spans of two CPUs may overlap without being equal.
    class_of : (levels, CPUs) int32
        CPUs of a class have the same mask at that level.
    first, last : (levels, classes) int32
        Where in `cpus` the mask of a class begins and ends.
    cpus : int32
        The masks of all classes one after another, each in ascending order.
    core_of : (CPUs,) int32
    """

    names: tuple[str, ...]
    overlap: np.ndarray
    class_of: np.ndarray
    first: np.ndarray
    last: np.ndarray
    cpus: np.ndarray
    core_of: np.ndarray

    def mask(self, level: int, cpu: int) -> tuple[int, ...]:
        """Return the CPUs that share `level` with `cpu`, online or not."""
        klass = self.class_of[level, cpu]
        return tuple(self.cpus[self.first[level, klass] : self.last[level, klass]].tolist())


def node_distances(machine: Machine) -> np.ndarray:
    """Return the (nodes, nodes) distances, 10 and 20 where the machine does not say."""
    if machine.node_distances:
        return np.array(machine.node_distances)
    far = np.full((machine.nr_nodes, machine.nr_nodes), REMOTE_DISTANCE)
    np.fill_diagonal(far, LOCAL_DISTANCE)
    return far


@lru_cache(maxsize=64)
def levels_of(machine: Machine) -> Levels:
    """Return the levels of a machine.

    Examples
    --------
    >>> levels_of(Machine.uniform(8, smt=2, nr_nodes=2)).names
    ('SMT', 'CLS', 'MC', 'PKG', 'NODE', 'NUMA')
    >>> levels_of(Machine.uniform(2)).names
    ('CLS', 'MC', 'PKG', 'NODE')
    """
    cpus = range(machine.nr_cpus)
    node_of = machine.node_of
    keys = []
    if machine.threads_per_core > 1:
        keys.append(("SMT", machine.core_of))
    # a cache that spans nodes is split between them, as x86 does for SNC
    keys += [("CLS", machine.cluster_of), ("MC", [(machine.llc_of[cpu], node_of[cpu]) for cpu in cpus])]
    nodes_a_package = len(set(zip(node_of, machine.package_of))) / len(set(machine.package_of))
    if nodes_a_package <= 1:
        keys.append(("PKG", node_of))
    keys.append(("NODE", node_of))
    masks = [(name, False, *_equal_masks(key, machine.nr_cpus)) for name, key in keys]
    distances = node_distances(machine)
    for reach in sorted(set(distances.flat) - {LOCAL_DISTANCE}):
        near = distances <= reach
        rows = [tuple(row) for row in near.tolist()]  # nodes that reach the same nodes have the same mask
        classes = list(dict.fromkeys(rows))
        class_of = np.array([classes.index(rows[node]) for node in node_of], dtype=np.int32)
        masks.append(("NUMA", True, class_of, [tuple(c for c in cpus if row[node_of[c]]) for row in classes]))
    return _as_arrays(masks, machine)


def _equal_masks(key, nr_cpus: int):
    """Return the class of each CPU and the mask of each class; CPUs with equal keys are a class."""
    numbers: dict = {}
    class_of = np.array([numbers.setdefault(k, len(numbers)) for k in key], dtype=np.int32)
    return class_of, [tuple(np.flatnonzero(class_of == k).tolist()) for k in range(len(numbers))]


def _as_arrays(masks, machine: Machine) -> Levels:
    widest = max(len(of_class) for *_, of_class in masks)
    first = np.zeros((len(masks), widest), dtype=np.int32)
    last = np.zeros_like(first)
    flat: list[int] = []
    for level, (*_, of_class) in enumerate(masks):
        for klass, mask in enumerate(of_class):
            first[level, klass] = len(flat)
            flat.extend(mask)
            last[level, klass] = len(flat)
    return Levels(
        names=tuple(name for name, *_ in masks),
        overlap=np.array([overlap for _, overlap, *_ in masks]),
        class_of=np.stack([class_of for *_, class_of, _ in masks]),
        first=first,
        last=last,
        cpus=np.array(flat, dtype=np.int32),
        core_of=np.array(machine.core_of, dtype=np.int32),
    )


@dataclass(frozen=True)
class SchedGroup:
    """A sched group: its CPUs, the one that balances for it, and what init_sched_groups_capacity() notes."""

    span: tuple[int, ...]
    balance_cpu: int
    weight: int
    cores: int


@dataclass(frozen=True)
class SchedDomain:
    """A sched domain of one CPU: level, CPUs, and groups beginning with the CPU's own."""

    level: str
    span: tuple[int, ...]
    groups: tuple[SchedGroup, ...]


def build_domains(
    machine: Machine, cpus: tuple[int, ...], cache_capacity: bool = False
) -> dict[int, tuple[SchedDomain, ...]]:
    """Return the sched domains of each CPU of one cpu_map, lowest level first, before degenerate ones are removed.

    A CPU gets levels until one spans the whole map (cf. build_sched_domains(), 7.2).

    Parameters
    ----------
    machine : Machine
    cpus : tuple of int
        The cpu_map.
    cache_capacity : bool
        Count weight and cores once a group and look them up by the level and the balance CPU (patch 5 of the
        series for large systems) in place of once for each CPU.
    """
    levels = levels_of(machine)
    cpu_map = frozenset(cpus)
    spans = {cpu: _spans(levels, cpu, cpu_map) for cpu in cpus}
    capacity: dict | None = {} if cache_capacity else None
    return {
        cpu: tuple(
            SchedDomain(
                levels.names[level],
                tuple(sorted(span)),
                tuple(
                    _group(machine, members, balance, depth, capacity)
                    for members, balance, depth in _groups(levels, spans, cpu, level)
                ),
            )
            for level, span in enumerate(spans[cpu])
        )
        for cpu in cpus
    }


def _spans(levels: Levels, cpu: int, cpu_map: frozenset) -> list[frozenset]:
    spans = []
    for level in range(len(levels.names)):
        spans.append(cpu_map.intersection(levels.mask(level, cpu)))
        if spans[-1] == cpu_map:
            break
    return spans


def _groups(levels: Levels, spans, cpu: int, level: int):
    """Yield CPUs, balance CPU and sgc level of each group, cf. build_sched_groups(), build_overlap_sched_groups()."""
    span = spans[cpu][level]
    after = sorted(span)
    after = [c for c in after if c >= cpu] + [c for c in after if c < cpu]
    covered: set[int] = set()
    for other in after:
        # a CPU whose tree ended below this level has no domain here
        if other in covered or len(spans[other]) <= level:
            continue
        depth = level
        if levels.overlap[level] and depth and not spans[other][depth - 1] <= span:
            depth = _descended(spans[other], depth, span)
        members = spans[other][depth - 1] if depth else frozenset({other}) if not level else spans[other][0]
        covered |= members
        balance = min(members)
        if levels.overlap[level]:
            balance = min(c for c in members if len(spans[c]) > depth and (not depth or spans[c][depth - 1] == members))
        yield tuple(sorted(members)), balance, depth


def _descended(own: list[frozenset], depth: int, span: frozenset) -> int:
    """Return the level whose child makes the group, cf. find_descended_sibling()."""
    while depth and not own[depth - 1] <= span:
        depth -= 1
    while depth and own[depth - 1] == own[depth]:
        depth -= 1
    return depth


def _group(machine: Machine, members, balance: int, depth: int, capacity: dict | None) -> SchedGroup:
    known = None if capacity is None else capacity.get((depth, balance))
    if known is None:
        known = (len(members), len({machine.core_of[cpu] for cpu in members}))
        if capacity is not None:
            capacity[depth, balance] = known
    return SchedGroup(members, balance, *known)


def canonical(domains: dict[int, tuple[SchedDomain, ...]]) -> str:
    """Return domains as one JSON text that is equal for equal domains."""

    def plain(domain):
        groups = [[list(g.span), g.balance_cpu, g.weight, g.cores] for g in domain.groups]
        return {"level": domain.level, "span": list(domain.span), "groups": groups}

    return json.dumps({str(cpu): [plain(d) for d in domains[cpu]] for cpu in sorted(domains)}, separators=(",", ":"))
