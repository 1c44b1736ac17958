"""Load balancing, the moving: which tasks may go, how many do, and what happens when none can."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.balance import allowed, move_task
from schedlab.engine.cookie import task_is_throttled
from schedlab.engine.eevdf import entity_eligible
from schedlab.engine.entity import parent_entity
from schedlab.engine.events import set_timer
from schedlab.engine.group import list_move_head
from schedlab.engine.idle import core_cookie_match, others_idle
from schedlab.engine.lb_stats import (
    IDLE,
    MIGRATE_LOAD,
    MIGRATE_TASK,
    MIGRATE_UTIL,
    NEWLY_IDLE,
    NOT_IDLE,
    find_src,
    group_cpu,
    group_weight,
    in_balance,
    lb_idle,
)
from schedlab.engine.move import move_running_to
from schedlab.engine.pelt import FRACTION, advance_task_load, cpu_util
from schedlab.engine.record import ACTIVE_BALANCE, log_event
from schedlab.engine.resched import resched_curr
from schedlab.engine.smt import sync_work
from schedlab.engine.state import NEVER
from schedlab.engine.wakeup import check_preempt_wakeup

#: sysctl_sched_migration_cost (500 us), sysctl_sched_nr_migrate, MAX_PINNED_INTERVAL (ms).
MIGRATION_COST = 500_000
NR_MIGRATE = 32
MAX_PINNED_INTERVAL = 512
#: What `sched_balance_rq` returns when another CPU has to balance this domain.
NOT_OURS = -1


@internal
def domain(s):
    """Index of the domain that is being balanced: that of the CPU that does it, also where tasks go to a neighbour."""
    return s.env_level[0] * s.sys_nr_cpus[0] + s.env_cpu[0]


@internal
def should_we_balance(s):
    """cf. should_we_balance(): the first idle CPU of the own group, of idle cores first, or else the group's first."""
    dst = s.env_dst[0]
    level = s.env_level[0]
    if not in_balance(s, dst):
        return False
    if s.env_idle[0] == NEWLY_IDLE:
        return s.rq_h_nr[dst] == 0
    idle_smt = -1
    for k in range(group_weight(s, level, dst)):
        cpu = group_cpu(s, level, dst, k)
        if not in_balance(s, cpu) or not lb_idle(s, cpu):
            continue
        if s.level_smt[level] == 0 and not others_idle(s, cpu):
            if idle_smt < 0:
                idle_smt = cpu
            continue
        return cpu == dst
    if idle_smt >= 0:
        return idle_smt == dst
    return group_cpu(s, level, dst, 0) == dst


@internal
def task_hot(s, task):
    """cf. task_hot(): not between siblings; else one that fits the core's cookie and ran long enough ago is not."""
    if s.level_smt[s.env_level[0]] != 0:
        return False
    dst = s.env_dst[0]
    if s.rq_h_nr[dst] > 0 and s.rq_next[s.se_rq[task]] == task:
        return True
    if not core_cookie_match(s, dst, task):
        return True
    return s.sys_now[0] - s.se_exec_start[task] < MIGRATION_COST


@internal
def splits_cookies(s, task):
    """LB-c: whether a move takes a running task from a sibling of its cookie, or puts a task beside another cookie."""
    dst = s.env_dst[0]
    src = s.env_src[0]
    if not core_cookie_match(s, dst, task) and not others_idle(s, dst):
        return True
    core = s.cpu_core[src]
    if s.cpu_curr[src] != task or s.task_cookie[task] == 0 or core == s.cpu_core[dst]:
        return False
    for k in range(s.core_first[core], s.core_first[core] + s.core_nr[core]):
        mate = s.cpu_curr[s.map_core_cpu[k]]
        if mate >= 0 and mate != task and s.task_cookie[mate] == s.task_cookie[task]:
            return True
    return False


@internal
def note_pinned(s, task):
    """A task's affinity does not hold the destination: another CPU of the own group may do."""
    s.env_some_pinned[0] = 1
    if s.env_idle[0] == NEWLY_IDLE or s.env_new_dst[0] >= 0 or s.env_active[0] != 0:
        return
    level = s.env_level[0]
    for k in range(group_weight(s, level, s.env_dst[0])):
        cpu = group_cpu(s, level, s.env_dst[0], k)
        if in_balance(s, cpu) and allowed(s, task, cpu):
            s.env_new_dst[0] = cpu
            return


@internal
def can_migrate(s, task):
    """cf. can_migrate_task() of load balancing."""
    dst = s.env_dst[0]
    d = domain(s)
    if s.se_delayed[task] != 0 and s.env_migration[0] != MIGRATE_LOAD:
        return False
    if task_is_throttled(s, task, dst):
        return False
    there = s.task_group[task] * s.sys_nr_cpus[0] + dst
    if s.sys_eevdf[0] != 0 and s.dom_failed[d] == 0 and s.rq_nr[there] > 0:
        if not entity_eligible(s, s.se_rq[task], task):
            return False
    if not allowed(s, task, dst):
        note_pinned(s, task)
        return False
    s.env_all_pinned[0] = 0
    if s.cpu_curr[s.env_src[0]] == task and s.env_active[0] == 0:
        return False
    if s.sys_lb_no_split[0] != 0 and splits_cookies(s, task):
        return False
    if s.env_active[0] != 0:
        return True
    if s.sys_lb_fi_source[0] != 0 and s.cpu_forced[s.env_src[0]] != 0:
        return core_cookie_match(s, dst, task)
    return s.dom_failed[d] > s.level_tries[s.env_level[0]] or not task_hot(s, task)


