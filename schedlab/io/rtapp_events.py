"""Events of rt-app's phases as steps: timers, locks, conditions, barriers and forks."""

from __future__ import annotations

from .. import steps
from ..units import NS_PER_US
from ..workload import Task
from .json_places import Node

#: Events by the beginning of their key (an index may follow), in the order in which rt-app looks for them.
EVENTS = (
    "lock", "unlock", "wait", "signal", "broad", "sync", "sleep", "runtime", "run", "timer", "suspend", "resume", "mem",
    "iorun", "yield", "barrier", "fork",
)  # fmt: skip
_PROPERTIES = ("loop", "cpus", "nodes_membership", "priority", "policy", "taskgroup", "instance", "delay", "phases")
_LONGEST_US = 9 * 10**9
_MOST = 1024  # tasks of one name


class Programs:
    """Makes the programs of all tasks of a file; it knows who uses a barrier, a timer or a fork."""

    def __init__(self, file, bodies: dict[str, Node]):
        self.file, self.bodies = file, bodies
        self.notes: list[str] = []
        self.mutexes: dict[str, None] = {}
        self.users: dict[str, int] = {}
        self.timer_users: dict[str, str] = {}
        self.forks: dict[str, int] = {}
        for name, body in bodies.items():
            self._scan(name, body)

    # ---- what all tasks share ------------------------------------------------------------------------------------

    def _scan(self, name, body):
        from .rtapp import PHASE_KEYS, TASK_KEYS

        file = self.file
        file.check_keys(body, TASK_KEYS)
        phases = self._phases(body)
        if phases != [body]:
            for key in body:
                if key not in TASK_KEYS:
                    raise file.wrong(body, key, "an event beside phases; put it into a phase")
        instances = file.whole(body, "instance", 1, 0, _MOST)
        for phase in phases:
            if phase is not body:
                file.check_keys(phase, PHASE_KEYS)
            for key in phase:
                if key in _PROPERTIES:
                    continue
                if key.startswith("barrier"):
                    ref = file.text(phase, key)
                    self.users[ref] = self.users.get(ref, 0) + instances
                elif key.startswith("fork"):
                    self._count_forks(body, phase, key, instances)

    def _count_forks(self, body, phase, key, instances):
        file, ref = self.file, self.file.text(phase, key)
        if ref not in self.bodies:
            raise file.wrong(phase, key, f"no task {ref!r} in this file")
        if phase is body:
            times = file.whole(body, "loop", -1, -1, 10**9)
        else:
            times = file.whole(phase, "loop", 1, -1, 10**9) * abs(file.whole(body, "loop", -1, -1, 10**9))
            times = -1 if file.whole(body, "loop", -1, -1, 10**9) < 0 else times
        total = self.forks.get(ref, 0) + max(1, instances) * times
        if times < 0 or total > _MOST:
            raise file.wrong(phase, key, f"at most {_MOST} forks in all are modelled, so a loop around it needs an end")
        self.forks[ref] = total

    def instances(self, name: str) -> int:
        """Return how many tasks an entry makes, those that are forked included."""
        return self.file.whole(self.bodies[name], "instance", 1, 0, _MOST) + self.forks.get(name, 0)

    def helpers(self) -> list[Task]:
        """Return the tasks that open each mutex once at the start."""
        if not self.mutexes:
            return []
        self.notes.append(
            'lock: a mutex is a token that the task "mutexes" puts down at the start; it is handed on in order'
        )
        return [Task("mutexes", tuple(steps.wake(name, keep=1) for name in self.mutexes))]

    # ---- one program ---------------------------------------------------------------------------------------------

    def program(self, name: str, k: int) -> tuple:
        """Return the program of instance `k` of a task."""
        body, file = self.bodies[name], self.file
        phases = self._phases(body)
        single = phases == [body]
        outer = file.whole(body, "loop", -1, -1, 10**9)
        one = _Task(self, name, body, k)
        parts = []
        for place, phase in enumerate(phases):
            inside = one.phase(phase, len(phases) > 1 and not single)
            loop = 1 if single else file.whole(phase, "loop", 1, -1, 10**9)
            if not inside or loop == 0:
                continue
            if loop == 1:
                parts += inside
                continue
            parts.append(self._repeat(phase, None if loop < 0 else loop, inside))
            if loop < 0 and place + 1 < len(phases):
                self.notes.append(f"{phase.path}: it never ends, so the phases after it are left out")
                outer = 1
                break
        forked = k >= file.whole(body, "instance", 1, 0, _MOST)
        first = [steps.wait(f"fork {name}")] if forked else []
        if not parts or outer == 0:
            raise file.wrong(body, "loop" if outer == 0 else "phases", "the task does nothing")
        if outer == 1:
            return (*first, *parts)
        return (*first, self._repeat(body, None if outer < 0 else outer, parts))

    def _repeat(self, node, times, inside):
        try:
            return steps.repeat(times, *inside)
        except ValueError as error:
            raise self.file.wrong(node, "loop", str(error)) from None

    def _phases(self, body):
        if "phases" not in body:
            return [body]
        phases = self.file.object(body, "phases")
        if not phases:
            raise self.file.wrong(body, "phases", "at least one phase is needed")
        return [self.file.object(phases, name) for name in phases]


