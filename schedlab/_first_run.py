"""A word before the first run on a host, which compiles the engine: a silent minute or two looks like a hang."""

import sys
from pathlib import Path

_NOTE = "schedlab: compiling the engine, once on this host: a minute or two"
_said = False


def is_compiled() -> bool:
    """Return whether the engine's machine code is in the cache (of some CPU model: another one compiles anew)."""
    from ._jit import _cache_dir

    return any(Path(_cache_dir()).rglob("loop.run_until-*.nbi"))


def tell(always: bool = False) -> None:
    """Say on standard error that the engine is about to be compiled, if it is; once.

    Parameters
    ----------
    always : bool
        Also where standard error is no terminal: for the command line. Notebooks keep what is printed, and a report is
        the same bytes whether it compiled or not.
    """
    global _said
    if _said or not (always or sys.stderr.isatty()):
        return
    _said = True
    if not is_compiled():
        print(_NOTE, file=sys.stderr, flush=True)
