"""EEVDF of 6.6 and 6.12: lag, eligibility, placement, pick and preemption at one level of the hierarchy."""

from . import bandwidth, hierarchy, throttle
from .arithmetic import calc_delta_fair, div_trunc, insert_by
from .resched import is_asked, resched_curr
from .state import CfsRq, Entity, Flag, TaskRecord, matching_entities, path_up

# ---- virtual time ----------------------------------------------------------------------------------------------------


def avg_vruntime(q: CfsRq) -> int:
    """Return V, the weighted mean of the queued vruntimes, rounded down; cf. avg_vruntime().

    An empty queue keeps the last V. (`min_vruntime` serves as that memory.)
    """
    queued = q.queued()
    if queued:
        q.min_vruntime = sum(se.vruntime * se.weight for se in queued) // sum(se.weight for se in queued)
    return q.min_vruntime


def is_eligible(q: CfsRq, se: Entity) -> bool:
    """Whether the entity's lag is not negative, without rounding; cf. entity_eligible()."""
    return sum((other.vruntime - se.vruntime) * other.weight for other in q.queued()) >= 0


def entity_lag(m, q: CfsRq, se: Entity) -> int:
    """Return V - vruntime, within two slices or a tick; cf. entity_lag(), v6.12."""
    limit = calc_delta_fair(max(2 * se.slice, m.kernel.tick_ns), se)
    return max(-limit, min(avg_vruntime(q) - se.vruntime, limit))


def store_lag(m, q: CfsRq, se: Entity):
    """Keep the lag for the time off the queue; cf. update_entity_lag(), v6.12."""
    se.vlag = entity_lag(m, q, se)


def is_protected(se: Entity) -> bool:
    """Whether the running entity has not used up the slice for which it was picked."""
    return se.vlag == se.deadline


def update_deadline(m, q: CfsRq, se: Entity) -> bool:
    """Give the running entity a new deadline when it has reached the old one; cf. update_deadline()."""
    if se.vruntime < se.deadline:
        return False
    if not se.custom_slice:
        se.slice = m.base_slice
    se.deadline = se.vruntime + calc_delta_fair(se.slice, se)
    avg_vruntime(q)
    return True


def update_curr(m, q: CfsRq):
    """Charge the running entity up to now; cf. update_curr(), v6.12. Without dl_server."""
    curr = q.curr
    if curr is None:
        return
    delta = m.now - curr.exec_start
    if delta <= 0:
        return
    curr.exec_start = m.now
    curr.sum_exec += delta
    curr.vruntime += calc_delta_fair(delta, curr)
    expired = update_deadline(m, q, curr)
    bandwidth.account(m, q, delta)
    if q.nr_queued == 1:
        return
    overtaken = m.kernel.preempt_short and not is_protected(curr) and not is_eligible(q, curr)
    if expired or overtaken:
        resched_curr(m, q.cpu)
        clear_buddies(curr)


# ---- the queue -------------------------------------------------------------------------------------------------------


def place(m, q: CfsRq, se: Entity, flags: Flag):
    """Give an entity that comes to the queue its vruntime and deadline; cf. place_entity()."""
    vruntime = avg_vruntime(q)
    if not se.custom_slice:
        se.slice = m.base_slice
    vslice = calc_delta_fair(se.slice, se)
    lag = 0
    if q.nr_queued:
        # the entity itself will move V: a larger lag now is the wanted one afterwards
        lag = div_trunc(se.vlag * (q.load + se.weight), q.load)
    se.vruntime = vruntime - lag
    if se.rel_deadline:
        se.deadline += se.vruntime
        se.rel_deadline = False
        return
    if Flag.INITIAL in flags:
        vslice //= 2
    se.deadline = se.vruntime + vslice


