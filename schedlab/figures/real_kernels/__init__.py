"""Figures of the real kernels: measured points on the model."""

from .cookies import plot_cookies
from .counters import plot_counters, plot_distributions
from .hole import plot_hole
from .periods import plot_intervals, plot_phases
from .rebuild import plot_rebuild

__all__ = [
    "plot_cookies",
    "plot_counters",
    "plot_distributions",
    "plot_hole",
    "plot_intervals",
    "plot_phases",
    "plot_rebuild",
]
