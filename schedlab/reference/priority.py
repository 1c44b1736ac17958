"""Core scheduling: which of two tasks, on different queues, is to run.

Vruntimes of different queues have nothing in common. Each is taken against a reference of its own queue, and while a
sibling is forced idle the references stand still: who waits then gets ahead of who runs.
"""

from .core_state import CoreRecord
from .state import CfsRq, Entity, TaskRecord, path_up


def gives_way(m, core: CoreRecord, a: TaskRecord | None, b: TaskRecord | None, in_fi: bool) -> bool:
    """Whether `a` is of lower priority than `b`; None is the idle task. At a tie it is not; cf. prio_less()."""
    if a is None or b is None:
        return a is None and b is not None
    se_a, se_b = on_one_level(a, b)
    take_references(m, core, se_a, in_fi)
    take_references(m, core, se_b, in_fi)
    return se_a.vruntime - se_a.cfs_rq.fi_vruntime > se_b.vruntime - se_b.cfs_rq.fi_vruntime


def on_one_level(a: TaskRecord, b: TaskRecord) -> tuple[Entity, Entity]:
    """Return the entities of both that belong to one group, be it on different CPUs; cf. cfs_prio_less()."""
    by_group = {se.cfs_rq.group: se for se in path_up(a.entity)}
    return next((by_group[se.cfs_rq.group], se) for se in path_up(b.entity) if se.cfs_rq.group in by_group)


def task_takes_references(m, core: CoreRecord, task: TaskRecord | None, in_fi: bool):
    """A pick has chosen this task; cf. task_vruntime_update()."""
    if task is not None:
        take_references(m, core, task.entity, in_fi)


def take_references(m, core: CoreRecord, se: Entity, in_fi: bool):
    """Take the present reference on the entity's level and above: in force idle once an episode; cf. se_fi_update()."""
    once = in_fi and not m.kernel.has("no-forceidle-snapshot")
    for level in path_up(se):
        q = level.cfs_rq
        if once:
            if q.fi_seq == core.fi_seq:
                return
            q.fi_seq = core.fi_seq
        q.fi_vruntime = present_reference(m, q)


def present_reference(m, q: CfsRq) -> int:
    """Return what stands for the queue's virtual time now: in 6.12.y and 7.2 the V that was last worked out."""
    if uses_least(m):
        return q.least_vruntime
    return q.zero_vruntime if moves_with_tree(m) else q.min_vruntime


def uses_least(m) -> bool:
    """Whether the reference is the least vruntime (as 6.18 was released), not V (6.12.y, and from 6.19 on)."""
    return m.core_scheduling and m.kernel.forceidle_snapshot == "min"


def moves_with_tree(m) -> bool:
    """Whether the reference is V as of the last change of the tree (6.18.y, 6.19)."""
    wanted = m.kernel.forceidle_snapshot == "zero" and m.kernel.vprot and not m.kernel.lag_rules_7_2
    return m.core_scheduling and wanted


def tree_changed(m, q: CfsRq):
    """An entity came into the tree or left it; cf. update_zero_vruntime(), v6.18.15.

    While the running entity is being put it is in the tree and is `curr`: it counts twice. An empty queue keeps what
    it had.
    """
    if moves_with_tree(m) and (queued := q.queued()):
        q.zero_vruntime = sum(se.vruntime * se.weight for se in queued) // sum(se.weight for se in queued)


def move_least(m, q: CfsRq):
    """Move the least vruntime queued on, never back; cf. update_min_vruntime(), v6.18.2."""
    queued = q.queued()
    if queued and uses_least(m):
        q.least_vruntime = max(q.least_vruntime, min(se.vruntime for se in queued))
