"""__schedule: pick the next task, put the previous, switch; and what a task's program makes of it."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.balance import newidle_balance
from schedlab.engine.cfs61 import clear_buddies, pick_next_entity_cfs, set_skip_buddy
from schedlab.engine.eevdf import yield_eevdf
from schedlab.engine.entity import SLEEP, SPECIAL, update_curr
from schedlab.engine.events import set_timer
from schedlab.engine.group import dequeue_task, pick_next_entity
from schedlab.engine.hrtick import hrtick_after_schedule
from schedlab.engine.move import move_running
from schedlab.engine.program import BLOCKS, MOVES, RUNS, STOPS, YIELDS, advance
from schedlab.engine.put_set import put_prev_set_next, put_prev_task, set_next_task, switch_entities
from schedlab.engine.record import BLOCK, EXIT, SCHEDULE, SWITCH, WAKEUP_HIST, log_event, observe
from schedlab.engine.resched import clear_need_resched, resched_curr
from schedlab.engine.smt import account_mode, arm_step_end, set_running, sync_work, update_idle
from schedlab.engine.state import BLOCKED, EXITED, NEVER
from schedlab.engine.throttle import check_cfs_rq_runtime
from schedlab.engine.throttled import task_throttle_setup_work
from schedlab.engine.tick import start_tick, stop_tick


@internal
def pick_task_fair(s, cpu):
    """cf. pick_task_fair(), v6.12 and the pick of pick_next_task_fair(), v6.1: -1 when there is nothing to run.

    6.12 checks every level's runtime; before that, a level that has a `curr`, and when one is throttled the previous
    task is put on all levels before the pick starts again. 6.18 goes on into throttled levels and tells the task that
    it picks there; 7.2 does not look.
    """
    eevdf = s.sys_eevdf[0] != 0
    whole_check = s.sys_preempt_short[0] != 0
    per_task = s.sys_per_task[0] != 0
    checks = s.sys_at_account[0] == 0
    throttled = False
    nr_tasks = s.sys_nr_tasks[0]
    q = cpu
    while s.rq_nr[cpu] > 0:
        curr = s.rq_curr[q]
        if curr >= 0 and s.se_on_rq[curr] != 0:
            update_curr(s, q)
        if checks and (whole_check or curr >= 0) and check_cfs_rq_runtime(s, q):
            throttled = True
            if not per_task:
                if not whole_check and s.cpu_curr[cpu] >= 0:
                    put_prev_task(s, s.cpu_curr[cpu])
                    s.sys_prev_put[0] = 1
                q = cpu  # a level fell away: from the root again
                continue
        if eevdf:
            e = pick_next_entity(s, q, True)
            if e < 0:
                q = cpu
                throttled = False
                continue
        else:
            e = pick_next_entity_cfs(s, q)
        if e < nr_tasks:
            if per_task and throttled:
                task_throttle_setup_work(s, e)
            return e
        q = e - nr_tasks
    return -1


@internal
def list_move_head(s, cpu, task):
    """A task switched in moves to the head of its CPU's list of tasks."""
    head = s.cpu_tasks_head[cpu]
    if head == task:
        return
    before = s.task_link_prev[task]
    after = s.task_link_next[task]
    s.task_link_next[before] = after
    if after >= 0:
        s.task_link_prev[after] = before
    else:
        s.cpu_tasks_tail[cpu] = before
    s.task_link_prev[task] = -1
    s.task_link_next[task] = head
    s.task_link_prev[head] = task
    s.cpu_tasks_head[cpu] = task


