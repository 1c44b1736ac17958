"""Slice protection (RUN_TO_PARITY): how long a picked entity runs before others may overtake it.

Up to 6.12 it lasts until the deadline moves: `vlag` keeps a copy of it. From 6.18 on it lasts until a vruntime of its
own, `vprot`.
"""

from .arithmetic import calc_delta_fair
from .state import CfsRq, Entity


def shortest_slice(q: CfsRq, default: int) -> int:
    """Return the shortest slice queued; cf. cfs_rq_min_slice()."""
    return min((se.slice for se in q.queued()), default=default)


def protect(m, q: CfsRq, se: Entity):
    """Protect an entity that was just picked; cf. set_protect_slice(), v6.18. It has left the tree."""
    if not m.kernel.vprot:
        se.vlag = se.deadline
        return
    wall = min(shortest_slice(q, se.slice), se.slice)
    se.vprot = se.deadline
    if wall != se.slice:
        se.vprot = min(se.deadline, se.vruntime + calc_delta_fair(wall, se))


def is_protected(m, se: Entity) -> bool:
    """Whether the running entity has not used up what it is protected for; cf. protect_slice()."""
    return se.vruntime < se.vprot if m.kernel.vprot else se.vlag == se.deadline


def cancel(m, se: Entity):
    """End the protection now; cf. cancel_protect_slice()."""
    if not is_protected(m, se):
        return
    if m.kernel.vprot:
        se.vprot = se.vruntime
    else:
        se.vlag = se.deadline + 1


def shorten(m, q: CfsRq, se: Entity):
    """Protect for no longer than the shortest slice queued, from now on; cf. update_protect_slice()."""
    se.vprot = min(se.vprot, se.vruntime + calc_delta_fair(shortest_slice(q, se.slice), se))
