"""Where a workload's tasks go, and what they are called there."""

from ..workload import Group


def place(group: str | Group) -> tuple[str, tuple[Group, ...]]:
    """Return the path of a group and the groups that must exist for it (itself and its parents, but the root).

    A path stands for a group without a limit; where another workload sets one, that one holds when the two are added.
    """
    if group == "/":
        return "/", ()
    leaf = group if isinstance(group, Group) else Group(group)
    groups = [leaf]
    while groups[0].parent != "/":
        groups.insert(0, Group(groups[0].parent))
    return leaf.path, tuple(groups)


def prefixed(path: str, name: str) -> str:
    """Return the name of a task, with its group in front so that the same job fits into several groups."""
    return name if path == "/" else f"{path[1:]}:{name}"
