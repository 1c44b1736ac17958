"""Any trace text: told by its first lines which reader it is for."""

from . import ftrace, perf
from .source import chunks
from .trace import Trace


def read_trace(path) -> Trace:
    """Return the events of a text of ftrace or of perf, whichever it is.

    Raises
    ------
    ValueError
        One line that names the file, the place and the reason.

    Examples
    --------
    >>> read_trace("trace.txt.gz").window  # doctest: +SKIP
    """
    first = next(iter(chunks(path, [])))
    lines = [line for line in first.split(b"\n")[:5000] if line.strip() and not line.startswith(b"#")]
    as_ftrace = sum(ftrace._HEAD.match(line) is not None for line in lines)
    as_perf = sum(perf._HEAD.match(line) is not None for line in lines)
    return (perf if as_perf > as_ftrace else ftrace).read(path)
