"""What made this: parameters, seed, digests of code and data, versions. Every saved result and report carries it."""

import functools
import hashlib
import platform
from importlib import metadata
from pathlib import Path

from . import __version__, _resources

# What the numbers and the pictures can depend on.
_PACKAGES = ("numpy", "numba", "llvmlite", "pandas", "matplotlib", "seaborn", "papermill", "nbconvert")


def file_digest(path: Path) -> str:
    """Return the sha256 of one file, in hex."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _tree_digest(top: Path, skip: tuple[str, ...] = ()) -> str:
    """Return one sha256 over the names and contents of the files under ``top``, the same in a checkout and a wheel."""
    total = hashlib.sha256()
    for path in sorted(top.rglob("*"), key=lambda p: p.relative_to(top).as_posix()):
        parts = path.relative_to(top).parts
        hidden = any(part.startswith(".") or part in ("__pycache__", *skip) for part in parts)
        if hidden or path.suffix == ".pyc" or not path.is_file():
            continue
        total.update(f"{'/'.join(parts)}\0{file_digest(path)}\n".encode())
    return total.hexdigest()


@functools.cache
def code_digest() -> str:
    """Return the sha256 over schedlab's sources and the tables that ship beside them (hex)."""
    return _tree_digest(Path(__file__).resolve().parent, skip=("_data", "_notebooks"))


@functools.cache
def data_digest() -> str:
    """Return the sha256 over data/: machines, published numbers, recordings (hex)."""
    return _tree_digest(_resources.data_path())


@functools.cache
def _versions() -> tuple[tuple[str, str], ...]:
    found = [("schedlab", __version__), ("python", platform.python_version())]
    for name in _PACKAGES:
        try:
            found.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    return tuple(found)


def versions() -> dict[str, str]:
    """Return the versions of Python, schedlab and the packages that results can depend on."""
    return dict(_versions())


def identity() -> dict[str, str]:
    """Return what two processes must have in common to compute the same bytes: code, data and versions."""
    return {"code": code_digest(), "data": data_digest(), **versions()}


def difference(here: dict[str, str], there: dict[str, str]) -> str:
    """Return in words the first thing in which the identity of another process differs.

    Examples
    --------
    >>> difference({"code": "a", "numpy": "2.4.6"}, {"code": "a", "numpy": "2.4.5"})
    'has numpy 2.4.5, not 2.4.6 as here: install the same there (constraints.txt)'
    """
    for name, mine in here.items():
        theirs = there.get(name, "none")
        if theirs == mine:
            continue
        if name in ("code", "data"):
            return f"has other {name} of schedlab ({theirs[:12]}, not {mine[:12]} as here): install the same there"
        return f"has {name} {theirs}, not {mine} as here: install the same there (constraints.txt)"
    return f"has also {', '.join(there.keys() - here.keys())}"


def provenance(parameters: dict | None = None, seed: int | None = None) -> dict:
    """Return what made a result, ready for JSON.

    Parameters
    ----------
    parameters
        What was asked for: plain values that JSON can hold.
    seed
        The seed of the random numbers; None where nothing is random.

    Returns
    -------
    dict
        Keys ``schema``, ``parameters``, ``seed``, ``code_digest``, ``data_digest``, ``versions``.
    """
    return {
        "schema": 1,
        "parameters": dict(parameters or {}),
        "seed": seed,
        "code_digest": code_digest(),
        "data_digest": data_digest(),
        "versions": versions(),
    }
