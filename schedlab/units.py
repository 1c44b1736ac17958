"""Time: int64 nanoseconds inside, and the ways to write them down."""

import math
import operator
import re
from decimal import Decimal
from fractions import Fraction

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000

_UNITS = {"ns": 1, "us": NS_PER_US, "µs": NS_PER_US, "μs": NS_PER_US, "ms": NS_PER_MS, "s": NS_PER_S}
_DURATION = re.compile(r"\s*([+-]?\d+(?:_\d+)*(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*(ns|us|µs|μs|ms|s)\s*")


def _scaled(unit: str, value, factor: int) -> int:
    if isinstance(value, (bool, str)):
        raise ValueError(f"{unit}({value!r}): a number is needed")
    try:
        return operator.index(value) * factor
    except TypeError:
        pass
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{unit}({value!r}): a number is needed") from None
    if not math.isfinite(number):
        raise ValueError(f"{unit}({value!r}): must be finite")
    # a Fraction holds the float exactly, so the one rounding is the last step
    return round(Fraction(number) * factor)


def us(value) -> int:
    """Return microseconds as whole nanoseconds.

    Parameters
    ----------
    value : int or float
        Microseconds, finite. A float is rounded once, to the nearest ns.

    Raises
    ------
    ValueError
        When the value is no finite number.

    Examples
    --------
    >>> us(2.5)
    2500
    """
    return _scaled("us", value, NS_PER_US)


def ms(value) -> int:
    """Return milliseconds as whole nanoseconds, rounded as `us` does.

    Examples
    --------
    >>> ms(100)
    100000000
    """
    return _scaled("ms", value, NS_PER_MS)


def s(value) -> int:
    """Return seconds as whole nanoseconds, rounded as `us` does.

    Examples
    --------
    >>> s(27.6)
    27600000000
    """
    return _scaled("s", value, NS_PER_S)


def to_ns(value) -> int:
    """Return a time as int nanoseconds, from nanoseconds or from text with a unit.

    Parameters
    ----------
    value : int or str
        Whole nanoseconds, or a number followed by ``ns``, ``us``, ``ms`` or ``s`` such as ``"150ms"``.

    Raises
    ------
    ValueError
        When the value is a float (which unit?), text without a unit, or not a whole number of ns.

    Examples
    --------
    >>> to_ns("150ms"), to_ns("0.5us"), to_ns(20)
    (150000000, 500, 20)
    """
    if isinstance(value, str):
        match = _DURATION.fullmatch(value)
        if not match:
            raise ValueError(f"{value!r}: a time is a number and a unit (ns, us, ms, s), such as '150ms'")
        scaled = Decimal(match[1].replace("_", "")) * _UNITS[match[2]]
        if scaled != scaled.to_integral_value():
            raise ValueError(f"{value!r}: not a whole number of nanoseconds")
        return int(scaled)
    if isinstance(value, bool):
        raise ValueError(f"{value!r}: a time is whole nanoseconds or text such as '150ms'")
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{value!r}: a time is whole nanoseconds or text such as '150ms'") from None
