"""CPUs that go offline and come back, as far as tasks and bandwidth are concerned.

What the rebuild of the domains costs is the room schedlab/hotplug.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.balance import first_active
from schedlab.engine.core_sched import sched_core_cpu_deactivate
from schedlab.engine.domains import build_cores, build_sched_domains
from schedlab.engine.move import move_off
from schedlab.engine.record import ONLINE, log_event
from schedlab.engine.runtime import NO_QUOTA
from schedlab.engine.unthrottle import unthrottle_cfs_rq


@internal
def give_one_ns(s, q):
    """A local runtime of 1 ns, whatever it was."""
    s.tg_created[s.rq_tg[q]] += 1 - s.rq_runtime_remaining[q]
    s.rq_runtime_remaining[q] = 1


@internal
def unthrottle_offline_cfs_rqs(s, cpu):
    """cf. unthrottle_offline_cfs_rqs(): a CPU that goes offline can no longer wait for quota.

    Before 6.14 (unthrottle-offline-only) every local runtime became 1 ns, not only that of what was throttled.
    """
    for g in range(1, s.sys_nr_groups[0]):
        q = g * s.sys_nr_cpus[0] + cpu
        if s.rq_runtime_enabled[q] == 0:
            continue
        s.rq_runtime_enabled[q] = 0
        if s.sys_offline_only[0] == 0 or s.rq_throttled[q] != 0:
            give_one_ns(s, q)
        if s.rq_throttled[q] != 0:
            unthrottle_cfs_rq(s, q)


@internal
def update_runtime_enabled(s, cpu):
    """cf. update_runtime_enabled(): a CPU of the domains is limited where its groups are."""
    for g in range(1, s.sys_nr_groups[0]):
        s.rq_runtime_enabled[g * s.sys_nr_cpus[0] + cpu] = 1 if s.tg_quota[g] != NO_QUOTA else 0


@internal
def update_sysctl(s, factor):
    """cf. update_sysctl(): slices and granularities follow the number of CPUs."""
    s.sys_base_slice[0] = s.sys_norm_base_slice[0] * factor
    s.sys_latency[0] = s.sys_norm_latency[0] * factor
    s.sys_min_granularity[0] = s.sys_norm_min_granularity[0] * factor
    s.sys_wakeup_granularity[0] = s.sys_norm_wakeup_granularity[0] * factor


@internal
def rebuild_sched_domains(s, changed):
    """The rebuild takes the other CPUs off their root domain and puts them back; before 6.14 that unthrottled them."""
    if s.sys_offline_only[0] != 0:
        return
    for cpu in range(s.sys_nr_cpus[0]):
        if cpu != changed and s.cpu_active[cpu] != 0:
            unthrottle_offline_cfs_rqs(s, cpu)
            update_runtime_enabled(s, cpu)


@internal
def hrtimers_cpu_dying(s, cpu):
    """cf. hrtimers_cpu_dying(): the groups' timers go on on another CPU."""
    other = first_active(s)
    for g in range(s.sys_nr_groups[0]):
        if s.tg_timer_cpu[g] == cpu:
            s.tg_timer_cpu[g] = other
        if s.tg_slack_cpu[g] == cpu:
            s.tg_slack_cpu[g] = other


@internal
def sched_cpu_deactivate(s, cpu, factor):
    """cf. sched_cpu_deactivate() and balance_push(): the CPU goes offline, its tasks go elsewhere at once."""
    log_event(s, ONLINE, cpu, 0, 0)
    update_sysctl(s, factor)
    s.cpu_active[cpu] = 0
    s.sys_nr_online[0] -= 1
    unthrottle_offline_cfs_rqs(s, cpu)
    rebuild_sched_domains(s, cpu)
    hrtimers_cpu_dying(s, cpu)
    task = s.cpu_tasks_tail[cpu]
    while task >= 0:  # those that blocked leave the queue
        before = s.task_link_prev[task]
        if s.se_delayed[task] != 0:
            move_off(s, task)
        task = before
    task = s.cpu_curr[cpu]
    if task >= 0:
        move_off(s, task)
    while s.cpu_tasks_tail[cpu] >= 0:
        move_off(s, s.cpu_tasks_tail[cpu])
    for g in range(s.sys_nr_groups[0]):
        q = g * s.sys_nr_cpus[0] + cpu
        while s.rq_limbo[q] >= 0:
            move_off(s, s.rq_limbo[q])
    if s.sys_core_sched[0] != 0:
        build_cores(s)
        build_sched_domains(s)
        sched_core_cpu_deactivate(s, cpu)


@internal
def sched_cpu_activate(s, cpu, factor):
    """cf. sched_cpu_activate(): the CPU is back."""
    log_event(s, ONLINE, cpu, 1, 0)
    update_sysctl(s, factor)
    s.cpu_active[cpu] = 1
    s.sys_nr_online[0] += 1
    if s.sys_core_sched[0] != 0:
        build_cores(s)
        build_sched_domains(s)
    rebuild_sched_domains(s, cpu)
    update_runtime_enabled(s, cpu)
