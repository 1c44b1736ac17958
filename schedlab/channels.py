"""Channels between tasks: pipes and socket pairs, and the steps that write to them and read from them."""

from dataclasses import dataclass
from typing import Literal

from . import _check
from .durations import Duration
from .steps import MAX_WORK_NS, Transfer, as_work

#: A page, and the pages of a pipe (cf. PIPE_DEF_BUFFERS).
PAGE_BYTES = 4096
PIPE_PAGES = 16
#: Send buffer of a socket (net.core.wmem_default), and what a buffer takes beside its data: struct sk_buff and struct
#: skb_shared_info, each rounded up to a cache line (fact sheet E1; remembered, not measured).
SNDBUF_BYTES = 212_992
SK_BUFF_BYTES = 256
SHARED_INFO_BYTES = 320
#: Most messages that one step stands for.
MAX_MESSAGES = 1_000_000


@dataclass(frozen=True)
class Channel:
    """A pipe, or one direction of a pair of stream sockets, for messages of one size.

    Parameters
    ----------
    name : str
    kind : {"pipe", "socket"}
    datasize : int
        Bytes of a message, 1 to 65536 (what a pipe holds).

    Examples
    --------
    >>> Channel("p").capacity, Channel("s", "socket").capacity
    (640, 278)
    """

    name: str
    kind: Literal["pipe", "socket"] = "pipe"
    datasize: int = 100

    def __post_init__(self):
        _check.text("name", self.name)
        _check.choice("kind", self.kind, ("pipe", "socket"))
        datasize = _check.whole("datasize", self.datasize, 1, PIPE_PAGES * PAGE_BYTES)
        object.__setattr__(self, "datasize", datasize)

    @property
    def slots(self) -> int:
        """How many buffers a pipe has: its pages, or sets of pages when a message is larger than one."""
        return PIPE_PAGES // -(-self.datasize // PAGE_BYTES)

    @property
    def messages_per_slot(self) -> int:
        """How many messages such a buffer takes: one joins a page only if it fits entirely."""
        return max(1, PAGE_BYTES // self.datasize)

    @property
    def truesize(self) -> int:
        """Bytes of the send buffer that a socket's message takes: the data comes in powers of two.

        Examples
        --------
        >>> Channel("s", "socket").truesize
        768
        """
        data = -(-self.datasize // 64) * 64 + SHARED_INFO_BYTES
        return SK_BUFF_BYTES + (1 << (data - 1).bit_length())

    @property
    def capacity(self) -> int:
        """Most messages in it. A socket takes one more as long as its send buffer is not used up."""
        if self.kind == "pipe":
            return self.slots * self.messages_per_slot
        return -(-SNDBUF_BYTES // self.truesize)


@dataclass(frozen=True)
class Write(Transfer):
    """Writes n messages to a channel, a kernel section of `cost` each; blocks while there is no room."""

    channel: str
    cost: Duration
    n: int = 1


@dataclass(frozen=True)
class Read(Transfer):
    """Reads n messages from a channel, a kernel section of `cost` each; blocks while there is none."""

    channel: str
    cost: Duration
    n: int = 1


def write(channel: str, cost, n: int = 1) -> Write:
    """Return a step that writes messages to a channel.

    Parameters
    ----------
    channel : str
        Name of a Channel of the workload.
    cost : int, str or Duration
        CPU time in the kernel for each message, at speed 1.
    n : int
        How many messages the step stands for. They are written at the end of one section of n times the cost (drawn
        once); what finds no room then follows when the writer is woken, at no further cost.

    Examples
    --------
    >>> write("pipe", "400ns", n=20).cost.low_ns
    400
    """
    return Write(*_transfer(channel, cost, n))


def read(channel: str, cost, n: int = 1) -> Read:
    """Return a step that reads messages from a channel; parameters as for `write`.

    Examples
    --------
    >>> read("pipe", "400ns").n
    1
    """
    return Read(*_transfer(channel, cost, n))


def _transfer(channel, cost, n):
    duration = as_work("cost", cost)
    n = _check.whole("n", n, 1, MAX_MESSAGES)
    if duration.longest_ns * n > MAX_WORK_NS:
        raise _check.wrong("n", n, "at most 9000 s of work in one step, the longest draw included")
    return _check.text("channel", channel), duration, n


def check_use(channels: tuple[Channel, ...], steps) -> None:
    """Raise ValueError unless every channel that the (task, step) pairs use is there, and is both written and read."""
    names = [channel.name for channel in channels]
    users: dict[type, dict[str, str]] = {Write: {}, Read: {}}
    for task, step in steps:
        if isinstance(step, Transfer):
            if step.channel not in names:
                hint = _check.nearest(step.channel, names) or f"; add Channel({step.channel!r})"
                raise _check.wrong("channel", step.channel, f"task {task.name}: no channel of that name{hint}")
            users[type(step)].setdefault(step.channel, task.name)
    for mine, other, what in ((Write, Read, "reads"), (Read, Write, "writes")):
        for name in users[mine].keys() - users[other].keys():
            rule = f"task {users[mine][name]} would block for ever: nothing {what} it"
            raise _check.wrong("channel", name, rule)
