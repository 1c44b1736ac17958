"""What is asked: limits of one group, and phases of the period timers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ... import _check
from ...cgroup import MAX_PERIOD_US, MIN_QUOTA_US, check_limit
from ...io.kubernetes import cpu_max
from ...units import NS_PER_US, to_ns

PHASES = ("aligned", "random")
_MILLICORES = re.compile(r"(\d{1,9})m")


@dataclass(frozen=True)
class Limit:
    """cpu.max and cpu.max.burst of a group, in us; quota None for no limit."""

    quota_us: int | None
    period_us: int
    burst_us: int = 0

    def __post_init__(self):
        check_limit(self.quota_us, self.period_us, self.burst_us)

    def __str__(self):
        quota = "no limit" if self.quota_us is None else f"{_ms(self.quota_us)} / {_ms(self.period_us)}"
        return quota + (f", burst {_ms(self.burst_us)}" if self.burst_us else "")

    @property
    def cpus(self) -> float:
        """The quota in CPUs, infinite without one."""
        return float("inf") if self.quota_us is None else self.quota_us / self.period_us


def _ms(us) -> str:
    return f"{us / 1000:g} ms"


@dataclass(frozen=True)
class Question:
    """The combinations that are asked about.

    Attributes
    ----------
    now : Limit
        The group's limit as it was.
    limits : tuple of Limit
        All combinations of quota, period and burst that the kernel takes.
    phases : tuple of str
    skipped : tuple of str
        Combinations that the kernel does not take, and why.
    """

    now: Limit
    limits: tuple[Limit, ...]
    phases: tuple[str, ...]
    skipped: tuple[str, ...] = ()

    @classmethod
    def of(cls, now: Limit, *, quota=None, period=None, burst=None, phase=None, default_phase="random") -> Question:
        """Return the combinations of some values of each; what is not given stays as it was.

        Parameters
        ----------
        now : Limit
        quota : text or sequence of text, optional
            CPU time in each period as in cpu.max, such as "150ms", "max" for no limit, or millicores such as "1500m",
            which are 150 ms of 100 ms and 30 ms of 20 ms.
        period, burst : text or sequence of text, optional
            Such as "100ms"; "0" for no burst.
        phase : {"aligned", "random"} or both, optional
            How the period timers lie to each other; by default as the kernel has them.

        Raises
        ------
        ValueError
            Naming the value and the rule; also when the kernel takes none of the combinations.

        Examples
        --------
        >>> [str(limit) for limit in Question.of(Limit(40_000, 100_000), quota="500m", period="20ms,100ms").limits]
        ['10 ms / 20 ms', '50 ms / 100 ms']
        """
        periods = [_time("period", item, 1000, MAX_PERIOD_US) for item in _items(period)] or [now.period_us]
        bursts = [_time("burst", item, 0, None) for item in _items(burst)] or [now.burst_us]
        quotas = [_quota(item) for item in _items(quota)] or [lambda period_us: now.quota_us]
        phases = tuple(dict.fromkeys(_items(phase))) or (default_phase,)
        for one in phases:
            _check.choice("phase", one, PHASES)
        limits, skipped = [], []
        for period_us in periods:
            for quota_us in (of(period_us) for of in quotas):
                for burst_us in bursts:
                    try:
                        limits.append(Limit(quota_us, period_us, 0 if quota_us is None else burst_us))
                    except ValueError as error:
                        shown = "max" if quota_us is None else _ms(quota_us)
                        skipped.append(f"{shown} / {_ms(period_us)}, burst {_ms(burst_us)}: {error}")
        if not limits:
            raise ValueError(f"the kernel takes none of the combinations: {skipped[0]}")
        return cls(now, tuple(dict.fromkeys(limits)), phases, tuple(dict.fromkeys(skipped)))


def around(now: Limit, nr_cpus: int) -> list[str]:
    """Return quotas around the limit that a group has, or up to all CPUs where it has none.

    Examples
    --------
    >>> around(Limit(50_000, 100_000), 2)
    ['40ms', '45ms', '50ms', '60ms', '70ms', '80ms']
    """
    if now.quota_us is None:
        quotas = [share * nr_cpus * now.period_us for share in (0.1, 0.2, 0.35, 0.5, 0.75, 1)]
    else:
        quotas = [share * now.quota_us for share in (0.8, 0.9, 1, 1.2, 1.4, 1.6)]
    return list(dict.fromkeys(f"{max(MIN_QUOTA_US, round(quota_us)) / 1000:g}ms" for quota_us in quotas))


def parse_limit(text: str) -> Limit:
    """Return a limit written as "quota/period/burst", such as "40ms/100ms" or "max".

    Examples
    --------
    >>> parse_limit("40ms/100ms/20ms")
    Limit(quota_us=40000, period_us=100000, burst_us=20000)
    """
    parts = [part.strip() for part in text.split("/")]
    if not 1 <= len(parts) <= 3:
        raise _check.wrong("was", text, 'quota/period/burst, such as "40ms/100ms" or "max"')
    period_us = _time("period", parts[1], 1000, MAX_PERIOD_US) if len(parts) > 1 else 100_000
    burst_us = _time("burst", parts[2], 0, None) if len(parts) > 2 else 0
    return Limit(_quota(parts[0])(period_us), period_us, burst_us)


def _items(given) -> list[str]:
    """The items of "a,b", of a sequence, or of one value."""
    if given is None:
        return []
    given = given.split(",") if isinstance(given, str) else given
    items = list(given) if isinstance(given, Iterable) else [given]
    return [item.strip() if isinstance(item, str) else item for item in items]


def _quota(item):
    """Return a function period_us -> quota_us."""
    if item == "max":
        return lambda period_us: None
    cores = _MILLICORES.fullmatch(item) if isinstance(item, str) else None
    if cores:
        return lambda period_us: cpu_max(int(cores[1]), period_us)[0]
    us = _time("quota", item, MIN_QUOTA_US, None)
    return lambda period_us: us


def _time(field, item, low_us, high_us) -> int:
    try:
        ns = 0 if item == "0" else to_ns(item)
    except ValueError as error:
        raise ValueError(f"{field}={error}") from None
    if ns % NS_PER_US:
        raise _check.wrong(field, item, "whole us")
    us = ns // NS_PER_US
    if us < low_us or (high_us is not None and us > high_us):
        rule = f"at least {_ms(low_us)}" + ("" if high_us is None else f", at most {_ms(high_us)}")
        raise _check.wrong(field, item, rule)
    return us
