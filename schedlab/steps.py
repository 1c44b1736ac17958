"""The steps that a task's program is made of.

Durations are int ns, text such as ``"5ms"``, or a random Duration. Steps without a duration take no time.
"""

from dataclasses import dataclass
from typing import Literal

from . import _check
from .durations import Duration, as_duration
from .units import NS_PER_S, to_ns

#: ``wake(name, n=ALL)`` wakes every waiter.
ALL = -1
#: Most posts that a name remembers while nobody waits, and the deepest nesting of repeat.
MAX_KEEP = 16
MAX_NESTING = 6
MAX_COUNT = 1 << 40
#: Longest work of one step. Work is counted in units of 1e-6 ns, of which 64 bits hold 9223 s.
MAX_WORK_NS = 9_000 * NS_PER_S


@dataclass(frozen=True)
class Step:
    """Base of all steps."""


@dataclass(frozen=True)
class Run(Step):
    """User work, in ns at speed 1."""

    duration: Duration


@dataclass(frozen=True)
class KernelSection(Step):
    """Work inside the kernel, in ns at speed 1."""

    duration: Duration


@dataclass(frozen=True)
class Spin(Step):
    """Occupies the CPU until that much wall-clock time has passed since the step began."""

    duration: Duration


@dataclass(frozen=True)
class Sleep(Step):
    """Blocks for that long."""

    duration: Duration


@dataclass(frozen=True)
class Timer(Step):
    """Blocks until the task's next absolute activation, task start + offset_ns + k * period_ns."""

    period_ns: int
    offset_ns: int = 0


@dataclass(frozen=True)
class Until(Step):
    """Blocks until that long after the task's start."""

    after_ns: int


@dataclass(frozen=True)
class Yield(Step):
    """sched_yield()."""


@dataclass(frozen=True)
class Wait(Step):
    """Blocks on a name until woken."""

    name: str
    order: Literal["fifo", "lifo"] = "fifo"


@dataclass(frozen=True)
class Wake(Step):
    """Wakes up to n waiters of a name (n = ALL: every one)."""

    name: str
    n: int = 1
    keep: int = 0
    cost_ns: int = 0


@dataclass(frozen=True)
class Barrier(Step):
    """Blocks until n tasks have come."""

    name: str
    n: int


@dataclass(frozen=True)
class Affinity(Step):
    """Sets the task's own CPUs."""

    cpus: tuple[int, ...]


@dataclass(frozen=True)
class Mark(Step):
    """Sets the task's stamp to now."""


@dataclass(frozen=True)
class Sample(Step):
    """Records now - stamp - offset_ns in the histogram of the task's label."""

    offset_ns: int = 0


@dataclass(frozen=True)
class Repeat(Step):
    """Does the steps so many times; None: for ever."""

    times: int | None
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Transfer(Step):
    """Base of the steps that move messages through a channel (schedlab.channels)."""


# Steps by which time passes, so that an endless loop of them is no endless loop at one instant. A yield or a barrier
# may return at once.
_TIMED = (Run, KernelSection, Spin, Sleep, Timer, Wait, Transfer)


def run(duration) -> Run:
    """Return a step of user work.

    Parameters
    ----------
    duration : int, str or Duration
        CPU time that it takes at speed 1, from 1 ns to 9000 s.

    Examples
    --------
    >>> run("5ms").duration.low_ns
    5000000
    """
    return Run(as_work("run", duration))


def kernel(duration) -> KernelSection:
    """Return a step of work inside the kernel: like `run`, but counted as system time."""
    return KernelSection(as_work("kernel", duration))


def spin(duration) -> Spin:
    """Return a wall-clock spin: the CPU is occupied until `duration` after the step began.

    Time during which the task was preempted or throttled counts, as in a loop around gettimeofday().
    """
    return Spin(_lasting("spin", duration))


def sleep(duration) -> Sleep:
    """Return a sleep."""
    return Sleep(_lasting("sleep", duration))


def timer(period, offset=0) -> Timer:
    """Return a wait for the task's next absolute activation.

    Parameters
    ----------
    period, offset : int or str
        The first activation is at the task's start + offset, then one each period. One that is already past returns
        at once, so that a late task catches up. Steps of one task with the same period and offset share their
        activations; a task has at most 4 different ones.

    The activation's time is left in the task's stamp, so that a `sample` after the work counts from it.

    Examples
    --------
    >>> timer("10ms").period_ns
    10000000
    """
    return Timer(_ns("period", period, 1), _ns("offset", offset, 0))


def until(after) -> Until:
    """Return a wait until a time after the task's start; one that is past already ends at once.

    Parameters
    ----------
    after : int or str
        Time since the task's start, which is left in the task's stamp.

    Examples
    --------
    >>> until("3ms").after_ns
    3000000
    """
    return Until(_ns("after", after, 0))


def yield_() -> Yield:
    """Return a sched_yield()."""
    return Yield()


