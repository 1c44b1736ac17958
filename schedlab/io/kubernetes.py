"""Limits and requests in Kubernetes' millicores as cpu.max and cpu.weight, and back."""

from .. import _check
from ..cgroup import DEFAULT_PERIOD_US, MIN_QUOTA_US

#: The kubelet's bounds of cpu.shares (cgroup v1), and of cpu.weight to which they are stretched.
MIN_SHARES, MAX_SHARES, MAX_WEIGHT = 2, 262_144, 10_000
_MOST_MILLICORES = 10**9


def cpu_max(limit_millicores: int | None, period_us: int = DEFAULT_PERIOD_US) -> tuple[int | None, int]:
    """Return (quota_us, period_us) of a container's limit; None: no limit.

    The kubelet rounds the quota down and gives at least 1 ms.

    Examples
    --------
    >>> cpu_max(250)
    (25000, 100000)
    """
    if limit_millicores is None or limit_millicores == 0:
        return None, period_us
    limit = _check.whole("limit_millicores", limit_millicores, 1, _MOST_MILLICORES)
    period_us = _check.whole("period_us", period_us, 1_000, 1_000_000)
    return max(MIN_QUOTA_US, limit * period_us // 1000), period_us


def limit_millicores(quota_us: int | None, period_us: int = DEFAULT_PERIOD_US) -> int | None:
    """Return the smallest limit in millicores that gives this cpu.max; None without a quota.

    Examples
    --------
    >>> limit_millicores(25_000)
    250
    """
    if quota_us is None:
        return None
    quota_us, period_us = _check.whole("quota_us", quota_us, 1), _check.whole("period_us", period_us, 1)
    return max(1, -(-quota_us * 1000 // period_us))


def shares(request_millicores: int) -> int:
    """Return cpu.shares of a request: 1024 a core, 2 to 262144.

    Examples
    --------
    >>> shares(500), shares(0)
    (512, 2)
    """
    request = _check.whole("request_millicores", request_millicores, 0, _MOST_MILLICORES)
    return min(MAX_SHARES, max(MIN_SHARES, request * 1024 // 1000))


def weight(request_millicores: int) -> int:
    """Return cpu.weight of a request: its shares stretched from [2, 262144] to [1, 10000].

    This is the linear rule of the first runtimes for cgroup v2; newer ones may use a curve in its place.

    Examples
    --------
    >>> weight(1000), weight(100)
    (39, 4)
    """
    return 1 + (shares(request_millicores) - MIN_SHARES) * (MAX_WEIGHT - 1) // (MAX_SHARES - MIN_SHARES)


def request_millicores(cpu_weight: int) -> int:
    """Return the smallest request in millicores that gives this cpu.weight.

    Examples
    --------
    >>> weight(request_millicores(39))
    39
    """
    wanted = _check.whole("cpu_weight", cpu_weight, 1, MAX_WEIGHT)
    low, high = 0, 256_000
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if weight(middle) >= wanted else (middle + 1, high)
    return low


def weight_of_shares(cpu_shares: int) -> int:
    """Return the cpu.weight that stands for cpu.shares in the kernel: 1024 shares are weight 100.

    Examples
    --------
    >>> weight_of_shares(1024), weight_of_shares(2)
    (100, 1)
    """
    cpu_shares = _check.whole("cpu_shares", cpu_shares, 1)
    return min(MAX_WEIGHT, max(1, (cpu_shares * 100 + 512) // 1024))
