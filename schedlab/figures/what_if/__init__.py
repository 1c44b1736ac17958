"""Figures of what-if: combinations, the curve over quotas, and the host as it was. The demand stands on each."""

from .combinations import plot_combinations
from .curve import plot_curve
from .replay import plot_replay

__all__ = ["plot_combinations", "plot_curve", "plot_replay"]
