"""__schedule: pick the next task, put the previous, switch; and what a task's program makes of it."""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.cfs61 import clear_buddies, set_skip_buddy
from schedlab.engine.core_sched import pick_next_task_core, prev_is_idle, wants_core_balance
from schedlab.engine.eevdf import yield_eevdf
from schedlab.engine.entity import SLEEP, SPECIAL, update_curr, update_min_fi
from schedlab.engine.events import is_armed, set_timer
from schedlab.engine.force_idle import sched_core_balance
from schedlab.engine.group import dequeue_task, list_move_head
from schedlab.engine.hrtick import hrtick_after_schedule
from schedlab.engine.idle import set_forced, update_idle_core
from schedlab.engine.lb_move import run_stoppers
from schedlab.engine.move import move_running
from schedlab.engine.newidle import balance_newidle
from schedlab.engine.pick import pick_task_fair
from schedlab.engine.program import BLOCKS, MOVES, RUNS, STOPS, YIELDS, advance
from schedlab.engine.put_set import (
    put_prev_set_next,
    put_prev_set_next_core,
    put_prev_task,
    set_next_task,
    switch_entities,
)
from schedlab.engine.record import BLOCK, EXIT, SCHEDULE, SWITCH, WAKEUP_HIST, log_event, observe
from schedlab.engine.resched import clear_need_resched, resched_curr
from schedlab.engine.smt import account_mode, arm_step_end, set_running, sync_work, update_idle
from schedlab.engine.state import BLOCKED, EXITED, NEVER
from schedlab.engine.tick import start_tick, stop_tick


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
        if s.sys_balance_kernel[0] != 0:
            update_idle_core(s, cpu)
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
            if not is_armed(s, s.sys_src_tick[0] + cpu):  # it is where the stopper has just moved a running task off
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
    core_balance = False
    if s.sys_core_sched[0] != 0:
        task = -1
        if not prev_is_idle(s, cpu) or s.rq_h_nr[cpu] > 0 or s.sys_pick_on_drain[0] != 0:
            task = pick_next_task_core(s, cpu)
            core_balance = task < 0 and wants_core_balance(s, cpu)
    elif s.sys_preempt_short[0] != 0 and prev_is_idle(s, cpu) and s.rq_h_nr[cpu] == 0:
        task = -1  # SM_IDLE, from 6.12: idle as before, without a look at other CPUs
    else:
        task = pick_task_fair(s, cpu)
        while task < 0 and balance_newidle(s, cpu):
            task = pick_task_fair(s, cpu)
    switching = task != prev or s.cpu_left[cpu] >= 0
    if s.sys_at_account[0] != 0:
        if switching:
            switch_entities(s, prev, task)
    elif s.sys_core_sched[0] != 0:
        if switching:
            put_prev_set_next_core(s, prev, task)
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
    if s.sys_core_sched[0] != 0:
        set_forced(s, cpu, 1 if task < 0 and s.rq_h_nr[cpu] > 0 else 0)
    clear_need_resched(s, cpu)  # a request made during the pick is answered by it
    if s.sys_hrtick[0] != 0:
        hrtick_after_schedule(s, cpu, switching)
    if task >= 0 and s.task_fetch[task] != 0 and s.cpu_work_stamp[cpu] <= s.sys_now[0]:
        run_program(s, cpu)
    else:
        arm_step_end(s, cpu)
    if core_balance:
        sched_core_balance(s, cpu)
    if s.sys_nr_stoppers[0] > 0:
        run_stoppers(s)


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
        if s.sys_fi_min[0] != 0:
            update_min_fi(s, q)
    else:
        set_skip_buddy(s, task)
