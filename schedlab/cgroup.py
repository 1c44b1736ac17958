"""The kernel's arithmetic on limits: what cpu.max accepts, ratios, and the scaling of a period that is too short."""

from . import _check
from .units import NS_PER_S

#: Limits of cpu.max and cpu.max.burst (fact sheet B1), in us.
DEFAULT_PERIOD_US = 100_000
MIN_PERIOD_US = 1_000
MAX_PERIOD_US = 1_000_000
MIN_QUOTA_US = 1_000
MAX_RUNTIME_US = (1 << 44) - 1

_RATIO_BITS = 20


def check_limit(quota_us, period_us, burst_us) -> tuple[int | None, int, int]:
    """Return a limit as whole us, or raise as the kernel answers -EINVAL.

    Parameters
    ----------
    quota_us : int or None
        1000 to 2**44 - 1, None for no limit ("max").
    period_us : int
        1000 to 1000000.
    burst_us : int
        0 to quota_us; quota and burst together at most 2**44 - 1.

    Raises
    ------
    ValueError
        Naming the field, the value and the rule.

    Examples
    --------
    >>> check_limit(20_000, 100_000, 0)
    (20000, 100000, 0)
    """
    period_us = _check.whole("period_us", period_us, MIN_PERIOD_US, MAX_PERIOD_US, "1 ms to 1 s")
    burst_us = _check.whole("burst_us", burst_us, 0, MAX_RUNTIME_US, "2**44 - 1 us")
    if quota_us is None:
        return None, period_us, burst_us
    quota_us = _check.whole("quota_us", quota_us, MIN_QUOTA_US, None, "1 ms; None for no limit")
    _check.whole("quota_us", quota_us, None, MAX_RUNTIME_US, "2**44 - 1 us")
    if burst_us > quota_us:
        raise _check.wrong("burst_us", burst_us, f"at most quota_us={quota_us}")
    if quota_us + burst_us > MAX_RUNTIME_US:
        raise _check.wrong("burst_us", burst_us, f"quota_us + burst_us at most {MAX_RUNTIME_US}")
    return quota_us, period_us, burst_us


def v1_ratio(quota_us: int | None, period_us: int) -> int | None:
    """Return the share of CPU as the kernel computes it, in units of 2**-20, rounded down; None without a quota.

    Examples
    --------
    >>> v1_ratio(1_000, 10_000), v1_ratio(1_148, 11_484)
    (104857, 104821)
    """
    return None if quota_us is None else (quota_us << _RATIO_BITS) // period_us


def scale_period(period_ns: int, quota_ns: int, burst_ns: int, legacy: bool = False) -> tuple[int, int, int]:
    """Return the limit after the loop guard of the period timer has lengthened a period that is too short.

    The period doubles and quota and burst with it, unless that reaches 1 s: then nothing changes (the kernel only
    warns). With `legacy` (the patch period-scaling-147-128) the period grows by 147/128, at most to 1 s, and quota
    and burst in proportion, both rounded down: the lost fraction is what a child's limit can fail on.

    Examples
    --------
    >>> scale_period(10_000_000, 1_000_000, 0)
    (20000000, 2000000, 0)
    >>> scale_period(10_000_000, 1_000_000, 0, legacy=True)
    (11484375, 1148437, 0)
    """
    if legacy:
        new = min(period_ns * 147 // 128, NS_PER_S)
        return new, quota_ns * new // period_ns, burst_ns * new // period_ns
    if 2 * period_ns >= NS_PER_S:
        return period_ns, quota_ns, burst_ns
    return 2 * period_ns, 2 * quota_ns, 2 * burst_ns


def check_path(path, field: str = "path"):
    """Raise ValueError unless it is the path of a group that can be made."""
    if path == "/":
        raise _check.wrong(field, path, "the root is always there and has neither weight nor limit")
    if not isinstance(path, str) or not path.startswith("/") or "" in path[1:].split("/"):
        raise _check.wrong(field, path, "starts with '/', names its parents and ends without one, such as '/a/b'")
