"""need_resched: who has to run `__schedule` after the present event."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.events import is_armed, set_timer


@internal
def set_need_resched(s, cpu):
    """Make `cpu` run __schedule before the next event."""
    s.sys_resched_n[0] += 1
    if cpu < s.sys_resched_min[0]:
        s.sys_resched_min[0] = cpu


@internal
def resched_curr(s, cpu):
    """cf. resched_curr(): flag the CPU; another CPU learns of it by an interrupt that takes `ipi_ns`.

    A CPU that flags itself does not wait for an interrupt that is on its way: it blocks, or leaves its tick, at once.
    """
    flag = s.cpu_need_resched[cpu]
    if flag == 2:
        return
    if s.cpu_held_until[cpu] > s.sys_now[0]:  # it learns of it when it is let go
        s.cpu_need_resched[cpu] = 1
        set_timer(s, s.sys_src_ipi[0] + cpu, s.cpu_held_until[cpu])
        return
    if cpu != s.sys_this_cpu[0] and s.sys_ipi_ns[0] > 0:
        if flag != 0:
            return
        s.cpu_need_resched[cpu] = 1
        source = s.sys_src_ipi[0] + cpu
        if not is_armed(s, source):
            set_timer(s, source, s.sys_now[0] + s.sys_ipi_ns[0])
    else:
        s.cpu_need_resched[cpu] = 2
        set_need_resched(s, cpu)


@internal
def resched_curr_lazy(s, cpu):
    """cf. resched_curr_lazy(), v6.18: let the running task go on to its return to user space or to the next tick.

    No interrupt is sent. An idle CPU does not wait.
    """
    if s.sys_lazy_resched[0] == 0 or s.cpu_curr[cpu] < 0:
        resched_curr(s, cpu)
    elif s.cpu_need_resched[cpu] == 0:
        s.cpu_lazy[cpu] = 1


@internal
def take_lazy_resched(s, cpu):
    """The moment that a lazy request waited for: whether there is one, which becomes an ordinary one."""
    if s.cpu_lazy[cpu] == 0:
        return False
    s.cpu_lazy[cpu] = 0
    resched_curr(s, cpu)
    return True


@internal
def resched_interrupt(s, cpu):
    """The interrupt of `resched_curr` arrives; on its exit a lazy request counts, also where it came for nothing."""
    s.sys_this_cpu[0] = cpu
    if s.cpu_need_resched[cpu] == 1:
        s.cpu_need_resched[cpu] = 2
        set_need_resched(s, cpu)


@internal
def clear_need_resched(s, cpu):
    """At the start of __schedule."""
    if s.cpu_need_resched[cpu] == 2:
        s.sys_resched_n[0] -= 1
    s.cpu_need_resched[cpu] = 0
    s.cpu_lazy[cpu] = 0


@internal
def next_resched(s):
    """The CPU that has to run __schedule next, -1 when there is none.

    One whose task has just blocked or exited comes first, so that nobody wakes a task that is still `curr` there (the
    kernel's waker waits for on_cpu to clear); then the lowest.
    """
    gone = s.sys_gone_cpu[0]
    s.sys_gone_cpu[0] = -1
    if gone >= 0 and s.cpu_need_resched[gone] == 2:
        return gone
    if s.sys_resched_n[0] == 0:
        s.sys_resched_min[0] = s.sys_nr_cpus[0]
        return -1
    cpu = s.sys_resched_min[0]
    while s.cpu_need_resched[cpu] != 2:
        cpu += 1
    s.sys_resched_min[0] = cpu
    return cpu
