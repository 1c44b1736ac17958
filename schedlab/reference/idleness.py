"""Which CPUs are idle for the kernel's placement and balancing, and whether a task's cookie fits them."""

from .state import CpuRecord, TaskRecord


def is_idle(cpu: CpuRecord) -> bool:
    """Whether the CPU runs nothing and has nothing queued, delayed tasks included; cf. idle_cpu()."""
    return cpu.curr is None and not cpu.root.h_nr_queued


def core_of(m, cpu: CpuRecord) -> list[CpuRecord]:
    """Return the CPU and its siblings, but for offline ones; cf. cpu_smt_mask()."""
    return [m.cpus[c] for c in sorted(m.machine.siblings(cpu.number)) if m.cpus[c].active]


def others_are_idle(m, cpu: CpuRecord) -> bool:
    """Whether the siblings of the CPU are idle; cf. is_core_idle()."""
    return all(is_idle(other) for other in core_of(m, cpu) if other is not cpu)


def cpu_cookie_matches(m, cpu: CpuRecord, task: TaskRecord) -> bool:
    """Whether the core has the task's cookie; cf. sched_cpu_cookie_match()."""
    return not m.core_scheduling or cpu.sibling.core.cookie == task.cookie


def core_cookie_matches(m, cpu: CpuRecord, task: TaskRecord) -> bool:
    """Whether the core has the task's cookie or is wholly idle; cf. sched_core_cookie_match()."""
    return cpu_cookie_matches(m, cpu, task) or all(is_idle(other) for other in core_of(m, cpu))


def goes_idle(m, cpu: CpuRecord):
    """The CPU switches to its idle task: its cache may have an idle core; cf. __update_idle_core()."""
    if others_are_idle(m, cpu):
        next(llc for llc in m.balance.llcs if cpu.number in llc.cpus).has_idle_cores = True


def counts_as_idle(m, cpu: CpuRecord) -> bool:
    """Whether balancing takes the CPU for an idle one: with lb-force-idle-destination also when it idles by force."""
    by_force = m.kernel.has("lb-force-idle-destination") and cpu.sibling is not None
    return is_idle(cpu) or (by_force and cpu.sibling.forced_since is not None)
