"""ftrace text: what `trace`, `trace_pipe` and `trace-cmd report` give, read and written."""

import gzip
import re
from pathlib import Path

from .events_text import Reader
from .from_run import trace_of
from .trace import Trace

# "          <idle>-0       [002] d..2.     4.499371: sched_switch: ..."; a thread group in brackets and the flags may
# be missing, and an event's name may be padded.
_HEAD = re.compile(
    rb"^.{0,40}-(\d{1,9}) ++(?:\( *+[\d-]++\) ++)?\[(\d{1,5}+)\] ++(?:([^\s:]{2,8}+) ++)?(\d{1,9}+)\.(\d{9}|\d{6}): ++"
    rb"([^\s:]++): *+(.*)$",
    re.S,
)
_SKIP = re.compile(rb"^(?:#|cpus=\d+$|version = |trace-cmd |\t| *=> )")


def read(path, need=("sched_switch", "hrtimer_expire_entry")) -> Trace:
    """Return the events of a text file of ftrace.

    Parameters
    ----------
    path : str or Path
        What was read from `trace` or `trace_pipe`, or printed by `trace-cmd report`; also as gzip or zstd. Flag
        columns of any width, times in us or ns.
    need : tuple of str
        At least one of these events must be in it.

    Raises
    ------
    ValueError
        One line that names the file, the place and the reason, when it is no such text or lacks what is needed.

    Examples
    --------
    >>> read("trace.txt.gz").spans()  # doctest: +SKIP
    """
    return Reader(Path(path), _HEAD, _SKIP).read(need)


def write(what, path) -> None:
    """Write a Trace or a Run as text of ftrace, which `read` reads back to exactly the same table.

    Times are in ns (9 digits) as `trace-cmd report -t` prints them when a time is no whole us.

    Parameters
    ----------
    what : Trace or Run
        Of a run the log (``simulate(..., log=True)``), as `schedlab.io.from_run.trace_of` makes it.
    path : str or Path
        A name that ends in ".gz" is compressed.
    """
    trace = what if isinstance(what, Trace) else trace_of(what)
    path = Path(path)
    if path.suffix == ".gz":
        # no time and no name in the header: the same trace is the same bytes
        with open(path, "wb") as plain, gzip.GzipFile("", "wb", fileobj=plain, mtime=0) as file:
            file.writelines(_lines(trace))
    else:
        with open(path, "wb") as file:
            file.writelines(_lines(trace))


def _lines(trace):
    events = trace.events
    n = len(events)
    yield b"# tracer: nop\n#\n"
    if trace.complete:
        yield f"# entries-in-buffer/entries-written: {n}/{n}   #P:{events['cpu'].nunique()}\n#\n".encode()
    yield b"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
    exact = bool((events["time_ns"] % 1000 != 0).any())
    names = {}
    for row in zip(*(events[column].tolist() for column in events.columns)):
        time_ns, cpu, event, context, curr, *rest = row
        pid, name, next_pid, next_name = rest[0], rest[1], rest[4], rest[5]
        if pid >= 0:
            names[pid] = name
        shown = names.get(curr, "<...>")[:15] if curr else "<idle>"
        seconds, fraction = divmod(time_ns, 1_000_000_000)
        moment = f"{seconds}.{fraction:09d}" if exact else f"{seconds}.{fraction // 1000:06d}"
        if next_pid >= 0:
            names[next_pid] = next_name
        flags = _FLAGS[context]
        body = _BODIES[event].format(*rest)
        line = f"{shown:>16}-{curr:<7} [{cpu:03d}] {flags}{moment:>12}: {event}: {body}\n"
        yield line.encode("utf-8", "backslashreplace")


_FLAGS = {1: "d.h1. ", 0: "d..2. ", -1: ""}
# by column: 0 pid, 1 name, 2 prio, 3 state, 4 next_pid, 5 next_name, 6 next_prio, 7 target_cpu, 8 value
_WAKE = "comm={1} pid={0} prio={2} target_cpu={7:03d}"
_BODIES = {
    "sched_switch": (
        "prev_comm={1} prev_pid={0} prev_prio={2} prev_state={3} ==> next_comm={5} next_pid={4} next_prio={6}"
    ),
    "sched_waking": _WAKE,
    "sched_wakeup": _WAKE,
    "sched_wakeup_new": _WAKE,
    "sched_migrate_task": "comm={1} pid={0} prio={2} orig_cpu={8} dest_cpu={7}",
    "sched_stat_runtime": "comm={1} pid={0} runtime={8} [ns]",
    "sched_process_fork": "comm={1} pid={0} child_comm={5} child_pid={4}",
    "sched_process_exit": "comm={1} pid={0} prio={2}",
    "hrtimer_expire_entry": "hrtimer={1} function={5} now={8}",
    "tracing_mark_write": "C|{0}|{1}|{8}",
}
