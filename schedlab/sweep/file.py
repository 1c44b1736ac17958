"""A sweep as a TOML file: machine, kernel, groups, workloads by name, and the grid."""

from __future__ import annotations

import dataclasses
import inspect
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from .._check import choice, nearest, wrong
from ..kernel import Costs, Kernel
from ..machine import Machine
from ..workload import Group, Workload
from .points import changed
from .summary import summary

_TOP = ("duration", "stop", "seeds", "machine", "kernel", "groups", "workload", "grid", "columns")


def _rtapp(*, file: Path) -> Workload:
    from ..io import rtapp

    return rtapp.read(file).workload


def _snapshot(*, folder: Path, demand: str, period: str = "100ms") -> Workload:
    from ..io import snapshot

    return snapshot.read(folder).workload(demand, period)


def _makers() -> dict:
    """Return what can stand after ``use =``."""
    from ..workloads import hackbench, hogs, hypervisor, schbench, stress_ng

    return {
        "hogs": hogs.hogs,
        "periodic": hogs.periodic,
        "schbench": schbench.schbench,
        "stress_ng": stress_ng.stress_ng,
        "hackbench": hackbench.hackbench,
        "nested_hackbench": hackbench.nested_hackbench,
        "hypervisor": hypervisor.hypervisor,
        "rtapp": _rtapp,
        "snapshot": _snapshot,
    }


