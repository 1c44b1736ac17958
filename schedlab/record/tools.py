"""The tools that a recording needs, and what is missing of them."""

import os
import shutil
import subprocess
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"


class Missing(ValueError):
    """A recording cannot be made: says what is missing."""


def compiler() -> str | None:
    """Return a C compiler, or None."""
    return next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)


def check_out(out: Path) -> None:
    """Raise Missing unless a file can be written there: told before minutes are spent on a recording."""
    folder = out.absolute().parent
    if out.is_dir():
        raise Missing(f"out={out}: is a directory")
    if not folder.is_dir():
        raise Missing(f"out={out}: no folder {folder}")
    if not os.access(out if out.exists() else folder, os.W_OK):
        raise Missing(f"out={out}: permission denied")


def build(name: str, folder: Path) -> Path:
    """Compile one of the programs statically and return where it is.

    Raises
    ------
    Missing
        Without a compiler or a static C library.
    """
    cc = compiler()
    if cc is None:
        raise Missing(f"program={name}: no C compiler (cc, gcc or clang)")
    out = folder / name
    command = [cc, "-O2", "-static", "-pthread", "-o", str(out), str(PROGRAMS / f"{name}.c"), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"program={name}: {cc} failed: {done.stderr.strip().splitlines()[-1]}")
    return out
