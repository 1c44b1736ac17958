"""How fast a thread runs beside its siblings, how much work is done, and who is busy (for speed, placement and watts).

Work is kept in 1e-6 ns (`task_work`), speeds in millionths (`cpu_rate`), so that factors such as 0.2 or 0.45 are exact.
CPU time, which bandwidth and fairness charge, does not depend on the speed.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.events import set_timer
from schedlab.engine.idle import update_idle_state
from schedlab.engine.state import NEVER

RATE_ONE = 1_000_000


@internal
def sync_work(s, cpu):
    """Book the work that the running task did since the last change of speed."""
    task = s.cpu_curr[cpu]
    now = s.sys_now[0]
    if task >= 0 and now > s.cpu_work_stamp[cpu]:
        if s.task_spin[task] == 0:
            s.task_work[task] -= (now - s.cpu_work_stamp[cpu]) * s.cpu_rate[cpu]
        s.cpu_work_stamp[cpu] = now


@internal
def arm_step_end(s, cpu):
    """Set when the present step of the running task ends; a waiting step fetch ends when its overhead does.

    A task in user mode that has throttle work returns to user space as soon as the overhead is over.
    """
    task = s.cpu_curr[cpu]
    if task < 0:
        set_timer(s, s.sys_src_cpu[0] + cpu, NEVER)
        return
    if s.task_work_pending[task] != 0 and s.task_fetch[task] == 0 and s.task_mode[task] == 0:
        end = max(s.sys_now[0], s.cpu_work_stamp[cpu])
    elif s.task_spin[task] != 0 and s.task_fetch[task] == 0:
        end = max(s.sys_now[0], s.task_step_end[task])
    else:
        end = max(s.sys_now[0], s.cpu_work_stamp[cpu])
        work = s.task_work[task]
        if work > 0:
            end += (work + s.cpu_rate[cpu] - 1) // s.cpu_rate[cpu]
    set_timer(s, s.sys_src_cpu[0] + cpu, end)


@internal
def delay_work(s, cpu, cost):
    """Let an interrupt or a switch of `cost` ns hold up the running task's work."""
    if cost <= 0:
        return
    sync_work(s, cpu)
    s.cpu_work_stamp[cpu] = max(s.cpu_work_stamp[cpu], s.sys_now[0]) + cost


@internal
def set_running(s, cpu, running):
    """A CPU begins (1) or ceases (-1) to run a task: its siblings change their speed."""
    now = s.sys_now[0]
    core = s.cpu_core[cpu]
    if s.core_running[core] > 0:
        s.core_busy_ns[core] += now - s.core_since[core]
    s.core_since[core] = now
    s.core_running[core] += running
    if running > 0:
        s.cpu_busy_since[cpu] = now
    else:
        s.cpu_busy_ns[cpu] += now - s.cpu_busy_since[cpu]
    nr = s.core_nr[core]
    stride = s.spd_stride[0]
    busy = s.core_running[core]
    for k in range(s.core_first[core], s.core_first[core] + nr):
        sibling = s.map_core_cpu[k]
        if sibling == cpu:
            s.cpu_rate[cpu] = s.rate_ppm[cpu * stride + max(busy, 1) - 1]
        elif s.cpu_curr[sibling] >= 0:
            sync_work(s, sibling)
            s.cpu_rate[sibling] = s.rate_ppm[sibling * stride + busy - 1]
            arm_step_end(s, sibling)


@internal
def update_idle(s, cpu):
    """Keep the flags that placement and balancing scan: idle, and overloaded (two or more runnable tasks)."""
    nr = s.rq_h_nr_runnable[cpu]  # the root's cfs_rq of CPU c has index c
    idle = 1 if s.cpu_curr[cpu] < 0 and nr == 0 else 0
    overloaded = 1 if nr >= 2 else 0
    llc = s.cpu_llc[cpu]
    if idle != s.flag_idle[cpu]:
        change = idle - s.flag_idle[cpu]
        s.flag_idle[cpu] = idle
        s.llc_nr_idle[llc] += change
        s.core_not_idle[s.cpu_core[cpu]] -= change
    if overloaded != s.flag_overloaded[cpu]:
        change = overloaded - s.flag_overloaded[cpu]
        s.flag_overloaded[cpu] = overloaded
        s.llc_nr_overloaded[llc] += change
        s.sys_nr_overloaded[0] += change
    if s.sys_core_sched[0] + s.sys_balance_kernel[0] != 0:
        update_idle_state(s, cpu)


@internal
def account_mode(s, cpu):
    """Book user or kernel time of the running task up to now."""
    task = s.cpu_curr[cpu]
    delta = s.sys_now[0] - s.cpu_mode_stamp[cpu]
    s.cpu_mode_stamp[cpu] = s.sys_now[0]
    if task >= 0:
        if s.task_mode[task] == 0:
            s.task_user_ns[task] += delta
        else:
            s.task_kernel_ns[task] += delta
