"""__schedule: pick the next task, put the previous one, and ticks."""

from . import (
    averages,
    bandwidth,
    core_balance,
    core_pick,
    force_idle,
    hrtick,
    idleness,
    limbo,
    load_move,
    load_times,
    placement,
    program,
    speed,
)
from .events import Source
from .resched import clear_requests, resched_curr
from .state import CpuRecord, TaskRecord, TaskState, path_up


def schedule(m, cpu: CpuRecord):
    """Let the CPU run what it should; cf. __schedule()."""
    m.this_cpu = cpu.number
    prev = cpu.curr
    cpu.nr_schedules += 1
    m.log_detail("schedule", cpu.number, number_of(prev), 0)
    hrtick.begin_schedule(m, cpu)
    cpu.prev_put = cpu.lazy = False
    following, balances = core_pick.pick(m, cpu) if m.core_scheduling else (pick_alone(m, cpu), False)
    change_entities(m, cpu, prev, following)
    # a request made during the pick is answered by it
    clear_requests(cpu)
    switches = prev is not following or cpu.left is not None
    switch(m, cpu, prev, following)
    if m.core_scheduling:
        force_idle.end_schedule(m, cpu)
    hrtick.end_schedule(m, cpu, switches)
    if balances:
        core_balance.balance(m, cpu)
    if following is not None and following.fetch:
        if m.now >= cpu.held_until:
            program.run_program(m, following)
        else:
            speed.arm_step(m, cpu)
    if m.balance is not None:
        load_move.run_stoppers(m)


# ---- pick ------------------------------------------------------------------------------------------------------------


def pick_alone(m, cpu: CpuRecord) -> TaskRecord | None:
    """Pick for this CPU, and pull a task when there is none.

    From 6.12 on an idle CPU that was asked in vain (nothing is queued) goes on idling at once (SM_IDLE).
    """
    if m.kernel.preempt_short and core_pick.is_idle_task(cpu) and not cpu.root.h_nr_queued:
        return None
    following = pick_next_task(m, cpu)
    while following is None and placement.pull(m, cpu):
        following = pick_next_task(m, cpu)
    return following


def pick_next_task(m, cpu: CpuRecord) -> TaskRecord | None:
    """Walk down from the root; cf. pick_task_fair(), and pick_next_task_fair(), v6.1.

    The walk begins anew when what was picked was a delayed entity, and up to 6.17 when a level was throttled; with
    per-task throttling it goes on into a throttled level, and whom it finds there is to be throttled.
    """
    q, throttled = cpu.root, False
    while cpu.root.nr_queued:
        if q.curr is not None and q.curr.on_rq:
            m.policy.update_curr(m, q)
        if m.per_task:
            throttled |= not m.throttles_at_account and bandwidth.check_runtime(m, q)
        elif throttles_queue(m, cpu, q):
            q = cpu.root
            continue
        se = m.policy.pick_entity(m, q)
        if se is None:
            q, throttled = cpu.root, False
        elif se.my_q is not None:
            q = se.my_q
        else:
            if throttled:
                limbo.setup_work(m, se.task)
            return se.task
    return None


def throttles_queue(m, cpu: CpuRecord, q) -> bool:
    """Whether the pick finds that the level is out of runtime and takes it off the CPU.

    Before 6.12 the CPU's task is put on all levels then.
    """
    if not (m.policy.pick_checks_runtime(m, q) and bandwidth.check_runtime(m, q)):
        return False
    if not m.kernel.preempt_short and cpu.curr is not None:
        put_prev_all(m, cpu.curr)
        cpu.prev_put = True
    return True


# ---- put the previous task, set the next one -------------------------------------------------------------------------


def change_entities(m, cpu: CpuRecord, prev: TaskRecord | None, following: TaskRecord | None):
    """Put the entities of prev and set those of the next task, on the levels where they differ.

    cf. the end of pick_next_task_fair(), and set_next_task_fair() where the CPU ran nothing
    """
    if cpu.prev_put:
        prev = None
    elif prev is following:
        return
    if m.throttles_at_account:
        if prev is not None:
            put_prev_up_to(m, prev, following)
        if following is not None:
            set_next_all(m, following)
    elif m.core_scheduling:
        change_all(m, prev, following)
    elif prev is None:
        if following is not None:
            set_next_from_idle(m, following)
    elif following is None:
        put_prev_all(m, prev)
    else:
        change_differing(m, prev.entity, following.entity)


def change_all(m, prev: TaskRecord | None, following: TaskRecord | None):
    """Put and set on all levels, as after a core-wide pick; cf. put_prev_set_next_task(), v6.12 and v6.18."""
    if prev is not None:
        put_prev_all(m, prev)
    if following is not None:
        set_next_from_idle(m, following)


def set_next_from_idle(m, following: TaskRecord):
    """Set the task on every level. Only from 6.12 on this accounts."""
    path = path_up(following.entity)
    for se in path if m.kernel.vprot else reversed(path):
        m.policy.set_next_entity(m, se.cfs_rq, se)
        if m.kernel.preempt_short:
            bandwidth.account(m, se.cfs_rq, 0)


