"""The figures of the study of bandwidth timers."""

from .mechanism import plot_mechanism
from .payoff import plot_payoff
from .schbench import plot_schbench
from .stress import plot_idle_watts, plot_phase_curve, plot_stress

__all__ = [
    "plot_idle_watts",
    "plot_mechanism",
    "plot_payoff",
    "plot_phase_curve",
    "plot_schbench",
    "plot_stress",
]
