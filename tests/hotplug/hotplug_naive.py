"""The counts of a domain build again, slowly: from domain objects, and from arrays of span numbers."""

import numpy as np

from schedlab.hotplug.topology import build_domains, levels_of
from schedlab.machine import Machine


def counts_of_objects(machine: Machine, cpus) -> dict[str, int]:
    """Count by walking through the domains of `topology.build_domains`."""
    domains = build_domains(machine, tuple(cpus))
    is_numa = [name == "NUMA" for name in levels_of(machine).names]
    found = dict.fromkeys(
        ("sched_domains", "span_scan", "get_group", "capacity_groups", "capacity_cores", "balance_iterations"), 0
    )
    distinct, pairs = set(), 0
    for place, cpu in enumerate(sorted(domains)):
        for level, domain in enumerate(domains[cpu]):
            found["sched_domains"] += 1
            found["span_scan"] += len(domain.span)
            found["capacity_groups"] += len(domain.groups)
            if not is_numa[level]:
                found["get_group"] += len(domain.groups)
                pairs += len(domains) - 1 - place
            for group in domain.groups:
                found["capacity_cores"] += len({machine.core_of[c] for c in group.span})
                found["balance_iterations"] += len(group.span) if is_numa[level] else 0
                distinct.add((level, group.span))
    found["distinct_groups"] = len(distinct)
    found["distinct_cores"] = sum(len({machine.core_of[c] for c in span}) for _, span in distinct)
    found["distinct_balance_iterations"] = sum(len(span) for level, span in distinct if is_numa[level])
    found["later_pairs"] = pairs
    return found


def counts_of_numbers(machine: Machine, cpus) -> dict[str, int]:
    """Count from the span number of each CPU at each level; for machines whose spans never overlap in part."""
    levels, cpus = levels_of(machine), np.array(sorted(cpus))
    core_of, child = np.array(machine.core_of)[cpus], cpus
    alive = np.ones(cpus.size, dtype=bool)
    names = ("sched_domains", "span_scan", "get_group", "capacity_groups", "capacity_cores", "balance_iterations")
    found = dict.fromkeys(names, 0)
    for level, name in enumerate(levels.names):
        number = levels.class_of[level, cpus]
        span = np.array([(number == n).sum() for n in number])
        groups = np.array([len(set(child[number == n])) for n in number])
        cores = groups if level == 0 else np.array([len(set(core_of[number == n])) for n in number])
        found["sched_domains"] += int(alive.sum())
        found["span_scan"] += int(span[alive].sum())
        found["capacity_groups"] += int(groups[alive].sum())
        found["capacity_cores"] += int(cores[alive].sum())
        kind, numbers = ("balance_iterations", span) if name == "NUMA" else ("get_group", groups)
        found[kind] += int(numbers[alive].sum())
        alive &= span < cpus.size
        child = number
        if not alive.any():
            break
    return found
