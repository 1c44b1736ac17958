"""The figures: one module a notebook. Functions `plot_*` take tables and return a figure; `save_figure` writes it.

`gantt` and `gantt_both` draw any run that has a log.
"""

from .._lazy import lazy

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

lazy(__name__, _HOMES)
