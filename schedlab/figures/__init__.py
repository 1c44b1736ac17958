"""The figures: one module a notebook. Functions `plot_*` take tables and return a figure; `save_figure` writes it.

`gantt` and `gantt_both` draw any run that has a log.
"""

import importlib
import sys
import types

# name -> the module that defines it; matplotlib is imported when one of them is used
_HOMES = {
    "save_figure": "save",
    "SavedFigure": "save",
    "styled": "style",
    "COLOURS": "style",
    "gantt": "gantt",
    "gantt_both": "gantt",
}

__all__ = list(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


class _Package(types.ModuleType):
    """The package itself: importing the module ``gantt`` does not hide the function of that name."""

    def __setattr__(self, name, value):
        if isinstance(value, types.ModuleType) and name in _HOMES:
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
