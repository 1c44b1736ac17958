"""EEVDF's test whether a task that was enqueued preempts what its CPU runs."""

from . import protection
from .resched import is_asked, resched_curr_lazy
from .state import CfsRq, Entity, TaskRecord, matching_entities
from .virtual_time import is_eligible


def check_preempt(m, curr: TaskRecord, wakee: TaskRecord, is_fork: bool = False):
    """Ask for a reschedule when the wakee should run now; cf. check_preempt_wakeup_fair(), wakeup_preempt_fair()."""
    stopped = wakee.throttled if m.per_task else wakee.entity.cfs_rq.throttle_count
    if stopped or is_asked(m, wakee.cpu):
        return
    se, pse = matching_entities(curr.entity, wakee.entity)
    q = se.cfs_rq
    m.policy.update_curr(m, q)
    if m.kernel.lag_rules_7_2:
        preempts = preempts_7_2(m, q, se, pse, is_fork)
    elif m.kernel.vprot:
        preempts = preempts_6_18(m, q, se, pse)
    else:
        preempts = preempts_6_12(m, q, se, pse)
    if preempts:
        resched_curr_lazy(m, q.cpu)


def preempts_6_12(m, q: CfsRq, se: Entity, pse: Entity) -> bool:
    """A wakee with a shorter slice and a better claim ends the protection; cf. do_preempt_short(), v6.12."""
    if m.kernel.preempt_short and pse.slice < se.slice and is_eligible(q, pse):
        if pse.deadline < se.deadline or not is_eligible(q, se):
            protection.cancel(m, se)
    return m.policy.pick_eevdf(m, q) is pse


def preempts_6_18(m, q: CfsRq, se: Entity, pse: Entity) -> bool:
    """A wakee with a shorter slice is judged without protection, and if it loses protection becomes shorter."""
    is_short = pse.slice < se.slice
    if m.policy.pick_eevdf(m, q, not is_short) is pse:
        if is_short:
            protection.cancel(m, se)
        return True
    if is_short:
        protection.shorten(m, q, se)
    return False


def preempts_7_2(m, q: CfsRq, se: Entity, pse: Entity, is_fork: bool) -> bool:
    """The same by a real pick, which finishes delayed dequeues; a fork preempts only with a shorter slice."""
    is_short = pse.slice < se.slice
    if not is_short and (is_fork or pse.sched_delayed):
        return False
    picked = m.policy.pick_entity(m, q, not is_short)
    while picked is None and q.nr_queued:
        picked = m.policy.pick_entity(m, q, not is_short)
    if picked is not pse:
        protection.shorten(m, q, se)
        return False
    if is_short:
        protection.cancel(m, se)
        m.policy.clear_buddies(se)
    return True
