"""EEVDF of 6.6 to 7.2 at one level of the hierarchy: charging, the queue, the pick and ticks."""

from . import averages, bandwidth, force_idle, hierarchy, throttle
from .arithmetic import calc_delta_fair, insert_by
from .placing import place, requeue_delayed, reweight
from .preempt import check_preempt
from .priority import move_least, tree_changed
from .protection import is_protected, protect
from .resched import resched_curr, resched_curr_lazy
from .state import CfsRq, Entity, Flag, TaskRecord, path_up
from .virtual_time import avg_vruntime, is_eligible, store_lag

__all__ = ["check_preempt", "requeue_delayed", "reweight"]


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
    """Charge the running entity up to now; cf. update_curr(), v6.12 to v7.2. Without dl_server."""
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
    move_least(m, q)
    bandwidth.account(m, q, delta)
    if q.nr_queued == 1:
        return
    if expired or is_overtaken(m, q, curr):
        resched_curr_lazy(m, q.cpu)
        clear_buddies(curr)


def is_overtaken(m, q: CfsRq, curr: Entity) -> bool:
    """Whether the running entity may be preempted though its request is not done: 6.12 asks for its lag too."""
    if not m.kernel.preempt_short or is_protected(m, curr):
        return False
    return m.kernel.vprot or not is_eligible(q, curr)


# ---- the queue -------------------------------------------------------------------------------------------------------


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
        tree_changed(m, q)
    hierarchy.entity_queued(m, q, se)
    se.on_rq = True
    if q.nr_queued == 1:
        bandwidth.check_enqueue_throttle(m, q)
        throttle.start_clocks(m, q)


def dequeue_entity(m, q: CfsRq, se: Entity, flags: Flag) -> bool:
    """Take an entity off its queue, or mark it delayed and return False; cf. dequeue_entity(), v6.12 to v7.2.

    An entity that sleeps while it has had more than its share stays queued to burn the negative lag.
    """
    update_curr(m, q)
    clear_buddies(se)
    sleeps = Flag.SLEEP in flags
    may_delay = sleeps and not flags & (Flag.SPECIAL | Flag.DELAYED | Flag.THROTTLE)
    if may_delay and m.kernel.delayed_dequeue and not is_eligible(q, se):
        if m.kernel.lag_rules_7_2:
            store_lag(m, q, se)
        se.sched_delayed = True
        return False
    store_lag(m, q, se)
    if not sleeps and m.kernel.preempt_short:
        # PLACE_REL_DEADLINE came with 6.12
        se.deadline -= se.vruntime
        se.rel_deadline = True
    if se is not q.curr:
        q.tree.remove(se)
        tree_changed(m, q)
    se.on_rq = False
    hierarchy.entity_dequeued(m, q, se)
    bandwidth.return_runtime(m, q)
    hierarchy.update_cfs_group(m, se)
    move_least(m, q)
    if Flag.DELAYED in flags:
        # it had to burn lag, not to gain any
        se.sched_delayed = False
        se.vlag = min(se.vlag, 0)
    return True


# ---- pick ------------------------------------------------------------------------------------------------------------


def pick_eevdf(m, q: CfsRq, protected: bool = True) -> Entity:
    """Return the eligible entity with the earliest deadline, or the running one while protected; cf. pick_eevdf().

    With `protected` False neither protection nor, in 7.2, the buddy counts.
    """
    queued = q.queued()
    if len(queued) == 1:
        return queued[0]
    if m.kernel.lag_rules_7_2 and protected and q.next is not None and is_eligible(q, q.next):
        return q.next
    curr = q.curr
    if curr is not None and not (curr.on_rq and is_eligible(q, curr)):
        curr = None
    if curr is not None and protected and is_protected(m, curr):
        return curr
    best = next((se for se in q.tree if is_eligible(q, se)), None)
    if best is None or (curr is not None and curr.deadline < best.deadline):
        best = curr
    return best


def pick_entity(m, q: CfsRq, protected: bool = True) -> Entity | None:
    """Return the entity to run, None when it was a delayed one that is dequeued instead; cf. pick_next_entity()."""
    se = pick_eevdf(m, q, protected)
    if m.kernel.preempt_short and not m.kernel.lag_rules_7_2 and q.next is not None and is_eligible(q, q.next):
        # PICK_BUDDY is a feature of 6.12; 6.6 looks at `next` only with NEXT_BUDDY, which is off
        se = q.next
    if se.sched_delayed:
        hierarchy.dequeue_entities(m, se, Flag.SLEEP | Flag.DELAYED)
        force_idle.queue_shrank(m, m.cpus[q.cpu])
        if se.task is not None:
            averages.task_changed(m, se.task)
        averages.cpu_changed(m, m.cpus[q.cpu])
        return None
    return se


def pick_checks_runtime(m, q: CfsRq) -> bool:
    """Whether the pick checks this level's runtime: always in 6.12, before that where an entity of it runs."""
    return m.kernel.preempt_short or q.curr is not None


def set_next_entity(m, q: CfsRq, se: Entity, first: bool = True):
    """Make the entity the running one of its level; cf. set_next_entity().

    `first` is False where nothing was picked: then 7.2 leaves the protection as it is.
    """
    clear_buddies(se)
    if se.on_rq:
        q.tree.remove(se)
        tree_changed(m, q)
        if first or not m.kernel.lag_rules_7_2:
            protect(m, q, se)
    se.exec_start = m.now
    q.curr = se
    se.prev_sum_exec = se.sum_exec


def put_prev_entity(m, q: CfsRq, se: Entity):
    """The entity stops running; cf. put_prev_entity()."""
    if se.on_rq:
        update_curr(m, q)
    if not m.throttles_at_account:
        bandwidth.check_runtime(m, q)
    if se.on_rq:
        insert_by(q.tree, se, "deadline")
        tree_changed(m, q)
    q.curr = None


# ---- ticks, yields and new tasks -------------------------------------------------------------------------------------


def entity_tick(m, q: CfsRq, se: Entity, from_hrtick: bool):
    """A tick at one level; cf. entity_tick(). All slice preemption is in update_curr()."""
    update_curr(m, q)
    hierarchy.update_cfs_group(m, se)
    if from_hrtick:
        (resched_curr if m.kernel.lag_rules_7_2 else resched_curr_lazy)(m, q.cpu)


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
        if m.kernel.vprot and not m.kernel.lag_rules_7_2:
            # 6.18 does not work V out here
            se.deadline += calc_delta_fair(se.slice, se)
        else:
            update_deadline(m, q, se)
        move_least(m, q)


def start_task(m, task: TaskRecord) -> Flag:
    """A new task has no lag and is placed with half a slice; returns the flags to enqueue it with."""
    task.entity.vlag = 0
    return Flag.INITIAL


def leave_cpu(m, task: TaskRecord):
    """A sleeping task is about to move to another CPU: its lag goes with it."""


def hrtick_slice(m, task: TaskRecord) -> int:
    """Return the slice that hrtick enforces in ns (up to 6.18)."""
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