def set_next_all(m, following: TaskRecord, first: bool = True):
    """Set the task on its levels, from the leaf up to one that has a running entity; cf. set_next_task_fair(), v7.2.

    `first` is False where nothing was picked: then all levels are set, and no protection begins. Where a level has no
    runtime the task is to be throttled.
    """
    throttled = False
    for se in path_up(following.entity):
        if first and se.cfs_rq.curr is not None:
            break
        m.policy.set_next_entity(m, se.cfs_rq, se, first)
        throttled |= bandwidth.account(m, se.cfs_rq, 0)
    if throttled:
        limbo.setup_work(m, following)


def put_prev_all(m, prev: TaskRecord):
    """Put the task on every level; cf. put_prev_task_fair()."""
    for se in path_up(prev.entity):
        m.policy.put_prev_entity(m, se.cfs_rq, se)


def put_prev_up_to(m, prev: TaskRecord, following: TaskRecord | None):
    """Put the task on its levels up to one that the next task is on too; cf. put_prev_task_fair(), v7.2."""
    shared = {se.cfs_rq for se in path_up(following.entity)} if following is not None else ()
    for se in path_up(prev.entity):
        m.policy.put_prev_entity(m, se.cfs_rq, se)
        if se.cfs_rq in shared:
            return


def change_differing(m, pse, se):
    """Put and set upward, the deeper side first, until both are on one queue."""
    while se.cfs_rq is not pse.cfs_rq:
        depth, prev_depth = len(path_up(se)), len(path_up(pse))
        if depth <= prev_depth:
            m.policy.put_prev_entity(m, pse.cfs_rq, pse)
            pse = pse.parent
        if depth >= prev_depth:
            m.policy.set_next_entity(m, se.cfs_rq, se)
            se = se.parent
    m.policy.put_prev_entity(m, pse.cfs_rq, pse)
    m.policy.set_next_entity(m, se.cfs_rq, se)


def switch(m, cpu: CpuRecord, prev: TaskRecord | None, following: TaskRecord | None):
    """Change the task that the CPU runs; cf. context_switch()."""
    if prev is following and cpu.left is None:
        return
    gone = prev if prev is not None else cpu.left
    cpu.left = None
    m.log("switch", cpu.number, number_of(gone), number_of(following))
    if prev is not None and prev.state is TaskState.RUNNABLE:
        prev.waits_since = m.now
    speed.set_running(m, cpu, following)
    if following is None:
        m.queue.cancel(Source.TICK, cpu.number)
        if m.balance is not None:
            idleness.goes_idle(m, cpu)
        averages.cpu_changed(m, cpu)
        return
    if m.queue.time_of(Source.TICK, cpu.number) is None:
        m.queue.set(Source.TICK, cpu.number, m.next_tick(cpu.number))
    cpu.tasks.remove(following)
    cpu.tasks.insert(0, following)
    following.nr_switches += 1
    following.wait_ns += m.now - following.waits_since
    speed.hold(m, cpu, m.kernel.costs.context_switch_ns)
    averages.cpu_changed(m, cpu)


def number_of(task: TaskRecord | None) -> int:
    """Return the number under which the log knows a task, -1 for none."""
    return -1 if task is None else task.index


# ---- after an enqueue ------------------------------------------------------------------------------------------------


def after_enqueue(m, task: TaskRecord, is_fork: bool = False):
    """Does the task preempt what its CPU runs? cf. wakeup_preempt()."""
    cpu = m.cpus[task.cpu]
    if cpu.curr is None:
        resched_curr(m, cpu.number)
    elif cpu.curr is not task:
        m.policy.check_preempt(m, cpu.curr, task, is_fork)


# ---- ticks -----------------------------------------------------------------------------------------------------------


def tick(m, cpu: CpuRecord):
    """A periodic tick of a CPU that runs a task; cf. sched_tick(), task_tick_fair()."""
    m.this_cpu = cpu.number
    m.log_detail("tick", cpu.number, number_of(cpu.curr), 0)
    m.queue.set(Source.TICK, cpu.number, m.next_tick(cpu.number))
    speed.hold(m, cpu, m.kernel.costs.tick_ns)
    if cpu.lazy:
        # a lazy request waits no longer than this
        cpu.lazy = False
        resched_curr(m, cpu.number)
    tick_entities(m, cpu, from_hrtick=False)
    if m.core_scheduling:
        force_idle.tick(m, cpu)
    if m.balance is not None:
        load_times.tick(m, cpu)


def run_hrtick(m, cpu: CpuRecord):
    """The end of a slice by a timer of its own; cf. hrtick()."""
    m.this_cpu = cpu.number
    tick_entities(m, cpu, from_hrtick=True)


def tick_entities(m, cpu: CpuRecord, from_hrtick: bool):
    """Tick every level, leaf first; cf. task_tick_fair(), of which 7.2's hrtick leaves out the rest."""
    if cpu.curr is None:
        return
    for se in path_up(cpu.curr.entity):
        m.policy.entity_tick(m, se.cfs_rq, se, from_hrtick)
    if m.core_scheduling and not (from_hrtick and m.kernel.lag_rules_7_2):
        force_idle.tick_task(m, cpu)