def enqueue_entity(m, q: CfsRq, se: Entity, flags: Flag):
    """Queue an entity; cf. enqueue_entity()."""
    is_curr = q.curr is se
    if is_curr:
        place(m, q, se, flags)
    update_curr(m, q)
    hierarchy.update_cfs_group(m, se)
    if not is_curr:
        place(m, q, se, flags)
        insert_by(q.tree, se, "deadline")
    hierarchy.entity_queued(m, q, se)
    se.on_rq = True
    if q.nr_queued == 1:
        bandwidth.check_enqueue_throttle(m, q)
        throttle.start_clocks(m, q)


def dequeue_entity(m, q: CfsRq, se: Entity, flags: Flag) -> bool:
    """Take an entity off its queue, or mark it delayed and return False; cf. dequeue_entity(), v6.12.

    An entity that sleeps while it has had more than its share stays queued to burn the negative lag.
    """
    update_curr(m, q)
    clear_buddies(se)
    sleeps = Flag.SLEEP in flags
    may_delay = sleeps and not flags & (Flag.SPECIAL | Flag.DELAYED)
    if may_delay and m.kernel.delayed_dequeue and not is_eligible(q, se):
        se.sched_delayed = True
        return False
    store_lag(m, q, se)
    if not sleeps and m.kernel.preempt_short:
        # PLACE_REL_DEADLINE came with 6.12
        se.deadline -= se.vruntime
        se.rel_deadline = True
    if se is not q.curr:
        q.tree.remove(se)
    se.on_rq = False
    hierarchy.entity_dequeued(m, q, se)
    bandwidth.return_runtime(m, q)
    hierarchy.update_cfs_group(m, se)
    if Flag.DELAYED in flags:
        # it had to burn lag, not to gain any
        se.sched_delayed = False
        se.vlag = min(se.vlag, 0)
    return True


def requeue_delayed(m, se: Entity):
    """A delayed entity becomes runnable again; cf. requeue_delayed_entity()."""
    q = se.cfs_rq
    store_lag(m, q, se)
    if se.vlag > 0:
        is_curr = se is q.curr
        if not is_curr:
            q.tree.remove(se)
        se.on_rq = False
        se.vlag = 0
        place(m, q, se, Flag.NONE)
        se.on_rq = True
        if not is_curr:
            insert_by(q.tree, se, "deadline")
    se.sched_delayed = False


def reweight(m, q: CfsRq, se: Entity, weight: int):
    """Change the weight of a group's entity so that its lag in service stays; cf. reweight_entity(), v6.6 to v6.12."""
    if not se.on_rq:
        se.vlag = div_trunc(se.vlag * se.weight, weight)
        se.weight = weight
        return
    is_curr = se is q.curr
    if is_curr or m.kernel.preempt_short:
        # 6.12 charges whoever runs on the level
        update_curr(m, q)
    v = avg_vruntime(q)
    lag = div_trunc(entity_lag(m, q, se) * se.weight, weight) if v != se.vruntime else 0
    until_deadline = div_trunc((se.deadline - v) * se.weight, weight)
    if not is_curr:
        q.tree.remove(se)
    se.vruntime = v - lag
    se.deadline = v + until_deadline
    se.weight = weight
    if not is_curr:
        insert_by(q.tree, se, "deadline")


# ---- pick ------------------------------------------------------------------------------------------------------------


def pick_eevdf(q: CfsRq) -> Entity:
    """Return the eligible entity with the earliest deadline, or the running one while protected; cf. pick_eevdf()."""
    queued = q.queued()
    if len(queued) == 1:
        return queued[0]
    curr = q.curr
    if curr is not None and not (curr.on_rq and is_eligible(q, curr)):
        curr = None
    if curr is not None and is_protected(curr):
        return curr
    best = next((se for se in q.tree if is_eligible(q, se)), None)
    if best is None or (curr is not None and curr.deadline < best.deadline):
        best = curr
    return best


def pick_entity(m, q: CfsRq) -> Entity | None:
    """Return the entity to run, None when it was a delayed one that is dequeued instead; cf. pick_next_entity()."""
    se = pick_eevdf(q)
    if m.kernel.preempt_short and q.next is not None and is_eligible(q, q.next):
        # PICK_BUDDY is a feature of 6.12; 6.6 looks at `next` only with NEXT_BUDDY, which is off
        se = q.next
    if se.sched_delayed:
        hierarchy.dequeue_entities(m, se, Flag.SLEEP | Flag.DELAYED)
        return None
    return se


