"""Placement as in the kernel: wake_affine and the search for an idle sibling at a wake-up, the idlest CPU at a fork."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.balance import ANY_CPU, allowed, first_active, select_cpu_fork
from schedlab.engine.domains import jiffies
from schedlab.engine.idle import core_cookie_match, cpu_cookie_match, idle_cpu, others_idle
from schedlab.engine.lb_stats import (
    BUSIEST,
    CAPACITY,
    FULLY_BUSY,
    HAS_SPARE,
    LOCAL,
    OTHER,
    OVERLOADED,
    clear_stats,
    copy_stats,
    count_cpu,
    group_classify,
    group_cpu,
    group_weight,
)
from schedlab.engine.pelt import FRACTION, advance_task_load, cpu_load

_SECOND = 1_000_000_000
_MUCH = 1 << 60


@internal
def record_wakee(s, waker, task):
    """cf. record_wakee(): how often the waker changes whom it wakes, halved once a second."""
    now = jiffies(s)
    if now > s.waker_stamp[waker] + _SECOND // s.sys_tick_ns[0]:
        s.waker_flips[waker] >>= 1
        s.waker_stamp[waker] = now
    if s.waker_last[waker] != task:
        s.waker_last[waker] = task
        s.waker_flips[waker] += 1


@internal
def wake_wide(s, waker, task, cpu):
    """cf. wake_wide(): many wakers and wakees: no affine wake-up."""
    most = s.waker_flips[waker]
    least = s.waker_flips[task]
    if most < least:
        most, least = least, most
    factor = s.llc_nr_online[s.cpu_llc[cpu]]
    return least >= factor and most >= least * factor


@internal
def wake_affine(s, task, this, prev):
    """cf. wake_affine(): the waker's CPU or the last one; an idle one, else the one with less load."""
    if idle_cpu(s, this) and s.cpu_llc[this] == s.cpu_llc[prev]:
        return prev if idle_cpu(s, prev) else this
    if idle_cpu(s, prev):
        return prev
    nr_cpus = s.sys_nr_cpus[0]
    level = 0
    while s.dom_first[level * nr_cpus + this] != s.dom_first[level * nr_cpus + prev]:
        level += 1
    advance_task_load(s, task)
    load = s.task_load[task] >> FRACTION
    here = (cpu_load(s, this) + load) * 100
    there = (cpu_load(s, prev) - load) * (100 + (s.level_pct[level] - 100) // 2)
    return this if here < there else prev


@internal
def fits(s, task, cpu):
    """An idle CPU; with wake-cookie-check (a posted patch) one whose core is idle or has the task's cookie."""
    return idle_cpu(s, cpu) and (s.sys_wake_cookie[0] == 0 or core_cookie_match(s, cpu, task))


@internal
def select_idle_smt(s, task, prev):
    """cf. select_idle_smt(): an idle sibling of the last CPU."""
    core = s.cpu_core[prev]
    for k in range(s.core_first[core], s.core_first[core] + s.core_nr[core]):
        cpu = s.map_core_cpu[k]
        if cpu != prev and allowed(s, task, cpu) and fits(s, task, cpu):
            return cpu
    return -1


@internal
def idle_in_core(s, task, cpu):
    """The first idle CPU of a core that the task may use."""
    core = s.cpu_core[cpu]
    for k in range(s.core_first[core], s.core_first[core] + s.core_nr[core]):
        if idle_cpu(s, s.map_core_cpu[k]) and allowed(s, task, s.map_core_cpu[k]):
            return s.map_core_cpu[k]
    return -1


@internal
def select_idle_cpu(s, task, target, idle_cores):
    """cf. select_idle_cpu(): an idle core where there is one, else an idle CPU among a few (SIS_UTIL)."""
    llc = s.cpu_llc[target]
    left = s.llc_idle_scan[llc] + 1
    if left == 1:
        return -1
    first = s.llc_first[llc]
    end = first + s.llc_nr[llc]
    k = s.pos_in_llc[target]
    idle = -1
    for _ in range(s.llc_nr[llc]):
        k += 1
        if k == end:
            k = first
        cpu = s.map_llc_cpu[k]
        if not allowed(s, task, cpu):
            continue
        if idle_cores:
            if idle_cpu(s, cpu) and others_idle(s, cpu):
                return cpu
            if idle < 0:
                idle = idle_in_core(s, task, cpu)
        else:
            left -= 1
            if left <= 0:
                return -1
            if idle_cpu(s, cpu) and cpu_cookie_match(s, cpu, task):
                return cpu
    if idle_cores:
        s.llc_idle_cores[llc] = 0
    return idle


@internal
def select_idle_sibling(s, task, prev, target):
    """cf. select_idle_sibling()."""
    if fits(s, task, target):
        return target
    llc = s.cpu_llc[target]
    if prev != target and s.cpu_llc[prev] == llc and fits(s, task, prev):
        return prev
    recent = s.task_recent_used[task]
    s.task_recent_used[task] = prev
    if recent != prev and recent != target and s.cpu_llc[recent] == llc:
        if fits(s, task, recent) and allowed(s, task, recent):
            return recent
    if s.llc_nr_online[llc] == 1:
        return target
    idle_cores = False
    if s.spd_stride[0] > 1:
        idle_cores = s.llc_idle_cores[llc] != 0
        if not idle_cores and s.cpu_llc[prev] == llc:
            cpu = select_idle_smt(s, task, prev)
            if cpu >= 0:
                return cpu
    cpu = select_idle_cpu(s, task, target, idle_cores)
    return cpu if cpu >= 0 else target


@internal
def is_pinned(s, task):
    """Whether the affinity holds one CPU, online or not (cf. nr_cpus_allowed)."""
    mask = s.task_mask[task]
    if mask == ANY_CPU:
        return s.sys_nr_cpus[0] == 1
    nr = 0
    for k in range(mask * s.sys_mask_words[0], (mask + 1) * s.sys_mask_words[0]):
        bits = s.word_bits[k]
        if bits != 0:
            nr += 1 if bits & (bits - 1) == 0 else 2
    return nr == 1


@internal
def select_task_rq_wake(s, task):
    """cf. select_task_rq() at a wake-up; a CPU that is not allowed gives way to the fork rule of docs/model.md.

    A task of one CPU goes there, and counts for nobody.
    """
    if is_pinned(s, task):
        return select_cpu_fork(s, task)
    this = s.sys_this_cpu[0]
    prev = s.task_cpu[task]
    curr = s.cpu_curr[this]
    waker = curr if curr >= 0 else s.sys_nr_tasks[0] + this
    record_wakee(s, waker, task)
    target = prev
    if this != prev and allowed(s, task, this) and not wake_wide(s, waker, task, this):
        target = wake_affine(s, task, this, prev)
    cpu = select_idle_sibling(s, task, prev, target)
    return cpu if allowed(s, task, cpu) else select_cpu_fork(s, task)


@internal
def update_sg_wakeup_stats(s, g, level, cpu):
    """cf. update_sg_wakeup_stats()."""
    weight = group_weight(s, level, cpu)
    clear_stats(s, g)
    s.sg_cpu[g] = group_cpu(s, level, cpu, 0)
    s.sg_weight[g] = weight
    s.sg_smt[g] = 0
    for k in range(weight):
        count_cpu(s, g, group_cpu(s, level, cpu, k))
    group_classify(s, g, level)
    if s.sg_type[g] == OVERLOADED or s.sg_type[g] == FULLY_BUSY:
        s.sg_avg_load[g] = s.sg_load[g] // weight


@internal
def idler(s):
    """cf. update_pick_idlest(): whether the group just looked at is idler than the idlest so far."""
    kind = s.sg_type[OTHER]
    if kind != s.sg_type[BUSIEST]:
        return kind < s.sg_type[BUSIEST]
    if kind == OVERLOADED or kind == FULLY_BUSY:
        return s.sg_avg_load[BUSIEST] > s.sg_avg_load[OTHER]
    if kind != HAS_SPARE:
        return False
    if s.sg_idle[OTHER] != s.sg_idle[BUSIEST]:
        return s.sg_idle[OTHER] > s.sg_idle[BUSIEST]
    return s.sg_util[BUSIEST] > s.sg_util[OTHER]


@internal
def group_fits(s, task, level, cpu):
    """Whether a task may run in a group and its cookie fits there: (allowed somewhere, cookie fits somewhere)."""
    may = False
    match = s.sys_core_sched[0] == 0
    for k in range(group_weight(s, level, cpu)):
        i = group_cpu(s, level, cpu, k)
        if allowed(s, task, i):
            may = True
            if not match and core_cookie_match(s, i, task):
                match = True
    return may and match


@internal
def stay_local(s, level):
    """cf. the end of sched_balance_find_dst_group(): whether the own group is no worse than the idlest."""
    kind = s.sg_type[LOCAL]
    if kind != s.sg_type[BUSIEST]:
        return kind < s.sg_type[BUSIEST]
    ours = s.sg_avg_load[LOCAL]
    theirs = s.sg_avg_load[BUSIEST]
    pct = s.level_pct[level]
    margin = CAPACITY * (pct - 100) // 100
    if kind == OVERLOADED or kind == FULLY_BUSY:
        if s.level_numa[level] != 0 and theirs + margin >= ours:
            return True
        return theirs >= ours + margin or 100 * ours <= pct * theirs
    if kind == HAS_SPARE:
        return s.sg_idle[LOCAL] >= s.sg_idle[BUSIEST]
    return True


@internal
def find_dst_group(s, task, level, cpu):
    """cf. sched_balance_find_dst_group(): a CPU of the idlest group of a domain, -1 to stay in the own one."""
    d = level * s.sys_nr_cpus[0] + cpu
    s.sys_lb_seq[0] += 1
    seen = s.sys_lb_seq[0]
    clear_stats(s, BUSIEST)
    s.sg_cpu[BUSIEST] = -1
    s.sg_type[BUSIEST] = OVERLOADED
    s.sg_avg_load[BUSIEST] = _MUCH
    local = False
    first = s.dom_first[d]
    k = s.dom_pos[d]
    for n in range(s.dom_nr[d]):
        i = s.span_cpu[k]
        k += 1
        if k == first + s.dom_nr[d]:
            k = first
        leader = group_cpu(s, level, i, 0)
        if s.cpu_lb_seen[leader] == seen:
            continue
        s.cpu_lb_seen[leader] = seen
        if not group_fits(s, task, level, i):
            continue
        if n == 0:
            local = True
            update_sg_wakeup_stats(s, LOCAL, level, i)
        else:
            update_sg_wakeup_stats(s, OTHER, level, i)
            if idler(s):
                copy_stats(s, OTHER, BUSIEST)
    if s.sg_cpu[BUSIEST] < 0 or (local and stay_local(s, level)):
        return -1
    return s.sg_cpu[BUSIEST]


@internal
def find_dst_group_cpu(s, task, level, leader, this):
    """cf. sched_balance_find_dst_group_cpu(): the first idle CPU of a group, else the one with the least load."""
    weight = group_weight(s, level, leader)
    if weight == 1:
        return leader
    best = this
    least = _MUCH
    for k in range(weight):
        cpu = group_cpu(s, level, leader, k)
        if not allowed(s, task, cpu) or not core_cookie_match(s, cpu, task):
            continue
        if idle_cpu(s, cpu):
            return cpu
        load = cpu_load(s, cpu)
        if load < least:
            least = load
            best = cpu
    return best


@internal
def select_task_rq_fork(s, task):
    """cf. sched_balance_find_dst_cpu(), of a fork on the lowest CPU that is online."""
    cpu = first_active(s)
    s.task_recent_used[task] = cpu
    level = s.sys_nr_domains[0] - 1
    while level >= 0:
        leader = find_dst_group(s, task, level, cpu)
        if leader >= 0:
            cpu = find_dst_group_cpu(s, task, level, leader, cpu)
        level -= 1
    return cpu if allowed(s, task, cpu) else select_cpu_fork(s, task)
