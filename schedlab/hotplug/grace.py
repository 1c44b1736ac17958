"""Grace periods: the rcu_sync automaton of the two hotplug locks, and how many of them an operation waits for."""

from dataclasses import dataclass, field

from .. import _check


@dataclass(frozen=True)
class Pace:
    """How operations follow each other, in any one unit of time.

    Attributes
    ----------
    work : float
        Length of an operation without its waits for grace periods.
    gap : float
        From the end of an operation to the next.
    grace : float
        How long a synchronize_rcu() waits.
    callback : float
        From the exit of a lock to the callback that makes it idle again. Longer than `grace` in reality, as it needs a
        grace period that begins later.

    Examples
    --------
    >>> Pace.tight().work < Pace.tight().callback
    True
    """

    work: float
    gap: float
    grace: float
    callback: float

    def __post_init__(self):
        for name in ("work", "gap", "grace", "callback"):
            object.__setattr__(self, name, _check.real(name, getattr(self, name), 0))

    @classmethod
    def isolated(cls) -> "Pace":
        """Operations seconds apart: each finds both locks idle."""
        return cls(work=1, gap=1000, grace=1, callback=2)

    @classmethod
    def tight(cls) -> "Pace":
        """A loop of operations that are shorter than a callback takes, as on real machines with 2 to 7 ms each."""
        return cls(work=0.5, gap=0, grace=1, callback=2)

    @classmethod
    def slow_loop(cls) -> "Pace":
        """A loop of operations that are much longer than a callback takes, as under full emulation."""
        return cls(work=100, gap=0, grace=1, callback=2)


@dataclass
class RcuSync:
    """One rcu_sync: idle, enter, passed, exit, replay (cf. kernel/rcu/sync.c).

    `callback_at` is when the callback that is queued runs; None while none is.
    """

    state: str = "idle"
    writers: int = 0
    callback_at: float | None = None

    def enter(self, now: float, pace: Pace) -> bool:
        """Take the lock for writing; return whether a grace period has to be waited for."""
        self._run_callbacks(now, pace)
        self.writers += 1
        if self.state == "idle":
            self.state = "passed"
            return True
        return False

    def exit(self, now: float, pace: Pace) -> None:
        """Release the lock."""
        self._run_callbacks(now, pace)
        self.writers -= 1
        if self.writers:
            return
        if self.state == "passed":
            self.state = "exit"
            self.callback_at = now + pace.callback
        elif self.state == "exit":
            self.state = "replay"

    def _run_callbacks(self, now, pace):
        while self.callback_at is not None and self.callback_at <= now:
            if self.writers:
                self.state, self.callback_at = "passed", None
            elif self.state == "replay":
                self.state, self.callback_at = "exit", self.callback_at + pace.callback
            else:
                self.state, self.callback_at = "idle", None


@dataclass
class GracePeriods:
    """The CPU hotplug lock and the memory hotplug lock over a sequence of operations.

    Examples
    --------
    >>> isolated = GracePeriods(Pace.isolated())
    >>> isolated.offline(), isolated.online()
    (2, 2)
    >>> tight = GracePeriods(Pace.tight())
    >>> [tight.offline() for _ in range(3)]
    [2, 1, 1]
    """

    pace: Pace
    skip_node_lock: bool = False
    now: float = 0.0
    cpus_lock: RcuSync = field(default_factory=RcuSync)
    memory_lock: RcuSync = field(default_factory=RcuSync)

    def offline(self) -> int:
        """Return how many grace periods an offline waits for; sched_cpu_deactivate() always waits for one."""
        waits = self._enter(self.cpus_lock) + 1
        self.now += self.pace.grace
        self._leave(self.cpus_lock)
        return waits

    def online(self) -> int:
        """Return how many grace periods an online waits for; the memory lock is held for no time."""
        waits = 0
        if not self.skip_node_lock:
            waits += self._enter(self.memory_lock)
            self.memory_lock.exit(self.now, self.pace)
        waits += self._enter(self.cpus_lock)
        self._leave(self.cpus_lock)
        return waits

    def _enter(self, lock: RcuSync) -> int:
        waits = int(lock.enter(self.now, self.pace))
        self.now += waits * self.pace.grace
        return waits

    def _leave(self, lock: RcuSync) -> None:
        self.now += self.pace.work
        lock.exit(self.now, self.pace)
        self.now += self.pace.gap
