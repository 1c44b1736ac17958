"""Core scheduling: what a CPU does that was forced idle. It steals a task that fits, or pushes one away that does not.

The push is the posted patch "sched/core: Push tasks on force idle" (November 2025), with the switches of patches_core.
"""

from ..machine import levels_of
from . import cookies, placement, schedule
from .resched import is_asked, resched_curr
from .state import CpuRecord, TaskRecord


def balance(m, cpu: CpuRecord):
    """The balance callback of a pick that left the CPU forced idle; cf. sched_core_balance()."""
    cpu.sibling.counts["nr_core_balances"] += 1
    spans = domains(m, cpu)
    for span in spans if not m.kernel.has("no-force-idle-steal") else ():
        if is_asked(m, cpu.number) or steal_in(m, cpu, span):
            return
    if not m.kernel.has("force-idle-push"):
        return
    for span in spans:
        if is_asked(m, cpu.number) or push_in(m, cpu, span):
            return


def domains(m, cpu: CpuRecord) -> list[list[CpuRecord]]:
    """Return for each level of domains, narrowest first, the other CPUs online of its span, from this one's on."""
    spans = [next(span for span in level.spans if cpu.number in span) for level in levels_of(m.machine)]
    order = placement.cyclic(m, cpu.number)
    return [[m.cpus[c] for c in order if c in span and c != cpu.number and m.cpus[c].active] for span in spans]


def is_idle(cpu: CpuRecord) -> bool:
    """Whether the CPU runs nothing and has nothing queued, delayed tasks included; cf. available_idle_cpu()."""
    return cpu.curr is None and not cpu.root.h_nr_queued


# ---- steal -----------------------------------------------------------------------------------------------------------


def steal_in(m, cpu: CpuRecord, span: list[CpuRecord]) -> bool:
    """Steal from the first CPU of a domain that has something; cf. steal_cookie_task()."""
    for other in span:
        if is_asked(m, cpu.number):
            return False
        cpu.sibling.counts["nr_scanned"] += 1
        if steal_from(m, cpu, other):
            return True
    return False


def steal_from(m, cpu: CpuRecord, other: CpuRecord) -> bool:
    """Take a task of this core's cookie from another CPU; cf. try_steal_cookie()."""
    core = cpu.sibling.core
    if not core.cookie or cpu.curr is not None:
        return False
    for task in cookies.find(m, other, core.cookie, other.sibling.core.fi_count > 0):
        if may_steal(task, cpu, other):
            cpu.sibling.counts["nr_steals"] += 1
            m.log("steal", cpu.number, task.index, other.number)
            placement.move_queued(m, task, cpu.number)
            resched_curr(m, cpu.number)
            return True
    return False


def may_steal(task: TaskRecord, cpu: CpuRecord, other: CpuRecord) -> bool:
    """Whether the task waits, may come, and was not on a busier core when it last ran."""
    picked = other.sibling.pick_waits and other.sibling.pick is task
    if picked or other.curr is task or cpu.number not in task.allowed:
        return False
    return task.core_occupation <= cpu.sibling.idle_occupation and not cookies.is_throttled(task, cpu)


# ---- push ------------------------------------------------------------------------------------------------------------


def push_in(m, cpu: CpuRecord, span: list[CpuRecord]) -> bool:
    """Push to an idle CPU of a domain: the first, or with push-by-quality first one of a core that is in use."""
    if not m.kernel.has("push-by-quality"):
        return push_to_first(m, cpu, span, lambda target: True)
    in_use = push_to_first(m, cpu, span, has_busy_sibling)
    return in_use or push_to_first(m, cpu, span, lambda target: not has_busy_sibling(target))


def push_to_first(m, cpu: CpuRecord, span: list[CpuRecord], is_wanted) -> bool:
    """Push to the first idle CPU, of another core, that takes a task; cf. the patch's forceidle_push_tasks()."""
    for target in span:
        if target.sibling.core is cpu.sibling.core:
            continue
        if is_asked(m, cpu.number):
            return False
        cpu.sibling.counts["nr_scanned"] += 1
        if is_idle(target) and is_wanted(target) and push_to(m, cpu, target):
            return True
    return False


def has_busy_sibling(cpu: CpuRecord) -> bool:
    """Whether a sibling of the CPU is not idle."""
    return any(other is not cpu and not is_idle(other) for other in cpu.sibling.core.cpus)


def push_to(m, cpu: CpuRecord, target: CpuRecord) -> bool:
    """Push the task that ran longest ago and fits; cf. the patch's forceidle_try_push_task()."""
    cpu.sibling.counts["nr_locked"] += 1
    checks_cookie = has_busy_sibling(target)
    for task in reversed(cpu.tasks):
        if may_push(m, task, cpu, target, checks_cookie):
            cpu.sibling.counts["nr_pushes"] += 1
            m.log("push", target.number, task.index, cpu.number)
            placement.move_queued(m, task, target.number)
            schedule.after_enqueue(m, task)
            return True
    return False


def may_push(m, task: TaskRecord, cpu: CpuRecord, target: CpuRecord, checks_cookie: bool) -> bool:
    """Whether the task may go there, and beside what runs on the target's core."""
    if target.number not in task.allowed or cookies.is_throttled(task, target):
        return False
    if m.kernel.has("push-skip-core-pick") and cpu.sibling.pick_waits and cpu.sibling.pick is task:
        return False
    if m.kernel.has("push-skip-delayed") and task.entity.sched_delayed:
        return False
    return not checks_cookie or target.sibling.core.cookie == task.cookie
