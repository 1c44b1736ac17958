"""What a finished point is known by: its content, its seed, what is kept of it, and the code that computed it."""

from __future__ import annotations

import functools
import hashlib
import json
import types

import numpy as np

from .. import provenance
from .._check import wrong
from ..serial import to_json

#: Packages whose numbers the engine's depend on.
_ENGINE = ("numpy", "numba", "llvmlite")


def digest(value) -> str:
    """Return the SHA-256 of plain lists, dicts, numbers and texts (hex); different ones have different digests."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def code() -> str:
    """Return the digest of all code that computes a point: schedlab's, numpy's and numba's."""
    found = provenance.versions()
    return digest([provenance.code_digest(), *(found.get(name) for name in _ENGINE)])


def key(code: str, reduce: str, content: str, seed: int) -> str:
    """Return the key of one point and seed."""
    return digest([code, reduce, content, int(seed)])


class Contents:
    """Digests of scenarios. Most points of a sweep share a noun or two, so each is looked at once."""

    def __init__(self):
        self._known = {}

    def digest(self, machine, kernel, workload, duration_ns: int, options: dict) -> str:
        """Return the digest of all that a run depends on but its seed."""
        nouns = [self._of(noun) for noun in (machine, kernel, workload)]
        return digest([*nouns, duration_ns, to_json(options)])

    def _of(self, noun) -> str:
        known = self._known.get(id(noun))
        if known is None:
            if len(self._known) >= 64:
                self._known.clear()
            # the noun is kept as well, so that its id is not given to another
            known = self._known[id(noun)] = noun, digest(to_json(noun))
        return known[1]


# ---- functions -------------------------------------------------------------------------------------------------------


def fingerprint(function) -> str:
    """Return the digest of what a function does: its code, its defaults, and the names outside it that it uses.

    Functions of schedlab are known by name, since the code's digest covers them; those of other packages too. What a
    function of the same module or notebook calls is looked at in turn.

    Raises
    ------
    ValueError
        When it holds on to something whose content cannot be told.
    """
    return digest(_function(function, {}))


def _function(function, seen: dict):
    if isinstance(function, functools.partial):
        rest = [_plain(function, v, seen) for v in (function.args, dict(function.keywords))]
        return ["partial", _function(function.func, seen), *rest]
    module = getattr(function, "__module__", None)
    if module and module.partition(".")[0] == "schedlab" and hasattr(function, "__qualname__"):
        return ["name", module, function.__qualname__]
    if not isinstance(function, types.FunctionType):
        if isinstance(function, type | types.BuiltinFunctionType):
            return ["name", str(module), function.__qualname__]
        raise wrong("reduce", function, "with a store, a plain function or a partial of one")
    if function in seen:
        return ["again", seen[function]]
    seen[function] = len(seen)
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    outside = {
        "closure": {name: cell.cell_contents for name, cell in cells},
        "global": {n: function.__globals__[n] for n in _names(function.__code__) if n in function.__globals__},
    }
    return [
        "function",
        _code(function.__code__),
        _plain(function, function.__defaults__, seen),
        _plain(function, function.__kwdefaults__, seen),
        {kind: {n: _outside(function, v, seen) for n, v in names.items()} for kind, names in outside.items()},
    ]


def _code(found: types.CodeType):
    constants = [_code(c) if isinstance(c, types.CodeType) else _constant(c) for c in found.co_consts]
    names = [found.co_names, found.co_varnames, found.co_freevars]
    return [found.co_code.hex(), constants, *map(list, names)]


def _names(found: types.CodeType) -> set[str]:
    inner = (_names(c) for c in found.co_consts if isinstance(c, types.CodeType))
    return set(found.co_names).union(*inner)


def _constant(value) -> str:
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(repr, value))})"
    return repr(value)


def _outside(function, value, seen):
    """A name that the function uses and that is defined outside it."""
    if isinstance(value, types.ModuleType):
        return ["module", value.__name__]
    if callable(value):
        other = getattr(value, "__module__", None) != function.__module__
        named = hasattr(value, "__qualname__") and not isinstance(value, functools.partial)
        if other and named:
            return ["name", str(value.__module__), value.__qualname__]
        if isinstance(value, type):
            methods = {name: v for name, v in vars(value).items() if isinstance(v, types.FunctionType)}
            return ["class", value.__qualname__, {name: _function(v, seen) for name, v in methods.items()}]
        return _function(value, seen)
    return _plain(function, value, seen)


def _plain(function, value, seen):
    """A value as lists and texts, each with its type, so that 1, 1.0, True and "1" stay apart."""
    kind = type(value).__name__
    if isinstance(value, np.generic):
        return [kind, repr(value.item())]
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return [kind, repr(value)]
    if isinstance(value, tuple | list):
        return [kind, [_plain(function, item, seen) for item in value]]
    if isinstance(value, set | frozenset):
        return [kind, sorted(digest(_plain(function, item, seen)) for item in value)]
    if isinstance(value, dict):
        pairs = [[_plain(function, k, seen), _plain(function, v, seen)] for k, v in value.items()]
        return [kind, sorted(pairs, key=digest)]
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return [kind, str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    if type(value).__module__.partition(".")[0] == "schedlab":
        return [kind, digest(to_json(value))]
    if callable(value):
        return _function(value, seen)
    name = getattr(function, "__name__", "reduce")
    raise wrong("reduce", function, f"{name} holds on to a {kind}, whose content cannot be told: use plain values")
