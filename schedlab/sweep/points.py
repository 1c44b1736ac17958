"""The points of a sweep: which there are, how a table shows them, and the machine, kernel and workload of each."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from .._check import nearest, wrong
from ..kernel import TUNABLES, Costs, Kernel
from ..machine import Machine
from ..workload import Group, Workload

#: Columns that are not a parameter's.
RESERVED = ("seed",)

_WHOLE = ("machine", "kernel", "workload", "duration")
_MACHINE = tuple(f.name for f in dataclasses.fields(Machine) if f.name not in ("name", "description", "source"))
_WORKLOAD = tuple(f.name for f in dataclasses.fields(Workload) if f.name != "name")
_GROUP = tuple(f.name for f in dataclasses.fields(Group) if f.name != "path")
_COSTS = tuple(f"costs.{f.name}" for f in dataclasses.fields(Costs))


@dataclasses.dataclass(frozen=True)
class Point:
    """One point: the values of its parameters, what the table shows for them, and the scenario that they make."""

    values: dict
    labels: dict
    scenario: object

    def __str__(self):
        return " ".join(f"{name}={value}" for name, value in self.labels.items())

    def make(self) -> tuple:
        """Return (machine, kernel, workload, duration).

        Raises
        ------
        ValueError
            Where a parameter or its value cannot be, naming the point.
        """
        try:
            if callable(self.scenario):
                return _nouns(self.scenario(**self.values))
            return changed(self.scenario, self.values)
        except ValueError as error:
            if not self.values:
                raise
            raise ValueError(f"{self}: {error}") from error


def expand(scenario, grid) -> list[Point]:
    """Return the points of a scenario (or several) and a grid, in the order of the table's rows.

    Raises
    ------
    ValueError
        When the grid is no grid, a name is none that the scenario takes, or two points would look alike.
    """
    cases, combinations = _cases(scenario), _combinations(grid)
    points = []
    for name, case in cases:
        if callable(case):
            _check_names(case, combinations)
        for values in combinations:
            labels = ({} if name is None else {"scenario": name}) | {k: _label(k, v) for k, v in values.items()}
            points.append(Point(values, labels, case))
    seen = set()
    for point in points:
        shown = tuple(point.labels.values())
        if shown in seen:
            raise wrong("grid", str(point), "occurs twice; points are told apart by what the table shows")
        seen.add(shown)
    return points


def _cases(scenario) -> list[tuple]:
    if isinstance(scenario, Mapping):
        named = list(scenario.items())
    elif isinstance(scenario, list):
        named = list(enumerate(scenario))
    else:
        named = [(None, scenario)]
    if not named:
        raise wrong("scenario", scenario, "none given")
    return [(name, case if callable(case) else _nouns(case)) for name, case in named]


def _nouns(found) -> tuple:
    kinds = (Machine, Kernel, Workload, int | str | np.integer)
    if not isinstance(found, tuple | list) or len(found) != 4 or not all(map(isinstance, found, kinds)):
        raise wrong("scenario", found, "(machine, kernel, workload, duration), or a function that returns them")
    return tuple(found)


def _combinations(grid) -> list[dict]:
    if grid is None:
        return [{}]
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise wrong(f"grid[{name!r}]", values, "a list of values")
        rows = [dict(zip(grid, row)) for row in itertools.product(*map(list, grid.values()))]
    else:
        rows = list(grid) if isinstance(grid, Iterable) and not isinstance(grid, str) else [grid]
        for number, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise wrong(f"grid[{number}]", row, "a dict of name and value; or make the grid a dict of lists")
            if row.keys() != rows[0].keys():
                odd = sorted(map(str, row.keys() ^ rows[0].keys()))[0]
                raise wrong(f"grid[{number}]", odd, "each point gives the same parameters; this one is not in all")
    if not rows:
        raise wrong("grid", grid, "no point in it")
    for name in rows[0]:
        if not isinstance(name, str) or name in RESERVED or name == "scenario":
            raise wrong("grid", name, "a parameter's name other than seed and scenario, which are columns already")
    return [dict(row) for row in rows]


def _check_names(function: Callable, combinations: list[dict]):
    taken = inspect.signature(function).parameters.values()
    names = [p.name for p in taken if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    any_name = any(p.kind is p.VAR_KEYWORD for p in taken)
    what = getattr(function, "__name__", "scenario")
    for name in combinations[0]:
        if name not in names and not any_name:
            known = nearest(name, names) or f"; it takes {', '.join(names) or 'none'}"
            raise wrong("grid", name, f"{what}() has no parameter of that name{known}")
    for parameter in taken:
        if parameter.name in names and parameter.default is parameter.empty and parameter.name not in combinations[0]:
            raise wrong("grid", sorted(combinations[0]), f"{what}() needs {parameter.name} too")


def _label(name: str, value):
    """Return what a table shows for a value: numbers and text as they are, nouns by their names."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Kernel):
        own = Kernel.version(value.asked).patches
        marks = [f"+{patch}" for patch in sorted(value.patches - own)]
        return value.asked + "".join(marks + [f"-{patch}" for patch in sorted(own - value.patches)])
    if isinstance(value, Machine | Workload):
        return value.name
    if isinstance(value, set | frozenset):
        return "+".join(sorted(str(_label(name, item)) for item in value))
    if isinstance(value, tuple | list):
        return "+".join(str(_label(name, item)) for item in value)
    if dataclasses.is_dataclass(value):
        return repr(value)
    raise wrong(name, value, "a number, a text or one of schedlab's nouns")


