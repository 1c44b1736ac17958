"""Decayed averages of load, running time and runnable tasks, as far as balancing needs them (a lazy PELT).

The half-life is 2^25 ns, as in the kernel (32 periods of 1024 us). Time counts in whole quanta of 2^15 ns: what a CPU
does at the end of a quantum stands for all of it. Averages are kept in 1/65536.
"""

from __future__ import annotations

from schedlab._jit import internal

QUANTUM = 15
FRACTION = 16
_FACTOR = 20
_MAX_HALVINGS = 40


@internal
def decayed(s, value, target, quanta):
    """`value` on its way to `target` for so many quanta."""
    halvings = min(quanta >> 10, _MAX_HALVINGS)
    factor = s.decay_factor[quanta & 1023] >> halvings
    return target + (((value - target) * factor) >> _FACTOR)


@internal
def advance_pelt(s, cpu):
    """Bring a CPU's averages up to now."""
    stamp = s.sys_now[0] >> QUANTUM
    quanta = stamp - s.pelt_stamp[cpu]
    if quanta <= 0:
        return
    s.pelt_stamp[cpu] = stamp
    s.pelt_load[cpu] = decayed(s, s.pelt_load[cpu], s.pelt_load_c[cpu], quanta)
    s.pelt_util[cpu] = decayed(s, s.pelt_util[cpu], s.pelt_util_c[cpu], quanta)
    s.pelt_runnable[cpu] = decayed(s, s.pelt_runnable[cpu], s.pelt_runnable_c[cpu], quanta)


@internal
def update_pelt(s, cpu):
    """What a CPU runs or has queued has changed."""
    advance_pelt(s, cpu)
    s.pelt_load_c[cpu] = s.rq_load[cpu] << FRACTION
    s.pelt_util_c[cpu] = (1024 << FRACTION) if s.cpu_curr[cpu] >= 0 else 0
    s.pelt_runnable_c[cpu] = (s.rq_h_nr_runnable[cpu] * 1024) << FRACTION


@internal
def advance_task_load(s, task):
    """Bring a task's average load up to now."""
    stamp = s.sys_now[0] >> QUANTUM
    quanta = stamp - s.task_load_stamp[task]
    if quanta > 0:
        s.task_load_stamp[task] = stamp
        s.task_load[task] = decayed(s, s.task_load[task], s.task_load_c[task], quanta)


@internal
def update_task_load(s, task, queued):
    """A task is queued, or leaves; one that is delayed is still queued."""
    advance_task_load(s, task)
    s.task_load_c[task] = (s.se_weight[task] << FRACTION) if queued else 0


@internal
def migrate_task_load(s, task, src, dst):
    """cf. migrate_se_pelt_lag() and attach_entity_load_avg(): a task takes its load along to another CPU."""
    advance_task_load(s, task)
    advance_pelt(s, src)
    advance_pelt(s, dst)
    s.pelt_load[src] -= min(s.task_load[task], s.pelt_load[src])
    s.pelt_load[dst] += s.task_load[task]


@internal
def attach_task_load(s, task, cpu):
    """cf. post_init_entity_util_avg(): a new task brings its whole weight."""
    advance_pelt(s, cpu)
    s.task_load_stamp[task] = s.sys_now[0] >> QUANTUM
    s.pelt_load[cpu] += s.task_load[task]


@internal
def cpu_load(s, cpu):
    """cf. cpu_load()."""
    advance_pelt(s, cpu)
    return s.pelt_load[cpu] >> FRACTION


@internal
def cpu_util(s, cpu):
    """cf. cpu_util_cfs(), at most a CPU's capacity."""
    advance_pelt(s, cpu)
    return min(s.pelt_util[cpu] >> FRACTION, 1024)


@internal
def cpu_util_boost(s, cpu):
    """cf. cpu_util_cfs_boost(): a task that waits counts as if it ran."""
    return min(max(cpu_util(s, cpu), cpu_runnable(s, cpu)), 1024)


@internal
def cpu_runnable(s, cpu):
    """cf. cpu_runnable()."""
    advance_pelt(s, cpu)
    return s.pelt_runnable[cpu] >> FRACTION
