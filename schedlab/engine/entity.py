"""Scheduling entities on one level: charge the running one, change a group's weight, take an entity off its queue."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cfs61 import cfs_dequeue, cfs_enqueue, clear_buddies, update_min_vruntime
from schedlab.engine.eevdf import (
    avg_vruntime,
    calc_delta_fair,
    div_trunc,
    eevdf_dequeue,
    eevdf_enqueue,
    entity_eligible,
    entity_lag,
    place_entity,
    resched_if_expired,
    reweight_around_v,
    reweight_eevdf,
    set_protect_slice,
    update_deadline,
    update_entity_lag,
)
from schedlab.engine.runtime import account_cfs_rq_runtime, return_cfs_rq_runtime

#: Flags of enqueue and dequeue, with the kernel's meanings.
SLEEP, SPECIAL, DELAYED, WAKEUP, MIGRATED, INITIAL, DEQUEUE_THROTTLE = 1, 2, 4, 8, 16, 32, 64
SAVE = 128  # it is back at once: core scheduling alone looks at it
MIN_SHARES = 2


@internal
def parent_entity(s, e):
    """cf. parent_entity(): the group's entity one level up, -1 at the root."""
    q = s.se_rq[e]
    return -1 if q < s.sys_nr_cpus[0] else s.sys_nr_tasks[0] + q


@internal
def update_curr(s, q):
    """cf. update_curr(): charge the running entity of one level up to now."""
    curr = s.rq_curr[q]
    if curr < 0:
        return
    delta = s.sys_now[0] - s.se_exec_start[curr]
    if delta <= 0:
        return
    s.se_exec_start[curr] = s.sys_now[0]
    s.se_sum_exec[curr] += delta
    s.se_vruntime[curr] += calc_delta_fair(delta, s.se_weight[curr])
    if s.sys_eevdf[0] != 0:
        expired = update_deadline(s, q, curr)
        if s.sys_fi_min[0] != 0:
            update_min_fi(s, q)
        account_cfs_rq_runtime(s, q, delta)
        resched_if_expired(s, q, curr, expired)
    else:
        update_min_vruntime(s, q)
        account_cfs_rq_runtime(s, q, delta)


@internal
def update_min_fi(s, q):
    """cf. update_min_vruntime(), 6.18 as released: the least vruntime queued, never going back."""
    curr = s.rq_curr[q]
    root = s.rq_root[q]
    running = curr >= 0 and s.se_on_rq[curr] != 0
    if not running and root < 0:
        return
    least = s.se_vruntime[curr] if running else s.se_min_vruntime[root]
    if root >= 0:
        least = min(least, s.se_min_vruntime[root])
    s.rq_fi_ref[q] = max(s.rq_fi_ref[q], least)


@internal
def note_zero_vruntime(s, q):
    """cf. update_zero_vruntime(), v6.18.15: the reference of core scheduling is V whenever the tree changes.

    An entity that is being put stands in the tree and is `curr` still: it counts twice, as in the kernel.
    """
    curr = s.rq_curr[q]
    if s.rq_sum_w[q] > 0 or (curr >= 0 and s.se_on_rq[curr] != 0):
        s.rq_fi_ref[q] = avg_vruntime(s, q)


@internal
def tree_enqueue(s, q, e):
    """cf. __enqueue_entity() of the policy in force."""
    if s.sys_eevdf[0] != 0:
        eevdf_enqueue(s, q, e)
        if s.sys_fi_tree[0] != 0:
            note_zero_vruntime(s, q)
    else:
        cfs_enqueue(s, q, e)


@internal
def tree_dequeue(s, q, e):
    """cf. __dequeue_entity() of the policy in force."""
    if s.sys_eevdf[0] != 0:
        eevdf_dequeue(s, q, e)
        if s.sys_fi_tree[0] != 0:
            note_zero_vruntime(s, q)
    else:
        cfs_dequeue(s, q, e)


@internal
def reweight_entity(s, q, e, weight):
    """cf. reweight_entity(): give a group's entity another weight, in its tree or out of it."""
    if s.sys_eevdf[0] == 0:  # 6.1 neither requeues nor looks whether the weight changes, but charges
        if s.se_on_rq[e] != 0:
            if s.rq_curr[q] == e:
                update_curr(s, q)
            s.rq_load[q] += weight - s.se_weight[e]
            s.tg_load_sum[s.rq_tg[q]] += weight - s.se_weight[e]
        s.se_weight[e] = weight
    elif s.se_on_rq[e] == 0:
        s.se_vlag[e] = div_trunc(s.se_vlag[e] * s.se_weight[e], weight)
        if s.sys_vprot[0] != 0 and s.se_rel_deadline[e] != 0:
            s.se_deadline[e] = div_trunc(s.se_deadline[e] * s.se_weight[e], weight)
        s.se_weight[e] = weight
    elif s.sys_vprot[0] != 0 and s.sys_lag_rules_7_2[0] == 0:
        reweight_by_placing(s, q, e, weight)
    else:
        running = s.rq_curr[q] == e
        if running or s.sys_preempt_short[0] != 0:  # 6.12: whoever runs on the level is charged first
            update_curr(s, q)
        avg = avg_vruntime(s, q)  # with e in it
        lag = entity_lag(s, avg, e)
        if not running:
            tree_dequeue(s, q, e)
        s.rq_load[q] += weight - s.se_weight[e]
        s.tg_load_sum[s.rq_tg[q]] += weight - s.se_weight[e]
        if s.sys_lag_rules_7_2[0] != 0:
            reweight_around_v(s, e, avg, lag, weight, running)
        else:
            reweight_eevdf(s, e, avg, weight)
        s.se_weight[e] = weight
        if not running:
            tree_enqueue(s, q, e)
    if s.sys_fi_min[0] != 0 and s.se_on_rq[e] != 0:
        update_min_fi(s, q)


