"""The figures of the study of hotplug."""

from .growth import plot_growth, plot_irq_off, plot_partitions
from .ladder import plot_waterfall
from .latency import plot_latency
from .operations import plot_operations, plot_visits
from .outlook import plot_both_series, plot_held_out, plot_sizes

__all__ = [
    "plot_both_series",
    "plot_growth",
    "plot_held_out",
    "plot_irq_off",
    "plot_latency",
    "plot_operations",
    "plot_partitions",
    "plot_sizes",
    "plot_visits",
    "plot_waterfall",
]