@internal
def task_h_load(s, task):
    """cf. task_h_load(): a task's part of its CPU's load."""
    advance_task_load(s, task)
    load = s.task_load[task] >> FRACTION
    e = parent_entity(s, task)
    while e >= 0:
        load = load * s.se_weight[e] // max(1, s.rq_load[e - s.sys_nr_tasks[0]])
        e = parent_entity(s, e)
    return load


@internal
def within_imbalance(s, task):
    """Count a task against the imbalance; whether it is not too much."""
    kind = s.env_migration[0]
    if kind == MIGRATE_TASK:
        s.env_imbalance[0] -= 1
        return True
    if kind == MIGRATE_UTIL:
        src = s.env_src[0]
        amount = cpu_util(s, src) // max(1, s.rq_h_nr_runnable[src])
    else:
        amount = max(task_h_load(s, task), 1)
    if amount >> min(s.dom_failed[domain(s)], 30) > s.env_imbalance[0]:
        return False
    s.env_imbalance[0] -= amount
    return True


@internal
def too_few(s):
    """Whether the source has no task to give: one may run; with LB-a a forced-idle CPU gives its only one."""
    src = s.env_src[0]
    return s.rq_h_nr[src] <= 1 and (s.sys_lb_fi_source[0] == 0 or s.cpu_forced[src] == 0 or s.rq_h_nr[src] == 0)


@internal
def detach_tasks(s):
    """cf. detach_tasks() and attach_tasks(): from the tail of the source's list; returns how many moved."""
    src = s.env_src[0]
    dst = s.env_dst[0]
    if too_few(s):
        s.env_all_pinned[0] = 0
        return 0
    moved = 0
    while s.env_imbalance[0] > 0 and s.cpu_tasks_tail[src] >= 0:
        if s.env_idle[0] != NOT_IDLE and too_few(s):
            break
        s.env_loop[0] += 1
        if s.env_loop[0] > s.env_loop_max[0]:
            break
        task = s.cpu_tasks_tail[src]
        if not can_migrate(s, task) or not within_imbalance(s, task):
            list_move_head(s, src, task)
            continue
        move_task(s, task, dst)
        check_preempt_wakeup(s, dst, task, False)
        moved += 1
        if s.env_idle[0] == NEWLY_IDLE:
            break
    return moved


@internal
def want_active_balance(s):
    """cf. need_active_balance(): a task should move and too often none could."""
    if s.sys_no_active[0] != 0:
        return False
    failed = s.dom_failed[domain(s)]
    return s.env_migration[0] == MIGRATE_TASK and failed > s.level_tries[s.env_level[0]] + 2


@internal
def run_stoppers(s):
    """The stoppers that were asked, by CPU (two domains may have been found wanting, each with its source)."""
    for src in range(s.sys_nr_cpus[0]):
        dst = s.cpu_push_to[src]
        if dst >= 0:
            s.cpu_push_to[src] = -1
            s.sys_nr_stoppers[0] -= 1
            active_load_balance(s, src, dst)


@internal
def active_load_balance(s, src, dst):
    """cf. active_load_balance_cpu_stop(): the source's stopper moves a task, the running one too. It takes no time.

    The kernel leaves the kind of migration at 0, which is load: a delayed task may go too.
    """
    level = 0
    while not spans(s, level, dst, src):
        level += 1
    s.env_level[0] = level
    s.env_src[0] = src
    s.env_dst[0] = dst
    s.env_cpu[0] = dst
    s.env_idle[0] = IDLE
    s.env_active[0] = 1
    s.env_migration[0] = MIGRATE_LOAD
    task = s.cpu_tasks_tail[src]
    while task >= 0 and not can_migrate(s, task):
        task = s.task_link_prev[task]
    s.env_active[0] = 0
    if task < 0:
        return
    s.dom_failed[domain(s)] = 0
    s.cpu_nr_active_balances[dst] += 1
    log_event(s, ACTIVE_BALANCE, dst, task, src)
    here = s.sys_this_cpu[0]
    s.sys_this_cpu[0] = src
    if s.cpu_curr[src] == task:
        sync_work(s, src)
        set_timer(s, s.sys_src_cpu[0] + src, NEVER)
        move_running_to(s, src, task, dst)
    else:
        move_task(s, task, dst)
        check_preempt_wakeup(s, dst, task, False)
        resched_curr(s, src)
    s.sys_this_cpu[0] = here


@internal
def spans(s, level, cpu, other):
    """Whether the domain of `cpu` on a level holds another CPU."""
    nr_cpus = s.sys_nr_cpus[0]
    return s.dom_first[level * nr_cpus + cpu] == s.dom_first[level * nr_cpus + other]


