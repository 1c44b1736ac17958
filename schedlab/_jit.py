"""The one place that sets numba's options.

numba keys its cache on the content of the file that defines a function, not on what that function calls: after an edit of
a callee in another file the caller keeps running old machine code. The compiled entry points are therefore cached under a
digest of all of schedlab's sources (and the numba version), taken before the first function is decorated.
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


def sources_digest() -> str:
    """SHA-256 over every Python source of the package, the numba version and the debug switch."""
    root = pathlib.Path(__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {DEBUG}".encode())
    for path in sorted(root.rglob("*.py")):
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