def wait(name: str, order: str = "fifo") -> Wait:
    """Return a wait for a `wake` of the same name (like a futex).

    It leaves in the task's stamp the time of the wake that released it; for ``wake(n=ALL)`` the time the batch began.

    Parameters
    ----------
    name : str
    order : {"fifo", "lifo"}
        Who is woken first: the longest waiter or the latest.
    """
    _check.choice("order", order, ("fifo", "lifo"))
    return Wait(_check.text("name", name), order)


def wake(name: str, n: int = 1, keep: int = 0, cost=0) -> Wake:
    """Return a wake-up of up to `n` waiters of that name.

    Parameters
    ----------
    name : str
    n : int
        At least 1, or ALL.
    keep : int
        How many posts are remembered while nobody waits, 0 to 16.
    cost : int or str
        Kernel time of the waker for each task woken.

    Examples
    --------
    >>> wake("work", n=ALL, cost="2us").cost_ns
    2000
    """
    if n != ALL:
        n = _check.whole("n", n, 1, MAX_COUNT)
    keep = _check.whole("keep", keep, 0, MAX_KEEP)
    return Wake(_check.text("name", name), n, keep, _ns("cost", cost, 0))


def barrier(name: str, n: int) -> Barrier:
    """Return a barrier: the task blocks until `n` tasks have come to it."""
    return Barrier(_check.text("name", name), _check.whole("n", n, 1, MAX_COUNT))


def affinity(cpus) -> Affinity:
    """Return a change of the task's own allowed CPUs (an int or a sequence of int)."""
    return Affinity(_check.cpu_numbers("cpus", cpus))


def mark() -> Mark:
    """Return a step that sets the task's stamp to now."""
    return Mark()


def sample(offset=0) -> Sample:
    """Return a step that records now - stamp - offset in the histogram "sample" of the task's label."""
    return Sample(_ns("offset", offset, 0))


def repeat(times: int | None, *steps: Step) -> Repeat:
    """Return a loop over steps.

    Parameters
    ----------
    times : int or None
        At least 1, or None for ever.
    *steps : Step
        Loops nest up to 6 deep. An endless loop holds a step by which time passes.

    Raises
    ------
    ValueError
        When it holds nothing, or loops for ever at one instant.

    Examples
    --------
    >>> repeat(3, run("1ms"), sleep("9ms")).times
    3
    """
    if times is not None and isinstance(times, Step):
        raise _check.wrong("times", times, "how often comes first: repeat(3, run(...)), or None for ever")
    if times is not None:
        times = _check.whole("times", times, 1, MAX_COUNT)
    loop = Repeat(times, as_program("steps", steps))
    _check_nesting("steps", (loop,))
    if times is None and not _takes_time(loop.steps):
        raise _check.wrong("steps", steps, "an endless loop needs a step by which time passes, such as run or sleep")
    return loop


def as_program(field: str, steps) -> tuple[Step, ...]:
    """Return steps as a checked tuple: all are steps, nesting within bounds, nothing after an endless loop."""
    of = "steps, made by run(), sleep(), repeat() and the like"
    steps = (steps,) if isinstance(steps, Step) else _check.sequence(field, steps, of)
    if not steps:
        raise _check.wrong(field, steps, "at least one step")
    for place, step in enumerate(steps):
        if not isinstance(step, Step):
            raise _check.wrong(field, step, "not a step; made by run(), sleep(), repeat() and the like")
        if isinstance(step, Repeat) and _endless(step) and place + 1 < len(steps):
            raise _check.wrong(field, steps[place + 1], "never reached: it comes after an endless loop")
    _check_nesting(field, steps)
    return steps


def nesting(steps: tuple[Step, ...]) -> int:
    """Return how deep repeats nest in the steps (0: none)."""
    return max((1 + nesting(step.steps) for step in steps if isinstance(step, Repeat)), default=0)


def walk(steps: tuple[Step, ...]):
    """Yield every step of a program once, those inside loops included, in the order written."""
    for step in steps:
        yield step
        if isinstance(step, Repeat):
            yield from walk(step.steps)


def _check_nesting(field: str, steps: tuple[Step, ...]):
    if nesting(steps) > MAX_NESTING:
        raise _check.wrong(field, steps, f"repeat nests at most {MAX_NESTING} deep")


def _endless(step: Step) -> bool:
    return isinstance(step, Repeat) and (step.times is None or any(_endless(inner) for inner in step.steps))


def _takes_time(steps: tuple[Step, ...]) -> bool:
    return any(isinstance(step, _TIMED) for step in walk(steps))


def _lasting(field: str, value) -> Duration:
    duration = as_duration(field, value)
    if duration.longest_ns < 1:
        raise _check.wrong(field, value, "at least 1 ns")
    return duration


def as_work(field: str, value) -> Duration:
    """Return the work of one step as a Duration, within bounds."""
    duration = _lasting(field, value)
    if duration.longest_ns > MAX_WORK_NS:
        rule = "at most 9000 s in one step, the longest draw included; repeat(n, ...) makes more of it"
        raise _check.wrong(field, value, rule)
    return duration


def _ns(field: str, value, low: int) -> int:
    try:
        ns = to_ns(value)
    except ValueError as error:
        raise ValueError(f"{field}={error}") from None
    return _check.whole(field, ns, low)
