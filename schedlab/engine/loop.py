"""Pop the next event, hand it to its handler, let every flagged CPU reschedule. No policy here."""

from __future__ import annotations

from schedlab._jit import DEBUG, entry, internal
from schedlab.engine.balance import first_active
from schedlab.engine.bandwidth import do_sched_cfs_slack_timer, sched_cfs_period_timer, tg_set_cfs_bandwidth
from schedlab.engine.cookie import sched_core_update_cookie
from schedlab.engine.core import run_program, schedule
from schedlab.engine.cpu_hotplug import sched_cpu_activate, sched_cpu_deactivate
from schedlab.engine.debug import check_invariants
from schedlab.engine.events import SOURCE_BITS, SOURCE_MASK, first_key, set_timer
from schedlab.engine.irqoff import close_section
from schedlab.engine.move import sched_move_task, set_cpus_allowed
from schedlab.engine.resched import next_resched, resched_interrupt
from schedlab.engine.smt import account_mode, arm_step_end, delay_work, sync_work
from schedlab.engine.state import NEVER, NEW, as_state
from schedlab.engine.task_work import exit_to_user_mode, in_user_step, interrupt_exit
from schedlab.engine.tick import hrtick, scheduler_tick
from schedlab.engine.unthrottle import cfsb_csd_unthrottle
from schedlab.engine.wakeup import try_to_wake_up, wake_up_new_task

#: What `run_until` returns: the time is up, the event budget is used up, the log wants draining, an error, all exited.
DONE, MORE, LOG_FULL, ERROR, ALL_EXITED = range(5)
CTRL_CPU_MAX, CTRL_AFFINITY, CTRL_GROUP, CTRL_OFFLINE, CTRL_ONLINE, CTRL_HOLD, CTRL_COOKIE = range(1, 8)


@internal
def step_ends(s, cpu):
    """The running task's step is done (or the overhead before its next step is over), or throttle work is due."""
    s.sys_this_cpu[0] = cpu
    sync_work(s, cpu)
    task = s.cpu_curr[cpu]
    if s.task_work_pending[task] != 0 and in_user_step(s, task):
        busy = s.task_step_end[task] > s.sys_now[0] if s.task_spin[task] != 0 else s.task_work[task] > 0
        if busy:
            account_mode(s, cpu)
            if not exit_to_user_mode(s, cpu, task):
                arm_step_end(s, cpu)
            return
    run_program(s, cpu)


@internal
def task_timer(s, task):
    """A sleep ends, on the CPU where the task slept, or a task starts."""
    set_timer(s, s.sys_src_task[0] + task, NEVER)
    if s.task_state[task] == NEW:
        wake_up_new_task(s, task)
    else:
        cpu = s.task_cpu[task]
        s.sys_this_cpu[0] = cpu if s.cpu_active[cpu] != 0 else first_active(s)
        try_to_wake_up(s, task)


@internal
def scenario_event(s):
    """What the workload does from outside: a write of cpu.max, another affinity."""
    k = s.sys_next_ctrl[0]
    s.sys_next_ctrl[0] = k + 1
    set_timer(s, s.sys_src_ctrl[0], s.ctrl_at[k + 1])  # the last one is at NEVER
    s.sys_this_cpu[0] = 0
    target = s.ctrl_target[k]
    if s.ctrl_code[k] == CTRL_CPU_MAX:
        tg_set_cfs_bandwidth(s, target, s.ctrl_p1[k], s.ctrl_p2[k], s.ctrl_p3[k])
    elif s.ctrl_code[k] == CTRL_AFFINITY:
        set_cpus_allowed(s, target, s.ctrl_p1[k])
    elif s.ctrl_code[k] == CTRL_GROUP:
        sched_move_task(s, target, s.ctrl_p1[k])
    elif s.ctrl_code[k] == CTRL_COOKIE:
        sched_core_update_cookie(s, target, s.ctrl_p1[k])
    elif s.ctrl_code[k] == CTRL_OFFLINE:
        sched_cpu_deactivate(s, target, s.ctrl_p1[k])
    elif s.ctrl_code[k] == CTRL_HOLD:
        hold_cpu(s, target, s.ctrl_p1[k])
    else:
        sched_cpu_activate(s, target, s.ctrl_p1[k])


