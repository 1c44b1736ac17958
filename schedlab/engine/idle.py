"""Which CPUs are idle, forced idle, or fit for a cookie; and what is kept about them when that changes."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.pelt import update_pelt
from schedlab.engine.record import FORCED_IDLE, log_event

#: `cpu_core_pick` without a pick that waits; the idle task is -1.
NO_PICK = -2


@internal
def idle_cpu(s, cpu):
    """cf. idle_cpu() and available_idle_cpu(): it runs nothing and has nothing queued, not even a delayed task."""
    return s.cpu_curr[cpu] < 0 and s.rq_h_nr[cpu] == 0


@internal
def others_idle(s, cpu):
    """cf. is_core_idle(): whether the siblings of a CPU are idle."""
    core = s.cpu_core[cpu]
    for k in range(s.core_first[core], s.core_first[core] + s.core_nr[core]):
        sibling = s.map_core_cpu[k]
        if sibling != cpu and not idle_cpu(s, sibling):
            return False
    return True


@internal
def core_cookie_match(s, cpu, task):
    """cf. sched_core_cookie_match(): the core is wholly idle, or has the task's cookie."""
    if s.sys_core_sched[0] == 0 or s.core_cookie[s.cpu_core[cpu]] == s.task_cookie[task]:
        return True
    return idle_cpu(s, cpu) and others_idle(s, cpu)


@internal
def cpu_cookie_match(s, cpu, task):
    """cf. sched_cpu_cookie_match(): the core has the task's cookie."""
    return s.sys_core_sched[0] == 0 or s.core_cookie[s.cpu_core[cpu]] == s.task_cookie[task]


@internal
def set_forced(s, cpu, forced):
    """Book a CPU's forced idle time: it picked idle though something is queued."""
    if s.cpu_forced[cpu] == forced:
        return
    s.cpu_forced[cpu] = forced
    cookie = 0
    if forced != 0:
        s.cpu_forced_since[cpu] = s.sys_now[0]
        s.cpu_nr_forced[cpu] += 1
        cookie = s.core_cookie[s.cpu_core[cpu]]
    else:
        s.cpu_forced_ns[cpu] += s.sys_now[0] - s.cpu_forced_since[cpu]
    log_event(s, FORCED_IDLE, cpu, forced, cookie)


@internal
def account_forceidle(s, core):
    """cf. __sched_core_account_forceidle(): charge the forced idle time to whoever runs on the core."""
    if s.core_fi_started[core] == 0:
        return
    delta = s.sys_now[0] - s.core_fi_start[core]
    if delta <= 0:
        return
    s.core_fi_start[core] = s.sys_now[0]
    count = s.core_fi_count[core]
    occupation = s.core_fi_occupation[core]
    s.core_fi_integral[core] += delta * count
    if occupation > 0 and (count > 1 or occupation > 1):
        delta = delta * count // occupation
    for k in range(s.core_first[core], s.core_first[core] + s.core_nr[core]):
        cpu = s.map_core_cpu[k]
        task = s.cpu_core_pick[cpu]
        if task == NO_PICK:
            task = s.cpu_curr[cpu]
        if task >= 0:
            s.task_forceidle_ns[task] += delta


@internal
def update_idle_state(s, cpu):
    """What a CPU runs or has queued has changed: under core scheduling, and with the kernel's balancing."""
    if s.cpu_forced[cpu] != 0 and s.rq_h_nr[cpu] == 0:
        set_forced(s, cpu, 0)
    if s.sys_balance_kernel[0] != 0:
        update_pelt(s, cpu)
        if s.rq_h_nr[cpu] >= 2:
            s.sys_rd_overloaded[0] = 1


@internal
def update_idle_core(s, cpu):
    """cf. __update_idle_core(): a CPU goes idle; when its siblings are, its LLC has an idle core."""
    llc = s.cpu_llc[cpu]
    if s.llc_idle_cores[llc] == 0 and others_idle(s, cpu):
        s.llc_idle_cores[llc] = 1
