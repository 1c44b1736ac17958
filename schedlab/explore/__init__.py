"""Explore: a small scenario under your hands. `Scenario` says it, `View` is what it leaves, `Page` has the controls.

Nothing but `Page` needs widgets.
"""

import importlib
import sys
import types

_HOMES = {
    "Scenario": "scenario",
    "GroupSettings": "scenario",
    "Tables": "tables",
    "View": "view",
    "Page": "page",
    "show": "page",
    "export": "export",
}

__all__ = list(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


class _Package(types.ModuleType):
    """The package itself: importing the module ``export`` does not hide the function of that name."""

    def __setattr__(self, name, value):
        if isinstance(value, types.ModuleType) and name in _HOMES:
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
