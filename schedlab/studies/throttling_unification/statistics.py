"""Student's t without a library of statistics: intervals, Welch's test, and how many runs a difference needs."""

import math
from functools import lru_cache

import numpy as np

#: Confidence of intervals, and the level and power of the power analysis.
CONFIDENCE, LEVEL, POWER = 0.95, 0.05, 0.80
#: Points of the numerical integrals.
_POINTS = 4001
#: More runs than these are "no difference that runs could show".
MOST_RUNS = 100_000


def t_tail(t: float, df: float) -> float:
    """Return the probability that Student's t with `df` degrees of freedom lies beyond `t` on either side.

    Examples
    --------
    >>> round(t_tail(2.2281388520, 10), 6)
    0.05
    """
    # t = sqrt(df) * tan(angle) turns the density into cos(angle) ** (df - 1)
    end = math.atan(abs(t) / math.sqrt(df))
    angles = np.linspace(0, end, _POINTS)
    inside = np.trapezoid(np.cos(angles) ** (df - 1), angles)
    scale = 2 * math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    return max(0.0, 1 - scale * float(inside))


@lru_cache(maxsize=64)  # a bisection over an integral
def t_quantile(tail: float, df: float) -> float:
    """Return the t beyond which, on both sides together, `tail` of the probability lies.

    Examples
    --------
    >>> round(t_quantile(0.05, 10), 4)
    2.2281
    """
    low, high = 0.0, 1.0
    while t_tail(high, df) > tail:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, df) > tail else (low, middle)
    return (low + high) / 2


def mean_interval(values, many: int = 1) -> tuple[float, float, float]:
    """Return the mean and its 95 % confidence interval over runs (Student's t).

    Parameters
    ----------
    values : array of float
        One a run.
    many : int
        The interval holds for so many questions at once (Bonferroni).

    Examples
    --------
    >>> [round(x, 3) for x in mean_interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    values = np.asarray(values, float)
    mean, n = values.mean(), len(values)
    reach = 0.0
    if values.std() > 0:
        reach = t_quantile((1 - CONFIDENCE) / many, n - 1) * values.std(ddof=1) / math.sqrt(n)
    return float(mean), float(mean - reach), float(mean + reach)


def welch(difference: float, sd_a: float, n_a: int, sd_b: float, n_b: int) -> dict:
    """Return Welch's test of a difference of two means.

    Returns
    -------
    dict
        difference, low, high (95 % confidence interval), t, df, p (two-sided). Units are those of the arguments.

    Examples
    --------
    >>> found = welch(1.0, 1.0, 10, 1.0, 10)
    >>> round(found["t"], 3), round(found["df"], 1), round(found["p"], 3)
    (2.236, 18.0, 0.038)
    """
    parts = sd_a**2 / n_a, sd_b**2 / n_b
    error = math.sqrt(sum(parts))
    if error == 0:
        return {
            "difference": difference,
            "low": difference,
            "high": difference,
            "t": math.inf,
            "df": math.inf,
            "p": 0.0,
        }
    df = sum(parts) ** 2 / (parts[0] ** 2 / (n_a - 1) + parts[1] ** 2 / (n_b - 1))
    reach = t_quantile(1 - CONFIDENCE, df) * error
    t = difference / error
    return {
        "difference": difference, "low": difference - reach, "high": difference + reach, "t": t, "df": df,
        "p": t_tail(t, df),
    }  # fmt: skip


def power_of(difference: float, sd_a: float, sd_b: float, n: int) -> float:
    """Return the chance that Welch's test with `n` runs a side finds a true difference, two-sided at 5 %.

    Examples
    --------
    >>> round(power_of(1.0, 1.0, 1.0, 17), 2)
    0.81
    """
    parts = sd_a**2 / n, sd_b**2 / n
    df = sum(parts) ** 2 / (sum(part**2 for part in parts) / (n - 1))
    shift, limit = abs(difference) / math.sqrt(sum(parts)), t_quantile(LEVEL, df)
    # non-central t: a normal over the root s of a chi-square over its degrees of freedom
    s = np.linspace(1e-9, 1 + 12 / math.sqrt(2 * df), _POINTS)
    density = np.exp(
        math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2) + (df - 1) * np.log(s) - df * s**2 / 2
    )
    beyond = _normal(shift - limit * s) + _normal(-shift - limit * s)
    return float(np.trapezoid(density * beyond, s))


def _normal(x):
    return 0.5 * np.array([math.erfc(-value / math.sqrt(2)) for value in x])


def runs_needed(difference: float, sd_a: float, sd_b: float) -> int | None:
    """Return the fewest runs a side with which Welch's test finds the difference with 80 % power at 5 %.

    None when MOST_RUNS are not enough.

    Examples
    --------
    >>> runs_needed(1.0, 1.0, 1.0)
    17
    """
    if difference == 0 or power_of(difference, sd_a, sd_b, MOST_RUNS) < POWER:
        return None
    low, high = 1, 2
    while power_of(difference, sd_a, sd_b, high) < POWER:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power_of(difference, sd_a, sd_b, middle) < POWER else (low, middle)
    return high


def fewest_runs(low: float, median: float, mean: float, high: float, digits: int = 2) -> int:
    """Return the smallest number of runs, 3 or more, that can have this minimum, median, mean and maximum.

    Parameters
    ----------
    low, median, mean, high : float
    digits : int
        Decimal places to which each was rounded.

    Raises
    ------
    ValueError
        When no number below 1000 does.

    Examples
    --------
    >>> fewest_runs(1, 2, 2, 3), fewest_runs(0, 1, 1.5, 9)
    (3, 9)
    """
    slack = 10**-digits  # half a unit for the mean, and as much for what it is computed from
    for n in range(3, 1000):
        middle, rest = (1, (n - 3) // 2) if n % 2 else (2, (n - 4) // 2)
        fixed = low + middle * median + high
        # `rest` more runs lie between minimum and median, and as many between median and maximum
        least, most = fixed + rest * (low + median), fixed + rest * (median + high)
        if least / n - slack <= mean <= most / n + slack:
            return n
    raise ValueError(f"median={median}: no number of runs has these four")
