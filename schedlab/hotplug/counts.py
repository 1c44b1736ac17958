"""Compiled: builds the sched domains of a cpu_map and counts what the kernel's loops do for it.

Domains of CPUs with the same span and the same groups cost the same, so such a domain is built once and counted for
each of its CPUs. NUMA domains whose children overlap, so that the groups depend on the CPU, are built one by one.
"""

import numpy as np

from .._jit import entry, internal

#: What `count_build` counts, in the order of its result.
COUNTED = (
    "sched_domains",
    "span_scan",
    "get_group",
    "capacity_groups",
    "capacity_cores",
    "balance_iterations",
    "distinct_groups",
    "distinct_cores",
    "distinct_balance_iterations",
    "later_pairs",
)
_DOMAINS, _SCAN, _GET_GROUP, _GROUPS, _CORES, _BALANCE, _DISTINCT, _DISTINCT_CORES, _DISTINCT_BALANCE, _PAIRS = range(
    10
)


@internal
def _measure(first, last, cpus, core_of, cpu_map, size, cores):
    """Fill in the CPUs and the cores that each mask has in the map."""
    seen = np.full(core_of.size, -1, np.int64)
    stamp = 0
    for level in range(first.shape[0]):
        for klass in range(first.shape[1]):
            for k in range(first[level, klass], last[level, klass]):
                cpu = cpus[k]
                if cpu_map[cpu]:
                    size[level, klass] += 1
                    if seen[core_of[cpu]] != stamp:
                        seen[core_of[cpu]] = stamp
                        cores[level, klass] += 1
            stamp += 1


@internal
def _plain_level(level, class_of, first, last, cpus, cpu_map, size, cores, built, counts):
    """Count build_sched_groups() and init_sched_groups_capacity() of a level whose spans do not overlap."""
    seen = np.full(class_of.shape[1], -1, np.int64)
    for klass in range(first.shape[1]):
        groups, group_cores, domains = 0, 0, 0
        for k in range(first[level, klass], last[level, klass]):
            cpu = cpus[k]
            if not cpu_map[cpu] or built[cpu] <= level:
                continue
            domains += 1
            child = class_of[level - 1, cpu] if level else cpu
            if seen[child] != klass:
                seen[child] = klass
                groups += 1
                group_cores += cores[level - 1, child] if level else 1
        counts[_SCAN] += domains * size[level, klass]
        counts[_GET_GROUP] += domains * groups
        counts[_GROUPS] += domains * groups
        counts[_CORES] += domains * group_cores
        counts[_DISTINCT] += groups
        counts[_DISTINCT_CORES] += group_cores


@internal
def _note_distinct(level, place, group, size, cores, seen, counts):
    """Count a NUMA group unless it was met at this level before."""
    if seen[place, group] != level:
        seen[place, group] = level
        counts[_DISTINCT] += 1
        counts[_DISTINCT_CORES] += cores[place, group]
        counts[_DISTINCT_BALANCE] += size[place, group]


@internal
def _class_of_equal_domains(level, klass, class_of, first, last, cpus, cpu_map, size, cores, built, met, seen, counts):
    """Count the NUMA domains of CPUs with the same span at once, where the children of that span do not overlap.

    Returns whether they do not: then the groups are the children, wherever the loop begins.
    """
    groups, group_cores, covered, members, domains = 0, 0, 0, 0, 0
    for k in range(first[level, klass], last[level, klass]):
        cpu = cpus[k]
        if not cpu_map[cpu]:
            continue
        members += built[cpu] > level
        domains += class_of[level, cpu] == klass and built[cpu] > level
        child = class_of[level - 1, cpu]
        if met[child] != klass:
            met[child] = klass
            groups += 1
            group_cores += cores[level - 1, child]
            covered += size[level - 1, child]
    span = size[level, klass]
    if not domains or covered != span or members != span:
        return domains == 0
    counts[_SCAN] += domains * span
    counts[_BALANCE] += domains * span
    counts[_GROUPS] += domains * groups
    counts[_CORES] += domains * group_cores
    for k in range(first[level, klass], last[level, klass]):
        if cpu_map[cpus[k]]:
            _note_distinct(level, level - 1, class_of[level - 1, cpus[k]], size, cores, seen, counts)
    return True


