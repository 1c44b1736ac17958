"""Invariants that a debug build (SCHEDLAB_DEBUG=1) checks after every event: G12, G13 and G14 of the fact sheet.

G14 holds for the whole queue (to 6.17) and where the pick tells the task (6.18), without a delay of interrupts. In 7.2
it does not hold: docs/model.md, "Per-task throttling".
"""

from __future__ import annotations

from schedlab._jit import internal

ERROR_INVARIANT = 3


@internal
def fail(s, number, where):
    """Stop the run: invariant G`number` does not hold at a cfs_rq, task or CPU. The first that fails is reported."""
    if s.sys_error[0] != 0:
        return
    s.sys_error[0] = ERROR_INVARIANT
    s.sys_error_a[0] = number
    s.sys_error_b[0] = where


@internal
def check_throttle_counts(s):
    """G12: throttle_count is the number of throttled cfs_rqs among a group and its ancestors."""
    nr_cpus = s.sys_nr_cpus[0]
    for g in range(1, s.sys_nr_groups[0]):
        for cpu in range(nr_cpus):
            q = g * nr_cpus + cpu
            above = s.rq_throttle_count[s.tg_parent[g] * nr_cpus + cpu]
            if s.rq_throttle_count[q] != s.rq_throttled[q] + above:
                fail(s, 12, q)


@internal
def check_limbo(s):
    """G13: a throttled task is not queued, and in the limbo of its own, throttled cfs_rq."""
    throttled = 0
    for task in range(s.sys_nr_tasks[0]):
        if s.task_throttled[task] != 0:
            throttled += 1
            if s.se_on_rq[task] != 0:
                fail(s, 13, task)
    for q in range(s.sys_nr_groups[0] * s.sys_nr_cpus[0]):
        task = s.rq_limbo[q]
        if task >= 0 and s.rq_throttle_count[q] == 0:
            fail(s, 13, task)
        while task >= 0:
            throttled -= 1
            if s.task_throttled[task] == 0 or s.se_rq[task] != q:
                fail(s, 13, task)
            task = s.task_limbo_next[task]
    if throttled != 0:
        fail(s, 13, -1)


@internal
def check_running(s):
    """G14: nobody runs in a throttled hierarchy, or (6.18) only in the kernel or about to leave."""
    if s.sys_at_account[0] != 0 or s.sys_ipi_ns[0] > 0:
        return
    for cpu in range(s.sys_nr_cpus[0]):
        task = s.cpu_curr[cpu]
        if task < 0 or s.rq_throttle_count[s.se_rq[task]] == 0:
            continue
        user = s.task_fetch[task] == 0 and s.task_mode[task] == 0
        if s.sys_per_task[0] == 0:
            fail(s, 14, cpu)
        elif user and s.task_work_pending[task] == 0 and s.task_kernel_thread[task] == 0:
            fail(s, 14, cpu)


@internal
def check_invariants(s):
    """All of them."""
    check_throttle_counts(s)
    check_limbo(s)
    check_running(s)
