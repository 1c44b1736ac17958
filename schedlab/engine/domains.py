"""The lists of siblings and the scheduling domains, built anew over the CPUs that are online.

A domain keeps its place in `span`; its CPUs stand there in ascending order, those that are offline nowhere.
"""

from __future__ import annotations

from schedlab._jit import internal


@internal
def jiffies(s):
    """Ticks of CPU 0 since time 0."""
    return (s.sys_now[0] - s.cpu_tick_offset[0]) // s.sys_tick_ns[0]


@internal
def build_cores(s):
    """cf. the siblings' masks (cpu_smt_mask()) and sched_core_cpu_starting(), v6.18, core.c.

    A CPU that arrives takes its core's state as it is, and does not make its siblings pick.
    """
    for cpu in range(s.sys_nr_cpus[0]):
        s.core_nr[s.cpu_core[cpu]] = 0
    for cpu in range(s.sys_nr_cpus[0]):
        if s.cpu_active[cpu] != 0:
            core = s.cpu_core[cpu]
            k = s.core_first[core] + s.core_nr[core]
            s.map_core_cpu[k] = cpu
            s.pos_in_core[cpu] = k
            s.core_nr[core] += 1


@internal
def build_sched_domains(s):
    """cf. build_sched_domains() and sd_init(), v6.18, topology.c: new domains begin with the shortest interval.

    `dom_failed` counts CPUs on the way, at the place in `span` where their domain begins.
    """
    nr_cpus = s.sys_nr_cpus[0]
    now = jiffies(s)
    for d in range(s.sys_nr_domains[0] * nr_cpus):
        s.dom_failed[d] = 0
        s.dom_imbalanced[d] = 0
        s.dom_last_balance[d] = now
    for d in range(s.sys_nr_domains[0] * nr_cpus):
        cpu = d % nr_cpus
        if s.cpu_active[cpu] != 0:
            first = s.dom_first[d]
            s.dom_pos[d] = first + s.dom_failed[first]
            s.span_cpu[s.dom_pos[d]] = cpu
            s.dom_failed[first] += 1
    for d in range(s.sys_nr_domains[0] * nr_cpus):
        s.dom_nr[d] = s.dom_failed[s.dom_first[d]]
        s.dom_interval[d] = s.dom_nr[d]
    for d in range(s.sys_nr_domains[0] * nr_cpus):
        s.dom_failed[d] = 0
    for cpu in range(nr_cpus):
        s.llc_nr_online[s.cpu_llc[cpu]] = 0
    for cpu in range(nr_cpus):
        s.llc_nr_online[s.cpu_llc[cpu]] += s.cpu_active[cpu]
