"""Where a task runs: placement at fork and wake-up, and the pull of a CPU that goes idle."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cfs61 import clear_buddies
from schedlab.engine.entity import MIGRATED
from schedlab.engine.group import dequeue_task, enqueue_task
from schedlab.engine.pelt import migrate_task_load
from schedlab.engine.record import MIGRATE, log_event

ANY_CPU = -1


@internal
def allowed(s, task, cpu):
    """Whether the task's affinity holds the CPU, and that is online."""
    if s.cpu_active[cpu] == 0:
        return False
    mask = s.task_mask[task]
    if mask == ANY_CPU:
        return True
    return (s.word_bits[mask * s.sys_mask_words[0] + (cpu >> 5)] >> (cpu & 31)) & 1 == 1


@internal
def first_active(s):
    """The lowest CPU that is online."""
    cpu = 0
    while s.cpu_active[cpu] == 0:
        cpu += 1
    return cpu


@internal
def mask_is_active(s, mask):
    """Whether an affinity holds a CPU that is online: one that does not is refused."""
    if mask == ANY_CPU:
        return True
    for cpu in range(s.sys_nr_cpus[0]):
        if s.cpu_active[cpu] != 0 and (s.word_bits[mask * s.sys_mask_words[0] + (cpu >> 5)] >> (cpu & 31)) & 1 == 1:
            return True
    return False


@internal
def set_task_cpu(s, task, cpu):
    """cf. set_task_cpu(): the task belongs to its group's cfs_rq there."""
    s.task_cpu[task] = cpu
    s.se_rq[task] = s.task_group[task] * s.sys_nr_cpus[0] + cpu


@internal
def select_cpu_fork(s, task):
    """cf. find_idlest_cpu(): an idle CPU of the core with the fewest in use, else the CPU with the fewest tasks.

    When all CPUs of its affinity are offline it loses it, for good (cf. select_fallback_rq()).
    """
    best = _idlest(s, task)
    if best < 0:
        s.task_mask[task] = ANY_CPU
        best = _idlest(s, task)
    return best


@internal
def _idlest(s, task):
    best = -1
    best_rank = 0
    for cpu in range(s.sys_nr_cpus[0]):
        if not allowed(s, task, cpu):
            continue
        if s.flag_idle[cpu] != 0:
            rank = s.core_not_idle[s.cpu_core[cpu]]
        else:
            rank = (1 << 20) + s.rq_h_nr_runnable[cpu]
        if best < 0 or rank < best_rank:
            best = cpu
            best_rank = rank
    return best


@internal
def select_cpu_wake(s, task):
    """cf. select_idle_sibling(): the last CPU if idle, else an idle core, an idle CPU of its LLC, or the last."""
    prev = s.task_cpu[task]
    here = allowed(s, task, prev)
    if here and s.flag_idle[prev] != 0:
        return prev
    llc = s.cpu_llc[prev]
    if s.llc_nr_idle[llc] > 0:
        first = s.llc_first[llc]
        nr = s.llc_nr[llc]
        idle = -1
        k = s.pos_in_llc[prev]
        for _ in range(nr - 1):
            k += 1
            if k == first + nr:
                k = first
            cpu = s.map_llc_cpu[k]
            if s.flag_idle[cpu] != 0 and allowed(s, task, cpu):
                if s.core_not_idle[s.cpu_core[cpu]] == 0:
                    return cpu
                if idle < 0:
                    idle = cpu
        if idle >= 0:
            return idle
    return prev if here else select_cpu_fork(s, task)


@internal
def can_migrate_task(s, task, src, dst):
    """cf. can_migrate_task(): allowed there, not running, not delayed, its group not throttled there.

    To 6.17 nor may it be throttled here (throttled_lb_pair()).
    """
    if s.cpu_curr[src] == task or s.se_delayed[task] != 0 or not allowed(s, task, dst):
        return False
    base = s.task_group[task] * s.sys_nr_cpus[0]
    if s.rq_throttle_count[base + dst] != 0:
        return False
    return s.sys_per_task[0] != 0 or s.rq_throttle_count[base + src] == 0


@internal
def move_task(s, task, dst):
    """cf. detach_task() and attach_task(): move a queued task."""
    src = s.task_cpu[task]
    log_event(s, MIGRATE, dst, task, src)
    dequeue_task(s, task, 0)
    s.task_nr_migrations[task] += 1
    if s.sys_balance_kernel[0] != 0:
        migrate_task_load(s, task, src, dst)
    set_task_cpu(s, task, dst)
    enqueue_task(s, task, 0)


@internal
def _pull_from(s, dst, src):
    task = s.cpu_tasks_tail[src]
    while task >= 0:
        if can_migrate_task(s, task, src, dst):
            move_task(s, task, dst)
            return True
        task = s.task_link_prev[task]
    return False


@internal
def newidle_balance(s, cpu):
    """cf. sched_balance_newidle(): pull one task, from the own LLC first. (Costs and cache hotness are left out.)"""
    if s.sys_nr_overloaded[0] == 0:
        return False
    llc = s.cpu_llc[cpu]
    if s.llc_nr_overloaded[llc] > 0:
        first = s.llc_first[llc]
        nr = s.llc_nr[llc]
        k = s.pos_in_llc[cpu]
        for _ in range(nr - 1):
            k += 1
            if k == first + nr:
                k = first
            src = s.map_llc_cpu[k]
            if s.flag_overloaded[src] != 0 and _pull_from(s, cpu, src):
                return True
    if s.sys_nr_overloaded[0] > s.llc_nr_overloaded[llc]:
        src = cpu
        for _ in range(s.sys_nr_cpus[0] - 1):
            src += 1
            if src == s.sys_nr_cpus[0]:
                src = 0
            if s.flag_overloaded[src] != 0 and s.cpu_llc[src] != llc and _pull_from(s, cpu, src):
                return True
    return False


@internal
def migrate_waking(s, task, cpu):
    """cf. migrate_task_rq_fair(): a waking task changes its CPU; CFS makes its vruntime relative. Returns the flag."""
    if cpu == s.task_cpu[task]:
        return 0
    if s.sys_eevdf[0] == 0:
        clear_buddies(s, task)
        s.se_vruntime[task] -= s.rq_min_vruntime[s.se_rq[task]]
    s.task_nr_migrations[task] += 1
    if s.sys_balance_kernel[0] != 0:
        migrate_task_load(s, task, s.task_cpu[task], cpu)
    set_task_cpu(s, task, cpu)
    return MIGRATED
