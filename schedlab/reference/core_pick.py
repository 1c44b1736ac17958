"""Core scheduling: one pick for all siblings of a core, so that they run tasks of one cookie."""

from . import cookies, force_idle, placement, schedule
from .core_state import CoreRecord
from .priority import gives_way, task_takes_references
from .resched import resched_curr
from .state import CpuRecord, TaskRecord


def pick(m, cpu: CpuRecord) -> tuple[TaskRecord | None, bool]:
    """Return what `__schedule` is to run, and whether it is to balance after the switch.

    An idle CPU with nothing queued does not pick at all (SM_IDLE). A CPU whose running task was moved off is not idle:
    its stopper called.
    """
    if is_idle_task(cpu) and not cpu.root.h_nr_queued and not m.kernel.has("core-pick-on-drain"):
        return None, False
    task = pick_next_task(m, cpu)
    core = cpu.sibling.core
    forced = task is None and core.fi_count > 0
    return task, forced and core.cookie != 0 and cpu.root.h_nr_queued > 0


def is_idle_task(cpu: CpuRecord) -> bool:
    """Whether the idle task called `__schedule`."""
    return cpu.curr is None and cpu.left is None


def pick_next_task(m, cpu: CpuRecord) -> TaskRecord | None:
    """Carry out a sibling's pick that still holds, or pick anew; cf. pick_next_task() with CONFIG_SCHED_CORE.

    A CPU that has left its core picks for itself.
    """
    mine, core = cpu.sibling, cpu.sibling.core
    if not cpu.active:
        return schedule.pick_next_task(m, cpu)
    still_holds = core.pick_seq == core.task_seq and mine.sched_seq != core.pick_seq
    if still_holds and mine.pick_waits:
        mine.counts["nr_fast_picks"] += 1
        mine.sched_seq = core.pick_seq
        mine.pick_waits = False
        return mine.pick
    if m.kernel.core_newidle and not is_idle_task(cpu) and not cpu.root.nr_queued:
        placement.pull(m, cpu)
    had_cookie, core.cookie = core.cookie != 0, 0
    fi_before = force_idle.end_episode(m, core)
    core.task_seq += 1
    if not had_cookie and not fi_before:
        task = schedule.pick_next_task(m, cpu)
        if task is None or not task.cookie:
            # no cookie here, and none beside: siblings go on with what they run
            mine.pick_waits = False
            task_takes_references(m, core, task, in_fi=False)
            return task
    return pick_for_all(m, cpu, fi_before)


def pick_for_all(m, cpu: CpuRecord, fi_before: bool) -> TaskRecord | None:
    """Pick for each sibling, all of the cookie of the best one; return what this CPU is to run."""
    mine, core = cpu.sibling, cpu.sibling.core
    mine.counts["nr_core_picks"] += 1
    best = own_picks(m, core, cpu, fi_before)
    core.cookie = best.cookie if best is not None else 0
    occupation = match_cookie(m, core, fi_before)
    if core.fi_count:
        core.fi_start, core.fi_occupation = m.now, occupation
    core.pick_seq = mine.sched_seq = core.task_seq
    tell_siblings(m, core, cpu, fi_before, occupation)
    return mine.pick


def own_picks(m, core: CoreRecord, cpu: CpuRecord, fi_before: bool) -> TaskRecord | None:
    """Let each sibling pick, from this CPU on; return the best, at a tie the first."""
    best = None
    for other in core.from_cpu(cpu):
        task = schedule.pick_next_task(m, other)
        other.sibling.pick, other.sibling.pick_waits = task, True
        if other is cpu or gives_way(m, core, best, task, fi_before):
            best = task
    return best


def match_cookie(m, core: CoreRecord, fi_before: bool) -> int:
    """Replace picks of another cookie, and count who is forced idle. Returns how many siblings will run something."""
    occupation = 0
    for cpu in core.cpus:
        sibling = cpu.sibling
        if sibling.pick is not None and sibling.pick.cookie != core.cookie:
            found = cookies.find(m, cpu, core.cookie, fi_before) if core.cookie else []
            sibling.pick = found[0] if found else None
        if sibling.pick is not None:
            occupation += 1
        elif cpu.root.h_nr_queued:
            core.fi_count += 1
            core.fi_seq += not fi_before
    return occupation


def tell_siblings(m, core: CoreRecord, cpu: CpuRecord, fi_before: bool, occupation: int):
    """Take references, and interrupt the siblings that are to run something else."""
    in_fi = core.fi_count > 0
    for other in core.cpus:
        sibling = other.sibling
        if not (fi_before and in_fi):
            task_takes_references(m, core, sibling.pick, in_fi)
        if sibling.pick is None:
            sibling.idle_occupation = occupation
        else:
            sibling.pick.core_occupation = occupation
        if other is cpu or other.curr is sibling.pick:
            sibling.pick_waits = False
        else:
            resched_curr(m, other.number)