@internal
def forced_source(s):
    """LB-a: the first forced-idle CPU of the domain with a task for an idle destination, -1 without one."""
    d = domain(s)
    first = s.dom_first[d]
    k = s.dom_pos[d]
    for _ in range(s.dom_nr[d] - 1):
        k += 1
        if k == first + s.dom_nr[d]:
            k = first
        cpu = s.span_cpu[k]
        if s.cpu_forced[cpu] == 0 or not in_balance(s, cpu):
            continue
        s.env_src[0] = cpu
        s.env_migration[0] = MIGRATE_TASK
        task = s.cpu_tasks_tail[cpu]
        while task >= 0:
            if can_migrate(s, task):
                s.env_imbalance[0] = 1
                return cpu
            task = s.task_link_prev[task]
    return -1


@internal
def take_from(s, src):
    """Detach and attach, also to another CPU of the own group where affinity asks for it; how many moved."""
    s.env_src[0] = src
    s.env_loop[0] = 0
    s.env_loop_max[0] = min(NR_MIGRATE, s.rq_h_nr[src])
    s.env_new_dst[0] = -1
    moved = detach_tasks(s)
    while s.env_new_dst[0] >= 0 and s.env_imbalance[0] > 0:
        s.cpu_lb_skip[s.env_dst[0]] = s.env_skip[0]
        s.env_dst[0] = s.env_new_dst[0]
        s.env_new_dst[0] = -1
        s.env_loop[0] = 0
        moved += detach_tasks(s)
    return moved


@internal
def others_left(s, cpu):
    """Whether a CPU outside the own group still takes part."""
    level = s.env_level[0]
    d = level * s.sys_nr_cpus[0] + cpu
    own = group_cpu(s, level, cpu, 0)
    for k in range(s.dom_first[d], s.dom_first[d] + s.dom_nr[d]):
        i = s.span_cpu[k]
        if in_balance(s, i) and group_cpu(s, level, i, 0) != own:
            return True
    return False


@internal
def lengthen_interval(s, d):
    """cf. the end of sched_balance_rq(): a domain that needs nothing is looked at half as often."""
    if s.env_idle[0] == NEWLY_IDLE:
        return
    pinned = s.env_all_pinned[0] != 0 and s.dom_interval[d] < MAX_PINNED_INTERVAL
    if pinned or s.dom_interval[d] < 2 * s.dom_nr[d]:
        s.dom_interval[d] *= 2


@internal
def nothing_moved(s, cpu, d, src):
    """cf. sched_balance_rq(), nothing moved: count it, and ask the source's stopper after too many in vain."""
    if s.env_idle[0] != NEWLY_IDLE:
        s.dom_failed[d] += 1
    if want_active_balance(s):
        curr = s.cpu_curr[src]
        if curr < 0 or not allowed(s, curr, cpu):
            lengthen_interval(s, d)
            return
        if s.cpu_push_to[src] < 0:
            s.cpu_push_to[src] = cpu
            s.sys_nr_stoppers[0] += 1
    s.dom_interval[d] = s.dom_nr[d]


@internal
def sched_balance_rq(s, cpu, level, idle):
    """cf. sched_balance_rq(): balance one domain of a CPU; how many tasks moved, or NOT_OURS."""
    nr_cpus = s.sys_nr_cpus[0]
    d = level * nr_cpus + cpu
    s.sys_lb_seq[0] += 1
    s.env_skip[0] = s.sys_lb_seq[0]
    s.env_level[0] = level
    s.env_dst[0] = cpu
    s.env_cpu[0] = cpu
    s.env_idle[0] = idle
    s.env_active[0] = 0
    s.env_all_pinned[0] = 0
    s.env_some_pinned[0] = 0
    above = -1
    if level + 1 < s.sys_nr_domains[0]:
        above = (level + 1) * nr_cpus + s.span_cpu[s.dom_first[d]]
    ours = should_we_balance(s)
    while ours or s.env_all_pinned[0] != 0:
        src = -1
        s.env_new_dst[0] = -1
        if s.sys_lb_fi_source[0] != 0 and idle != NOT_IDLE:
            src = forced_source(s)
        if src < 0:
            src = find_src(s)
        if src < 0:
            break
        s.env_src[0] = src
        s.env_all_pinned[0] = 1
        moved = 0
        if not too_few(s):
            moved = take_from(s, src)
            if above >= 0 and s.env_some_pinned[0] != 0 and s.env_imbalance[0] > 0:
                s.dom_imbalanced[above] = 1
            if s.env_all_pinned[0] != 0:
                s.cpu_lb_skip[src] = s.env_skip[0]
                if others_left(s, cpu):
                    ours = should_we_balance(s)
                    if ours:
                        continue
                break
        if moved > 0:
            s.dom_failed[d] = 0
            s.dom_interval[d] = s.dom_nr[d]
        else:
            nothing_moved(s, cpu, d, src)
        return moved
    if above >= 0 and s.env_all_pinned[0] == 0:
        s.dom_imbalanced[above] = 0
    s.dom_failed[d] = 0
    lengthen_interval(s, d)
    return 0 if ours else NOT_OURS
