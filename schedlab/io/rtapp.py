"""rt-app: a JSON description of tasks as a Workload. What is not modelled is an error with file, line and path."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import _check
from ..cgroup import check_path
from ..units import NS_PER_S, NS_PER_US
from ..workload import Group, Task, Workload
from .json_places import Node, parse
from .rtapp_events import EVENTS, Programs
from .source import BadFile, read_text

_IGNORED = (
    "calibration", "logdir", "log_basename", "log_size", "ftrace", "gnuplot", "lock_pages", "cumulative_slack",
    "io_device", "mem_buffer_size",
)  # fmt: skip
_SHARED = ("loop", "cpus", "nodes_membership", "priority", "policy", "taskgroup")
_TASK = ("instance", "delay", "phases", *_SHARED)


@dataclass(frozen=True)
class RtApp:
    """What an rt-app file describes.

    Attributes
    ----------
    workload : Workload
    duration_ns : int or None
        How long the whole lasts; None: until the tasks end by themselves.
    notes : tuple of str
        What was ignored or is modelled otherwise.
    """

    workload: Workload
    duration_ns: int | None
    notes: tuple[str, ...]


def read(path, machine=None) -> RtApp:
    """Return what an rt-app file describes.

    Parameters
    ----------
    path : str or Path
        JSON as rt-app takes it: comments and commas before a closing bracket are fine.
    machine : Machine, optional
        For nodes_membership, which names nodes.

    Raises
    ------
    ValueError
        One line ``<file>:<line>: <path of the key>: <reason>``.

    Examples
    --------
    >>> read("taskset.json").workload  # doctest: +SKIP
    """
    return parse_text(read_text(path), path, machine)


def parse_text(text: str, path="rt-app", machine=None) -> RtApp:
    """Return what the text of an rt-app file describes; `path` names it in errors."""
    return _File(parse(text, path), path, machine).result()


class _File:
    def __init__(self, tree: Node, path, machine):
        self.tree, self.path, self.machine = tree, path, machine
        self.notes: list[str] = []
        self.groups: dict[str, Group] = {}

    def wrong(self, node: Node, key: str, reason: str) -> BadFile:
        return BadFile(self.path, f"{node.at(key)}: {reason}", node.lines.get(key, node.line))

    def result(self) -> RtApp:
        for key in self.tree:
            if key not in ("tasks", "global", "resources"):
                raise self.unknown(self.tree, key, ("tasks", "global", "resources"))
        tasks = self.object(self.tree, "tasks")
        if not tasks:
            raise self.wrong(self.tree, "tasks", "at least one task is needed")
        duration_ns = self.globals()
        if "resources" in self.tree:
            self.notes.append("resources: ignored, since events name what they use")
        bodies = {name: self.object(tasks, name) for name in tasks}
        programs = Programs(self, bodies)
        made = [task for name, body in bodies.items() for task in self.tasks(name, body, programs)]
        made += programs.helpers()
        try:
            workload = Workload(tuple(self.groups.values()), tuple(made), name=_stem(self.path))
        except ValueError as error:
            raise BadFile(self.path, f"tasks: {error}", tasks.line) from None
        return RtApp(workload, duration_ns, tuple(dict.fromkeys(self.notes + programs.notes)))

    def globals(self) -> int | None:
        if "global" not in self.tree:
            return None
        node = self.object(self.tree, "global")
        for key in node:
            if key in _IGNORED:
                self.notes.append(f"global.{key}: ignored, it changes nothing in a model")
            elif key == "pi_enabled" and node[key]:
                raise self.wrong(node, key, "priority inheritance is not modelled")
            elif key == "default_policy" and node[key] != "SCHED_OTHER":
                raise self.wrong(node, key, "SCHED_OTHER alone is modelled")
            elif key not in ("duration", "pi_enabled", "default_policy"):
                raise self.unknown(node, key, (*_IGNORED, "duration", "pi_enabled", "default_policy"))
        seconds = self.whole(node, "duration", -1, -1, 10**6)
        return None if seconds <= 0 else seconds * NS_PER_S

    def tasks(self, name: str, body: Node, programs: Programs):
        """Yield the tasks of one entry: one an instance."""
        if not name:
            raise BadFile(self.path, f"{body.path}: a name is needed", body.line)
        shared = self.properties(body)
        delay = self.whole(body, "delay", 0, 0, 10**10)
        nr = programs.instances(name)
        for k in range(nr):
            program = programs.program(name, k)
            label = name if nr == 1 else f"{name}-{k}"
            fields = dict(group=shared["group"], nice=shared["nice"], cpus=shared["cpus"], label=name)
            try:
                yield Task(label, program, start_ns=delay * NS_PER_US, **fields)
            except ValueError as error:
                raise BadFile(self.path, f"{body.path}: {error}", body.line) from None

    def properties(self, node: Node) -> dict:
        """Check and return nice, cpus and group of a task."""
        if node.get("policy", "SCHED_OTHER") != "SCHED_OTHER":
            raise self.wrong(node, "policy", "SCHED_OTHER alone is modelled")
        group = node.get("taskgroup", "")
        if group:
            self.add_group(node, group)
        return {
            "nice": self.whole(node, "priority", 0, -20, 19),
            "cpus": self.cpus(node),
            "group": group.rstrip("/") or "/",
        }

    def add_group(self, node, path):
        try:
            check_path(path.rstrip("/") if isinstance(path, str) else path, "taskgroup")
        except ValueError as error:
            raise self.wrong(node, "taskgroup", str(error)) from None
        made = ""
        for part in path.strip("/").split("/"):
            made += f"/{part}"
            self.groups.setdefault(made, Group(made))

    def cpus(self, node: Node) -> tuple[int, ...] | None:
        if "nodes_membership" in node:
            if self.machine is None:
                raise self.wrong(node, "nodes_membership", "the nodes are the machine's: read(..., machine=...)")
            if "cpus" in node:
                raise self.wrong(node, "nodes_membership", "it and cpus at once are not modelled")
            nodes = self.machine.nodes or (tuple(range(self.machine.nr_cpus)),)
            named = self.numbers(node, "nodes_membership", len(nodes) - 1)
            return tuple(sorted({cpu for k in named for cpu in nodes[k]}))
        if "cpus" not in node:
            return None
        last = self.machine.nr_cpus - 1 if self.machine is not None else 8191
        return self.numbers(node, "cpus", last)

    def numbers(self, node, key, last) -> tuple[int, ...]:
        value = node[key]
        good = isinstance(value, list) and value and all(type(v) is int and 0 <= v <= last for v in value)
        if not good:
            raise self.wrong(node, key, f"a list of numbers from 0 to {last} is needed")
        return tuple(sorted(set(value)))

    def whole(self, node: Node, key: str, default: int, low: int, high: int) -> int:
        value = node.get(key, default)
        if isinstance(value, float) and math.isfinite(value) and value.is_integer():
            value = int(value)
        if type(value) is not int or not low <= value <= high:
            raise self.wrong(node, key, f"a whole number from {low} to {high} is needed")
        return value

    def object(self, node: Node, key: str) -> Node:
        if key not in node:
            raise BadFile(self.path, f"{node.at(key)}: it is missing", node.line)
        if not isinstance(node[key], Node):
            raise self.wrong(node, key, "an object { ... } is needed")
        return node[key]

    def text(self, node: Node, key: str, default: str | None = None) -> str:
        value = node.get(key, default)
        if not isinstance(value, str) or (default is None and not value):
            raise self.wrong(node, key, "a text is needed")
        return value

    def unknown(self, node: Node, key: str, known) -> BadFile:
        return self.wrong(node, key, f"not supported here{_check.nearest(key, [*known, *EVENTS])}")

    def check_keys(self, node: Node, known) -> None:
        """Raise for the first key that is neither known nor an event."""
        for key in node:
            if key not in known and not any(key.startswith(event) for event in EVENTS):
                raise self.unknown(node, key, known)


TASK_KEYS, PHASE_KEYS = _TASK, _SHARED


def _stem(path) -> str:
    return str(path).replace("\\", "/").rpartition("/")[2].partition(".")[0] or "rt-app"
