"""Load balancing, the occasions: a CPU goes idle, a tick, and a kick of the idle CPUs' balancer (NOHZ)."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.balance import newidle_balance
from schedlab.engine.domains import jiffies
from schedlab.engine.idle import idle_cpu
from schedlab.engine.lb_move import NOT_OURS, run_stoppers, sched_balance_rq
from schedlab.engine.lb_stats import IDLE, NEWLY_IDLE, NOT_IDLE, lb_idle

_BUSY_FACTOR = 16
_MS = 1_000_000
_SECOND = 1_000_000_000


@internal
def balance_interval(s, d, busy):
    """cf. get_sd_balance_interval(), in jiffies."""
    tick = s.sys_tick_ns[0]
    interval = s.dom_interval[d]
    if busy:
        interval *= _BUSY_FACTOR
    interval = (interval * _MS + tick - 1) // tick
    if busy:
        interval -= 1
    longest = s.sys_nr_online[0] * (_SECOND // tick) // 10
    return min(max(interval, 1), max(longest, 1))


@internal
def sched_balance_newidle(s, cpu):
    """cf. sched_balance_newidle(): bottom-up until something came. It takes no time, so its cost never bars it."""
    if s.cpu_active[cpu] == 0 or s.sys_nr_domains[0] == 0:
        return False
    nr_cpus = s.sys_nr_cpus[0]
    soonest = jiffies(s) + _SECOND // s.sys_tick_ns[0]
    wanted = s.sys_rd_overloaded[0] != 0
    for level in range(s.sys_nr_domains[0]):
        d = level * nr_cpus + cpu
        soonest = min(soonest, s.dom_last_balance[d] + balance_interval(s, d, False))
        if not wanted or sched_balance_rq(s, cpu, level, NEWLY_IDLE) != 0:
            break
    s.cpu_next_balance[cpu] = min(s.cpu_next_balance[cpu], soonest)
    return s.rq_h_nr[cpu] > 0


@internal
def balance_newidle(s, cpu):
    """A CPU finds nothing to run: pull; whether to pick again."""
    if s.sys_balance_kernel[0] != 0:
        return sched_balance_newidle(s, cpu)
    return newidle_balance(s, cpu)


@internal
def sched_balance_domains(s, cpu, idle):
    """cf. sched_balance_domains(): the domains of a CPU that are due."""
    now = jiffies(s)
    busy = idle != IDLE
    soonest = now + 60 * (_SECOND // s.sys_tick_ns[0])
    for level in range(s.sys_nr_domains[0]):
        d = level * s.sys_nr_cpus[0] + cpu
        ours = True
        if now >= s.dom_last_balance[d] + balance_interval(s, d, busy):
            moved = sched_balance_rq(s, cpu, level, idle)
            ours = moved != NOT_OURS
            if moved > 0:
                idle = IDLE if lb_idle(s, cpu) else NOT_IDLE
                busy = idle != IDLE
            s.dom_last_balance[d] = now
            if s.sys_nr_stoppers[0] > 0:
                run_stoppers(s)
        soonest = min(soonest, s.dom_last_balance[d] + balance_interval(s, d, busy))
        if not ours:
            break
    s.cpu_next_balance[cpu] = soonest


@internal
def nohz_idle_balance(s, ilb):
    """cf. _nohz_idle_balance(): one idle CPU balances for all of them, itself last."""
    now = jiffies(s)
    here = s.sys_this_cpu[0]
    s.sys_this_cpu[0] = ilb
    soonest = now + 60 * (_SECOND // s.sys_tick_ns[0])
    cpu = ilb
    for _ in range(s.sys_nr_cpus[0]):
        cpu += 1
        if cpu == s.sys_nr_cpus[0]:
            cpu = 0
        if not lb_idle(s, cpu) or s.cpu_active[cpu] == 0:
            continue
        if not idle_cpu(s, ilb) and s.cpu_need_resched[ilb] != 0:
            s.sys_this_cpu[0] = here
            return
        if now >= s.cpu_next_balance[cpu]:
            sched_balance_domains(s, cpu, IDLE)
        soonest = min(soonest, s.cpu_next_balance[cpu])
    s.sys_nohz_next[0] = soonest
    s.sys_this_cpu[0] = here


@internal
def busy_in_llc(s, cpu):
    """Number of CPUs of an LLC that run something, counted up to 2 (cf. nr_busy_cpus)."""
    llc = s.cpu_llc[cpu]
    busy = 0
    for k in range(s.llc_first[llc], s.llc_first[llc] + s.llc_nr[llc]):
        if s.cpu_curr[s.map_llc_cpu[k]] >= 0:
            busy += 1
            if busy == 2:
                break
    return busy


@internal
def nohz_balancer_kick(s, cpu):
    """cf. nohz_balancer_kick(): a busy CPU wakes the lowest idle one to balance for the idle ones.

    Nobody's tick is stopped where every other CPU runs something: then nothing is put off.
    """
    now = jiffies(s)
    if now < s.sys_nohz_next[0] or (s.rq_h_nr[cpu] < 2 and busy_in_llc(s, cpu) < 2):
        return
    for ilb in range(s.sys_nr_cpus[0]):
        if ilb != cpu and s.cpu_active[ilb] != 0 and s.cpu_curr[ilb] < 0:
            s.sys_nohz_next[0] = now + 1
            if lb_idle(s, ilb):
                nohz_idle_balance(s, ilb)
                return


@internal
def sched_balance_trigger(s, cpu):
    """cf. sched_balance_trigger(), at a tick: the own domains, then the idle CPUs'."""
    if s.cpu_active[cpu] == 0:
        return
    if jiffies(s) >= s.cpu_next_balance[cpu]:
        sched_balance_domains(s, cpu, NOT_IDLE)
    nohz_balancer_kick(s, cpu)
