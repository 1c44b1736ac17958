"""Sets of CPUs: lists as Linux writes them, and partitions of a machine."""

from . import _check


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """Return the CPU numbers of a list as Linux writes it.

    Raises
    ------
    ValueError
        When the text is no such list.

    Examples
    --------
    >>> parse_cpu_list("0-2,8")
    (0, 1, 2, 8)
    """
    numbers = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        last = last if dash else first
        if not (first.isdecimal() and last.isdecimal()) or int(last) < int(first):
            raise _check.wrong("cpus", text, "numbers and ranges such as '0-3,8'")
        if len(last) > 5:
            raise _check.wrong("cpus", text, "CPU numbers of at most five digits")
        numbers.extend(range(int(first), int(last) + 1))
    return tuple(numbers)


def check_partition(field: str, sets: tuple[tuple[int, ...], ...], nr_cpus: int) -> None:
    """Raise ValueError unless `sets` hold the CPUs 0 to nr_cpus - 1, each once; no sets at all are fine."""
    if not sets:
        return
    seen = set()
    for cpus in sets:
        for cpu in cpus:
            if cpu in seen:
                raise _check.wrong(field, sets, f"CPU {cpu} is in two of them; each CPU is in one")
            seen.add(cpu)
    missing = sorted(set(range(nr_cpus)) - seen)
    if missing:
        raise _check.wrong(field, sets, f"CPU numbers are 0 to {nr_cpus - 1} without gaps; CPU {missing[0]} is missing")
    if len(seen) > nr_cpus:
        raise _check.wrong(field, sets, f"CPU {max(seen)} is in no core")


def place_of(sets: tuple[tuple[int, ...], ...], nr_cpus: int) -> tuple[int, ...]:
    """Return for each CPU the number of the set that holds it (0 without sets)."""
    place = [0] * nr_cpus
    for number, cpus in enumerate(sets):
        for cpu in cpus:
            place[cpu] = number
    return tuple(place)


def equal_parts(field: str, cores, parts: int) -> tuple[tuple[int, ...], ...]:
    """Return the CPUs of `parts` equal runs of cores; nothing for one part, which is the default of Machine."""
    parts = _check.whole(field, parts, 1)
    if len(cores) % parts:
        raise _check.wrong(field, parts, f"a divisor of the number of cores, {len(cores)}")
    if parts == 1:
        return ()
    size = len(cores) // parts
    return tuple(tuple(cpu for core in cores[k * size : (k + 1) * size] for cpu in core) for k in range(parts))


def check_within(field: str, sets, inner: str, inner_sets, outer_of: tuple[int, ...]) -> None:
    """Raise ValueError unless the CPUs of each inner set (a core, a cluster, a node) lie in one of the outer sets."""
    for cpus in inner_sets:
        if len({outer_of[cpu] for cpu in cpus}) > 1:
            raise _check.wrong(field, sets, f"the CPUs of {inner} {cpus} must lie together in one")


def check_distances(rows, nr_nodes: int) -> tuple[tuple[int, ...], ...]:
    """Return a table of node distances as tuples, or raise ValueError; an empty table is fine."""
    field, local = "node_distances", 10
    table = tuple(tuple(_check.whole(field, value, local, 255) for value in row) for row in rows)
    if not table:
        return table
    if len(table) != nr_nodes or any(len(row) != nr_nodes for row in table):
        raise _check.wrong(field, table, f"a row and a column for each of the {nr_nodes} nodes")
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            if (value == local) != (i == j):
                raise _check.wrong(field, table, f"{local} for a node itself and more for the others")
            if value != table[j][i]:
                raise _check.wrong(field, table, f"the same both ways: nodes {i} and {j} differ")
    return table