@internal
def hold_cpu(s, cpu, ns):
    """Interrupts are off on `cpu` for so long (after what holds it already)."""
    s.cpu_held_until[cpu] = max(s.cpu_held_until[cpu], s.sys_now[0]) + ns
    delay_work(s, cpu, ns)
    if s.cpu_curr[cpu] >= 0:
        arm_step_end(s, cpu)


@internal
def cpu_of_source(s, source):
    """The CPU on which an event is handled; -1 for what no CPU holds up."""
    if source >= s.sys_src_task[0]:
        if source >= s.sys_src_ctrl[0]:
            return -1
        task = source - s.sys_src_task[0]
        return s.task_cpu[task] if s.task_state[task] != NEW else -1
    if source >= s.sys_src_csd[0]:
        return (source - s.sys_src_csd[0]) % s.sys_nr_cpus[0]
    if source >= s.sys_src_slack[0]:
        return s.tg_slack_cpu[source - s.sys_src_slack[0]]
    return s.tg_timer_cpu[source]


@internal
def is_held(s, source):
    """Whether the event's CPU has interrupts off: the event then comes when they are on again."""
    cpu = cpu_of_source(s, source)
    if cpu < 0 or s.cpu_held_until[cpu] <= s.sys_now[0]:
        return False
    set_timer(s, source, s.cpu_held_until[cpu])
    return True


@internal
def dispatch(s, source):
    """Call the handler of a source."""
    if source >= s.sys_src_cpu[0]:
        if source < s.sys_src_task[0]:
            step_ends(s, source - s.sys_src_cpu[0])
        elif source < s.sys_src_ctrl[0]:
            task_timer(s, source - s.sys_src_task[0])
        else:
            scenario_event(s)
    elif source >= s.sys_src_tick[0]:
        scheduler_tick(s, source - s.sys_src_tick[0])
    elif source >= s.sys_src_hrtick[0]:
        hrtick(s, source - s.sys_src_hrtick[0])
    elif source >= s.sys_src_ipi[0]:
        set_timer(s, source, NEVER)
        resched_interrupt(s, source - s.sys_src_ipi[0])
    elif source >= s.sys_src_csd[0]:
        set_timer(s, source, NEVER)
        s.sys_this_cpu[0] = source - s.sys_src_csd[0]
        cfsb_csd_unthrottle(s, source - s.sys_src_csd[0])
    elif source >= s.sys_src_slack[0]:
        do_sched_cfs_slack_timer(s, source - s.sys_src_slack[0])
    else:
        sched_cfs_period_timer(s, source)


@entry
def run_until(address, t_end, max_events):
    """Process events before `t_end` (ns), at most `max_events` of them; returns one of the codes above."""
    s = as_state(address)
    for _ in range(max_events):
        key = first_key(s)
        now = key >> SOURCE_BITS
        if key == NEVER or now >= t_end:
            s.sys_now[0] = t_end
            return DONE
        if s.sys_log_n[0] > s.sys_log_high[0]:
            return LOG_FULL
        s.sys_now[0] = now
        s.sys_nr_events[0] += 1
        if s.sys_holds[0] != 0 and is_held(s, key & SOURCE_MASK):
            continue
        dispatch(s, key & SOURCE_MASK)
        interrupt_exit(s, s.sys_this_cpu[0])
        cpu = next_resched(s)
        while cpu >= 0:
            schedule(s, cpu)
            cpu = next_resched(s)
        if s.sys_irqoff_ns[0] > 0:
            close_section(s)
        if DEBUG:
            check_invariants(s)
        if s.sys_error[0] != 0:
            return ERROR
        if s.sys_nr_alive[0] == 0 and s.sys_stop_on_exit[0] != 0:
            return ALL_EXITED
    return MORE
