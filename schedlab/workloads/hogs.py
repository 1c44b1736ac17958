"""The plainest workloads: tasks that always run, and tasks that run once a period."""

from .. import _check
from ..steps import repeat, run, timer
from ..workload import Group, Task, Workload
from ._groups import place, prefixed


def hogs(
    n: int, group: str | Group = "/", *, pinned: bool = False, work: int | str | None = None, name: str = "hog"
) -> Workload:
    """Return `n` tasks that compute without a pause.

    Parameters
    ----------
    n : int
    group : str or Group
    pinned : bool
        Task i may run on CPU i alone.
    work : int, str or None
        Work of each in ns at speed 1 (or text such as "2s"), after which it exits; None: for ever.
    name : str
        Prefix of the tasks' names.

    Examples
    --------
    >>> [task.cpus for task in hogs(2, "/a", pinned=True).tasks]
    [(0,), (1,)]
    """
    program = repeat(None, run("1s")) if work is None else run(work)
    return _tasks(n, group, program, pinned, name)


def periodic(
    period: int | str,
    work,
    *,
    n: int = 1,
    offset: int | str = 0,
    times: int | None = None,
    group: str | Group = "/",
    pinned: bool = False,
    name: str = "periodic",
) -> Workload:
    """Return `n` tasks that each do some work once a period, at fixed times; a late one catches up.

    Parameters
    ----------
    period, offset : int or str
        Activations at offset + k * period, ns or text.
    work : int, str or Duration
        Work of an activation.
    times : int or None
        Number of activations; None: for ever.
    n, group, pinned, name
        As in `hogs`.

    Examples
    --------
    >>> periodic("10ms", "2ms", times=100).tasks[0].name
    'periodic-0'
    """
    return _tasks(n, group, repeat(times, timer(period, offset), run(work)), pinned, name)


def _tasks(n, group, program, pinned, name) -> Workload:
    path, groups = place(group)
    label = prefixed(path, name)
    tasks = tuple(
        Task(f"{label}-{i}", program, group=path, cpus=(i,) if pinned else None, label=label)
        for i in range(_check.whole("n", n, 1))
    )
    return Workload(groups=groups, tasks=tasks, name=label)
