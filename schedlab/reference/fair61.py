"""CFS as of 6.1: vruntime, placement, buddies, pick and preemption at one level of the hierarchy."""

from . import bandwidth, hierarchy
from .arithmetic import calc_delta_fair, insert_by
from .events import Source
from .resched import is_asked, resched_curr
from .state import CfsRq, Entity, Flag, TaskRecord, matching_entities, path_up

NR_LATENCY = 8

# ---- virtual time and slices -----------------------------------------------------------------------------------------


def update_min_vruntime(q: CfsRq):
    """Move the queue's reference point on, never back; cf. update_min_vruntime()."""
    candidates = [q.curr.vruntime] if q.curr is not None and q.curr.on_rq else []
    candidates += [q.tree[0].vruntime] if q.tree else []
    if candidates:
        q.min_vruntime = max(q.min_vruntime, min(candidates))


def update_curr(m, q: CfsRq):
    """Charge the running entity up to now; cf. update_curr(), v6.1."""
    curr = q.curr
    if curr is None:
        return
    delta = m.now - curr.exec_start
    if delta <= 0:
        return
    curr.exec_start = m.now
    curr.sum_exec += delta
    curr.vruntime += calc_delta_fair(delta, curr)
    update_min_vruntime(q)
    bandwidth.account(m, q, delta)


def sched_slice(m, se: Entity) -> int:
    """Return the entity's part of the latency period in ns of wall time; cf. sched_slice().

    The period grows with the number of tasks on the CPU. Entities that are not queued are counted as if they were.
    """
    nr = m.cpus[se.cfs_rq.cpu].root.h_nr_queued + (not se.on_rq)
    wall = m.latency if nr <= NR_LATENCY else nr * m.min_granularity
    for ancestor in path_up(se):
        load = ancestor.cfs_rq.load + (0 if ancestor.on_rq else ancestor.weight)
        wall = wall * ancestor.weight // load
    return max(wall, m.min_granularity)


# ---- the queue -------------------------------------------------------------------------------------------------------


