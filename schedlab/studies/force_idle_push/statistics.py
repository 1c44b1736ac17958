"""Intervals over runs: Student's t, 95 %; ratios of means on their logarithms."""

import math

import numpy as np

from ..throttling_unification.statistics import mean_interval, welch


def ratio_interval(values, base) -> tuple[float, float, float]:
    """Return the ratio of two means and its 95 % interval.

    The logarithm of each mean has about the relative error of the mean (delta method); degrees of freedom are Welch's.

    Examples
    --------
    >>> [round(x, 2) for x in ratio_interval([1.0, 1.2, 1.1], [2.0, 2.2, 2.4])]
    [0.5, 0.41, 0.61]
    """
    a, b = np.asarray(values, float), np.asarray(base, float)
    difference = math.log(a.mean() / b.mean())
    sds = a.std(ddof=1) / a.mean(), b.std(ddof=1) / b.mean()
    found = welch(difference, sds[0], len(a), sds[1], len(b))
    return math.exp(difference), math.exp(found["low"]), math.exp(found["high"])


def apart(a, b) -> bool:
    """Return whether the 95 % intervals of two means do not overlap."""
    _, low_a, high_a = mean_interval(a)
    _, low_b, high_b = mean_interval(b)
    return high_a < low_b or high_b < low_a


def relative_sd(values) -> float:
    """Return the standard deviation of runs over their mean."""
    values = np.asarray(values, float)
    return float(values.std(ddof=1) / values.mean())
