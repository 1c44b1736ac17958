"""Durations of steps: constant or random, drawn by integer inverse-CDF tables.

A draw takes 64 random bits ``u`` and uses whole numbers alone, so that every machine draws the same. The tables
ship in inverse_cdf.csv, made by `build_tables`, which in turn uses ``decimal`` (correctly rounded everywhere) and
not the platform's math library.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from . import _check
from .units import to_ns

#: Cells of a table; it has one entry more. A table's unit (mean of the exponential, median of the lognormal) is ONE.
CELLS = 4096
ONE_BITS = 20
ONE = 1 << ONE_BITS

#: The sigmas for which a lognormal table ships, as they are written in the table's name.
SIGMAS = ("0.25", "0.5", "1.0", "1.5")
#: Columns of inverse_cdf.csv in order; ``Duration.table`` is an index into them.
TABLES = ("exponential", *(f"lognormal_{sigma}" for sigma in SIGMAS))

_FILE = Path(__file__).with_name("inverse_cdf.csv")
_LARGEST_NS = 1 << 62


@dataclass(frozen=True)
class Duration:
    """How long a step takes. Made by `constant`, `exponential`, `uniform` and `lognormal`.

    Attributes
    ----------
    kind : {"constant", "uniform", "table"}
    low_ns : int
        The constant, the lower bound, or the unit of the table (mean or median).
    high_ns : int
        The upper bound of a uniform one (itself included); low_ns otherwise.
    table : int
        Index into TABLES; -1 when there is none.

    Examples
    --------
    >>> uniform("1ms", "2ms").draw(1 << 63)
    1500000
    """

    kind: Literal["constant", "uniform", "table"]
    low_ns: int
    high_ns: int
    table: int = -1

    @property
    def is_random(self) -> bool:
        """Whether a draw uses random bits."""
        return self.kind != "constant"

    @property
    def longest_ns(self) -> int:
        """The longest that it can be, in ns."""
        if self.kind != "table":
            return self.high_ns
        return self.low_ns * int(load_tables()[self.table, -1]) >> ONE_BITS

    def draw(self, u: int) -> int:
        """Return the duration in ns that the 64 random bits `u` give, at least 1 ns unless it is a constant 0.

        This is the rule that the engine follows too: for a table ``i = u >> 52`` is the cell and
        ``f = (u >> 40) & 0xfff`` the place within it; for a uniform one the upper 32 bits choose.
        """
        if self.kind == "constant":
            return self.low_ns
        if self.kind == "uniform":
            return max(1, self.low_ns + ((u >> 32) * (self.high_ns - self.low_ns + 1) >> 32))
        table = load_tables()[self.table]
        cell, place = u >> 52, (u >> 40) & 0xFFF
        left, right = int(table[cell]), int(table[cell + 1])
        value = left + ((right - left) * place >> 12)
        return max(1, self.low_ns * value >> ONE_BITS)


def constant(duration) -> Duration:
    """Return a duration that is always the same.

    Parameters
    ----------
    duration : int or str
        Nanoseconds, or text such as ``"5ms"``; not negative.

    Examples
    --------
    >>> constant("5ms").low_ns
    5000000
    """
    ns = _time("duration", duration)
    return Duration("constant", ns, ns)


def exponential(mean) -> Duration:
    """Return an exponential duration of that mean (int ns or text).

    The longest draw is about ten times the mean: the table is piecewise linear and its last entry is chosen so that
    the mean is exact.

    Examples
    --------
    >>> exponential("1ms").draw(1 << 63)
    693146
    """
    return _from_table("mean", mean, "exponential")


def lognormal(median, sigma) -> Duration:
    """Return a lognormal duration.

    Parameters
    ----------
    median : int or str
        Nanoseconds, or text such as ``"2ms"``.
    sigma : float
        Standard deviation of the logarithm: 0.25, 0.5, 1.0 or 1.5, for which tables ship.

    Examples
    --------
    >>> lognormal("2ms", 0.5).draw(1 << 63)
    2000000
    """
    known = [float(v) for v in SIGMAS]
    _check.choice("sigma", sigma, known)
    return _from_table("median", median, f"lognormal_{SIGMAS[known.index(sigma)]}")


def uniform(low, high) -> Duration:
    """Return a duration that is uniform over the whole ns of [low, high], both included.

    Examples
    --------
    >>> uniform("30ms", "37.5ms").low_ns
    30000000
    """
    low_ns, high_ns = _time("low", low), _time("high", high)
    if high_ns < low_ns:
        raise _check.wrong("high", high, f"at least low={low!r}")
    return Duration("uniform", low_ns, high_ns)


def as_duration(field: str, value) -> Duration:
    """Return int ns, text or a Duration as a Duration; `field` names it in an error."""
    if isinstance(value, Duration):
        return value
    ns = _time(field, value)
    return Duration("constant", ns, ns)


def _time(field: str, value) -> int:
    if isinstance(value, Duration):
        raise _check.wrong(field, value, "a fixed time is needed here, not a random one")
    try:
        ns = to_ns(value)
    except ValueError as error:
        raise ValueError(f"{field}={error}") from None
    if ns < 0:
        raise _check.wrong(field, value, "a duration is not negative")
    if ns > _LARGEST_NS:
        raise _check.wrong(field, value, "more than 146 years")
    return ns


def _from_table(field: str, value, name: str) -> Duration:
    ns = _time(field, value)
    table = TABLES.index(name)
    longest = (1 << 63) // int(load_tables()[table, -1])
    if not 1 <= ns <= longest:
        rule = f"1 ns to {longest} ns, so that the largest draw fits 64 bits"
        raise _check.wrong(field, value, rule)
    return Duration("table", ns, ns, table)


@lru_cache(maxsize=1)
def load_tables() -> np.ndarray:
    """Return the shipped tables, int64 of shape (len(TABLES), 4097), in units of 2**-20, read-only.

    Examples
    --------
    >>> load_tables().shape
    (5, 4097)
    """
    header, *lines = _FILE.read_text(encoding="ascii").splitlines()
    assert tuple(header.split(",")) == TABLES
    tables = np.array([line.split(",") for line in lines], dtype=np.int64).T.copy()
    tables.flags.writeable = False
    return tables


def build_tables() -> str:
    """Return the text of inverse_cdf.csv, computed anew (about 2 s).

    Entry i of a column is the quantile at i/4096, rounded to units of 2**-20. Entry 0 of a lognormal continues the
    line through the quantiles at half a cell and one cell. The last entry, where the quantile is infinite, is the
    number that makes the mean of the piecewise linear table the distribution's mean.

    Examples
    --------
    >>> build_tables() == _FILE.read_text()  # doctest: +SKIP
    True
    """
    with localcontext() as context:
        context.prec = 40
        cells = Decimal(CELLS)
        columns = [_last_entry([-(1 - i / cells).ln() * ONE for i in map(Decimal, range(CELLS))], Decimal(ONE))]
        scores = _normal_quantiles()
        for sigma in map(Decimal, SIGMAS):
            entries = [(sigma * z).exp() * ONE for z in scores]
            # scores[0] is the quantile at half a cell
            entries[0] = max(Decimal(0), 2 * entries[0] - entries[1])
            columns.append(_last_entry(entries, (sigma * sigma / 2).exp() * ONE))
        rows = [",".join(str(int(v.to_integral_value())) for v in row) for row in zip(*columns)]
    return "\n".join([",".join(TABLES), *rows, ""])


def _last_entry(entries: list[Decimal], mean: Decimal) -> list[Decimal]:
    # the mean of a piecewise linear table is the trapezoid sum over its cells
    last = 2 * (CELLS * mean - sum(entries[1:])) - entries[0]
    return [*entries, last]


def _normal_quantiles() -> list[Decimal]:
    """Standard normal quantiles at 1/8192 (in place of 0), 1/4096, ..., 4095/4096, from the middle outwards."""
    root = (2 * Decimal("3.14159265358979323846264338327950288419716939937510")).sqrt()
    upper = [Decimal(0)]
    for i in range(CELLS // 2 + 1, CELLS):
        upper.append(_newton(upper[-1], Decimal(i) / CELLS, root))
    half_cell = _newton(upper[-1], 1 - Decimal(1) / (2 * CELLS), root)
    return [-half_cell, *(-z for z in reversed(upper[1:])), *upper]


def _newton(z: Decimal, target: Decimal, root: Decimal) -> Decimal:
    while True:
        density = (-z * z / 2).exp() / root
        # P(Z < z) - 1/2 = density * (z + z^3/3 + z^5/(3*5) + ...), all of one sign
        term = total = z
        k = 1
        while abs(term) > Decimal("1e-36"):
            k += 2
            term = term * z * z / k
            total += term
        step = (target - Decimal("0.5") - density * total) / density
        z += step
        if abs(step) < Decimal("1e-28"):
            return z
