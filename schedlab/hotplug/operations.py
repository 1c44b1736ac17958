"""What can be done to the CPUs of a running machine: frozen operations, or the same as a text."""

from dataclasses import dataclass

from .. import _check
from .._topology import parse_cpu_list


@dataclass(frozen=True)
class Offline:
    """Take a CPU offline."""

    cpu: int

    def __post_init__(self):
        object.__setattr__(self, "cpu", _check.whole("cpu", self.cpu, 0))


@dataclass(frozen=True)
class Online:
    """Bring a CPU online."""

    cpu: int

    def __post_init__(self):
        object.__setattr__(self, "cpu", _check.whole("cpu", self.cpu, 0))


@dataclass(frozen=True)
class _OnCpus:
    cpus: tuple[int, ...]

    def __post_init__(self):
        if isinstance(self.cpus, tuple | list | range | set | frozenset) and not len(self.cpus):
            raise _check.wrong("cpus", self.cpus, "a partition has at least one CPU")
        object.__setattr__(self, "cpus", _check.cpu_numbers("cpus", self.cpus))


class Partition(_OnCpus):
    """Make a cpuset with these CPUs a partition root: sched domains of its own."""


class Isolate(_OnCpus):
    """Make a cpuset with these CPUs an isolated partition: no sched domains."""


class Member(_OnCpus):
    """Make the partition with these CPUs a plain member again."""


@dataclass(frozen=True)
class SetQuota:
    """Limit a task group, or take its limit away.

    Attributes
    ----------
    group : str
    quota_us : int or None
        None: no limit.
    """

    group: str
    quota_us: int | None

    def __post_init__(self):
        _check.text("group", self.group)
        if self.quota_us is not None:
            object.__setattr__(self, "quota_us", _check.whole("quota_us", self.quota_us, 1000, None, "1 ms"))


Operation = Offline | Online | Partition | Isolate | Member | SetQuota
_VERBS = {"offline": Offline, "online": Online, "partition": Partition, "isolate": Isolate, "member": Member}


def parse_operation(text: str) -> Operation:
    """Return the operation that a text names.

    Raises
    ------
    ValueError
        For a text that names none.

    Examples
    --------
    >>> parse_operation("offline cpu 3"), parse_operation("partition cpus 28-31")
    (Offline(cpu=3), Partition(cpus=(28, 29, 30, 31)))
    """
    words = [word for word in text.split() if word not in ("cpu", "cpus")]
    if len(words) != 2 or words[0] not in _VERBS:
        known = ", ".join(_VERBS)
        raise _check.wrong("operation", text, f"one of {known} and CPUs, such as 'offline cpu 3' or 'partition 28-31'")
    cpus = parse_cpu_list(words[1])
    kind = _VERBS[words[0]]
    if kind in (Offline, Online):
        if len(cpus) != 1:
            raise _check.wrong("operation", text, "one CPU at a time")
        return kind(cpus[0])
    return kind(cpus)
