"""The one place that sets numba's options.

numba keys its cache on the content of the file that defines a function, not on what that function calls: after an edit of
a callee in another file the caller keeps running old machine code. The compiled entry points are therefore cached under a
digest of all sources that compiled code can reach (and the numba version), taken before the first function is decorated.
Compiled code reaches this file and the rooms in `COMPILED_ROOMS` alone: a test holds them to that.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import sys
import tempfile

import numba

#: numba releases that the State extension (engine/state.py) was tested with.
TESTED_NUMBA = ("0.68",)

#: Bounds-checked field access in the engine: set SCHEDLAB_DEBUG=1 before the first import.
DEBUG = os.environ.get("SCHEDLAB_DEBUG") == "1"

_KEEP = 4  # cache folders of other digests that are kept, newest first


#: Folders of the package whose functions are compiled; they import nothing of schedlab but each other and this file.
COMPILED_ROOMS = ("engine", "hotplug")


def sources_digest() -> str:
    """SHA-256 over every source that compiled code can reach, the numba version and the debug switch."""
    root = pathlib.Path(__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {DEBUG}".encode())
    paths = [root / "_jit.py", *(path for room in COMPILED_ROOMS for path in (root / room).rglob("*.py"))]
    for path in sorted(paths):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _cache_base() -> pathlib.Path:
    named = os.environ.get("SCHEDLAB_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return pathlib.Path(named) / "schedlab"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    base = pathlib.Path(home) / "schedlab" / "numba"
    try:
        base.mkdir(parents=True, exist_ok=True)
        return base
    except OSError:  # a read-only home: compile into a temporary folder
        return pathlib.Path(tempfile.gettempdir()) / f"schedlab-{os.getuid()}" / "numba"


def _cache_dir() -> str:
    base = _cache_base()
    mine = base / sources_digest()[:16]
    mine.mkdir(parents=True, exist_ok=True)
    os.utime(mine)
    others = sorted((p for p in base.iterdir() if p.is_dir() and p != mine), key=lambda p: -p.stat().st_mtime)
    for old in others[_KEEP:]:
        shutil.rmtree(old, ignore_errors=True)
    return str(mine)


def internal(function):
    """Compile a function that only compiled code calls: no wrappers, no cache of its own."""
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


def entry(function):
    """Compile a function that Python calls: cached on disk under the digest of all sources, and without the GIL."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _cache_dir()
    try:
        return numba.njit(cache=True, nogil=True)(function)
    finally:
        numba.config.CACHE_DIR = before
