"""Core scheduling: CPUs that idle though they have tasks. How long, who is charged for it, and when a turn ends."""

from .core_state import CoreRecord
from .resched import resched_curr
from .state import CpuRecord

# ---- on account of whom (schedstats) ---------------------------------------------------------------------------------


def open_charge(m, core: CoreRecord) -> int:
    """Return what each running task of the core is still to be charged, in ns."""
    if core.fi_start is None:
        return 0
    delta = m.now - core.fi_start
    if core.fi_count > 1 or core.fi_occupation > 1:
        # several idle, or several run: the idle time is shared out
        delta = delta * core.fi_count // max(1, core.fi_occupation)
    return delta


def payers(core: CoreRecord) -> list:
    """Return the tasks that run on the core, or are about to, where a pick waits."""
    chosen = [cpu.sibling.pick if cpu.sibling.pick_waits else cpu.curr for cpu in core.cpus]
    return [task for task in chosen if task is not None]


def charge(m, core: CoreRecord):
    """Charge the forced idle time up to now; cf. __sched_core_account_forceidle()."""
    if core.fi_start is None or m.now <= core.fi_start:
        return
    delta = open_charge(m, core)
    core.fi_start = m.now
    for task in payers(core):
        task.forceidle_ns += delta


def end_episode(m, core: CoreRecord) -> bool:
    """A core-wide pick begins: nobody is forced idle until it says so. Returns whether somebody was."""
    if not core.fi_count:
        return False
    charge(m, core)
    core.fi_start = None
    core.fi_count = core.fi_occupation = 0
    return True


# ---- how long --------------------------------------------------------------------------------------------------------


def end_schedule(m, cpu: CpuRecord):
    """`__schedule` ends: the CPU is forced idle when it runs nothing and something is queued, else it is not."""
    sibling = cpu.sibling
    if cpu.curr is not None or not cpu.root.h_nr_queued:
        end(m, cpu)
    elif sibling.forced_since is None:
        sibling.forced_since = m.now
        sibling.counts["nr_forced_idle"] += 1
        m.log("forced_idle", cpu.number, 1, sibling.core.cookie)


def queue_shrank(m, cpu: CpuRecord):
    """Something left the CPU's queue: when that was the last, the CPU is plainly idle."""
    if m.core_scheduling and not cpu.root.h_nr_queued:
        end(m, cpu)


def end(m, cpu: CpuRecord):
    """The CPU is not, or no longer, forced idle."""
    sibling = cpu.sibling
    if sibling.forced_since is not None:
        sibling.forced_ns += m.now - sibling.forced_since
        sibling.forced_since = None
        m.log("forced_idle", cpu.number, 0, 0)


# ---- ticks -----------------------------------------------------------------------------------------------------------


def tick(m, cpu: CpuRecord):
    """A CPU's tick charges the whole core; cf. sched_core_tick()."""
    if cpu.sibling.core.fi_count:
        charge(m, cpu.sibling.core)


def tick_task(m, cpu: CpuRecord):
    """A task that is alone on its CPU, beside a sibling forced idle, gets half a slice; cf. task_tick_core()."""
    if m.kernel.has("no-forceidle-tick"):
        return
    se = cpu.curr.entity
    has_run = se.sum_exec - se.prev_sum_exec
    if cpu.sibling.core.fi_count and cpu.root.nr_queued == 1 and 2 * has_run > se.slice:
        resched_curr(m, cpu.number)