def pick_checks_runtime(m, q: CfsRq) -> bool:
    """Whether the pick checks this level's runtime: always in 6.12, before that where an entity of it runs."""
    return m.kernel.preempt_short or q.curr is not None


def set_next_entity(m, q: CfsRq, se: Entity):
    """Make the entity the running one of its level; cf. set_next_entity()."""
    clear_buddies(se)
    if se.on_rq:
        q.tree.remove(se)
        se.vlag = se.deadline
    se.exec_start = m.now
    q.curr = se
    se.prev_sum_exec = se.sum_exec


def put_prev_entity(m, q: CfsRq, se: Entity):
    """The entity stops running; cf. put_prev_entity()."""
    if se.on_rq:
        update_curr(m, q)
    bandwidth.check_runtime(m, q)
    if se.on_rq:
        insert_by(q.tree, se, "deadline")
    q.curr = None


# ---- what tasks and ticks do to the running one ----------------------------------------------------------------------


def entity_tick(m, q: CfsRq, se: Entity, from_hrtick: bool):
    """A tick at one level; cf. entity_tick(). All slice preemption is in update_curr()."""
    update_curr(m, q)
    hierarchy.update_cfs_group(m, se)
    if from_hrtick:
        resched_curr(m, q.cpu)


def check_preempt(m, curr: TaskRecord, wakee: TaskRecord):
    """Whether a task that was enqueued preempts; cf. check_preempt_wakeup_fair(), v6.12."""
    if wakee.entity.cfs_rq.throttle_count or is_asked(m, wakee.cpu):
        return
    se, pse = matching_entities(curr.entity, wakee.entity)
    q = se.cfs_rq
    update_curr(m, q)
    if m.kernel.preempt_short and is_shorter(q, pse, se) and is_protected(se):
        se.vlag = se.deadline + 1
    if pick_eevdf(q) is pse:
        resched_curr(m, q.cpu)


def is_shorter(q: CfsRq, pse: Entity, se: Entity) -> bool:
    """Whether a wakee's shorter slice cancels the running one's protection; cf. do_preempt_short()."""
    if pse.slice >= se.slice or not is_eligible(q, pse):
        return False
    return pse.deadline < se.deadline or not is_eligible(q, se)


def yield_task(m, task: TaskRecord):
    """sched_yield(): give up what is left of the slice; cf. yield_task_fair()."""
    if m.cpus[task.cpu].root.h_nr_queued == 1:
        return
    se = task.entity
    q = se.cfs_rq
    clear_buddies(se)
    update_curr(m, q)
    if m.kernel.release == "6.6":
        se.deadline += calc_delta_fair(se.slice, se)
    elif is_eligible(q, se):
        se.vruntime = se.deadline
        se.deadline += calc_delta_fair(se.slice, se)


def start_task(m, task: TaskRecord) -> Flag:
    """A new task has no lag and is placed with half a slice; returns the flags to enqueue it with."""
    task.entity.vlag = 0
    return Flag.INITIAL


def leave_cpu(m, task: TaskRecord):
    """A sleeping task is about to move to another CPU: its lag goes with it."""


def hrtick_slice(m, task: TaskRecord) -> int:
    """Return the slice that hrtick enforces in ns."""
    return task.entity.slice


# ---- buddies ---------------------------------------------------------------------------------------------------------


def bias_next(se: Entity):
    """A task went to sleep in the group of this entity: favour the group at the next pick; cf. set_next_buddy()."""
    for ancestor in path_up(se):
        if not ancestor.on_rq:
            return
        ancestor.cfs_rq.next = ancestor


def clear_buddies(se: Entity):
    """Forget the entity as `next` on every level where it is; cf. clear_buddies()."""
    for ancestor in path_up(se):
        if ancestor.cfs_rq.next is not ancestor:
            return
        ancestor.cfs_rq.next = None
