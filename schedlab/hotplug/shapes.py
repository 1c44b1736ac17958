"""Machines of the shape of another: more or fewer CPUs, or its packages split into nodes."""

import dataclasses

from ..machine import Machine


def with_nodes(machine: Machine, nodes_a_package: int, distances: tuple = (10, 12, 21)) -> Machine:
    """Return a machine whose packages are split into nodes (SNC), each with a last-level cache of its own.

    `distances` are those of a node to itself, to others of its package and to those of another package.
    """
    parts = []
    packages = machine.packages or machine.nodes
    for package in packages:
        own = [core for core in machine.cores if core[0] in set(package)]
        size = len(own) // nodes_a_package
        parts += [tuple(c for core in own[k * size : (k + 1) * size] for c in core) for k in range(nodes_a_package)]
    package_of = [node // nodes_a_package for node in range(len(parts))]
    near = [
        [distances[0 if i == j else 1 + (package_of[i] != package_of[j])] for j in range(len(parts))]
        for i in range(len(parts))
    ]
    zones = machine.memory_zones_mb and tuple(
        machine.memory_zones_mb[node] if node == 0 else machine.memory_zones_mb[-1] for node in range(len(parts))
    )
    fields = dict(nodes=tuple(parts), llcs=tuple(parts), packages=packages, node_distances=near)
    return dataclasses.replace(machine, name=f"{machine.name}-snc{nodes_a_package}", memory_zones_mb=zones, **fields)


def like(machine: str, nr_cpus: int) -> Machine:
    """Return a machine of the same shape with another number of CPUs: as many nodes, and caches as
    wide as its own where it has several a node.

    Examples
    --------
    >>> like("epyc_9b45", 128).nr_llcs, like("xeon_6985p_c", 128).nr_llcs
    (8, 2)
    """
    model = Machine.load(machine)
    nr_llcs = nr_cpus // (model.nr_cpus // model.nr_llcs) if model.nr_llcs > model.nr_nodes else model.nr_llcs
    return Machine.uniform(
        nr_cpus,
        smt=2,
        nr_llcs=nr_llcs,
        nr_nodes=model.nr_nodes,
        numbering="split",
        memory_zones_mb=model.memory_zones_mb,
        not_hotplugged=(0,),
        name=f"{machine}-{nr_cpus}",
    )