# ---- fields of the nouns ---------------------------------------------------------------------------------------------


def changed(scenario: tuple, values: Mapping) -> tuple:
    """Return a scenario with other values of some fields.

    Parameters
    ----------
    scenario : tuple
        (machine, kernel, workload, duration).
    values : mapping
        By name: ``machine`` (or its name), ``kernel`` (or its version), ``workload`` and ``duration`` as a whole; a
        field of Machine or Workload; a tunable of Kernel or ``costs.<field>``; ``patches``, which come on top of those
        that the kernel has (several names as a tuple, or as text with ``+``); ``/path.<field>`` of a group, or
        ``<field>`` alone where there is one group.

    Raises
    ------
    ValueError
        For a name that is none of these, with the nearest, or a value that cannot be.

    Examples
    --------
    >>> base = Machine.uniform(1), Kernel.version("6.12"), Workload(groups=(Group("/a"),)), "1s"
    >>> _, kernel, work, _ = changed(base, {"hz": 1000, "/a.quota_us": 5000})
    >>> kernel.hz, work.groups[0].quota_us
    (1000, 5000)
    """
    machine, kernel, workload, duration = (values.get(name, noun) for name, noun in zip(_WHOLE, scenario))
    machine = Machine.load(machine) if isinstance(machine, str) else machine
    kernel = Kernel.version(kernel) if isinstance(kernel, str) else kernel
    _nouns((machine, kernel, workload, duration))
    rest = {name: value for name, value in values.items() if name not in _WHOLE}
    patches = rest.pop("patches", ())
    patches = [name for name in patches.split("+") if name] if isinstance(patches, str) else patches
    tunables, costs, of_machine, of_workload, of_groups = {}, {}, {}, {}, {}
    for name, value in rest.items():
        if name in TUNABLES:
            tunables[name] = value
        elif name in _COSTS:
            costs[name.partition(".")[2]] = value
        elif name in _MACHINE:
            of_machine[name] = value
        elif name in _WORKLOAD:
            of_workload[name] = value
        else:
            path, field = _group_field(name, value, workload)
            of_groups.setdefault(path, {})[field] = value
    if costs:
        tunables["costs"] = dataclasses.replace(tunables.get("costs", kernel.costs), **costs)
    kernel = kernel.with_(**tunables) if tunables else kernel
    kernel = kernel.with_patch(*patches) if patches else kernel
    machine = machine.replace(**of_machine) if of_machine else machine
    workload = workload.replace(**of_workload) if of_workload else workload
    return machine, kernel, _with_groups(workload, of_groups), duration


def _group_field(name: str, value, workload: Workload) -> tuple[str, str]:
    path, dot, field = name.rpartition(".")
    paths = list(workload.group_of)
    if dot and path in paths and field in _GROUP:
        return path, field
    if name in _GROUP:
        if len(paths) == 1:
            return paths[0], name
        ways = ", ".join(f"{p}.{name}" for p in paths[:3]) or "none"
        raise wrong("grid", name, f"of which group? the workload has {len(paths)}: {ways}{', ...' * (len(paths) > 3)}")
    known = [*_WHOLE, *TUNABLES, "patches", *_COSTS, *_MACHINE, *_WORKLOAD, *_GROUP]
    known += [f"{p}.{field}" for p in paths for field in _GROUP]
    raise wrong("grid", name, f"no field of Machine, Kernel, Workload or a group{nearest(name, known)}")


def _with_groups(workload: Workload, fields: dict) -> Workload:
    if not fields:
        return workload
    groups = (dataclasses.replace(group, **fields.get(group.path, {})) for group in workload.groups)
    return workload.replace(groups=tuple(groups))
