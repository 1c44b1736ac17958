"""What is done to a workload from outside while it runs: limits written, tasks moved, CPUs taken away."""

from dataclasses import dataclass

from . import _check
from .cgroup import check_path
from .units import NS_PER_S, to_ns


@dataclass(frozen=True)
class SetCpuMax:
    """A write of cpu.max (and cpu.max.burst) at run time.

    Parameters
    ----------
    at_ns : int or str
    group : str
    quota_us : int or None
        None is "max": no limit.
    period_us, burst_us : int or None
        None keeps what the group has.

    Examples
    --------
    >>> SetCpuMax("2s", "/web", quota_us=None).at_ns
    2000000000
    """

    at_ns: int
    group: str
    quota_us: int | None
    period_us: int | None = None
    burst_us: int | None = None

    def __post_init__(self):
        object.__setattr__(self, "at_ns", moment("at_ns", self.at_ns))
        check_path(self.group, "group")


@dataclass(frozen=True)
class SetAffinity:
    """A change of a task's allowed CPUs at run time.

    Examples
    --------
    >>> SetAffinity("5ms", "hog", cpus=1).cpus
    (1,)
    """

    at_ns: int
    task: str
    cpus: tuple[int, ...]

    def __post_init__(self):
        object.__setattr__(self, "at_ns", moment("at_ns", self.at_ns))
        object.__setattr__(self, "cpus", _check.cpu_numbers("cpus", self.cpus))


@dataclass(frozen=True)
class SetGroup:
    """A move of a task to another group at run time (a write of cgroup.threads).

    Examples
    --------
    >>> SetGroup("5ms", "hog", "/web").group
    '/web'
    """

    at_ns: int
    task: str
    group: str

    def __post_init__(self):
        object.__setattr__(self, "at_ns", moment("at_ns", self.at_ns))
        if self.group != "/":
            check_path(self.group, "group")


@dataclass(frozen=True)
class SetCpuOnline:
    """A CPU goes offline, or comes back.

    Its tasks move away; one that may run nowhere else may then run anywhere, as in the kernel. The domains are rebuilt
    at each change, which before 6.14 unthrottled every CPU and gave it a local runtime of 1 ns.

    Examples
    --------
    >>> SetCpuOnline("5ms", 3, online=False).cpu
    3
    """

    at_ns: int
    cpu: int
    online: bool

    def __post_init__(self):
        object.__setattr__(self, "at_ns", moment("at_ns", self.at_ns))
        object.__setattr__(self, "cpu", _check.whole("cpu", self.cpu, 0))
        if not isinstance(self.online, bool):
            raise _check.wrong("online", self.online, "True or False")


@dataclass(frozen=True)
class HoldCpu:
    """A CPU is held with interrupts off, or its run queue locked: what happens there waits until the end.

    Its task makes no progress, though it is charged. Ticks, timers, requests and wake-ups to it come late, and so does
    what its siblings pick for it. See `schedlab.hotplug.as_events`.

    Examples
    --------
    >>> HoldCpu("5ms", 3, "188us").duration_ns
    188000
    """

    at_ns: int
    cpu: int
    duration_ns: int

    def __post_init__(self):
        object.__setattr__(self, "at_ns", moment("at_ns", self.at_ns))
        object.__setattr__(self, "cpu", _check.whole("cpu", self.cpu, 0))
        duration_ns = moment("duration_ns", self.duration_ns)
        object.__setattr__(self, "duration_ns", _check.whole("duration_ns", duration_ns, 1, 10 * NS_PER_S, "10 s"))


@dataclass(frozen=True)
class SetCookie:
    """A change of a task's cookie of core scheduling at run time (cf. prctl(PR_SCHED_CORE)); 0 takes it away.

    Examples
    --------
    >>> SetCookie("5ms", "vcpu", 3).cookie
    3
    """

    at_ns: int
    task: str
    cookie: int

    def __post_init__(self):
        object.__setattr__(self, "at_ns", moment("at_ns", self.at_ns))
        object.__setattr__(self, "cookie", _check.whole("cookie", self.cookie, 0, 1 << 31))


EVENTS = (SetCpuMax, SetAffinity, SetGroup, SetCpuOnline, HoldCpu, SetCookie)


def moment(field: str, value) -> int:
    """Return a point in time as ns, 0 or later."""
    try:
        ns = to_ns(value)
    except ValueError as error:
        raise ValueError(f"{field}={error}") from None
    return _check.whole(field, ns, 0)
