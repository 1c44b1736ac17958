"""The picture of the page `explore`: laid out once as a scene, drawn as SVG on screen and by matplotlib on paper."""

import importlib

_HOMES = {"Shown": "layout", "lay_out": "layout", "to_svg": "screen", "plot_scene": "paper", "html_cpu_stat": "stat"}

__all__ = list(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
