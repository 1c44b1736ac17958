"""The steps of a task: what it does next when a step has ended.

Steps without a duration run at once, one after the other, until one takes time, blocks, yields, moves or exits.
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.balance import allowed, mask_is_active
from schedlab.engine.channel import SECTION, SLEEPS, transfer
from schedlab.engine.events import set_timer
from schedlab.engine.record import SAMPLE, SAMPLE_HIST, log_event, observe
from schedlab.engine.rng import RUN, SLEEP, draw
from schedlab.engine.smt import RATE_ONE, account_mode
from schedlab.engine.state import MAX_LOOPS, MAX_POSTS, MAX_TIMERS
from schedlab.engine.task_work import exit_to_user_mode
from schedlab.engine.waitlist import add_waiter, take_waiter
from schedlab.engine.wakeup import try_to_wake_up

(
    OP_RUN, OP_KERNEL, OP_SPIN, OP_SLEEP, OP_TIMER, OP_YIELD, OP_WAIT, OP_WAKE, OP_BARRIER, OP_AFFINITY, OP_MARK,
    OP_SAMPLE, OP_LOOP, OP_END_LOOP, OP_JUMP, OP_UNTIL, OP_EXIT, OP_WRITE, OP_READ,
) = range(19)  # fmt: skip

#: What `advance` returns.
RUNS, BLOCKS, YIELDS, MOVES, EXITS, STOPS = range(6)
WAKE_ALL = -1
MAX_INSTANT_STEPS = 1_000_000
ERROR_INSTANT_LOOP = 2


@internal
def remember_post(s, sync, time, keep):
    """Nobody waits: remember the post, unless `keep` are remembered already."""
    posts = s.sync_posts[sync]
    if posts < keep:
        s.post_time[sync * MAX_POSTS + (s.sync_first_post[sync] + posts) % MAX_POSTS] = time
        s.sync_posts[sync] = posts + 1


@internal
def begin_work(s, task, mode, duration):
    """A step of user (0) or kernel (1) work begins."""
    s.task_mode[task] = mode
    s.task_spin[task] = 0
    s.task_work[task] = duration * RATE_ONE
    s.task_pc[task] += 1


@internal
def step_wait(s, task, sync, last_first):
    """Take a remembered post, or wait; whether the task blocks."""
    s.task_pc[task] += 1
    if s.sync_posts[sync] > 0:
        first = s.sync_first_post[sync]
        s.task_stamp[task] = s.post_time[sync * MAX_POSTS + first]
        s.sync_first_post[sync] = (first + 1) % MAX_POSTS
        s.sync_posts[sync] -= 1
        return False
    add_waiter(s, sync, task, last_first)
    return True


@internal
def step_wake(s, task, sync, n, cost, keep):
    """Wake waiters, one at a time when each costs the waker kernel time; whether such a section begins."""
    if s.task_batch_left[task] == 0:
        s.task_batch_time[task] = s.sys_now[0]
        left = n
        if n == WAKE_ALL:
            left = max(1, s.sync_nr_waiting[sync])
        s.task_batch_left[task] = left
    while s.task_batch_left[task] > 0:
        s.task_batch_left[task] -= 1
        if s.sync_nr_waiting[sync] == 0:
            remember_post(s, sync, s.task_batch_time[task], keep)
            continue
        waiter = take_waiter(s, sync)
        s.task_stamp[waiter] = s.task_batch_time[task] if n == WAKE_ALL else s.sys_now[0]
        try_to_wake_up(s, waiter)
        if cost > 0:
            begin_work(s, task, 1, cost)
            if s.task_batch_left[task] > 0:
                s.task_pc[task] -= 1  # come back for the next waiter
            return True
    s.task_pc[task] += 1
    return False


@internal
def step_barrier(s, task, sync, n):
    """The last to come wakes the others; whether the task blocks."""
    s.task_pc[task] += 1
    if s.sync_nr_waiting[sync] + 1 < n:
        add_waiter(s, sync, task, False)
        return True
    while s.sync_nr_waiting[sync] > 0:
        try_to_wake_up(s, take_waiter(s, sync))
    return False


@internal
def step_timer(s, task, period, offset, slot):
    """Wait for the next absolute activation of one of the task's timers; whether the task blocks."""
    slot += task * MAX_TIMERS
    at = offset + s.timer_done[slot] * period
    s.timer_done[slot] += 1
    return step_until(s, task, at)


