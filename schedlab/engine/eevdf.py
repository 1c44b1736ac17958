"""EEVDF, as of 6.6 to 7.2: virtual time V, lag, eligibility, deadlines, placement and the pick.

`rq_min_vruntime` holds v0, the reference point of the sums; the sums run over the tree's members, the running entity
is added where it counts.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.resched import resched_curr_lazy
from schedlab.engine.tree import tree_erase, tree_first, tree_insert

NICE_0 = 1024


@internal
def calc_delta_fair(delta, weight):
    """Virtual time of `delta` ns at a weight (delta * 1024 / weight)."""
    if weight == NICE_0:
        return delta
    return delta * NICE_0 // weight


@internal
def div_trunc(a, b):
    """Signed division that truncates towards zero; b > 0."""
    return a // b if a >= 0 else -((-a) // b)


@internal
def avg_vruntime(s, q):
    """cf. avg_vruntime(): V, rounded down so that an entity placed at V is eligible; moves v0 there."""
    v0 = s.rq_min_vruntime[q]
    total = s.rq_sum_vw[q]
    load = s.rq_sum_w[q]
    curr = s.rq_curr[q]
    if curr >= 0 and s.se_on_rq[curr] != 0:
        total += (s.se_vruntime[curr] - v0) * s.se_weight[curr]
        load += s.se_weight[curr]
    if load == 0:
        return v0
    shift = total // load
    s.rq_min_vruntime[q] = v0 + shift
    s.rq_sum_vw[q] -= s.rq_sum_w[q] * shift
    return v0 + shift


@internal
def vruntime_eligible(s, q, vruntime):
    """cf. vruntime_eligible(): whether a vruntime is at most V, without a division."""
    v0 = s.rq_min_vruntime[q]
    total = s.rq_sum_vw[q]
    load = s.rq_sum_w[q]
    curr = s.rq_curr[q]
    if curr >= 0 and s.se_on_rq[curr] != 0:
        total += (s.se_vruntime[curr] - v0) * s.se_weight[curr]
        load += s.se_weight[curr]
    return total >= (vruntime - v0) * load


@internal
def entity_eligible(s, q, e):
    """cf. entity_eligible(): lag >= 0."""
    return vruntime_eligible(s, q, s.se_vruntime[e])


@internal
def eevdf_enqueue(s, q, e):
    """cf. __enqueue_entity(): into the tree and the sums."""
    weight = s.se_weight[e]
    s.rq_sum_vw[q] += (s.se_vruntime[e] - s.rq_min_vruntime[q]) * weight
    s.rq_sum_w[q] += weight
    tree_insert(s, q, e, s.se_deadline[e])


@internal
def eevdf_dequeue(s, q, e):
    """cf. __dequeue_entity(): out of the tree and the sums."""
    weight = s.se_weight[e]
    s.rq_sum_vw[q] -= (s.se_vruntime[e] - s.rq_min_vruntime[q]) * weight
    s.rq_sum_w[q] -= weight
    tree_erase(s, q, e)


@internal
def update_deadline(s, q, e):
    """cf. update_deadline(): a new request when the last is used up; whether it was."""
    if s.se_vruntime[e] < s.se_deadline[e]:
        return False
    if s.se_custom_slice[e] == 0:
        s.se_slice[e] = s.sys_base_slice[0]
    s.se_deadline[e] = s.se_vruntime[e] + calc_delta_fair(s.se_slice[e], s.se_weight[e])
    avg_vruntime(s, q)
    return True


@internal
def resched_if_expired(s, q, curr, expired):
    """Last step of update_curr(): the slice is used up, or its protection is (lost to a short slice in 6.12)."""
    if s.rq_nr[q] == 1:
        return
    if s.sys_vprot[0] != 0:
        if expired or not protect_slice(s, curr):
            resched_curr_lazy(s, s.rq_cpu[q])
            if s.rq_next[q] == curr:
                clear_next(s, curr)
        return
    if not expired:
        if s.sys_preempt_short[0] == 0 or s.se_vlag[curr] == s.se_deadline[curr]:
            return
        if entity_eligible(s, q, curr):
            return
    resched_curr_lazy(s, s.rq_cpu[q])
    if s.rq_next[q] == curr:
        clear_next(s, curr)


@internal
def clear_next(s, e):
    """cf. __clear_buddies_next()."""
    while e >= 0:
        q = s.se_rq[e]
        if s.rq_next[q] != e:
            return
        s.rq_next[q] = -1
        e = -1 if q < s.sys_nr_cpus[0] else s.sys_nr_tasks[0] + q


@internal
def entity_lag(s, avg, e):
    """cf. entity_lag(): V - v, within two slices or a tick of service; 7.2: within the longest slice and a tick."""
    if s.sys_lag_rules_7_2[0] != 0:
        service = max_slice(s, s.se_rq[e]) + s.sys_tick_ns[0]
    else:
        service = max(2 * s.se_slice[e], s.sys_tick_ns[0])
    limit = calc_delta_fair(service, s.se_weight[e])
    return min(max(avg - s.se_vruntime[e], -limit), limit)


@internal
def update_entity_lag(s, q, e):
    """cf. update_entity_lag(): what an entity keeps while it is off the queue; whether its vruntime is to follow.

    7.2: a delayed entity's lag grows at most to 0 and does not fall below what it was when it was delayed.
    """
    avg = avg_vruntime(s, q)
    lag = entity_lag(s, avg, e)
    if s.sys_lag_rules_7_2[0] != 0 and s.se_delayed[e] != 0:
        lag = min(max(lag, s.se_vlag[e]), 0)
    s.se_vlag[e] = lag
    return avg - lag != s.se_vruntime[e]


@internal
def place_entity(s, q, e, initial):
    """cf. place_entity(): keep the lag, ask for a slice."""
    vruntime = avg_vruntime(s, q)
    if s.se_custom_slice[e] == 0:
        s.se_slice[e] = s.sys_base_slice[0]
    weight = s.se_weight[e]
    if s.rq_nr[q] > 0:
        load = s.rq_sum_w[q]
        curr = s.rq_curr[q]
        if curr >= 0 and s.se_on_rq[curr] != 0:
            load += s.se_weight[curr]
        if load > 0:
            lag = div_trunc(s.se_vlag[e] * (load + weight), load)
            vruntime -= lag
            if s.sys_lag_rules_7_2[0] != 0 and weight > load:  # a heavy newcomer takes v0 along
                s.rq_min_vruntime[q] -= lag
                s.rq_sum_vw[q] += s.rq_sum_w[q] * lag
    s.se_vruntime[e] = vruntime
    if s.se_rel_deadline[e] != 0:
        s.se_deadline[e] += vruntime
        s.se_rel_deadline[e] = 0
        return
    vslice = calc_delta_fair(s.se_slice[e], weight)
    if initial:
        vslice //= 2
    s.se_deadline[e] = vruntime + vslice


@internal
def reweight_around_v(s, e, avg, lag, weight, running):
    """cf. reweight_entity(), v7.2: scale lag, request and the rest of its protection around V."""
    old = s.se_weight[e]
    s.se_vlag[e] = div_trunc(lag * old, weight)
    if running and protect_slice(s, e):
        s.se_vprot[e] = avg + div_trunc((s.se_vprot[e] - avg) * old, weight)
    s.se_deadline[e] = avg + div_trunc((s.se_deadline[e] - avg) * old, weight)
    s.se_vruntime[e] = avg - s.se_vlag[e]


@internal
def reweight_eevdf(s, e, avg, weight):
    """cf. reweight_eevdf(): scale lag and request by old / new weight around V (`avg`, taken with e in the tree)."""
    old = s.se_weight[e]
    if avg != s.se_vruntime[e]:
        s.se_vruntime[e] = avg - div_trunc(entity_lag(s, avg, e) * old, weight)
    s.se_deadline[e] = avg + div_trunc((s.se_deadline[e] - avg) * old, weight)


@internal
def set_protect_slice(s, q, e):
    """cf. set_protect_slice(): `e`, just out of the tree, may run until it had the shortest slice queued (6.17).

    Before, until its deadline moves, of which `vlag` keeps a copy.
    """
    deadline = s.se_deadline[e]
    if s.sys_vprot[0] == 0:
        s.se_vlag[e] = deadline
        return
    root = s.rq_root[q]
    if root >= 0 and s.se_min_slice[root] < s.se_slice[e]:
        end = s.se_vruntime[e] + calc_delta_fair(s.se_min_slice[root], s.se_weight[e])
        deadline = min(deadline, end)
    s.se_vprot[e] = deadline


@internal
def protect_slice(s, e):
    """cf. protect_slice(): whether the running entity's request protects it."""
    if s.sys_vprot[0] != 0:
        return s.se_vruntime[e] < s.se_vprot[e]
    return s.se_vlag[e] == s.se_deadline[e]