class _Task:
    """The steps of one task; it keeps its timers."""

    def __init__(self, programs, name, body, k):
        self.all, self.file, self.name, self.body, self.k = programs, programs.file, name, body, k
        self.timers: dict[str, tuple[int, str]] = {}

    def phase(self, phase: Node, own: bool) -> list:
        """Return the steps of a phase; its own CPUs are set first, or the task's again when phases differ."""
        made = []
        file = self.file
        if phase is not self.body:
            for key in ("priority", "policy", "taskgroup"):
                if key in phase:
                    raise file.wrong(phase, key, "a change of it from phase to phase is not modelled")
        cpus = file.cpus(phase)
        if own and cpus is None and any(file.cpus(p) is not None for p in self.all._phases(self.body)):
            cpus = file.cpus(self.body)
            if cpus is None:
                raise file.wrong(self.body, "phases", "one phase has cpus, so the others or the task need them too")
        if own and cpus is not None:
            made.append(steps.affinity(cpus))
        for key in phase:
            event = next((event for event in EVENTS if key.startswith(event)), None)
            if key not in _PROPERTIES and event is not None:
                made += self.event(phase, key, event)
        return made

    def event(self, phase, key, event) -> list:
        """Return the steps of one event."""
        file = self.file
        if event in ("mem", "iorun"):
            raise file.wrong(phase, key, "memory and devices are not modelled")
        if event in ("run", "runtime", "sleep"):
            us = file.whole(phase, key, 0, 0, _LONGEST_US)
            make = {"run": steps.run, "runtime": steps.spin, "sleep": steps.sleep}[event]
            return [make(us * NS_PER_US)] if us else []
        if event == "timer":
            return [self.timer(phase, key)]
        if event == "yield":
            return [steps.yield_()]
        if event in ("wait", "sync"):
            return self.condition(phase, key, event)
        ref = file.text(phase, key, self.name if event in ("suspend", "resume") else None) or self.name
        if event in ("lock", "unlock"):
            return [self.lock(ref) if event == "lock" else self.unlock(ref)]
        if event == "barrier":
            return [steps.barrier(ref, self.all.users[ref])]
        if event == "fork":
            return [steps.wake(f"fork {ref}", keep=steps.MAX_KEEP)]
        if event == "suspend":
            return [steps.wait(ref)]
        return [steps.wake(ref, n=1 if event == "signal" else steps.ALL)]

    def lock(self, ref):
        self.all.mutexes.setdefault(f"mutex {ref}")
        return steps.wait(f"mutex {ref}")

    def unlock(self, ref):
        self.all.mutexes.setdefault(f"mutex {ref}")
        return steps.wake(f"mutex {ref}", keep=1)

    def condition(self, phase, key, event) -> list:
        """A wait gives the mutex back while it blocks; sync takes it, signals and waits."""
        node = self.file.object(phase, key)
        for inner in node:
            if inner not in ("ref", "mutex"):
                raise self.file.unknown(node, inner, ("ref", "mutex"))
        ref, mutex = self.file.text(node, "ref"), self.file.text(node, "mutex")
        waits = [self.unlock(mutex), steps.wait(ref), self.lock(mutex)]
        if event == "wait":
            return waits
        return [self.lock(mutex), steps.wake(ref), *waits, self.unlock(mutex)]

    def timer(self, phase, key):
        """The first use sets the start, so the activations are at the task's start + period, + 2 periods, ..."""
        file, node = self.file, self.file.object(phase, key)
        for inner in node:
            if inner not in ("ref", "period", "mode"):
                raise file.unknown(node, inner, ("ref", "period", "mode"))
        ref, mode = file.text(node, "ref"), file.text(node, "mode", "relative")
        period = file.whole(node, "period", 0, 1, _LONGEST_US)
        if mode not in ("relative", "absolute"):
            raise file.wrong(node, "mode", '"relative" or "absolute"')
        if not ref.startswith("unique"):
            user = f"{self.name}-{self.k}"
            if self.all.timer_users.setdefault(ref, user) != user:
                raise file.wrong(
                    node, "ref", 'a timer that several tasks share is not modelled; "unique" is one a task'
                )
        known = self.timers.setdefault(ref, (period, phase.path))
        if known[0] != period:
            raise file.wrong(node, "period", f"timer {ref!r} has the period {known[0]} elsewhere; use another ref")
        if mode == "relative":
            self.all.notes.append(f"{node.path}: a late activation is caught up (as with mode absolute)")
        if self.k >= file.whole(self.body, "instance", 1, 0, _MOST):
            raise file.wrong(phase, key, "a timer of a task that is forked is not modelled")
        if phase is not self.body and phase is not self.all._phases(self.body)[0] and known[1] == phase.path:
            raise file.wrong(
                phase, key, "a timer that is first used in a later phase is not modelled: it would start there"
            )
        return steps.timer(period * NS_PER_US, offset=period * NS_PER_US)
