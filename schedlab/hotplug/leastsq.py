"""Two small least-squares solvers, so that the fits need numpy alone."""

from itertools import combinations

import numpy as np


def non_negative(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return x >= 0 with the least |matrix x - target|, by trying every set of columns (a handful of columns).

    Examples
    --------
    >>> non_negative(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([2.0, -1.0])).tolist()
    [2.0, 0.0]
    """
    best, least = np.zeros(matrix.shape[1]), float(target @ target)
    columns = range(matrix.shape[1])
    for chosen in (c for size in range(1, len(columns) + 1) for c in combinations(columns, size)):
        found = np.linalg.lstsq(matrix[:, chosen], target, rcond=None)[0]
        error = matrix[:, chosen] @ found - target
        if (found >= 0).all() and error @ error < least:
            best, least = np.zeros(matrix.shape[1]), float(error @ error)
            best[list(chosen)] = found
    return best


def levenberg_marquardt(residuals, start: np.ndarray, steps: int = 500) -> np.ndarray:
    """Return the parameters with the least sum of squares near `start`; derivatives are differences.

    Parameters
    ----------
    residuals : callable
        From parameters to residuals, both 1-d arrays.
    start : numpy.ndarray
        All non-zero: each parameter is varied in proportion to itself.
    steps : int

    Examples
    --------
    >>> round(float(levenberg_marquardt(lambda x: x * x - 2.0, np.array([1.0]))[0]), 9)
    1.414213562
    """
    here, damping = np.array(start, dtype=float), 1e-3
    error = residuals(here)
    for _ in range(steps):
        slope = _slope(residuals, here)
        normal = slope.T @ slope
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-300), -slope.T @ error)
        there = residuals(here + step)
        if there @ there < error @ error:
            done = np.abs(step).max() <= 1e-12 * np.abs(here).max()
            here, error, damping = here + step, there, damping / 5
            if done:
                break
        else:
            damping *= 5
            if damping > 1e12:
                break
    return here


def _slope(residuals, here):
    columns = []
    for k, value in enumerate(here):
        step = np.zeros_like(here)
        step[k] = 1e-6 * abs(value)
        columns.append((residuals(here + step) - residuals(here - step)) / (2 * step[k]))
    return np.stack(columns, axis=1)