@internal
def context_switch(s, cpu, prev, task):
    """cf. context_switch(): the books of both tasks, the CPU's speed, and its tick."""
    now = s.sys_now[0]
    account_mode(s, cpu)
    left = s.cpu_left[cpu]
    log_event(s, SWITCH, cpu, prev if left < 0 else left, task)
    s.cpu_left[cpu] = -1
    s.cpu_nr_switches[cpu] += 1
    if prev >= 0 and (s.se_on_rq[prev] != 0 or s.task_throttled[prev] != 0) and s.se_delayed[prev] == 0:
        s.task_wait_since[prev] = now
    s.cpu_curr[cpu] = task
    if task < 0:
        if prev >= 0:
            set_running(s, cpu, -1)
        stop_tick(s, cpu)
    else:
        s.task_nr_switches[task] += 1
        s.task_wait_ns[task] += now - s.task_wait_since[task]
        if s.task_waking[task] != 0:
            s.task_waking[task] = 0
            late = now + s.sys_switch_ns[0] - s.task_wake_time[task]
            observe(s, 2 * s.task_hist[task] + WAKEUP_HIST, late)
        list_move_head(s, cpu, task)
        # what is left of an interrupt's cost (delay_work) comes on top of the switch
        s.cpu_work_stamp[cpu] = max(now, s.cpu_work_stamp[cpu]) + s.sys_switch_ns[0]
        if prev < 0:
            set_running(s, cpu, 1)
            start_tick(s, cpu)
    update_idle(s, cpu)


@internal
def schedule(s, cpu):
    """cf. __schedule()."""
    s.sys_this_cpu[0] = cpu
    clear_need_resched(s, cpu)
    sync_work(s, cpu)
    s.cpu_nr_schedules[cpu] += 1
    log_event(s, SCHEDULE, cpu, s.cpu_curr[cpu], 0)
    prev = s.cpu_curr[cpu]
    s.sys_prev_put[0] = 0
    task = pick_task_fair(s, cpu)
    while task < 0 and newidle_balance(s, cpu):
        task = pick_task_fair(s, cpu)
    switching = task != prev or s.cpu_left[cpu] >= 0
    if s.sys_at_account[0] != 0:
        if switching:
            switch_entities(s, prev, task)
    elif prev < 0 or s.sys_prev_put[0] != 0:
        if task >= 0:
            set_next_task(s, task, True)
    elif switching:
        if task < 0:
            put_prev_task(s, prev)
        else:
            put_prev_set_next(s, prev, task)
    if switching:
        context_switch(s, cpu, prev, task)
    clear_need_resched(s, cpu)  # a request made during the pick is answered by it
    if s.sys_hrtick[0] != 0:
        hrtick_after_schedule(s, cpu, switching)
    if task >= 0 and s.task_fetch[task] != 0 and s.cpu_work_stamp[cpu] <= s.sys_now[0]:
        run_program(s, cpu)
    else:
        arm_step_end(s, cpu)


@internal
def run_program(s, cpu):
    """Let the running task go on with its program, and act on what it does."""
    task = s.cpu_curr[cpu]
    s.task_fetch[task] = 0
    outcome = advance(s, cpu, task)
    if outcome == RUNS:
        arm_step_end(s, cpu)
        return
    s.task_fetch[task] = 1
    s.task_work[task] = 0
    s.task_spin[task] = 0
    set_timer(s, s.sys_src_cpu[0] + cpu, NEVER)
    if outcome == STOPS:
        return  # at its return to user space: a resched is under way
    if outcome == YIELDS:
        yield_task(s, cpu, task)
    elif outcome == MOVES:
        move_running(s, cpu, task)
    elif outcome == BLOCKS:
        s.task_state[task] = BLOCKED
        s.sys_gone_cpu[0] = cpu
        log_event(s, BLOCK, cpu, task, 0)
        dequeue_task(s, task, SLEEP)
    else:
        s.task_state[task] = EXITED
        s.sys_gone_cpu[0] = cpu
        s.task_end[task] = s.sys_now[0]
        s.sys_nr_alive[0] -= 1
        log_event(s, EXIT, cpu, task, 0)
        dequeue_task(s, task, SLEEP | SPECIAL)
    resched_curr(s, cpu)


@internal
def yield_task(s, cpu, task):
    """cf. yield_task_fair()."""
    if s.rq_h_nr[cpu] == 1:
        return
    q = s.se_rq[task]
    clear_buddies(s, task)
    update_curr(s, q)
    if s.sys_eevdf[0] != 0:
        yield_eevdf(s, q, task)
    else:
        set_skip_buddy(s, task)
