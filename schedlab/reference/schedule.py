"""__schedule: pick the next task, put the previous one, and ticks."""

from . import bandwidth, placement, program, speed
from .events import Source
from .resched import resched_curr
from .state import CpuRecord, TaskRecord, TaskState, path_up

MIN_HRTICK = 10_000


def schedule(m, cpu: CpuRecord):
    """Let the CPU run what it should; cf. __schedule()."""
    m.this_cpu = cpu.number
    m.queue.cancel(Source.HRTICK, cpu.number)
    prev = cpu.curr
    cpu.prev_put = False
    following = pick_next_task(m, cpu)
    while following is None and placement.pull(m, cpu):
        following = pick_next_task(m, cpu)
    change_entities(m, cpu, prev, following)
    # a request made during the pick is answered by it
    cpu.need_resched = cpu.asked = False
    m.queue.cancel(Source.HRTICK, cpu.number)
    switches = prev is not following or cpu.left is not None
    switch(m, cpu, prev, following)
    if following is not None:
        if switches or m.kernel.policy == "cfs":
            arm_hrtick(m, cpu, from_pick=True)
        if following.fetch and m.now >= cpu.held_until:
            program.run_program(m, following)
        elif following.fetch:
            speed.arm_step(m, cpu)


def pick_next_task(m, cpu: CpuRecord) -> TaskRecord | None:
    """Walk down from the root; cf. pick_task_fair(), and pick_next_task_fair(), v6.1.

    The walk begins anew when a level was throttled or what was picked was a delayed entity. Before 6.12 the CPU's task
    is put on all levels before the new walk.
    """
    q = cpu.root
    while cpu.root.nr_queued:
        if q.curr is not None and q.curr.on_rq:
            m.policy.update_curr(m, q)
        if m.policy.pick_checks_runtime(m, q) and bandwidth.check_runtime(m, q):
            if not m.kernel.preempt_short and cpu.curr is not None:
                put_prev_all(m, cpu.curr)
                cpu.prev_put = True
            q = cpu.root
            continue
        se = m.policy.pick_entity(m, q)
        if se is None:
            q = cpu.root
        elif se.task is not None:
            return se.task
        else:
            q = se.my_q
    return None


def change_entities(m, cpu: CpuRecord, prev: TaskRecord | None, following: TaskRecord | None):
    """Put the entities of prev and set those of the next task, on the levels where they differ.

    cf. the end of pick_next_task_fair(), and set_next_task_fair() where the CPU ran nothing. Only 6.12 accounts there.
    """
    if prev is None or cpu.prev_put:
        for se in reversed(path_up(following.entity)) if following is not None else ():
            m.policy.set_next_entity(m, se.cfs_rq, se)
            if m.kernel.preempt_short:
                bandwidth.account(m, se.cfs_rq, 0)
    elif prev is following:
        return
    elif following is None:
        put_prev_all(m, prev)
    else:
        change_differing(m, prev.entity, following.entity)


def put_prev_all(m, prev: TaskRecord):
    """Put the task on every level; cf. put_prev_task_fair()."""
    for se in path_up(prev.entity):
        m.policy.put_prev_entity(m, se.cfs_rq, se)


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
        return
    if m.queue.time_of(Source.TICK, cpu.number) is None:
        m.queue.set(Source.TICK, cpu.number, m.next_tick(cpu.number))
    cpu.tasks.remove(following)
    cpu.tasks.insert(0, following)
    following.nr_switches += 1
    following.wait_ns += m.now - following.waits_since
    speed.hold(m, cpu, m.kernel.costs.context_switch_ns)


def number_of(task: TaskRecord | None) -> int:
    """Return the number under which the log knows a task, -1 for none."""
    return -1 if task is None else task.index


# ---- after an enqueue ------------------------------------------------------------------------------------------------


def after_enqueue(m, task: TaskRecord):
    """Does the task preempt what its CPU runs? cf. wakeup_preempt()."""
    cpu = m.cpus[task.cpu]
    if cpu.curr is None:
        resched_curr(m, cpu.number)
    elif cpu.curr is not task:
        m.policy.check_preempt(m, cpu.curr, task)


# ---- ticks -----------------------------------------------------------------------------------------------------------


def tick(m, cpu: CpuRecord):
    """A periodic tick of a CPU that runs a task; cf. scheduler_tick(), task_tick_fair()."""
    m.this_cpu = cpu.number
    m.queue.set(Source.TICK, cpu.number, m.now + m.kernel.tick_ns)
    speed.hold(m, cpu, m.kernel.costs.tick_ns)
    tick_entities(m, cpu, from_hrtick=False)


def hrtick(m, cpu: CpuRecord):
    """The end of a slice by a timer of its own; cf. hrtick()."""
    m.this_cpu = cpu.number
    tick_entities(m, cpu, from_hrtick=True)


def tick_entities(m, cpu: CpuRecord, from_hrtick: bool):
    """Tick every level, leaf first."""
    if cpu.curr is not None:
        for se in path_up(cpu.curr.entity):
            m.policy.entity_tick(m, se.cfs_rq, se, from_hrtick)


def update_hrtick(m, cpu: CpuRecord):
    """A task came to the queue or left it; cf. hrtick_update()."""
    if cpu.curr is None:
        return
    if m.kernel.policy == "cfs" and cpu.curr.entity.cfs_rq.nr_queued >= m.policy.NR_LATENCY:
        return
    arm_hrtick(m, cpu, from_pick=False)


def arm_hrtick(m, cpu: CpuRecord, from_pick: bool):
    """Arm a timer for the end of the running task's slice; cf. hrtick_start_fair(), v6.12.

    A slice that is over asks for a resched, unless `__schedule` itself is at work.
    """
    task = cpu.curr
    if not m.kernel.hrtick or cpu.root.h_nr_queued < 2 or not task.entity.on_rq:
        return
    ran = task.entity.sum_exec - task.entity.prev_sum_exec
    left = m.policy.hrtick_slice(m, task) - ran
    if left >= 0:
        m.queue.set(Source.HRTICK, cpu.number, m.now + max(MIN_HRTICK, left))
    elif not from_pick:
        resched_curr(m, cpu.number)
