"""Where an EEVDF entity is placed: when it comes to the queue, wakes while delayed, or changes its weight."""

from .arithmetic import calc_delta_fair, div_trunc, insert_by
from .priority import move_least, tree_changed
from .protection import is_protected
from .state import CfsRq, Entity, Flag
from .virtual_time import avg_vruntime, entity_lag, store_lag


def place(m, q: CfsRq, se: Entity, flags: Flag):
    """Give an entity its vruntime and deadline; cf. place_entity()."""
    vruntime = avg_vruntime(q)
    if not se.custom_slice:
        se.slice = m.base_slice
    vslice = calc_delta_fair(se.slice, se)
    lag = 0
    if any(other is not se for other in q.queued()):
        # the entity itself will move V: a larger lag now is the wanted one afterwards
        lag = div_trunc(se.vlag * (q.load + se.weight), q.load)
        if m.kernel.lag_rules_7_2 and se.weight > q.load:
            # a heavy newcomer takes the memory of V along
            q.min_vruntime = vruntime - lag
    se.vruntime = vruntime - lag
    if se.rel_deadline:
        se.deadline += se.vruntime
        se.rel_deadline = False
        return
    if Flag.INITIAL in flags:
        vslice //= 2
    se.deadline = se.vruntime + vslice


def take_out(m, q: CfsRq, se: Entity):
    """Take a queued entity out of the tree, unless it runs and is not in it."""
    if se is not q.curr:
        q.tree.remove(se)
        tree_changed(m, q)


def put_back(m, q: CfsRq, se: Entity):
    """The reverse of `take_out`."""
    if se is not q.curr:
        insert_by(q.tree, se, "deadline")
        tree_changed(m, q)


def requeue_delayed(m, se: Entity):
    """A delayed entity becomes runnable again; cf. requeue_delayed_entity().

    It does not keep a lag that it had not; from 7.2 on it is placed anew whenever the lag to keep is another.
    """
    q = se.cfs_rq
    if m.kernel.lag_rules_7_2:
        m.policy.update_curr(m, q)
        moves = store_lag(m, q, se)
    else:
        store_lag(m, q, se)
        moves = se.vlag > 0
        se.vlag = min(se.vlag, 0)
    if moves:
        take_out(m, q, se)
        place(m, q, se, Flag.NONE)
        put_back(m, q, se)
    se.sched_delayed = False


# ---- a group's entity changes its weight -----------------------------------------------------------------------------


def reweight(m, q: CfsRq, se: Entity, weight: int):
    """Change the weight of a group's entity so that its lag in service stays; cf. reweight_entity()."""
    if not se.on_rq:
        se.vlag = div_trunc(se.vlag * se.weight, weight)
        if se.rel_deadline:
            se.deadline = div_trunc(se.deadline * se.weight, weight)
        se.weight = weight
        return
    if m.kernel.lag_rules_7_2:
        reweight_around_v(m, q, se, weight)
    elif m.kernel.vprot:
        reweight_by_placing(m, q, se, weight)
    else:
        reweight_6_12(m, q, se, weight)
    move_least(m, q)


def reweight_6_12(m, q: CfsRq, se: Entity, weight: int):
    """Lag and deadline are scaled around V; cf. reweight_eevdf(), v6.7 to v6.12."""
    if se is q.curr or m.kernel.preempt_short:
        # 6.12 charges whoever runs on the level
        m.policy.update_curr(m, q)
    v = avg_vruntime(q)
    lag = div_trunc(entity_lag(m, q, se) * se.weight, weight) if v != se.vruntime else 0
    until_deadline = div_trunc((se.deadline - v) * se.weight, weight)
    take_out(m, q, se)
    se.vruntime = v - lag
    se.deadline = v + until_deadline
    se.weight = weight
    put_back(m, q, se)


def reweight_by_placing(m, q: CfsRq, se: Entity, weight: int):
    """Lag and deadline are scaled and the entity is placed as if it came anew; cf. reweight_entity(), v6.18.

    A running entity counts in V with its new weight already, and in the load once more.
    """
    m.policy.update_curr(m, q)
    store_lag(m, q, se)
    until_deadline = se.deadline - se.vruntime
    take_out(m, q, se)
    se.vlag = div_trunc(se.vlag * se.weight, weight)
    se.deadline = div_trunc(until_deadline * se.weight, weight)
    se.rel_deadline = True
    se.weight = weight
    place(m, q, se, Flag.NONE)
    put_back(m, q, se)


def reweight_around_v(m, q: CfsRq, se: Entity, weight: int):
    """Lag, deadline and protection are scaled around V; cf. reweight_entity(), v7.2."""
    m.policy.update_curr(m, q)
    v = avg_vruntime(q)
    se.vlag = div_trunc(entity_lag(m, q, se) * se.weight, weight)
    if se is q.curr and is_protected(m, se):
        se.vprot = v + div_trunc((se.vprot - v) * se.weight, weight)
    take_out(m, q, se)
    se.deadline = v + div_trunc((se.deadline - v) * se.weight, weight)
    se.vruntime = v - se.vlag
    se.weight = weight
    put_back(m, q, se)