def place(m, q: CfsRq, se: Entity):
    """A sleeper comes back at most half a latency behind the queue; cf. place_entity(), GENTLE_FAIR_SLEEPERS."""
    se.vruntime = max(se.vruntime, q.min_vruntime - m.latency // 2)


def start_task(m, task: TaskRecord) -> Flag:
    """A new task begins a slice behind the queue; cf. task_fork_fair(), START_DEBIT. Returns the flags to enqueue."""
    se = task.entity
    update_curr(m, se.cfs_rq)
    se.vruntime = se.cfs_rq.min_vruntime + calc_delta_fair(sched_slice(m, se), se)
    return Flag.INITIAL


def enqueue_entity(m, q: CfsRq, se: Entity, flags: Flag):
    """Queue an entity; cf. enqueue_entity(), v6.1. Its vruntime is relative when it comes from another CPU."""
    is_curr = q.curr is se
    is_relative = (Flag.WAKEUP not in flags or Flag.MIGRATED in flags) and Flag.INITIAL not in flags
    if is_relative and is_curr:
        se.vruntime += q.min_vruntime
    update_curr(m, q)
    if is_relative and not is_curr:
        se.vruntime += q.min_vruntime
    hierarchy.update_cfs_group(m, se)
    if Flag.WAKEUP in flags:
        place(m, q, se)
    if not is_curr:
        insert_by(q.tree, se, "vruntime")
    hierarchy.entity_queued(m, q, se)
    se.on_rq = True
    if q.nr_queued == 1:
        bandwidth.check_enqueue_throttle(m, q)


def dequeue_entity(m, q: CfsRq, se: Entity, flags: Flag) -> bool:
    """Take an entity off its queue; cf. dequeue_entity(), v6.1. Never delayed."""
    update_curr(m, q)
    clear_buddies(se)
    if se is not q.curr:
        q.tree.remove(se)
    se.on_rq = False
    hierarchy.entity_dequeued(m, q, se)
    if Flag.SLEEP not in flags:
        se.vruntime -= q.min_vruntime
    bandwidth.return_runtime(m, q)
    hierarchy.update_cfs_group(m, se)
    update_min_vruntime(q)
    return True


def leave_cpu(m, task: TaskRecord):
    """A sleeping task is about to move to another CPU; cf. migrate_task_rq_fair()."""
    task.entity.vruntime -= task.entity.cfs_rq.min_vruntime


def reweight(m, q: CfsRq, se: Entity, weight: int):
    """Change the weight of a group's entity, its vruntime as it is; cf. reweight_entity(), v6.1."""
    if se.on_rq and se is q.curr:
        update_curr(m, q)
    se.weight = weight


# ---- pick ------------------------------------------------------------------------------------------------------------


def preempts(m, curr: Entity, se: Entity) -> int:
    """Return 1 when `se` is more than a wake-up granularity ahead, 0 when ahead, -1 when not.

    cf. wakeup_preempt_entity()
    """
    ahead = curr.vruntime - se.vruntime
    if ahead <= 0:
        return -1
    return int(ahead > calc_delta_fair(m.wakeup_granularity, se))


def pick_entity(m, q: CfsRq) -> Entity:
    """Return the entity to run: the leftmost, or a buddy that is not far behind; cf. pick_next_entity(), v6.1."""
    curr = q.curr if q.curr is not None and q.curr.on_rq else None
    left = q.tree[0] if q.tree else None
    if left is None or (curr is not None and curr.vruntime < left.vruntime):
        left = curr
    se = left
    if q.skip is se:
        second = second_entity(q, se, curr)
        if second is not None and preempts(m, second, left) < 1:
            se = second
    if q.next is not None and preempts(m, q.next, left) < 1:
        return q.next
    if q.last is not None and preempts(m, q.last, left) < 1:
        return q.last
    return se


def second_entity(q: CfsRq, first: Entity, curr: Entity | None) -> Entity | None:
    """Return the one that would be picked without the first."""
    if first is curr:
        return q.tree[0] if q.tree else None
    second = q.tree[1] if len(q.tree) > 1 else None
    if second is None or (curr is not None and curr.vruntime < second.vruntime):
        return curr
    return second


def pick_checks_runtime(m, q: CfsRq) -> bool:
    """Whether the pick checks this level's runtime: only where an entity of it runs."""
    return q.curr is not None


def set_next_entity(m, q: CfsRq, se: Entity, first: bool = True):
    """Make the entity the running one of its level; cf. set_next_entity()."""
    clear_buddies(se)
    if se.on_rq:
        q.tree.remove(se)
    se.exec_start = m.now
    q.curr = se
    se.prev_sum_exec = se.sum_exec


def put_prev_entity(m, q: CfsRq, se: Entity):
    """The entity stops running; cf. put_prev_entity()."""
    if se.on_rq:
        update_curr(m, q)
    bandwidth.check_runtime(m, q)
    if se.on_rq:
        insert_by(q.tree, se, "vruntime")
    q.curr = None


# ---- what tasks and ticks do to the running one ----------------------------------------------------------------------


def entity_tick(m, q: CfsRq, se: Entity, from_hrtick: bool):
    """A tick at one level; cf. entity_tick(), v6.1."""
    update_curr(m, q)
    hierarchy.update_cfs_group(m, se)
    if from_hrtick:
        resched_curr(m, q.cpu)
    elif q.nr_queued > 1 and m.queue.time_of(Source.HRTICK, q.cpu) is None:
        # while an hrtick is to come it ends the slice (DOUBLE_TICK is off)
        check_preempt_tick(m, q, se)


def check_preempt_tick(m, q: CfsRq, curr: Entity):
    """Whether the running entity has had its slice; cf. check_preempt_tick()."""
    ideal = sched_slice(m, curr)
    ran = curr.sum_exec - curr.prev_sum_exec
    if ran > ideal:
        resched_curr(m, q.cpu)
        clear_buddies(curr)
        return
    if ran < m.min_granularity or not q.tree:
        return
    if curr.vruntime - q.tree[0].vruntime > ideal:
        resched_curr(m, q.cpu)


def check_preempt(m, curr: TaskRecord, wakee: TaskRecord, is_fork: bool = False):
    """Whether a task that was enqueued preempts; cf. check_preempt_wakeup(), v6.1."""
    if wakee.entity.cfs_rq.throttle_count or is_asked(m, wakee.cpu):
        return
    many = curr.entity.cfs_rq.nr_queued >= NR_LATENCY
    se, pse = matching_entities(curr.entity, wakee.entity)
    update_curr(m, se.cfs_rq)
    if preempts(m, se, pse) < 1:
        return
    set_buddy("next", pse)
    resched_curr(m, wakee.cpu)
    if many and se.on_rq and se.task is not None:
        set_buddy("last", se)


def yield_task(m, task: TaskRecord):
    """sched_yield(): be skipped at the next pick; cf. yield_task_fair()."""
    if m.cpus[task.cpu].root.h_nr_queued == 1:
        return
    se = task.entity
    clear_buddies(se)
    update_curr(m, se.cfs_rq)
    for ancestor in path_up(se):
        ancestor.cfs_rq.skip = ancestor


def hrtick_slice(m, task: TaskRecord) -> int:
    """Return the slice that hrtick enforces in ns."""
    return sched_slice(m, task.entity)


# ---- buddies ---------------------------------------------------------------------------------------------------------


def bias_next(se: Entity):
    """A task went to sleep in the group of this entity: the group is favoured at the next pick."""
    set_buddy("next", se)


def set_buddy(name: str, se: Entity):
    """Set a buddy on every level upward while queued; cf. set_next_buddy(), set_last_buddy()."""
    for ancestor in path_up(se):
        if not ancestor.on_rq:
            return
        setattr(ancestor.cfs_rq, name, ancestor)


def clear_buddies(se: Entity):
    """Forget the entity as a buddy, on each level upward as long as it is one; cf. clear_buddies()."""
    for name in ("next", "last", "skip"):
        for ancestor in path_up(se):
            if getattr(ancestor.cfs_rq, name) is not ancestor:
                break
            setattr(ancestor.cfs_rq, name, None)