@internal
def cancel_protect_slice(s, e):
    """cf. cancel_protect_slice()."""
    if s.sys_vprot[0] == 0:
        s.se_vlag[e] = s.se_deadline[e] + 1
    elif protect_slice(s, e):
        s.se_vprot[e] = s.se_vruntime[e]


@internal
def update_protect_slice(s, q, e):
    """cf. update_protect_slice(): a newcomer's slice shortens the protection."""
    end = s.se_vruntime[e] + calc_delta_fair(min_slice(s, q), s.se_weight[e])
    s.se_vprot[e] = min(s.se_vprot[e], end)


@internal
def pick_eevdf(s, q, protect):
    """cf. pick_eevdf(): the earliest deadline among the eligible; the running entity while it is protected."""
    curr = s.rq_curr[q]
    if curr >= 0 and s.se_on_rq[curr] == 0:
        curr = -1
    first = tree_first(s, q)
    if s.rq_nr[q] == 1:
        return curr if curr >= 0 else first
    if s.sys_lag_rules_7_2[0] != 0 and protect and s.rq_next[q] >= 0 and entity_eligible(s, q, s.rq_next[q]):
        return s.rq_next[q]
    if curr >= 0 and not entity_eligible(s, q, curr):
        curr = -1
    if curr >= 0 and protect and protect_slice(s, curr):  # RUN_TO_PARITY: the request is not used up
        return curr
    best = -1
    if first >= 0 and entity_eligible(s, q, first):
        best = first
    else:
        at = s.rq_root[q]
        while at >= 0:
            left = s.se_left[at]
            if left >= 0 and vruntime_eligible(s, q, s.se_min_vruntime[left]):
                at = left
                continue
            if entity_eligible(s, q, at):
                best = at
                break
            at = s.se_right[at]
    if best < 0 or (curr >= 0 and s.se_deadline[curr] < s.se_deadline[best]):
        best = curr
    return best


