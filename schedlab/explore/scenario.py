"""Scenario: what the controls of the page say, the nouns that follow from it, and the lines that make it again."""

import dataclasses
import re
from dataclasses import dataclass
from functools import cached_property

from .. import _check
from ..durations import exponential
from ..kernel import ROWS, Kernel
from ..machine import Machine
from ..patches import PATCHES
from ..patches_hotplug import ROWS as HOTPLUG
from ..simulate import simulate
from ..steps import repeat, run, sleep
from ..units import NS_PER_MS
from ..workload import Group, Task, Workload

#: Paths of the groups, in order; a scenario has the first two to four.
PATHS = ("/a", "/b", "/c", "/d")
MAX_THREADS = 64
MAX_LENGTH_MS = 5_000
#: Mean length of a burst of work of a thread that pauses, us: a few of the scheduler's slices. Assumed.
BURST_US = 4_000
_UNIFORM = re.compile(r"uniform-(\d{1,4})cpu(?:-smt(\d{1,2}))?")
# Patches that act only where the page has no control: hotplug and a write of cpu.max while the workload runs.
_IDLE = {row["name"] for row in HOTPLUG} | {"unthrottle-offline-only", "zero-runtime-at-write"}

#: Patches that the page offers.
OFFERED = tuple(name for name in PATCHES if name not in _IDLE)
KERNELS = tuple(ROWS)


@dataclass(frozen=True)
class GroupSettings:
    """A cgroup and its threads, as the controls give them.

    Parameters
    ----------
    quota_ms : float or None
        CPU time in each period, ms; None for no limit.
    period_ms : float
    burst_ms : float
        Unused quota that may be carried over, at most the quota.
    phase_ms : float or None
        Phase of the period timer; None for the kernel's rule.
    threads : int
        1 to 64.
    load : int
        Per cent of a CPU that each thread wants, 1 to 100. At 100 it never pauses; below, bursts of work of 4 ms on
        average take turns with pauses, both drawn from an exponential distribution.
    """

    quota_ms: float | None = 200
    period_ms: float = 100
    burst_ms: float = 0
    phase_ms: float | None = None
    threads: int = 4
    load: int = 100

    def __post_init__(self):
        for field in ("quota_ms", "phase_ms"):
            if getattr(self, field) is not None:
                _check.real(field, getattr(self, field), 0)
        for field in ("period_ms", "burst_ms"):
            _check.real(field, getattr(self, field), 0)
        object.__setattr__(self, "threads", _check.whole("threads", self.threads, 1, MAX_THREADS))
        object.__setattr__(self, "load", _check.whole("load", self.load, 1, 100, "per cent"))

    @property
    def pause_us(self) -> int:
        """Mean length of a pause, us."""
        return BURST_US * (100 - self.load) // self.load


_TWO = (GroupSettings(250, threads=5), GroupSettings(300, threads=5, load=70))


