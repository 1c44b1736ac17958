"""The figures: one module a notebook. Functions `plot_*` take tables and return a figure; `save_figure` writes it."""

import importlib

# name -> the module that defines it; matplotlib is imported when one of them is used
_HOMES = {"save_figure": "save", "SavedFigure": "save", "styled": "style", "COLOURS": "style"}

__all__ = list(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