@internal
def wakeup_preempt_eevdf(s, q, curr, wakee):
    """cf. check_preempt_wakeup_fair(), 6.12: whether the wakee preempts `curr` (siblings on q)."""
    if s.sys_preempt_short[0] != 0 and s.se_slice[wakee] < s.se_slice[curr] and entity_eligible(s, q, wakee):
        earlier = s.se_deadline[wakee] < s.se_deadline[curr]
        if (earlier or not entity_eligible(s, q, curr)) and protect_slice(s, curr):
            cancel_protect_slice(s, curr)
    return pick_eevdf(s, q, True) == wakee


@internal
def wakeup_preempt_vprot(s, q, curr, wakee):
    """cf. check_preempt_wakeup_fair(), 6.18: a shorter slice passes the protection by, or shortens it."""
    short = s.se_slice[wakee] < s.se_slice[curr]
    preempts = pick_eevdf(s, q, not short) == wakee
    if short:
        if preempts:
            cancel_protect_slice(s, curr)
        else:
            update_protect_slice(s, q, curr)
    return preempts


@internal
def min_slice(s, q):
    """cf. cfs_rq_min_slice(): the shortest slice queued."""
    root = s.rq_root[q]
    least = s.sys_base_slice[0] if root < 0 else s.se_min_slice[root]
    curr = s.rq_curr[q]
    if curr >= 0 and s.se_on_rq[curr] != 0:
        least = s.se_slice[curr] if root < 0 else min(least, s.se_slice[curr])
    return least


@internal
def max_slice(s, q):
    """cf. cfs_rq_max_slice(): the longest slice queued."""
    root = s.rq_root[q]
    most = 0 if root < 0 else s.se_max_slice[root]
    curr = s.rq_curr[q]
    if curr >= 0 and s.se_on_rq[curr] != 0:
        most = max(most, s.se_slice[curr])
    return most


@internal
def yield_eevdf(s, q, e):
    """cf. yield_task_fair(), 6.12.y: forfeit the rest of the request, if eligible. 6.18 does not look at V then."""
    if s.sys_preempt_short[0] == 0:  # 6.6: push the deadline one slice out
        s.se_deadline[e] += calc_delta_fair(s.se_slice[e], s.se_weight[e])
    elif entity_eligible(s, q, e):
        s.se_vruntime[e] = s.se_deadline[e]
        if s.sys_vprot[0] != 0 and s.sys_lag_rules_7_2[0] == 0:
            s.se_deadline[e] += calc_delta_fair(s.se_slice[e], s.se_weight[e])
        else:
            update_deadline(s, q, e)
