"""How the nouns refuse a wrong value: one line that names the field, the value, the rule and the way out."""

import difflib
import math
import operator
from collections.abc import Iterable


def wrong(field: str, value: object, rule: str) -> ValueError:
    """Return the ValueError ``field=value: rule`` with long values cut short."""
    text = repr(value)
    if len(text) > 80:
        text = text[:77] + "..."
    return ValueError(f"{field}={text}: {rule}")


def whole(field: str, value: object, low: int | None = None, high: int | None = None, note: str = "") -> int:
    """Return `value` as an int within [low, high]; `note` adds to the rule, for example the bound in another unit."""
    if isinstance(value, bool):
        raise wrong(field, value, "a whole number, not a truth value")
    try:
        number = operator.index(value)
    except TypeError:
        # 1e5 is how many people write 100000, so a float that is whole is as good as an int
        if not isinstance(value, float) or not value.is_integer():
            raise wrong(field, value, "a whole number is needed") from None
        number = int(value)
    _within(field, value, number, low, high, note)
    return number


def real(field: str, value: object, low: float | None = None, high: float | None = None, note: str = "") -> float:
    """Return `value` as a finite float within [low, high]."""
    if isinstance(value, (bool, str)):
        raise wrong(field, value, "a number is needed")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise wrong(field, value, "a number is needed") from None
    if not math.isfinite(number):
        raise wrong(field, value, "must be finite")
    _within(field, value, number, low, high, note)
    return number


def _within(field, value, number, low, high, note):
    extra = f" ({note})" if note else ""
    if low is not None and number < low:
        # a note is about the upper bound where there is one
        upper = f", at most {high}" if extra and high is not None else ""
        raise wrong(field, value, f"at least {low}{upper}{extra}")
    if high is not None and number > high:
        raise wrong(field, value, f"at most {high}{extra}")


def cpu_numbers(field: str, cpus: object) -> tuple[int, ...]:
    """Return a non-empty set of CPU numbers as a sorted tuple; one int stands for itself."""
    if not isinstance(cpus, Iterable):
        return (whole(field, cpus, 0),)
    if isinstance(cpus, str):
        raise wrong(field, cpus, "a sequence of CPU numbers, such as (0, 1) or range(4)")
    numbers = tuple(sorted(whole(field, cpu, 0) for cpu in cpus))
    if not numbers:
        raise wrong(field, cpus, "at least one CPU; leave it None for all of them")
    if len(set(numbers)) < len(numbers):
        raise wrong(field, numbers, "each CPU once")
    return numbers


def text(field: str, value: object) -> str:
    """Return `value` if it is a non-empty string."""
    if not isinstance(value, str) or not value:
        raise wrong(field, value, "a non-empty name is needed")
    return value


def choice(field: str, value: object, choices: Iterable) -> None:
    """Raise unless `value` is one of `choices`; the nearest is offered."""
    choices = list(choices)
    if value not in choices:
        known = ", ".join(str(c) for c in choices)
        raise wrong(field, value, f"one of {known}{nearest(value, choices)}")


def nearest(name: object, names: Iterable) -> str:
    """Return ``"; did you mean 'x'?"`` for the name most like `name`, or nothing when none is like it."""
    if not isinstance(name, str):
        return ""
    close = difflib.get_close_matches(name, [n for n in names if isinstance(n, str)], n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def noun(field: str, value: object, kind: type, example: str) -> None:
    """Raise unless `value` is of that kind of noun; `example` says how to make one."""
    if not isinstance(value, kind):
        raise wrong(field, value, f"a {kind.__name__}, such as {example}")


def sequence(field: str, value: object, of: str) -> tuple:
    """Return the items of a sequence that is no text."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise wrong(field, value, f"a sequence of {of}")
    return tuple(value)
