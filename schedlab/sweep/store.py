"""Finished points on disk: JSON lines that are only ever added to, each with a checksum. Nothing in them is code.

A sweep writes a file of its own, ``points-<code>-<number>.jsonl``, so that two sweeps can share a folder. A row is one
write, and a row that a crash cut short is one that is computed again. Files of other code stay and are not read.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from .. import provenance
from .._check import wrong

FORMAT = 1
_MARK = b', "crc32": "'


class Store:
    """A folder with finished points.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    code : str
        Digest of the code that computes: rows of other code are not found.

    Raises
    ------
    ValueError
        When the folder cannot be made or written to.
    """

    def __init__(self, folder, code: str):
        self.folder, self.code, self._file = Path(folder), code, None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise wrong("store", str(folder), f"not a folder to write to: {error.strerror}") from None
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise wrong("store", str(folder), "not a folder to write to")

    def find(self) -> Iterator[tuple[str, dict]]:
        """Yield (key, row) of what is whole, file by file; lines that are not are left out."""
        for path in sorted(self.folder.glob(f"points-{self.code[:16]}-*.jsonl")):
            with path.open("rb") as lines:
                head = _read(next(lines, b""))
                if head is None or head.get("schedlab_sweep") != FORMAT or head.get("code") != self.code:
                    continue
                for line in lines:
                    found = _read(line)
                    if found is not None:
                        yield found["key"], found["row"]

    def add(self, key: str, point: dict, seed: int, row: str) -> None:
        """Write a finished point: `row` is JSON, `point` and `seed` say to a reader which it is."""
        if self._file is None:
            self._file = self._create()
        text = json.dumps({"key": key, "point": point, "seed": seed})
        _write(self._file, f'{text[:-1]}, "row": {row}')

    def _create(self) -> int:
        for number in range(1, 1_000_000):
            path = self.folder / f"points-{self.code[:16]}-{number:04}.jsonl"
            try:
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
            except FileExistsError:
                continue
            head = {"schedlab_sweep": FORMAT, "code": self.code, "code_digest": provenance.code_digest()}
            _write(file, json.dumps(head | {"versions": provenance.versions()})[:-1])
            return file
        raise wrong("store", str(self.folder), "a million files in it: begin another")

    def close(self) -> None:
        """Bring what was written to the disk."""
        if self._file is not None:
            os.fsync(self._file)
            os.close(self._file)
            self._file = None


def _write(file: int, open_object: str) -> None:
    """Add a line, given without its closing brace, in one write."""
    body = open_object.encode()
    line = b'%s%s%08x"}\n' % (body, _MARK, zlib.crc32(body))
    while line:
        line = line[os.write(file, line) :]


def _read(line: bytes) -> dict | None:
    body, mark, check = line.rpartition(_MARK)
    if not mark or check != b'%08x"}\n' % zlib.crc32(body):
        return None
    return json.loads(body + b"}")
