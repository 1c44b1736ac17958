"""EEVDF's virtual time: V, eligibility and the lag that an entity keeps."""

from .arithmetic import calc_delta_fair
from .state import CfsRq, Entity


def avg_vruntime(q: CfsRq) -> int:
    """Return V, the weighted mean of the queued vruntimes, rounded down; cf. avg_vruntime().

    An empty queue keeps the last V. (`min_vruntime` serves as that memory.)
    """
    queued = q.queued()
    if queued:
        q.min_vruntime = sum(se.vruntime * se.weight for se in queued) // sum(se.weight for se in queued)
    return q.min_vruntime


def is_eligible(q: CfsRq, se: Entity) -> bool:
    """Whether the entity's lag is not negative, without rounding; cf. entity_eligible()."""
    return sum((other.vruntime - se.vruntime) * other.weight for other in q.queued()) >= 0


def entity_lag(m, q: CfsRq, se: Entity) -> int:
    """Return V - vruntime within a limit; cf. entity_lag(), v6.12 and v7.2.

    The limit is two slices or a tick; from 7.2 on it is the longest slice queued and a tick.
    """
    if m.kernel.lag_rules_7_2:
        wall = max(other.slice for other in q.queued()) + m.kernel.tick_ns
    else:
        wall = max(2 * se.slice, m.kernel.tick_ns)
    limit = calc_delta_fair(wall, se)
    return max(-limit, min(avg_vruntime(q) - se.vruntime, limit))


def store_lag(m, q: CfsRq, se: Entity) -> bool:
    """Keep the lag of a queued entity; cf. update_entity_lag(). Returns whether it is not what its vruntime says.

    From 7.2 on a delayed entity has no more to burn than when it was delayed, and gains nothing.
    """
    lag = entity_lag(m, q, se)
    if m.kernel.lag_rules_7_2 and se.sched_delayed:
        lag = min(max(lag, se.vlag), 0)
    se.vlag = lag
    return avg_vruntime(q) - lag != se.vruntime
