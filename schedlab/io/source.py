"""Files as the readers take them: plain, gzip or zstd, in chunks of whole lines; and the error for a bad one."""

import gzip
import zlib
from pathlib import Path

#: Lines longer than this are no trace text (the kernel's text of one event is at most a page of 4096 bytes).
LONGEST_LINE = 1 << 16
_CHUNK = 1 << 21
_MAGIC = (
    (b"PERFILE2", "data of `perf record`; write it out with `perf sched script`"),
    (b"\x17\x08\x44tracing", "a file of `trace-cmd record`; write it out with `trace-cmd report`"),
    (b"\x7fELF", "a program"),
)


class BadFile(ValueError):
    """A file that cannot be read, in one line: ``<file>[:<line>]: <reason>``."""

    def __init__(self, path, reason: str, line: int | None = None):
        place = _shown(path) if line is None else f"{_shown(path)}:{line}"
        super().__init__(f"{place}: {reason}")


def _shown(path) -> str:
    """Return a file's name without what would break a line of a terminal."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in str(path))


def excerpt(line: bytes, length: int = 60) -> str:
    """Return the beginning of a line as printable text, for an error or a report."""
    text = line[:length].decode("utf-8", "backslashreplace")
    return repr(text)[1:-1] + ("..." if len(line) > length else "")


def chunks(path, notes: list | None = None):
    """Yield a text file's bytes in chunks of whole lines; the last one may end without a newline.

    Parameters
    ----------
    path : str or Path
        Plain text, or compressed by gzip or zstd (told by its first bytes, not by its name).
    notes : list, optional
        Gets a text when a compressed file ends early; without it that is an error.

    Raises
    ------
    BadFile
        When it is missing, empty, binary, damaged, or has a line of more than 64 KiB.
    """
    path = Path(path)
    rest, line, seen = b"", 1, 0
    for block in _blocks(path, notes):
        if not seen:
            _check_magic(path, block)
        nul = block.find(b"\0")
        if nul >= 0:
            raise BadFile(path, f"binary data (a zero byte at {seen + nul}); text is needed")
        seen += len(block)
        whole, newline, tail = block.rpartition(b"\n")
        if newline:
            whole = rest + whole + newline
            _check_lines(path, whole, line)
            line += whole.count(b"\n")
            rest = tail
            yield whole
        else:
            rest += tail
        if len(rest) > LONGEST_LINE:
            raise BadFile(path, f"a line of more than {LONGEST_LINE} bytes; not the text of a trace", line)
    if not seen:
        raise BadFile(path, "the file is empty")
    if rest:
        yield rest


def read_text(path, limit: int = 1 << 26) -> str:
    """Return a whole UTF-8 text file of at most `limit` bytes (64 MiB).

    Raises
    ------
    BadFile
        When it is missing, empty, binary, too large or not UTF-8.
    """
    parts, size = [], 0
    for block in _blocks(Path(path), None):
        size += len(block)
        if size > limit:
            raise BadFile(path, f"more than {limit} bytes")
        parts.append(block)
    data = b"".join(parts)
    if not data.strip():
        raise BadFile(path, "the file is empty")
    if b"\0" in data:
        raise BadFile(path, f"binary data (a zero byte at {data.index(0)}); text is needed")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile(path, f"not UTF-8 (byte {error.start})", line) from None


def _check_magic(path, block):
    for magic, what in _MAGIC:
        if block.startswith(magic):
            raise BadFile(path, f"binary: {what}")


def _check_lines(path, block, line):
    # a chunk without long lines, the rule, is told by looking for a newline every 64 KiB
    start = 0
    while len(block) - start > LONGEST_LINE:
        end = block.rfind(b"\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            line += block.count(b"\n", 0, start)
            raise BadFile(path, f"a line of more than {LONGEST_LINE} bytes; not the text of a trace", line)
        start = end + 1


def _blocks(path: Path, notes):
    read = 0
    try:
        with open(path, "rb") as plain:
            head = plain.read(8)
            plain.seek(0)
            with _opened(plain, head) as file:
                # read1 gives what there is of a compressed file that ends early
                read_some = getattr(file, "read1", file.read)
                while block := read_some(_CHUNK):
                    read += len(block)
                    yield bytes(block)
    except EOFError:
        if notes is None:
            raise BadFile(path, f"the compressed file ends early, after {read} bytes of text") from None
        notes.append(f"the compressed file ends early, after {read} bytes of text")
    except (zlib.error, gzip.BadGzipFile) as error:
        raise BadFile(path, f"damaged gzip data after {read} bytes of text ({error})") from None
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())
        raise BadFile(path, f"{reason[:1].lower()}{reason[1:]}") from None


def _opened(plain, head):
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=plain)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        import pyarrow

        return pyarrow.CompressedInputStream(pyarrow.PythonFile(plain, mode="r"), "zstd")
    return plain
