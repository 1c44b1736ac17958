"""Text of `perf sched script` and `perf script`."""

import re
from pathlib import Path

from .events_text import Reader
from .trace import Trace

# "  Web Content  1234/1240 [001]   123.456789: sched:sched_switch: ..."; the process number, a count and the prefix may
# be missing.
_HEAD = re.compile(
    rb"^.{0,80}?\s(?:-?\d{1,9}/)?(\d{1,9}) +\[(\d{1,5})\]( +\S{4,6})?\s+(\d{1,9})\.(\d{6}|\d{9}):\s+(?:\d+\s+)?"
    rb"(?:sched:|timer:|ftrace:)?([^\s:]+(?::[^\s:]+)*):\s*(.*)$",
    re.S,
)
# comments, and the call chains below an event
_SKIP = re.compile(rb"^(?:#|\s+[0-9a-f]{4,16} )")


def read(path, need=("sched_switch",)) -> Trace:
    """Return the events that perf printed.

    Parameters
    ----------
    path : str or Path
        Output of `perf sched script` or `perf script` (with the CPU, as is the default); also as gzip or zstd.
    need : tuple of str
        At least one of these events must be in it.

    Raises
    ------
    ValueError
        One line that names the file, the place and the reason, when it is no such text or lacks what is needed.

    Examples
    --------
    >>> read("sched.txt").window  # doctest: +SKIP
    """
    return Reader(Path(path), _HEAD, _SKIP).read(need)
