"""The figures of the study of all patches at once."""

from .effects import plot_effects, plot_steps
from .follow import plot_follow
from .interactions import plot_interactions

__all__ = ["plot_effects", "plot_follow", "plot_interactions", "plot_steps"]
