"""What throttling costs with interrupts off: counts of the work, and its price for the CPU that does it.

Each event is one section: the prices (`Costs`) of what it did on a CPU add up, and hold up that CPU's task.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.smt import arm_step_end, delay_work


@internal
def close_section(s):
    """The section ends: book its length."""
    cpu = s.sys_irqoff_cpu[0]
    ns = s.sys_irqoff_ns[0]
    s.sys_irqoff_ns[0] = 0
    s.cpu_irqoff_ns[cpu] += ns
    s.cpu_nr_irqoff[cpu] += 1
    if ns > s.cpu_irqoff_max[cpu]:
        s.cpu_irqoff_max[cpu] = ns
    delay_work(s, cpu, ns)
    if s.cpu_curr[cpu] >= 0:
        arm_step_end(s, cpu)


@internal
def _spend(s, ns):
    if ns == 0:
        return
    if s.sys_irqoff_ns[0] > 0 and s.sys_irqoff_cpu[0] != s.sys_this_cpu[0]:
        close_section(s)
    s.sys_irqoff_cpu[0] = s.sys_this_cpu[0]
    s.sys_irqoff_ns[0] += ns


@internal
def served(s):
    """Distribution visits one throttled cfs_rq."""
    s.cpu_nr_served[s.sys_this_cpu[0]] += 1
    _spend(s, s.sys_distribute_ns[0])


@internal
def walked(s, groups):
    """A throttle or unthrottle walks over so many groups."""
    s.cpu_nr_walked[s.sys_this_cpu[0]] += groups
    _spend(s, groups * s.sys_walk_ns[0])


@internal
def requeued(s, levels):
    """An entity is queued or dequeued over so many levels on account of throttling."""
    s.cpu_nr_requeued[s.sys_this_cpu[0]] += levels
    _spend(s, levels * s.sys_enqueue_ns[0])
