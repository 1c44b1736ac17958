"""CFS, as of 6.1: min_vruntime, the slice from a latency target, sleeper credit, buddies, wake-up preemption.

Weights of a level come from `rq_load`; the tree is ordered by vruntime.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.eevdf import calc_delta_fair, clear_next
from schedlab.engine.resched import resched_curr
from schedlab.engine.tree import tree_erase, tree_first, tree_insert, tree_next

#: sched_nr_latency: up to so many tasks share one latency period (fact sheet A9).
NR_LATENCY = 8


@internal
def update_min_vruntime(s, q):
    """cf. update_min_vruntime(): the monotone floor of the level's vruntimes."""
    vruntime = s.rq_min_vruntime[q]
    curr = s.rq_curr[q]
    has_curr = curr >= 0 and s.se_on_rq[curr] != 0
    if has_curr:
        vruntime = s.se_vruntime[curr]
    first = tree_first(s, q)
    if first >= 0:
        vruntime = min(vruntime, s.se_vruntime[first]) if has_curr else s.se_vruntime[first]
    if vruntime > s.rq_min_vruntime[q]:
        s.rq_min_vruntime[q] = vruntime


@internal
def cfs_enqueue(s, q, e):
    """cf. __enqueue_entity()."""
    tree_insert(s, q, e, s.se_vruntime[e])


@internal
def cfs_dequeue(s, q, e):
    """cf. __dequeue_entity()."""
    tree_erase(s, q, e)


@internal
def sched_slice(s, q, e):
    """cf. sched_slice(): the entity's share of the latency period, over all levels, at least min_granularity (ns)."""
    off = 1 if s.se_on_rq[e] == 0 else 0
    nr = s.rq_h_nr[s.rq_cpu[q]] + off  # ALT_PERIOD: all tasks of the run queue
    period = s.sys_latency[0] if nr <= NR_LATENCY else nr * s.sys_min_granularity[0]
    slice_ns = period
    while True:
        load = s.rq_load[q]
        if s.se_on_rq[e] == 0:
            load += s.se_weight[e]
        slice_ns = slice_ns * s.se_weight[e] // load
        if q < s.sys_nr_cpus[0]:
            return max(slice_ns, s.sys_min_granularity[0])  # BASE_SLICE
        e = s.sys_nr_tasks[0] + q
        q = s.se_rq[e]


@internal
def place_entity_cfs(s, q, e, initial):
    """cf. place_entity(): a new task pays one slice, a sleeper gets half a latency of credit."""
    vruntime = s.rq_min_vruntime[q]
    if initial:
        s.se_vruntime[e] = vruntime + calc_delta_fair(sched_slice(s, q, e), s.se_weight[e])
        return
    vruntime -= s.sys_latency[0] >> 1  # GENTLE_FAIR_SLEEPERS
    if vruntime > s.se_vruntime[e]:
        s.se_vruntime[e] = vruntime


@internal
def _level_up(s, e):
    q = s.se_rq[e]
    return -1 if q < s.sys_nr_cpus[0] else s.sys_nr_tasks[0] + q


@internal
def clear_buddies(s, e):
    """cf. clear_buddies(): an entity that runs or leaves is nobody's buddy."""
    q = s.se_rq[e]
    if s.rq_last[q] == e:
        at = e
        while at >= 0 and s.rq_last[s.se_rq[at]] == at:
            s.rq_last[s.se_rq[at]] = -1
            at = _level_up(s, at)
    if s.rq_next[q] == e:
        clear_next(s, e)
    if s.rq_skip[q] == e:
        at = e
        while at >= 0 and s.rq_skip[s.se_rq[at]] == at:
            s.rq_skip[s.se_rq[at]] = -1
            at = _level_up(s, at)


@internal
def set_next_buddy(s, e):
    """cf. set_next_buddy(): prefer this entity at every level above it."""
    while e >= 0 and s.se_on_rq[e] != 0:
        s.rq_next[s.se_rq[e]] = e
        e = _level_up(s, e)


@internal
def set_last_buddy(s, e):
    """cf. set_last_buddy(): the preempted entity may come back for its cache."""
    while e >= 0 and s.se_on_rq[e] != 0:
        s.rq_last[s.se_rq[e]] = e
        e = _level_up(s, e)


@internal
def set_skip_buddy(s, e):
    """cf. set_skip_buddy(): a task that yields is passed over once."""
    while e >= 0:
        s.rq_skip[s.se_rq[e]] = e
        e = _level_up(s, e)


@internal
def wakeup_preempt_entity(s, curr, e):
    """cf. wakeup_preempt_entity(): 1 when e is behind curr by more than the granularity, 0 when behind, else -1."""
    behind = s.se_vruntime[curr] - s.se_vruntime[e]
    if behind <= 0:
        return -1
    return 1 if behind > calc_delta_fair(s.sys_wakeup_granularity[0], s.se_weight[e]) else 0


@internal
def pick_next_entity_cfs(s, q):
    """cf. pick_next_entity(): the leftmost, unless a buddy is not too far behind."""
    curr = s.rq_curr[q]
    if curr >= 0 and s.se_on_rq[curr] == 0:
        curr = -1
    first = tree_first(s, q)
    left = first
    if left < 0 or (curr >= 0 and s.se_vruntime[curr] < s.se_vruntime[left]):
        left = curr
    e = left
    if s.rq_skip[q] >= 0 and s.rq_skip[q] == e:
        if e == curr:
            second = first
        else:
            second = tree_next(s, e)
            if second < 0 or (curr >= 0 and s.se_vruntime[curr] < s.se_vruntime[second]):
                second = curr
        if second >= 0 and wakeup_preempt_entity(s, second, left) < 1:
            e = second
    if s.rq_next[q] >= 0 and wakeup_preempt_entity(s, s.rq_next[q], left) < 1:
        e = s.rq_next[q]
    elif s.rq_last[q] >= 0 and wakeup_preempt_entity(s, s.rq_last[q], left) < 1:
        e = s.rq_last[q]
    return e


@internal
def check_preempt_tick(s, q, curr):
    """cf. check_preempt_tick(): end the slice, or give way to one that is a slice behind."""
    ran = s.se_sum_exec[curr] - s.se_prev_sum_exec[curr]
    ideal = sched_slice(s, q, curr)
    if ran > ideal:
        resched_curr(s, s.rq_cpu[q])
        clear_buddies(s, curr)
        return
    if ran < s.sys_min_granularity[0]:
        return
    first = tree_first(s, q)
    if first >= 0 and s.se_vruntime[curr] - s.se_vruntime[first] > ideal:
        resched_curr(s, s.rq_cpu[q])