@internal
def _within(level, klass, inside, stamp, first, last, cpus, cpu_map):
    """Whether the mask of a class, as far as it is in the map, lies inside the marked span."""
    for k in range(first[level, klass], last[level, klass]):
        if cpu_map[cpus[k]] and inside[cpus[k]] != stamp:
            return False
    return True


@internal
def _descended(cpu, depth, stamp, inside, class_of, first, last, cpus, cpu_map, size):
    """Return the level whose child makes the group, cf. find_descended_sibling()."""
    while depth and not _within(depth - 1, class_of[depth - 1, cpu], inside, stamp, first, last, cpus, cpu_map):
        depth -= 1
    while depth and size[depth - 1, class_of[depth - 1, cpu]] == size[depth, class_of[depth, cpu]]:
        depth -= 1
    return depth


@internal
def _overlap_domain(
    cpu, level, class_of, first, last, cpus, cpu_map, size, cores, built, marks, inside, covered, seen, counts
):
    """Count build_overlap_sched_groups() and init_sched_groups_capacity() of one CPU's NUMA domain."""
    stamp = marks[0]
    marks[0] += 1
    klass = class_of[level, cpu]
    begin, end = first[level, klass], last[level, klass]
    start = begin
    for k in range(begin, end):
        inside[cpus[k]] = stamp
        if cpus[k] < cpu:
            start = k + 1
    for step in range(end - begin):
        other = cpus[begin + (start - begin + step) % (end - begin)]
        if not cpu_map[other]:
            continue
        counts[_SCAN] += 1
        if covered[other] == stamp or built[other] <= level:
            continue
        depth = level
        if not _within(depth - 1, class_of[depth - 1, other], inside, stamp, first, last, cpus, cpu_map):
            depth = _descended(other, depth, stamp, inside, class_of, first, last, cpus, cpu_map, size)
        place = depth - 1 if depth else 0
        group = class_of[place, other]
        for k in range(first[place, group], last[place, group]):
            if cpu_map[cpus[k]]:
                covered[cpus[k]] = stamp
                counts[_BALANCE] += 1
        counts[_GROUPS] += 1
        counts[_CORES] += cores[place, group]
        _note_distinct(level, place, group, size, cores, seen, counts)


@entry
def count_build(overlap, class_of, first, last, cpus, core_of, cpu_map, counts):
    """Add to `counts` (see COUNTED) the work of one build_sched_domains() over the CPUs of `cpu_map`.

    The arrays are those of `topology.Levels`; cpu_map is (CPUs,) bool, counts (len(COUNTED),) int64.
    """
    nr_levels, nr_cpus = class_of.shape
    size = np.zeros(first.shape, np.int64)
    cores = np.zeros(first.shape, np.int64)
    _measure(first, last, cpus, core_of, cpu_map, size, cores)
    total = 0
    for cpu in range(nr_cpus):
        total += cpu_map[cpu]
    built = np.zeros(nr_cpus, np.int64)
    behind = total
    for cpu in range(nr_cpus):
        if not cpu_map[cpu]:
            continue
        behind -= 1
        for level in range(nr_levels):
            built[cpu] = level + 1
            if not overlap[level]:
                counts[_PAIRS] += behind
            if size[level, class_of[level, cpu]] == total:
                break
        counts[_DOMAINS] += built[cpu]
    marks = np.zeros(1, np.int64)
    inside = np.full(nr_cpus, -1, np.int64)
    covered = np.full(nr_cpus, -1, np.int64)
    seen = np.full(first.shape, -1, np.int64)
    for level in range(nr_levels):
        if not overlap[level]:
            _plain_level(level, class_of, first, last, cpus, cpu_map, size, cores, built, counts)
            continue
        met = np.full(nr_cpus, -1, np.int64)
        for klass in range(first.shape[1]):
            if _class_of_equal_domains(
                level, klass, class_of, first, last, cpus, cpu_map, size, cores, built, met, seen, counts
            ):
                continue
            for k in range(first[level, klass], last[level, klass]):
                cpu = cpus[k]
                if class_of[level, cpu] == klass and cpu_map[cpu] and built[cpu] > level:
                    _overlap_domain(
                        cpu,
                        level,
                        class_of,
                        first,
                        last,
                        cpus,
                        cpu_map,
                        size,
                        cores,
                        built,
                        marks,
                        inside,
                        covered,
                        seen,
                        counts,
                    )
