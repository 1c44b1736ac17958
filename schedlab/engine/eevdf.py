"""EEVDF, as of 6.6 to 6.12: virtual time V, lag, eligibility, deadlines, placement and the pick.

`rq_min_vruntime` holds v0, the reference point of the sums; the sums run over the tree's members, the running entity
is added where it counts.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.resched import resched_curr
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
    """Last step of update_curr(): the slice is used up, or a short-slice rival took the protection (6.12)."""
    if s.rq_nr[q] == 1:
        return
    if not expired:
        if s.sys_preempt_short[0] == 0 or s.se_vlag[curr] == s.se_deadline[curr]:
            return
        if entity_eligible(s, q, curr):
            return
    resched_curr(s, s.rq_cpu[q])
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
    """cf. entity_lag(): V - v, within two slices or a tick of service."""
    limit = calc_delta_fair(max(2 * s.se_slice[e], s.sys_tick_ns[0]), s.se_weight[e])
    return min(max(avg - s.se_vruntime[e], -limit), limit)


@internal
def update_entity_lag(s, q, e):
    """cf. update_entity_lag(): what an entity keeps while it is off the queue."""
    s.se_vlag[e] = entity_lag(s, avg_vruntime(s, q), e)


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
            vruntime -= div_trunc(s.se_vlag[e] * (load + weight), load)
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
def reweight_eevdf(s, e, avg, weight):
    """cf. reweight_eevdf(): scale lag and request by old / new weight around V (`avg`, taken with e in the tree)."""
    old = s.se_weight[e]
    if avg != s.se_vruntime[e]:
        s.se_vruntime[e] = avg - div_trunc(entity_lag(s, avg, e) * old, weight)
    s.se_deadline[e] = avg + div_trunc((s.se_deadline[e] - avg) * old, weight)


@internal
def pick_eevdf(s, q):
    """cf. pick_eevdf(): the earliest deadline among the eligible; the running entity while it is protected."""
    curr = s.rq_curr[q]
    if curr >= 0 and s.se_on_rq[curr] == 0:
        curr = -1
    first = tree_first(s, q)
    if s.rq_nr[q] == 1:
        return curr if curr >= 0 else first
    if curr >= 0 and not entity_eligible(s, q, curr):
        curr = -1
    if curr >= 0 and s.se_vlag[curr] == s.se_deadline[curr]:  # RUN_TO_PARITY: the request is not used up
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
        if (earlier or not entity_eligible(s, q, curr)) and s.se_vlag[curr] == s.se_deadline[curr]:
            s.se_vlag[curr] = s.se_deadline[curr] + 1
    return pick_eevdf(s, q) == wakee


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
def yield_eevdf(s, q, e):
    """cf. yield_task_fair(), 6.12.y: forfeit the rest of the request, if eligible."""
    if s.sys_preempt_short[0] == 0:  # 6.6: push the deadline one slice out
        s.se_deadline[e] += calc_delta_fair(s.se_slice[e], s.se_weight[e])
    elif entity_eligible(s, q, e):
        s.se_vruntime[e] = s.se_deadline[e]
        s.se_deadline[e] += calc_delta_fair(s.se_slice[e], s.se_weight[e])
        avg_vruntime(s, q)
