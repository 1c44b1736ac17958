"""The nouns as JSON and back, so that a saved Run says exactly what it was made of. No code is ever loaded."""

from __future__ import annotations

import dataclasses

from . import channels, steps
from .durations import Duration
from .events import EVENTS
from .kernel import Costs, Kernel
from .machine import Machine, Watts
from .workload import Group, Task, Workload

_ROOMS = (*vars(steps).values(), *vars(channels).values())
_STEPS = [cls for cls in _ROOMS if isinstance(cls, type) and issubclass(cls, steps.Step)]
_NOUNS = [Duration, Costs, Kernel, Machine, Watts, Group, Task, Workload, channels.Channel, *EVENTS]
_TYPES = {cls.__name__: cls for cls in (*_NOUNS, *_STEPS)}


def to_json(value):
    """Return a noun (or a part of one) as plain lists, dicts, numbers and texts."""
    if dataclasses.is_dataclass(value):
        fields = {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
        return {"is": type(value).__name__, **fields}
    if isinstance(value, frozenset):
        return {"is": "set", "of": sorted(value)}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return value


def from_json(value):
    """Return what `to_json` was given.

    Raises
    ------
    ValueError
        For a type that is none of the nouns' or a field that it does not have.
    """
    if isinstance(value, list):
        return tuple(from_json(item) for item in value)
    if not isinstance(value, dict):
        return value
    name = value.get("is")
    if name == "set":
        return frozenset(value["of"])
    if name not in _TYPES:
        raise ValueError(f"is={name!r}: one of {', '.join(sorted(_TYPES))}")
    fields = {key: from_json(item) for key, item in value.items() if key != "is"}
    try:
        return _TYPES[name](**fields)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None