@internal
def reweight_by_placing(s, q, e, weight):
    """cf. reweight_entity(), v6.18, of a queued entity: it leaves, lag and request are scaled, and it is placed anew.

    A running entity stays in the level's average, with its new weight.
    """
    running = s.rq_curr[q] == e
    update_curr(s, q)
    update_entity_lag(s, q, e)
    old = s.se_weight[e]
    s.se_deadline[e] = div_trunc((s.se_deadline[e] - s.se_vruntime[e]) * old, weight)
    s.se_rel_deadline[e] = 1
    s.rq_nr[q] -= 1
    if not running:
        tree_dequeue(s, q, e)
    s.se_vlag[e] = div_trunc(s.se_vlag[e] * old, weight)
    s.rq_load[q] += weight - old
    s.tg_load_sum[s.rq_tg[q]] += weight - old
    s.se_weight[e] = weight
    place_entity(s, q, e, False)
    if not running:
        tree_enqueue(s, q, e)
    s.rq_nr[q] += 1


@internal
def update_cfs_group(s, e):
    """cf. update_cfs_group(): the group's shares on this CPU follow its part of the group's load (docs/model.md)."""
    q = e - s.sys_nr_tasks[0]
    if q < 0:
        return
    load = s.rq_load[q]
    if load == 0 or (s.rq_throttle_count[q] > 0 and s.sys_per_task[0] == 0):
        return
    g = s.rq_tg[q]
    shares = s.tg_shares[g] * load // s.tg_load_sum[g]
    shares = min(max(shares, MIN_SHARES), s.tg_shares[g])
    if shares != s.se_weight[e] or s.sys_eevdf[0] == 0:
        reweight_entity(s, s.se_rq[e], e, shares)


@internal
def account_entity(s, q, e, sign):
    """cf. account_entity_enqueue() and _dequeue(): the level's load and number."""
    s.rq_load[q] += sign * s.se_weight[e]
    s.tg_load_sum[s.rq_tg[q]] += sign * s.se_weight[e]
    s.rq_nr[q] += sign


@internal
def count_runnable(s, e, change):
    """cf. set_delayed() and clear_delayed(): a blocked task in a queue does not count as runnable above it."""
    while e >= 0:
        q = s.se_rq[e]
        s.rq_h_nr_runnable[q] += change
        if s.rq_throttled[q] != 0 and s.sys_per_task[0] == 0:
            return
        e = parent_entity(s, e)


@internal
def dequeue_entity(s, q, e, flags):
    """cf. dequeue_entity(): take an entity off its level; False when it stays there to use up its negative lag."""
    update_curr(s, q)
    clear_buddies(s, e)
    if s.sys_eevdf[0] != 0:
        if flags & DELAYED == 0:
            wanted = flags & (SPECIAL | DEQUEUE_THROTTLE) == 0 and s.sys_delay_dequeue[0] != 0
            if flags & SLEEP != 0 and wanted and not entity_eligible(s, q, e):
                if s.sys_lag_rules_7_2[0] != 0:
                    update_entity_lag(s, q, e)
                s.se_delayed[e] = 1
                if e < s.sys_nr_tasks[0]:
                    count_runnable(s, e, -1)
                return False
        update_entity_lag(s, q, e)
        if flags & SLEEP == 0 and s.sys_preempt_short[0] != 0:  # PLACE_REL_DEADLINE, from 6.12
            s.se_deadline[e] -= s.se_vruntime[e]
            s.se_rel_deadline[e] = 1
    if s.rq_curr[q] != e:
        tree_dequeue(s, q, e)
    s.se_on_rq[e] = 0
    account_entity(s, q, e, -1)
    if s.sys_eevdf[0] == 0 and flags & SLEEP == 0:
        s.se_vruntime[e] -= s.rq_min_vruntime[q]
    return_cfs_rq_runtime(s, q)
    update_cfs_group(s, e)
    if s.sys_fi_min[0] != 0:
        update_min_fi(s, q)
    if s.sys_eevdf[0] == 0:
        update_min_vruntime(s, q)
    elif flags & DELAYED != 0:
        s.se_delayed[e] = 0
        if s.se_vlag[e] > 0:  # DELAY_ZERO
            s.se_vlag[e] = 0
    return True


@internal
def set_next_entity(s, q, e, first):
    """cf. set_next_entity(): the entity leaves the tree and runs; `first`: it was picked, not only moved (7.2)."""
    clear_buddies(s, e)
    if s.se_on_rq[e] != 0:
        tree_dequeue(s, q, e)
        if s.sys_eevdf[0] != 0 and (first or s.sys_lag_rules_7_2[0] == 0):
            set_protect_slice(s, q, e)
    s.se_exec_start[e] = s.sys_now[0]
    s.rq_curr[q] = e
    s.se_prev_sum_exec[e] = s.se_sum_exec[e]
