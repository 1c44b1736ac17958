"""The figures of the study of the throttling unification."""

from .hackbench import plot_hackbench, plot_levels
from .hotplug import plot_hotplug
from .overrun import plot_overrun, plot_told
from .steps import plot_steps
from .unthrottle import plot_irqoff

__all__ = [
    "plot_hackbench",
    "plot_hotplug",
    "plot_irqoff",
    "plot_levels",
    "plot_overrun",
    "plot_steps",
    "plot_told",
]
