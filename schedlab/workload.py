"""Workload: cgroups and the tasks in them, each a small program of steps, and what is done to them on the way."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property

from . import _check
from .cgroup import DEFAULT_PERIOD_US, MAX_PERIOD_US, check_limit, check_path, v1_ratio
from .channels import Channel, check_use
from .events import EVENTS, HoldCpu, SetAffinity, SetCookie, SetCpuMax, SetCpuOnline, SetGroup, moment
from .steps import Affinity, Barrier, Step, Wait, Wake, as_program, walk

MAX_COOKIE = 1 << 31


@dataclass(frozen=True)
class Group:
    """A cgroup with the files of its cpu controller.

    Parameters
    ----------
    path : str
        Such as "/a" or "/a/b". The root "/" is always there and has no limit.
    weight : int
        cpu.weight, 1 to 10000.
    quota_us, period_us : int or None, int
        cpu.max: quota of CPU time in each period; None for no limit. Quota at least 1 ms, period 1 ms to 1 s.
    burst_us : int
        cpu.max.burst: how much unused quota may be carried over, at most the quota.
    phase_us : float or None
        Phase of its period timer, less than 1 s, in place of the kernel's rule.
    cookie : int
        Cookie of core scheduling that the tasks of the group, and of groups in it without one, start with; 0 for none.

    Examples
    --------
    >>> Group("/web", quota_us=200_000).period_us
    100000
    """

    path: str
    weight: int = 100
    quota_us: int | None = None
    period_us: int = DEFAULT_PERIOD_US
    burst_us: int = 0
    phase_us: float | None = None
    cookie: int = 0

    def __post_init__(self):
        check_path(self.path)
        _set(self, "weight", _check.whole("weight", self.weight, 1, 10_000))
        quota_us, period_us, burst_us = check_limit(self.quota_us, self.period_us, self.burst_us)
        _set(self, "quota_us", quota_us)
        _set(self, "period_us", period_us)
        _set(self, "burst_us", burst_us)
        if self.phase_us is not None:
            _set(self, "phase_us", _check.real("phase_us", self.phase_us, 0, MAX_PERIOD_US, "1 s"))
        _set(self, "cookie", _check.whole("cookie", self.cookie, 0, MAX_COOKIE))

    @property
    def parent(self) -> str:
        """Path of the group that it lies in."""
        return self.path.rpartition("/")[0] or "/"


@dataclass(frozen=True)
class Task:
    """A task: where it belongs and what it does.

    Parameters
    ----------
    name : str
    program : Step or tuple of Step
        Done once from start to end; then the task exits.
    group : str
        Path of its group.
    nice : int
        -20 to 19.
    cpus : tuple of int or None
        Allowed CPUs; None for all.
    start_ns : int or str
        When it is forked: ns, or text such as "5ms".
    slice_us : int or None
        A slice of its own (6.12), 100 to 100000 us.
    label : str
        Histogram that its latencies go to; its name if not given.
    kernel_thread : bool
        It never returns to user space: a per-task throttle (6.18) never stops it. It has no cookie.
    cookie : int or None
        Cookie of core scheduling: siblings of a core run only tasks of one cookie at a time. 0 is the cookie of those
        that have none; None takes the group's.

    Examples
    --------
    >>> from schedlab.steps import run
    >>> Task("hog", run("1s"), cpus=0).cpus
    (0,)
    """

    name: str
    program: tuple[Step, ...]
    group: str = "/"
    nice: int = 0
    cpus: tuple[int, ...] | None = None
    start_ns: int = 0
    slice_us: int | None = None
    label: str = ""
    kernel_thread: bool = False
    cookie: int | None = None

    def __post_init__(self):
        _check.text("name", self.name)
        _set(self, "program", as_program("program", self.program))
        if self.group != "/":
            check_path(self.group, "group")
        _set(self, "nice", _check.whole("nice", self.nice, -20, 19))
        if self.cpus is not None:
            _set(self, "cpus", _check.cpu_numbers("cpus", self.cpus))
        _set(self, "start_ns", moment("start_ns", self.start_ns))
        if self.slice_us is not None:
            slice_us = _check.whole("slice_us", self.slice_us, 100, 100_000, "0.1 to 100 ms")
            _set(self, "slice_us", slice_us)
        if not isinstance(self.label, str):
            raise _check.wrong("label", self.label, "a text")
        if not isinstance(self.kernel_thread, bool):
            raise _check.wrong("kernel_thread", self.kernel_thread, "True or False")
        if self.cookie is not None:
            _set(self, "cookie", _check.whole("cookie", self.cookie, 0, MAX_COOKIE))
            if self.kernel_thread and self.cookie:
                raise _check.wrong("cookie", self.cookie, f"task {self.name}: a kernel thread has no cookie")
        _set(self, "label", self.label or self.name)


@dataclass(frozen=True)
class Workload:
    """Groups, tasks and events. Two workloads add up with ``+``.

    Parameters
    ----------
    groups : tuple of Group
        In order of creation; a parent is one of them too, wherever it stands.
    tasks : tuple of Task
    events : tuple of SetCpuMax, SetAffinity, SetGroup, SetCpuOnline, HoldCpu and SetCookie
        Those of one time happen in the order given.
    name : str
    channels : tuple of Channel
        Pipes and socket pairs that the tasks write to and read from.

    Raises
    ------
    ValueError
        When a name occurs twice or something refers to what is not there, naming the nearest.

    Examples
    --------
    >>> from schedlab.steps import run
    >>> one = Workload(groups=(Group("/a"),), tasks=(Task("hog", run("1s"), group="/a"),))
    >>> one.group_paths
    ('/', '/a')
    """

    groups: tuple[Group, ...] = ()
    tasks: tuple[Task, ...] = ()
    events: tuple[SetCpuMax | SetAffinity | SetGroup | SetCpuOnline | HoldCpu | SetCookie, ...] = ()
    name: str = ""
    channels: tuple[Channel, ...] = ()

    def __post_init__(self):
        kinds_of = {"groups": Group, "tasks": Task, "events": EVENTS, "channels": Channel}
        for field, kinds in kinds_of.items():
            items = getattr(self, field)
            items = (items,) if isinstance(items, kinds) else tuple(items)
            for item in items:
                if not isinstance(item, kinds):
                    raise _check.wrong(field, item, f"not one of {field}")
            _set(self, field, items)
        _unique("groups", [group.path for group in self.groups])
        _unique("tasks", [task.name for task in self.tasks])
        _unique("channels", [channel.name for channel in self.channels])
        self._check_references()
        self._check_names_in_programs()
        check_use(self.channels, self._steps())
        for _ in self._limits():
            pass

    # ---- derived -------------------------------------------------------------------------------------------------

    @cached_property
    def group_paths(self) -> tuple[str, ...]:
        """Paths by group number: 0 is the root, parents come before children, siblings in the order given."""
        children: dict[str, list[str]] = {}
        for group in self.groups:
            children.setdefault(group.parent, []).append(group.path)
        order, stack = [], ["/"]
        while stack:
            order.append(stack.pop())
            stack.extend(reversed(children.get(order[-1], [])))
        return tuple(order)

    @cached_property
    def group_of(self) -> dict[str, Group]:
        """Groups by path (the root is not among them)."""
        return {group.path: group for group in self.groups}

    @cached_property
    def cpu_max_events(self) -> tuple[SetCpuMax, ...]:
        """Writes of cpu.max, in order of time (those of one time in the order given)."""
        writes = [event for event in self.events if isinstance(event, SetCpuMax)]
        return tuple(sorted(writes, key=lambda event: event.at_ns))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Labels of the tasks' histograms, each once, in the order of the tasks."""
        return tuple(dict.fromkeys(task.label for task in self.tasks))

    @cached_property
    def wait_names(self) -> tuple[str, ...]:
        """Names that programs wait on or wake, in the order of tasks and steps."""
        return tuple(dict.fromkeys(step.name for _, step in self._steps() if isinstance(step, (Wait, Wake))))

    @cached_property
    def barrier_names(self) -> tuple[str, ...]:
        """Names of barriers, in the order of tasks and steps."""
        return tuple(dict.fromkeys(step.name for _, step in self._steps() if isinstance(step, Barrier)))

    @cached_property
    def _affinities(self) -> list[tuple[str, tuple[int, ...]]]:
        """CPUs that programs name, and whose."""
        return [(f"task {task.name}", step.cpus) for task, step in self._steps() if isinstance(step, Affinity)]

    def cookie_of(self, task: Task) -> int:
        """Return the cookie that a task starts with: its own, else the nearest group's, else 0."""
        if task.kernel_thread:
            return 0
        if task.cookie is not None:
            return task.cookie
        path = task.group
        while path != "/":
            group = self.group_of[path]
            if group.cookie:
                return group.cookie
            path = group.parent
        return 0

    @cached_property
    def core_scheduling(self) -> bool:
        """Whether a task has a cookie, at the start or later: then core scheduling is on, throughout."""
        given = any(isinstance(event, SetCookie) and event.cookie for event in self.events)
        return given or any(self.cookie_of(task) for task in self.tasks)

    def hierarchical_ratio(self, path: str) -> int | None:
        """Return the share of CPU that a group may use at the start, in units of 2**-20; None when nothing limits it.

        As in cgroup v2 the smallest ratio on the way to the root rules.

        Examples
        --------
        >>> nest = Workload(groups=(Group("/a", quota_us=50_000), Group("/a/b", quota_us=80_000)))
        >>> nest.hierarchical_ratio("/a/b")
        524288
        """
        if path != "/":
            _check.choice("path", path, self.group_of)
        ratios = []
        while path != "/":
            group = self.group_of[path]
            ratios.append(v1_ratio(group.quota_us, group.period_us))
            path = group.parent
        return min((ratio for ratio in ratios if ratio is not None), default=None)

    # ---- combine -------------------------------------------------------------------------------------------------

    def replace(self, **fields) -> "Workload":
        """Return a copy with other values of some fields, validated anew.

        Examples
        --------
        >>> Workload(groups=(Group("/a"),)).replace(name="one group").name
        'one group'
        """
        for field in fields:
            _check.choice("field", field, [f.name for f in dataclasses.fields(self)])
        return dataclasses.replace(self, **fields)

    def with_limits(self, *groups: Group) -> "Workload":
        """Return a copy in which some groups have other limits; the programs are not looked at anew.

        Parameters
        ----------
        *groups : Group
            Of paths that the workload has.

        Examples
        --------
        >>> Workload(groups=(Group("/a"),)).with_limits(Group("/a", quota_us=50_000)).groups[0].quota_us
        50000
        """
        new = {group.path: group for group in groups}
        for path in new:
            _check.choice("path", path, self.group_of)
        # what the programs say is found once and shared
        self.__dict__.setdefault("_compiled", {})
        _ = self.wait_names, self.barrier_names, self.labels, self.group_paths, self._affinities
        copy = object.__new__(Workload)
        derived = {"group_of", "core_scheduling"}
        copy.__dict__.update({name: value for name, value in self.__dict__.items() if name not in derived})
        copy.__dict__["groups"] = tuple(new.get(group.path, group) for group in self.groups)
        for _ in copy._limits():
            pass
        return copy

    def __add__(self, other: "Workload") -> "Workload":
        """Return both together. A group of both is one; where they differ, one with defaults alone gives way."""
        if not isinstance(other, Workload):
            return NotImplemented
        merged = dict(self.group_of)
        for group in other.groups:
            mine = merged.get(group.path, group)
            if mine != group and Group(group.path) not in (mine, group):
                raise _check.wrong("groups", group, f"differs from {mine} in the other workload")
            merged[group.path] = group if mine == Group(group.path) else mine
        name = " + ".join(filter(None, (self.name, other.name)))
        tasks, events = self.tasks + other.tasks, self.events + other.events
        return Workload(tuple(merged.values()), tasks, events, name, self.channels + other.channels)

    # ---- checks --------------------------------------------------------------------------------------------------

    def check(self, kernel) -> None:
        """Raise ValueError where the kernel would not take the workload.

        Under ``cgroup="v1"`` a child's ratio must not be above its parent's: the kernel compares
        ``(quota_us << 20) // period_us``, at the start and again at each write of cpu.max. (A run whose periods are
        scaled up can refuse a later write that this accepts.) Slices of a task's own need 6.12.
        """
        if kernel.policy == "cfs" and any(isinstance(event, SetGroup) for event in self.events):
            raise _check.wrong("events", "SetGroup", f"kernel {kernel.asked}: modelled for EEVDF alone (6.6 and later)")
        if self.core_scheduling and not kernel.core_scheduling:
            raise _check.wrong("cookie", "given", f"kernel {kernel.asked}: core scheduling needs 6.12 or later")
        for task in self.tasks:
            if task.slice_us is not None and not kernel.custom_slice:
                rule = f"task {task.name}: kernel {kernel.asked} has no slices of a task's own (6.12 has)"
                raise _check.wrong("slice_us", task.slice_us, rule)
        if kernel.cgroup == "v1":
            for at_ns, limits in self._limits():
                self._check_v1(at_ns, limits)

    def check_machine(self, machine) -> None:
        """Raise ValueError where the workload names a CPU that the machine does not have."""
        named = [(f"task {task.name}", task.cpus) for task in self.tasks if task.cpus is not None]
        named += self._affinities
        named += [(f"event on {e.task}", e.cpus) for e in self.events if isinstance(e, SetAffinity)]
        for what, cpus in named:
            if cpus[-1] >= machine.nr_cpus:
                last = machine.nr_cpus - 1
                raise _check.wrong("cpus", cpus, f"{what}: {machine.name} has the CPUs 0 to {last}")
        self._check_hotplug(machine)

    def _check_hotplug(self, machine):
        """Every change is one, of a CPU that is there, and one CPU stays."""
        online = set(range(machine.nr_cpus))
        for event in self.events:
            if isinstance(event, HoldCpu) and event.cpu >= machine.nr_cpus:
                raise _check.wrong("cpu", event.cpu, f"{machine.name} has the CPUs 0 to {machine.nr_cpus - 1}")
        changes = [event for event in self.events if isinstance(event, SetCpuOnline)]
        for event in sorted(changes, key=lambda event: event.at_ns):
            if event.cpu >= machine.nr_cpus:
                raise _check.wrong("cpu", event.cpu, f"{machine.name} has the CPUs 0 to {machine.nr_cpus - 1}")
            if (event.cpu in online) == event.online:
                state = "online" if event.online else "offline"
                raise _check.wrong("cpu", event.cpu, f"it is {state} already at {event.at_ns} ns")
            if online == {event.cpu}:
                raise _check.wrong("cpu", event.cpu, f"the last CPU stays online (at {event.at_ns} ns)")
            online ^= {event.cpu}

    def _steps(self):
        return ((task, step) for task in self.tasks for step in walk(task.program))

    def _check_references(self):
        paths = [group.path for group in self.groups]
        for group in self.groups:
            _known("path", group.path, "its parent", group.parent, paths)
        for task in self.tasks:
            _known("group", task.group, f"task {task.name}: the group", task.group, paths)
        for event in self.events:
            if isinstance(event, SetCpuMax | SetGroup):
                _known("group", event.group, "event: the group", event.group, paths)
            names = [task.name for task in self.tasks]
            if isinstance(event, SetAffinity | SetGroup | SetCookie) and event.task not in names:
                rule = f"event: no task of that name{_check.nearest(event.task, names)}"
                raise _check.wrong("task", event.task, rule)

    def _check_names_in_programs(self):
        """A misspelt name would leave a task blocked for ever without a word."""
        woken = {step.name for _, step in self._steps() if isinstance(step, Wake)}
        orders, sizes, users = {}, {}, {}
        for task, step in self._steps():
            if isinstance(step, Wait):
                if step.name not in woken:
                    hint = _check.nearest(step.name, woken)
                    raise _check.wrong("wait", step.name, f"task {task.name}: nothing wakes that name{hint}")
                if orders.setdefault(step.name, step.order) != step.order:
                    raise _check.wrong("order", step.order, f"wait {step.name!r} is {orders[step.name]} elsewhere")
            if isinstance(step, Barrier):
                users.setdefault(step.name, set()).add(task.name)
                if sizes.setdefault(step.name, step.n) != step.n:
                    raise _check.wrong("n", step.n, f"barrier {step.name!r} has n={sizes[step.name]} elsewhere")
        for name, n in sizes.items():
            if n > len(users[name]):
                raise _check.wrong("n", n, f"barrier {name!r} never opens: only {len(users[name])} tasks come to it")

    def _limits(self):
        """Yield (time, limits by path) at the start and after each write, every write checked as the kernel does."""
        limits = {group.path: (group.quota_us, group.period_us, group.burst_us) for group in self.groups}
        yield 0, limits
        for event in self.cpu_max_events:
            _, period_us, burst_us = limits[event.group]
            period_us = period_us if event.period_us is None else event.period_us
            burst_us = burst_us if event.burst_us is None else event.burst_us
            try:
                limits = limits | {event.group: check_limit(event.quota_us, period_us, burst_us)}
            except ValueError as error:
                raise ValueError(f"{error} (write of {event.group} at {event.at_ns} ns)") from None
            yield event.at_ns, limits

    def _check_v1(self, at_ns: int, limits: dict):
        ratios: dict[str, int | None] = {"/": None}
        for path in self.group_paths[1:]:
            quota_us, period_us, _ = limits[path]
            parent = ratios[self.group_of[path].parent]
            own = v1_ratio(quota_us, period_us)
            if own is not None and parent is not None and own > parent:
                sum_ = f"({quota_us} << 20) // {period_us} = {own}"
                rule = f"group {path} at {at_ns} ns: {sum_} is above its parent's {parent}, which cgroup v1 refuses"
                raise _check.wrong("quota_us", quota_us, f"{rule}; lower it or use cgroup='v2'")
            ratios[path] = parent if own is None else own


def _set(item, field: str, value):
    object.__setattr__(item, field, value)


def _unique(field: str, names: list[str]):
    seen = set()
    for name in names:
        if name in seen:
            raise _check.wrong(field, name, "occurs twice; each name once")
        seen.add(name)


def _known(field: str, value: str, what: str, path: str, paths: list[str]):
    if path != "/" and path not in paths:
        # a group whose parent is missing is itself the nearest name
        hint = _check.nearest(path, [p for p in paths if p != value]) or f"; add Group({path!r})"
        raise _check.wrong(field, value, f"{what} {path!r} is not among the groups{hint}")
