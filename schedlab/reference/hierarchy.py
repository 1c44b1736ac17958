"""The walks over a task's ancestors: enqueue, dequeue, the weight and the slice of group entities."""

from . import averages, cookies, force_idle, limbo
from .state import MIN_SHARES, CfsRq, Entity, Flag, TaskRecord, path_up


def enqueue_task(m, task: TaskRecord, flags: Flag):
    """Queue a task; cf. enqueue_task(), core.c."""
    enqueue_fair(m, task, flags)
    if m.core_scheduling:
        cookies.enqueue(m, task)


def enqueue_fair(m, task: TaskRecord, flags: Flag):
    """Queue a task, and those of its ancestors that were not queued; cf. enqueue_task_fair().

    Where whole queues are throttled the walk ends at one: what is above does not see the task. A task in limbo may stay
    in limbo.
    """
    if task.throttled and limbo.stays(m, task):
        return
    enqueue_path(m, path_up(task.entity), flags)
    m.queue_changed(task.cpu, is_enqueue=True)
    averages.task_changed(m, task)
    averages.cpu_changed(m, m.cpus[task.cpu])


def enqueue_path(m, path: list[Entity], flags: Flag):
    """Enqueue an entity and its ancestors, from below."""
    while path and not path[0].on_rq:
        se = path.pop(0)
        set_slice(m, se)
        se.custom_slice |= m.kernel.custom_slice and se.my_q is not None
        m.policy.enqueue_entity(m, se.cfs_rq, se, flags)
        if ends_walk(m, se.cfs_rq):
            return
        flags = Flag.WAKEUP
    if path and path[0].sched_delayed:
        m.policy.requeue_delayed(m, path[0])
    update_ancestors(m, path)


def wake_delayed(m, task: TaskRecord):
    """A task wakes that is still queued: it need not be enqueued; cf. enqueue_task_fair() with ENQUEUE_DELAYED."""
    m.policy.requeue_delayed(m, task.entity)
    averages.cpu_changed(m, m.cpus[task.cpu])
    if m.core_scheduling:
        cookies.enqueue(m, task)


def dequeue_task(m, task: TaskRecord, flags: Flag, save: bool = False):
    """Take a task off its queue, to be put back at once with `save`; cf. dequeue_task(), core.c."""
    if m.core_scheduling:
        cookies.dequeue(m, task, save)
    dequeue_fair(m, task, flags)


def dequeue_fair(m, task: TaskRecord, flags: Flag):
    """Take a task off its queue (or leave it there delayed), or out of limbo; cf. dequeue_task_fair()."""
    if task.throttled:
        task.entity.cfs_rq.limbo.remove(task)
        return
    if dequeue_entities(m, task.entity, flags):
        force_idle.queue_shrank(m, m.cpus[task.cpu])
        m.queue_changed(task.cpu, is_enqueue=False)
    averages.task_changed(m, task)
    averages.cpu_changed(m, m.cpus[task.cpu])


def dequeue_entities(m, se: Entity, flags: Flag) -> bool:
    """Dequeue an entity, and those of its ancestors that thereby become empty; cf. dequeue_entities(), v6.12 to v7.2.

    Returns False when the entity is a task's and was delayed. Where an ancestor is delayed instead of dequeued, the
    rest of the walk begins with itself; as nothing is queued below it, it takes the shortest slice of its own level.
    """
    sleeps, throttles = Flag.SLEEP in flags, Flag.THROTTLE in flags
    path = path_up(se)
    while path:
        q = path[0].cfs_rq
        if not m.policy.dequeue_entity(m, q, path[0], flags):
            if path[0].my_q is None:
                return False
            path[0].slice = min(other.slice for other in q.queued())
            break
        path.pop(0)
        if ends_walk(m, q):
            return True
        if throttles:
            limbo.record_clocks(m, q)
        if q.nr_queued:
            if path and sleeps and (m.per_task or not q.throttle_count):
                m.policy.bias_next(path[0])
            break
        flags = (flags | Flag.SLEEP) & ~(Flag.DELAYED | Flag.SPECIAL)
    update_ancestors(m, path, throttles)
    return True


def ends_walk(m, q: CfsRq) -> bool:
    """Whether nothing above this queue sees what happens on it: it is throttled as a whole."""
    return q.throttled and not m.per_task


def update_ancestors(m, path: list[Entity], throttles: bool = False):
    """Weights and slices of the ancestors that were queued already, up to a throttled queue."""
    for se in path:
        update_cfs_group(m, se)
        set_slice(m, se)
        if ends_walk(m, se.cfs_rq):
            return
        if throttles:
            limbo.record_clocks(m, se.cfs_rq)


def set_slice(m, se: Entity):
    """A group entity asks for the shortest slice queued below it (6.12); cf. cfs_rq_min_slice().

    Only a walk that enqueues it makes that slice its own: otherwise, as after an unthrottling that no enqueue has
    followed, the next deadline takes the base slice again.
    """
    if se.my_q is None or not m.kernel.custom_slice:
        return
    slices = [child.slice for child in se.my_q.queued()]
    if slices:
        se.slice = min(slices)


def group_weight(q: CfsRq) -> int:
    """Return the weight of a group's entity: its part of the shares by load; cf. calc_group_shares().

    The load is the sum of weights queued now, in place of PELT's averages (docs/model.md).
    """
    total = sum(other.load for other in q.group.cfs_rqs)
    return min(max(q.group.shares * q.load // total, MIN_SHARES), q.group.shares)


def update_cfs_group(m, se: Entity):
    """Recompute the weight of a group's entity; cf. update_cfs_group().

    A queue without weight keeps what it had, and one in a hierarchy throttled as a whole too. 6.1 goes on though
    nothing changes, and so charges the level's running entity.
    """
    q = se.my_q
    if q is None or not q.load:
        return
    if q.throttle_count and not m.per_task:
        return
    weight = group_weight(q)
    if weight != se.weight or m.kernel.policy == "cfs":
        m.policy.reweight(m, se.cfs_rq, se, weight)


def entity_queued(m, q: CfsRq, se: Entity):
    """Note a task in the list of its CPU; cf. account_entity_enqueue()."""
    if se.task is not None:
        m.cpus[q.cpu].tasks.insert(0, se.task)


def entity_dequeued(m, q: CfsRq, se: Entity):
    """Take a task out of the list of its CPU; cf. account_entity_dequeue()."""
    if se.task is not None:
        m.cpus[q.cpu].tasks.remove(se.task)