@internal
def step_until(s, task, after):
    """Wait until so long after the task's start, which its stamp becomes; whether the task blocks."""
    s.task_pc[task] += 1
    at = s.task_start[task] + after
    s.task_stamp[task] = at
    if at <= s.sys_now[0]:
        return False
    set_timer(s, s.sys_src_task[0] + task, at + s.sys_wake_late_ns[0])
    return True


@internal
def step_sample(s, task, offset):
    """Record now - stamp - offset."""
    value = max(0, s.sys_now[0] - s.task_stamp[task] - offset)
    observe(s, 2 * s.task_hist[task] + SAMPLE_HIST, value)
    s.task_nr_samples[task] += 1
    log_event(s, SAMPLE, s.task_cpu[task], task, value)


@internal
def step_end_loop(s, task, slot, target):
    """Another round, unless this was the last."""
    at = task * MAX_LOOPS + slot
    s.loop_count[at] -= 1
    s.task_pc[task] = target if s.loop_count[at] != 0 else s.task_pc[task] + 1


@internal
def advance(s, cpu, task):
    """Run the steps that take no time; what the task does then.

    Before each step the task returns to user space, where it may be stopped.
    """
    account_mode(s, cpu)
    for _ in range(MAX_INSTANT_STEPS):
        if s.cpu_lazy[cpu] + s.task_work_pending[task] != 0:
            in_call = s.task_chan_phase[task] + s.task_batch_left[task] != 0
            if not in_call and exit_to_user_mode(s, cpu, task):
                return STOPS
        op = s.task_pc[task]
        code = s.op_code[op]
        x = s.op_x[op]
        y = s.op_y[op]
        if code <= OP_SPIN:
            duration = draw(s, task, RUN, s.op_kind[op], s.op_p1[op], s.op_p2[op])
            begin_work(s, task, 1 if code == OP_KERNEL else 0, duration)
            if code == OP_SPIN:
                s.task_spin[task] = 1
                s.task_work[task] = 0
                s.task_step_end[task] = s.sys_now[0] + duration
            return RUNS
        elif code >= OP_WRITE:
            outcome = transfer(s, task, op, code == OP_WRITE)
            if outcome == SECTION:
                return RUNS
            if outcome == SLEEPS:
                return BLOCKS
        elif code == OP_SLEEP:
            duration = draw(s, task, SLEEP, s.op_kind[op], s.op_p1[op], s.op_p2[op])
            s.task_pc[task] += 1
            set_timer(s, s.sys_src_task[0] + task, s.sys_now[0] + duration + s.sys_wake_late_ns[0])
            return BLOCKS
        elif code == OP_WAKE:
            if step_wake(s, task, x, y, s.op_z[op], s.op_p1[op]):
                return RUNS
        elif code == OP_WAIT:
            if step_wait(s, task, x, y != 0):
                return BLOCKS
        elif code == OP_JUMP:  # an endless loop keeps no count
            s.task_pc[task] = y
        elif code == OP_END_LOOP:
            step_end_loop(s, task, x, y)
        elif code == OP_LOOP:
            s.loop_count[task * MAX_LOOPS + x] = y
            s.task_pc[task] += 1
        elif code == OP_TIMER:
            if step_timer(s, task, x, y, s.op_z[op]):
                return BLOCKS
        elif code == OP_UNTIL:
            if step_until(s, task, x):
                return BLOCKS
        elif code == OP_BARRIER:
            if step_barrier(s, task, x, y):
                return BLOCKS
        elif code == OP_YIELD:
            s.task_pc[task] += 1
            return YIELDS
        elif code == OP_AFFINITY:
            s.task_pc[task] += 1
            if mask_is_active(s, x):
                s.task_mask[task] = x
            if not allowed(s, task, cpu):
                return MOVES
        elif code == OP_MARK:
            s.task_stamp[task] = s.sys_now[0]
            s.task_pc[task] += 1
        elif code == OP_SAMPLE:
            step_sample(s, task, x)
            s.task_pc[task] += 1
        else:
            return EXITS
    s.sys_error[0] = ERROR_INSTANT_LOOP
    s.sys_error_a[0] = task
    return EXITS
