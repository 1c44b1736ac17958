"""Pipes and socket pairs: what they hold, and whom a message written or read wakes (docs/model.md, "Channels")."""

from dataclasses import dataclass, field

from ..channels import SNDBUF_BYTES, Channel


@dataclass(eq=False)
class Page:
    """A buffer of a pipe: how many messages were written into it, and how many of them are still unread."""

    filled: int = 1
    unread: int = 1


@dataclass(eq=False)
class ChannelRecord:
    """A channel, the tasks that sleep on it in the order in which they are woken, and its counters."""

    spec: Channel
    wake_on_free: bool
    pages: list[Page] = field(default_factory=list)
    in_flight: int = 0
    readers: list = field(default_factory=list)
    writers: list = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)

    @property
    def is_pipe(self) -> bool:
        """Whether it is a pipe; else it is a socket pair."""
        return self.spec.kind == "pipe"

    @property
    def used(self) -> int:
        """Bytes of a socket's send buffer that are in use."""
        return self.in_flight * self.spec.truesize

    def count(self, what: str, n: int = 1):
        """Add to a counter."""
        self.counters[what] = self.counters.get(what, 0) + n

    # ---- may it, and whom does it wake -------------------------------------------------------------------------------

    def ready(self, call: "Call") -> bool:
        """Whether the call can move a message now."""
        if not call.writes:
            return self.in_flight > 0
        if not self.is_pipe:
            return self.used < SNDBUF_BYTES
        return len(self.pages) < self.spec.slots or (not call.slept and self._last_has_room())

    def _last_has_room(self) -> bool:
        return bool(self.pages) and self.pages[-1].filled < self.spec.messages_per_slot

    def move(self, call: "Call") -> list:
        """Move one message of a call; return the tasks to wake, in order."""
        slept, call.slept = call.slept, False
        call.left -= 1
        self.in_flight += 1 if call.writes else -1
        self.count("written" if call.writes else "read")
        if self.is_pipe:
            return self._write_pipe(slept) if call.writes else self._read_pipe(slept)
        if call.writes:
            return self._take("reader", len(self.readers))
        return self._take("writer", len(self.writers) if 4 * self.used <= SNDBUF_BYTES else 0)

    def _write_pipe(self, slept: bool) -> list:
        was_empty = not self.pages
        if self._last_has_room() and not slept:
            self.pages[-1].filled += 1
            self.pages[-1].unread += 1
        else:
            self.pages.append(Page())
        passes_on = slept and len(self.pages) < self.spec.slots
        return self._take("reader", int(was_empty)) + self._take("writer", int(passes_on))

    def _read_pipe(self, slept: bool) -> list:
        was_full = len(self.pages) == self.spec.slots
        page = self.pages[0]
        page.unread -= 1
        freed = page.unread == 0
        if freed:
            self.pages.pop(0)
        wakes_writer = was_full and (freed or not self.wake_on_free)
        return self._take("writer", int(wakes_writer)) + self._take("reader", int(slept and bool(self.pages)))

    def _take(self, side: str, most: int) -> list:
        waiters = getattr(self, side + "s")
        woken = waiters[:most]
        del waiters[:most]
        self.count(f"{side}_wakes", len(woken))
        return woken

    def sleep(self, task, call: "Call"):
        """The task goes on the list: of a pipe at the end, of a socket in front."""
        side = "writer" if call.writes else "reader"
        self.count(f"{side}_blocks")
        self.count(f"{side}_spurious", int(call.woken_in_vain))
        waiters = getattr(self, side + "s")
        waiters.insert(len(waiters) if self.is_pipe else 0, task)
        call.slept = call.woken_in_vain = True


@dataclass(eq=False)
class Call:
    """A read or write that a task is in: messages still to move, and where the call stands.

    `woken_in_vain` is set while the task sleeps: if it sleeps again and nothing was moved, the wake-up was in vain.
    """

    channel: ChannelRecord
    step: object
    writes: bool
    left: int
    worked: bool = False
    slept: bool = False
    woken_in_vain: bool = False