@dataclass(frozen=True)
class Scenario:
    """All that the page's controls say. Whether the kernel takes it shows when it is built.

    Parameters
    ----------
    machine : str
        A name from data/machines, or ``uniform-4cpu``, ``uniform-8cpu-smt2``.
    kernel : str
        As for `Kernel.version`.
    patches : tuple of str or None
        Which of OFFERED the kernel carries; None for those of its release.
    balance : {"simple", "kernel"}
        As for `Kernel`.
    cookies : bool
        Core scheduling: each group has a cookie of its own, so that siblings of a core run one group at a time.
    groups : tuple of GroupSettings
        Two to four.
    length_ms : int
        Simulated time, 1 to 5000 ms.
    seed : int
    """

    machine: str = "laptop-8cpu"
    kernel: str = "6.12"
    patches: tuple[str, ...] | None = None
    balance: str = "simple"
    cookies: bool = False
    groups: tuple[GroupSettings, ...] = _TWO
    length_ms: int = 500
    seed: int = 0

    def __post_init__(self):
        groups = tuple(self.groups)
        if not 2 <= len(groups) <= len(PATHS):
            raise _check.wrong("groups", len(groups), f"two to {len(PATHS)}")
        object.__setattr__(self, "groups", groups)
        _check.whole("length_ms", self.length_ms, 1, MAX_LENGTH_MS, "5 s")
        _check.whole("seed", self.seed, 0)
        if self.patches is not None:
            object.__setattr__(self, "patches", tuple(sorted(self.patches)))

    @classmethod
    def of(cls, *, nr_groups=2, **fields) -> "Scenario":
        """Return a scenario from lists with one item a group: quota_ms, period_ms, burst_ms, phase_ms, threads, load.

        A list that is too short is filled with its last item, an empty one leaves the defaults. A quota of 0 is no
        limit. Other fields are those of Scenario.

        Examples
        --------
        >>> [group.quota_ms for group in Scenario.of(nr_groups=3, quota_ms=[50, 0]).groups]
        [50, None, None]
        """
        nr_groups = _check.whole("nr_groups", nr_groups, 2, len(PATHS))
        groups = [*_TWO, *(GroupSettings() for _ in PATHS[2:])][:nr_groups]
        for field in [f.name for f in dataclasses.fields(GroupSettings)]:
            values = list(fields.pop(field, ()))
            for k in range(nr_groups if len(values) else 0):
                value = values[min(k, len(values) - 1)]
                value = None if field == "quota_ms" and value == 0 else value
                groups[k] = dataclasses.replace(groups[k], **{field: value})
        return cls(groups=tuple(groups), **fields)

    # ---- the nouns ---------------------------------------------------------------------------------------------------

    @cached_property
    def built(self) -> tuple[Machine, Kernel, Workload]:
        """Machine, Kernel and Workload.

        Raises
        ------
        ValueError
            In one line, where something cannot be or the kernel does not take it.
        """
        machine, kernel = self._machine(), self._kernel()
        groups, tasks = [], []
        for k, (path, settings) in enumerate(zip(PATHS, self.groups)):
            try:
                groups.append(Group(path, **self._files(k)))
            except ValueError as problem:
                raise ValueError(f"group {path}: {problem}") from None
            program = repeat(None, run("1s"))
            if settings.pause_us:
                bursts, pauses = exponential(f"{BURST_US}us"), exponential(f"{settings.pause_us}us")
                program = repeat(None, run(bursts), sleep(pauses))
            tasks += [Task(f"{path[1:]}{n}", program, group=path, label=path) for n in range(settings.threads)]
        workload = Workload(tuple(groups), tuple(tasks))
        workload.check(kernel)
        return machine, kernel, workload

    def run(self):
        """Simulate it and return the Run, with its log.

        Raises
        ------
        ValueError, RuntimeError
            In one line, where it cannot be built or cannot go on.
        """
        return simulate(*self.built, self.length_ms * NS_PER_MS, seed=self.seed, log=True)

    def _machine(self):
        match = _UNIFORM.fullmatch(self.machine)
        return Machine.uniform(int(match[1]), int(match[2] or 1)) if match else Machine.load(self.machine)

    def _kernel(self):
        kernel = Kernel.version(self.kernel, balance=self.balance)
        fewer, more = self._changes(kernel)
        kernel = kernel.without_patch(*fewer) if fewer else kernel
        return kernel.with_patch(*more) if more else kernel

    def _changes(self, kernel):
        """Return the release's patches that are taken away, and those that come on top."""
        if self.patches is None:
            return (), ()
        chosen = frozenset(self.patches)
        return tuple(sorted((kernel.patches & set(OFFERED)) - chosen)), tuple(sorted(chosen - kernel.patches))

    def _files(self, k):
        """Return what is written into the files of group k, without what is their default."""
        settings = self.groups[k]
        quota_us = None if settings.quota_ms is None else _us(settings.quota_ms)
        files = {"quota_us": quota_us, "period_us": _us(settings.period_ms), "burst_us": _us(settings.burst_ms)}
        if settings.phase_ms is not None:
            files["phase_us"] = _us(settings.phase_ms)
        if self.cookies:
            files["cookie"] = k + 1
        return {name: value for name, value in files.items() if value not in (None, 0) or name == "phase_us"}

    # ---- the lines ---------------------------------------------------------------------------------------------------

    def code(self) -> str:
        """Return the Python lines that make the same run, to the byte, without this page."""
        match = _UNIFORM.fullmatch(self.machine)
        machine = f'load("{self.machine}")'
        if match:
            machine = f"uniform({', '.join(filter(None, match.groups()))})"
        groups = [f"    sl.Group({_arguments(path, self._files(k))}),\n" for k, path in self._each()]
        tasks = [self._tasks(k, path) for k, path in self._each()]
        return (
            "import schedlab as sl\n\n"
            f"machine = sl.Machine.{machine}\n"
            f"kernel = {self._kernel_code()}\n"
            f"groups = (\n{''.join(groups)})\n"
            f"{''.join(self._programs())}"
            f"tasks = (\n{''.join(tasks)})\n"
            "workload = sl.Workload(groups, tasks)\n"
            f'run = sl.simulate(machine, kernel, workload, "{self.length_ms}ms", seed={self.seed}, log=True)\n'
        )

    def _each(self):
        return enumerate(PATHS[: len(self.groups)])

    def _kernel_code(self):
        balance = "" if self.balance == "simple" else f', balance="{self.balance}"'
        code = f'sl.Kernel.version("{self.kernel}"{balance})'
        fewer, more = self._changes(Kernel.version(self.kernel))
        for method, names in (("without_patch", fewer), ("with_patch", more)):
            if names:
                code += f".{method}({_listed(names)})"
        return code

    def _programs(self):
        """Return the line of each group's program."""
        for k, path in self._each():
            pause_us, steps = self.groups[k].pause_us, 'sl.run("1s")'
            if pause_us:
                steps = f'sl.run(sl.exponential("{BURST_US}us")), sl.sleep(sl.exponential("{pause_us}us"))'
            yield f"work_{path[1:]} = sl.repeat(None, {steps})\n"

    def _tasks(self, k, path):
        name, threads = path[1:], self.groups[k].threads
        task = f'sl.Task(f"{name}{{k}}", work_{name}, group="{path}", label="{path}")'
        return f"    *({task} for k in range({threads})),\n"


def _us(value_ms: float) -> int:
    return round(value_ms * 1000)


def _quoted(text: str) -> str:
    return f'"{text}"'


def _listed(names):
    """Return names as arguments: in one line where they are few."""
    quoted = [_quoted(name) for name in names]
    return ", ".join(quoted) if len(quoted) <= 2 else "".join(f"\n    {name}," for name in quoted) + "\n"


def _arguments(path, files):
    return ", ".join([_quoted(path), *(f"{name}={value:_}" for name, value in files.items())])
