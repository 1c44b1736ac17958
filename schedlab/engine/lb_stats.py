"""Load balancing, what to move: statistics of the groups of a domain, the busiest of them, its busiest CPU.

A group of a domain is a domain one level down, named by its lowest CPU; on the lowest level it is a CPU. Left out:
unequal capacities (misfit tasks, asymmetric packing), NUMA's allowed imbalance, groups of unlike SMT.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.idle import idle_cpu
from schedlab.engine.pelt import cpu_load, cpu_runnable, cpu_util, cpu_util_boost

#: Types of groups, in order; whose statistics; kinds of idleness; what an imbalance counts.
HAS_SPARE, FULLY_BUSY, SMT_BALANCE, IMBALANCED, OVERLOADED = range(5)
LOCAL, BUSIEST, OTHER = range(3)
NOT_IDLE, IDLE, NEWLY_IDLE = range(3)
MIGRATE_LOAD, MIGRATE_UTIL, MIGRATE_TASK = range(3)
CAPACITY = 1024
_MANY = 1 << 30


@internal
def lb_idle(s, cpu):
    """Whether balancing takes a CPU for idle; with LB-b also one that is forced idle."""
    return idle_cpu(s, cpu) or (s.sys_lb_fi_dest[0] != 0 and s.cpu_forced[cpu] != 0)


@internal
def in_balance(s, cpu):
    """Whether a CPU takes part in the balance that is going on (cf. env->cpus)."""
    return s.cpu_lb_skip[cpu] != s.env_skip[0] and s.cpu_active[cpu] != 0


@internal
def group_weight(s, level, cpu):
    """Number of CPUs of the group that holds `cpu`."""
    return 1 if level == 0 else s.dom_nr[(level - 1) * s.sys_nr_cpus[0] + cpu]


@internal
def group_cpu(s, level, cpu, k):
    """The k-th CPU of the group that holds `cpu`."""
    return cpu if level == 0 else s.span_cpu[s.dom_first[(level - 1) * s.sys_nr_cpus[0] + cpu] + k]


@internal
def clear_stats(s, g):
    """No CPU counted yet."""
    s.sg_load[g] = 0
    s.sg_util[g] = 0
    s.sg_runnable[g] = 0
    s.sg_nr[g] = 0
    s.sg_h_nr[g] = 0
    s.sg_idle[g] = 0
    s.sg_cores[g] = 0
    s.sg_avg_load[g] = 0
    s.sg_type[g] = HAS_SPARE


@internal
def count_cpu(s, g, cpu):
    """Add one CPU to the statistics of a group."""
    s.sg_load[g] += cpu_load(s, cpu)
    s.sg_util[g] += cpu_util(s, cpu)
    s.sg_runnable[g] += cpu_runnable(s, cpu)
    s.sg_h_nr[g] += s.rq_h_nr_runnable[cpu]
    s.sg_nr[g] += s.rq_h_nr[cpu]
    if lb_idle(s, cpu):
        s.sg_idle[g] += 1


@internal
def group_classify(s, g, level):
    """cf. group_classify()."""
    pct = s.level_pct[level]
    weight = s.sg_weight[g]
    capacity = CAPACITY * weight
    util = s.sg_util[g]
    runnable = s.sg_runnable[g]
    if s.sg_nr[g] > weight and (capacity * 100 < util * pct or capacity * pct < runnable * 100):
        s.sg_type[g] = OVERLOADED
    elif s.dom_imbalanced[level * s.sys_nr_cpus[0] + s.sg_cpu[g]] != 0:
        s.sg_type[g] = IMBALANCED
    elif s.sg_smt[g] != 0:
        s.sg_type[g] = SMT_BALANCE
    elif s.sg_nr[g] < weight or (capacity * pct >= runnable * 100 and capacity * 100 > util * pct):
        s.sg_type[g] = HAS_SPARE
    else:
        s.sg_type[g] = FULLY_BUSY


@internal
def update_sg_lb_stats(s, g, cpu):
    """cf. update_sg_lb_stats(), of the group that holds `cpu`; whether a CPU of it has tasks that wait."""
    level = s.env_level[0]
    weight = group_weight(s, level, cpu)
    clear_stats(s, g)
    s.sg_cpu[g] = group_cpu(s, level, cpu, 0)
    s.sg_weight[g] = weight
    overloaded = False
    for k in range(weight):
        i = group_cpu(s, level, cpu, k)
        if s.map_core_cpu[s.core_first[s.cpu_core[i]]] == i:
            s.sg_cores[g] += 1
        if in_balance(s, i):
            count_cpu(s, g, i)
            overloaded = overloaded or s.rq_h_nr[i] > 1
    s.sg_cores[g] = max(s.sg_cores[g], 1)
    s.sg_of_core[g] = 1 if level > 0 and s.level_smt[level - 1] != 0 and weight > 1 else 0
    of_core = s.sg_of_core[g] != 0
    s.sg_smt[g] = 1 if g != LOCAL and s.env_idle[0] != NOT_IDLE and of_core and s.sg_h_nr[g] > 1 else 0
    group_classify(s, g, level)
    if s.sg_type[g] == OVERLOADED:
        s.sg_avg_load[g] = s.sg_load[g] * CAPACITY // (CAPACITY * weight)
    return overloaded


@internal
def copy_stats(s, src, dst):
    """The statistics of one slot to another."""
    s.sg_cpu[dst] = s.sg_cpu[src]
    s.sg_load[dst] = s.sg_load[src]
    s.sg_util[dst] = s.sg_util[src]
    s.sg_runnable[dst] = s.sg_runnable[src]
    s.sg_nr[dst] = s.sg_nr[src]
    s.sg_h_nr[dst] = s.sg_h_nr[src]
    s.sg_idle[dst] = s.sg_idle[src]
    s.sg_weight[dst] = s.sg_weight[src]
    s.sg_cores[dst] = s.sg_cores[src]
    s.sg_type[dst] = s.sg_type[src]
    s.sg_avg_load[dst] = s.sg_avg_load[src]
    s.sg_smt[dst] = s.sg_smt[src]
    s.sg_of_core[dst] = s.sg_of_core[src]


@internal
def busier(s):
    """cf. update_sd_pick_busiest(): whether the group just looked at is busier than the busiest so far."""
    if s.sg_h_nr[OTHER] == 0:
        return False
    kind = s.sg_type[OTHER]
    if kind != s.sg_type[BUSIEST]:
        return kind > s.sg_type[BUSIEST]
    if kind == OVERLOADED:
        return s.sg_avg_load[OTHER] > s.sg_avg_load[BUSIEST]
    if kind == IMBALANCED:
        return False
    spare = kind == HAS_SPARE
    if spare and s.sg_cpu[BUSIEST] >= 0 and s.sg_of_core[OTHER] != s.sg_of_core[BUSIEST]:
        return s.sg_of_core[OTHER] == 0 or s.sg_h_nr[OTHER] > 1  # cf. smt_vs_nonsmt_groups()
    if kind == SMT_BALANCE:
        spare = s.sg_idle[OTHER] != 0 or s.sg_idle[BUSIEST] != 0
    if spare:
        if s.sg_idle[OTHER] != s.sg_idle[BUSIEST]:
            return s.sg_idle[OTHER] < s.sg_idle[BUSIEST]
        return s.sg_nr[OTHER] > s.sg_nr[BUSIEST]
    return s.sg_of_core[BUSIEST] == 0  # fully busy: the first of SMT cores, else the last


@internal
def update_idle_cpu_scan(s, util):
    """cf. update_idle_cpu_scan(): how many CPUs of its LLC a wake-up may look at."""
    if s.env_idle[0] == NEWLY_IDLE:
        return
    llc = s.cpu_llc[s.env_dst[0]]
    nr = s.llc_nr_online[llc]
    level = s.env_level[0]
    if s.dom_nr[level * s.sys_nr_cpus[0] + s.env_dst[0]] != nr:
        return
    mean = util // nr
    pct = s.level_pct[level]
    used = min(mean * mean * pct * pct // (10000 * CAPACITY), CAPACITY)
    s.llc_idle_scan[llc] = (CAPACITY - used) * nr // CAPACITY


@internal
def update_sd_lb_stats(s):
    """cf. update_sd_lb_stats(): all groups, the own first, then by number; returns (busiest found, load, capacity)."""
    level = s.env_level[0]
    d = level * s.sys_nr_cpus[0] + s.env_dst[0]
    s.sys_lb_seq[0] += 1
    seen = s.sys_lb_seq[0]
    clear_stats(s, BUSIEST)
    s.sg_idle[BUSIEST] = _MANY
    s.sg_cpu[BUSIEST] = -1
    found = False
    overloaded = False
    load = 0
    util = 0
    first = s.dom_first[d]
    nr = s.dom_nr[d]
    k = s.dom_pos[d]
    for n in range(nr):
        cpu = s.span_cpu[k]
        k += 1
        if k == first + nr:
            k = first
        leader = group_cpu(s, level, cpu, 0)
        if s.cpu_lb_seen[leader] == seen:
            continue
        s.cpu_lb_seen[leader] = seen
        g = LOCAL if n == 0 else OTHER
        if update_sg_lb_stats(s, g, cpu):
            overloaded = True
        load += s.sg_load[g]
        util += s.sg_util[g]
        if n > 0 and busier(s):
            copy_stats(s, OTHER, BUSIEST)
            found = True
    if level == s.sys_nr_domains[0] - 1:
        s.sys_rd_overloaded[0] = 1 if overloaded else 0
    update_idle_cpu_scan(s, util)
    return found, load * CAPACITY // (CAPACITY * nr)


@internal
def prefer_sibling(s):
    """cf. SD_PREFER_SIBLING of the busiest group: of the domain one level down, which a lone CPU has not."""
    return s.level_prefer_sibling[s.env_level[0]] != 0 and s.sg_weight[BUSIEST] > 1


@internal
def sibling_imbalance(s):
    """cf. sibling_imbalance()."""
    if s.env_idle[0] == NOT_IDLE or s.sg_nr[BUSIEST] == 0:
        return 0
    theirs = s.sg_cores[BUSIEST]
    ours = s.sg_cores[LOCAL]
    if theirs == ours:
        return max(0, s.sg_nr[BUSIEST] - s.sg_nr[LOCAL])
    imbalance = max(0, ours * s.sg_nr[BUSIEST] - theirs * s.sg_nr[LOCAL])
    imbalance = (2 * imbalance + ours + theirs) // (ours + theirs)
    if imbalance <= 1 and s.sg_nr[LOCAL] == 0 and s.sg_nr[BUSIEST] > 1:
        imbalance = 2
    return imbalance


@internal
def calculate_imbalance(s, mean):
    """cf. calculate_imbalance(): what to move, and how much of it."""
    level = s.env_level[0]
    s.env_migration[0] = MIGRATE_TASK
    if s.sg_type[BUSIEST] == SMT_BALANCE or s.sg_type[BUSIEST] == IMBALANCED:
        return 1
    if s.sg_type[LOCAL] == HAS_SPARE:
        if s.sg_type[BUSIEST] > FULLY_BUSY and s.level_shares_llc[level] == 0:
            spare = max(0, CAPACITY * s.sg_weight[LOCAL] - s.sg_util[LOCAL])
            if s.env_idle[0] != NOT_IDLE and spare == 0:
                return 1
            s.env_migration[0] = MIGRATE_UTIL
            return spare
        if s.sg_weight[BUSIEST] == 1 or prefer_sibling(s):
            return sibling_imbalance(s) >> 1
        return max(0, s.sg_idle[LOCAL] - s.sg_idle[BUSIEST]) >> 1
    ours = s.sg_avg_load[LOCAL]
    if s.sg_type[LOCAL] < OVERLOADED:
        ours = s.sg_load[LOCAL] // s.sg_weight[LOCAL]
        if ours >= s.sg_avg_load[BUSIEST] or ours >= mean:
            return 0
    s.env_migration[0] = MIGRATE_LOAD
    room = (mean - ours) * s.sg_weight[LOCAL]
    if s.sg_avg_load[BUSIEST] < mean:  # fewer but heavier tasks elsewhere: the kernel's unsigned difference is huge
        return room
    return min((s.sg_avg_load[BUSIEST] - mean) * s.sg_weight[BUSIEST], room)


@internal
def balanced(s, mean):
    """The middle of sched_balance_find_src_group(): whether the busiest group is left as it is."""
    kind = s.sg_type[BUSIEST]
    if kind == IMBALANCED:
        return False
    if s.sg_type[LOCAL] > kind:
        return True
    if s.sg_type[LOCAL] == OVERLOADED:
        ours = s.sg_avg_load[LOCAL]
        theirs = s.sg_avg_load[BUSIEST]
        if ours >= theirs or ours >= mean or 100 * theirs <= s.level_pct[s.env_level[0]] * ours:
            return True
    if prefer_sibling(s) and s.sg_type[LOCAL] == HAS_SPARE and sibling_imbalance(s) > 1:
        return False
    if kind == OVERLOADED:
        return False
    if s.env_idle[0] == NOT_IDLE:
        return True
    if kind == SMT_BALANCE and s.sg_of_core[LOCAL] == 0:
        return False
    if s.sg_weight[BUSIEST] > 1 and s.sg_idle[LOCAL] <= s.sg_idle[BUSIEST] + 1:
        return True
    return s.sg_h_nr[BUSIEST] == 1


@internal
def find_src_rq(s):
    """cf. sched_balance_find_src_rq(): the busiest CPU of the busiest group, -1 when none will do."""
    level = s.env_level[0]
    leader = s.sg_cpu[BUSIEST]
    best = -1
    most = 0
    for k in range(s.sg_weight[BUSIEST]):
        cpu = group_cpu(s, level, leader, k)
        nr = s.rq_h_nr_runnable[cpu]
        if nr == 0 or not in_balance(s, cpu):
            continue
        if s.env_migration[0] == MIGRATE_TASK:
            value = nr
        elif s.env_migration[0] == MIGRATE_UTIL:
            value = cpu_util_boost(s, cpu) if nr > 1 else 0
        else:
            value = cpu_load(s, cpu)
            if nr == 1 and value > s.env_imbalance[0]:
                value = 0
        if value > most:
            most = value
            best = cpu
    return best


@internal
def find_src(s):
    """The CPU to take from, -1 when the domain is balanced; sets the imbalance."""
    found, mean = update_sd_lb_stats(s)
    s.env_imbalance[0] = 0
    if not found or balanced(s, mean):
        return -1
    s.env_imbalance[0] = calculate_imbalance(s, mean)
    return find_src_rq(s) if s.env_imbalance[0] > 0 else -1
