"""The figures of the study of the push on force idle."""

from .cost import plot_cost
from .factorial import plot_effects
from .noise import plot_burst, plot_causes, plot_noise
from .schedule import plot_schedules
from .smt_off import plot_smt_off
from .tornado import plot_tornado

__all__ = [
    "plot_burst",
    "plot_causes",
    "plot_cost",
    "plot_effects",
    "plot_noise",
    "plot_schedules",
    "plot_smt_off",
    "plot_tornado",
]
