"""CPUs that go offline and come back."""

from . import bandwidth, domains, force_idle, placement, throttle
from .resched import resched_curr
from .state import CpuRecord


def set_online(m, cpu: CpuRecord, online: bool):
    """Take a CPU out of use, or back into it; cf. sched_cpu_deactivate(), sched_cpu_activate().

    The domains are rebuilt, which takes every CPU offline and online for a moment. The slices follow the number of CPUs
    that are online, a CPU that is about to leave included.
    """
    m.log("online", cpu.number, int(online), 0)
    others = [other for other in m.cpus if other.active and other is not cpu]
    m.set_tunables(len(others) + 1)
    cpu.active = online
    if not online:
        unthrottle_offline(m, cpu)
    for other in others:
        unthrottle_offline(m, other)
        enable_runtime(m, other)
    if online:
        enable_runtime(m, cpu)
    else:
        move_timers(m, cpu)
        move_tasks(m, cpu)
    if m.core_scheduling:
        if m.balance is not None:
            domains.build(m, domains.jiffies(m))
        change_core(m, cpu)


def change_core(m, cpu: CpuRecord):
    """The CPU comes back to its core, or leaves it; cf. sched_core_cpu_starting(), sched_core_cpu_deactivate().

    Who comes takes the core's state as it is. When one leaves, its siblings pick anew, as every CPU runs its stopper
    then; a core that is not in use forgets its cookie.
    """
    core = cpu.sibling.core
    if cpu.active:
        core.cpus = sorted([*core.cpus, cpu], key=lambda sibling: sibling.number)
        return
    core.cpus.remove(cpu)
    # the stoppers' picks end the charging; a sibling that is held begins it again when it picks
    force_idle.charge(m, core)
    core.fi_start = None
    cpu.sibling.pick_waits = False
    core.task_seq += 1
    in_use = [other for other in core.cpus if other.curr is not None or other.root.h_nr_queued]
    for other in in_use:
        resched_curr(m, other.number)
    if not in_use:
        force_idle.end_episode(m, core)
        core.cookie = 0


def unthrottle_offline(m, cpu: CpuRecord):
    """A CPU goes offline, be it for a moment: nothing is throttled on it; cf. unthrottle_offline_cfs_rqs().

    Without unthrottle-offline-only (af98d8a36a96) a CPU that stays gets a new ns of runtime at each rebuild.
    """
    fixed = m.kernel.has("unthrottle-offline-only")
    if fixed and cpu.active:
        return
    for group in m.groups:
        q = group.cfs_rqs[cpu.number]
        if not q.runtime_enabled:
            continue
        q.runtime_enabled = False
        if q.throttled or not fixed:
            bandwidth.set_runtime(q, 1)
        if q.throttled:
            throttle.unthrottle(m, q)


def enable_runtime(m, cpu: CpuRecord):
    """A CPU is online: limits hold on it; cf. update_runtime_enabled()."""
    for group in m.groups:
        group.cfs_rqs[cpu.number].runtime_enabled = group.bandwidth.quota is not None


def move_timers(m, cpu: CpuRecord):
    """The groups' timers go on on another CPU; cf. hrtimers_cpu_dying()."""
    for group in m.groups:
        b = group.bandwidth
        if b.period_cpu == cpu.number:
            b.period_cpu = placement.first_active(m)
        if b.slack_cpu == cpu.number:
            b.slack_cpu = placement.first_active(m)


def move_tasks(m, cpu: CpuRecord):
    """All tasks leave: delayed ones for good, then the running one, those that wait, and those in limbo.

    The kernel pushes each when it is picked (balance_push()); here they go at once.
    """
    for task in reversed(list(cpu.tasks)):
        if task.entity.sched_delayed:
            placement.leave(m, task)
    if cpu.curr is not None:
        placement.leave(m, cpu.curr)
    for task in reversed(list(cpu.tasks)):
        placement.leave(m, task)
    for group in m.groups:
        for task in list(group.cfs_rqs[cpu.number].limbo):
            placement.leave(m, task)