def read(path) -> dict:
    """Return the arguments of `schedlab.sweep` that a file stands for.

    Raises
    ------
    ValueError
        In one line, for a file that cannot be read, a name that is not known (with the nearest) or a wrong value.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        found = tomllib.loads(text)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: not TOML: {error}".replace("\n", " ")) from None
    for name in found:
        choice(f"{path.name}: key", name, _TOP)
    for name in ("duration", "machine", "kernel", "workload"):
        if name not in found:
            raise ValueError(f"{path.name}: {name} is missing")
    if not isinstance(found["duration"], str | int) or isinstance(found["duration"], bool):
        raise wrong("duration", found["duration"], 'a text with a unit, such as "10s", or whole nanoseconds')
    columns = _table(found, "columns")
    for name in columns:
        choice("columns", name, ("groups", "labels"))
        if not isinstance(columns[name], list):
            raise wrong(f"columns.{name}", columns[name], "a list of names")
    reduce = partial(summary, **columns) if columns else None
    options = {"stop": found["stop"]} if "stop" in found else {}
    scenario = _Scenario(found, path.parent)
    grid = found.get("grid") or None
    return {"scenario": scenario, "grid": grid, "seeds": found.get("seeds", 1), "reduce": reduce, **options}


def _table(found: Mapping, name: str) -> dict:
    table = found.get(name, {})
    if not isinstance(table, dict):
        raise wrong(name, table, f"a table: [{name}]")
    return table


class _Scenario:
    """The function scenario(**point) of a file. A parameter ``NAME.ARGUMENT`` is one of a workload's arguments."""

    def __init__(self, found: dict, folder: Path):
        self._folder = folder
        self._machine, self._kernel = self._read_machine(found["machine"]), _read_kernel(found["kernel"])
        self._groups = tuple(_group(path, fields) for path, fields in _table(found, "groups").items())
        self._uses = _table(found, "workload")
        self._duration, self._columns = found["duration"], _table(found, "columns")
        makers = _makers()
        for name, arguments in self._uses.items():
            if not isinstance(arguments, dict) or "use" not in arguments:
                raise wrong(f"workload.{name}", arguments, 'a table with use = "schbench" or another workload')
            choice(f"workload.{name}.use", arguments["use"], makers)
        self._makers = makers

    def __call__(self, **point):
        of_uses, rest = {}, {}
        for name, value in point.items():
            use, dot, argument = name.partition(".")
            if dot and use in self._uses:
                of_uses.setdefault(use, {})[argument] = value
            elif dot and not name.startswith("/") and use != "costs":
                raise wrong("grid", name, f"no workload {use!r} in the file{nearest(use, self._uses)}")
            else:
                rest[name] = value
        workload = Workload(groups=self._groups)
        for name, arguments in self._uses.items():
            workload = workload + self._make(name, arguments | of_uses.get(name, {}))
        scenario = changed((self._machine, self._kernel, workload, self._duration), rest)
        for name, known in (("groups", scenario[2].group_paths), ("labels", scenario[2].labels)):
            for column in self._columns.get(name, ()):
                choice(f"columns.{name}", column, known)
        return scenario

    def _make(self, name: str, arguments: dict) -> Workload:
        arguments = dict(arguments)
        use = arguments.pop("use")
        choice(f"workload.{name}.use", use, self._makers)
        maker = self._makers[use]
        taken = inspect.signature(maker).parameters
        if not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            for argument in arguments:
                if argument not in taken:
                    rule = f"{use} has no argument of that name{nearest(argument, taken)}"
                    raise wrong(f"workload.{name}", argument, rule)
        for argument in ("file", "folder"):
            if argument in taken and argument in arguments:
                arguments[argument] = self._path(f"workload.{name}.{argument}", arguments[argument])
        self._check_group(f"workload.{name}.group", arguments.get("group"))
        try:
            return maker(**arguments)
        except TypeError as error:
            raise ValueError(f"workload.{name}: {error}") from None
        except OSError as error:
            raise ValueError(f"workload.{name}: {error.filename}: {error.strerror}") from None

    def _path(self, field: str, given) -> Path:
        if not isinstance(given, str):
            raise wrong(field, given, "a path, as a text")
        return self._folder / given

    def _check_group(self, field: str, path):
        """Refuse a path that [groups] does not have: misspelt, it would be a group without a limit."""
        known = [group.path for group in self._groups]
        if known and isinstance(path, str) and path not in ("/", *known):
            raise wrong(field, path, f'not among the groups; add [groups."{path}"]{nearest(path, known)}')

    def _read_machine(self, given) -> Machine:
        if isinstance(given, str):
            return Machine.load(given)
        if not isinstance(given, dict):
            raise wrong("machine", given, 'a name, such as "vm-32cpu", or a table')
        if set(given) == {"file"}:
            path = self._path("machine.file", given["file"])
            try:
                return Machine.from_toml(path.read_text(encoding="utf-8-sig"))
            except OSError as error:
                raise ValueError(f"machine.file: {path}: {error.strerror}") from None
            except UnicodeDecodeError as error:
                raise ValueError(f"machine.file: {path}: not TOML: {error}") from None
        taken = [n for n in inspect.signature(Machine.uniform).parameters if n != "fields"]
        taken += [f.name for f in dataclasses.fields(Machine) if f.name not in ("cores", "llcs", "nodes")]
        for name in given:
            choice("machine", name, ["file", *dict.fromkeys(taken)])
        try:
            return Machine.uniform(**given)
        except TypeError as error:
            raise ValueError(f"machine: {error}") from None


def _read_kernel(given) -> Kernel:
    if isinstance(given, str):
        return Kernel.version(given)
    if not isinstance(given, dict) or "version" not in given:
        raise wrong("kernel", given, 'a version, such as "6.12", or a table with version = "6.12"')
    tunables = {name: value for name, value in given.items() if name not in ("version", "patches")}
    if isinstance(tunables.get("costs"), dict):
        for name in tunables["costs"]:
            choice("kernel.costs", name, [f.name for f in dataclasses.fields(Costs)])
        tunables["costs"] = Costs(**tunables["costs"])
    kernel = Kernel.version(given["version"], **tunables)
    patches = given.get("patches", [])
    if not isinstance(patches, str | list):
        raise wrong("kernel.patches", patches, "a name or a list of names")
    return kernel.with_patch(*([patches] if isinstance(patches, str) else patches))


def _group(path: str, fields) -> Group:
    if not isinstance(fields, dict):
        raise wrong(f"groups.{path}", fields, "a table, such as { quota_us = 20000 }")
    known = [f.name for f in dataclasses.fields(Group) if f.name != "path"]
    for name in fields:
        choice(f"groups.{path}", name, known)
    return Group(path, **fields)
