"""Where a task that wakes goes, with the kernel's balancing; cf. select_task_rq_fair(), v6.18. No hint is "sync"."""

from .averages import cpu_load
from .domains import Domain, WakerRecord, jiffies, llc_of
from .idleness import core_cookie_matches, core_of, cpu_cookie_matches, is_idle
from .state import CpuRecord, TaskRecord


def select(m, task: TaskRecord) -> int:
    """Return the CPU for a task that wakes, which its affinity may not hold; cf. select_task_rq()."""
    if len(task.allowed) == 1:
        return task.allowed[0]
    this, prev = m.cpus[m.this_cpu], m.cpus[task.cpu]
    waker = (this.curr or this).balance.waker
    note_wakee(m, waker, task)
    target = prev
    if this.number in task.allowed and not is_wide(m, this, waker, task.balance.waker):
        common = [domain for domain in this.balance.domains if prev.number in domain.span]
        if common and this is not prev:
            target = wake_affine(m, common[0], task, this, prev)
    return select_idle_sibling(m, task, prev, target).number


# ---- who wakes whom --------------------------------------------------------------------------------------------------


def note_wakee(m, waker: WakerRecord, task: TaskRecord):
    """Count how often the waker turns from one wakee to another; cf. record_wakee()."""
    if jiffies(m) > waker.decayed_at + m.kernel.hz:
        waker.flips //= 2
        waker.decayed_at = jiffies(m)
    if waker.last_wakee is not task:
        waker.last_wakee = task
        waker.flips += 1


def is_wide(m, this: CpuRecord, waker: WakerRecord, wakee: WakerRecord) -> bool:
    """Whether one of many wakers wakes one of many wakees, more than fit the cache; cf. wake_wide()."""
    size = cache_weight(m, this)
    fewer, more = sorted((waker.flips, wakee.flips))
    return fewer >= size and more >= fewer * size


def cache_weight(m, cpu: CpuRecord) -> int:
    """Return how many CPUs the CPU's widest domain within a cache has, itself without one; cf. sd_llc_size."""
    return max((domain.weight for domain in cpu.balance.domains if domain.shares_llc), default=1)


def has_cache_domain(cpu: CpuRecord) -> bool:
    """Whether some domain of the CPU lies within a cache (cf. sd_llc)."""
    return any(domain.shares_llc for domain in cpu.balance.domains)


# ---- the waker's CPU or the last one ---------------------------------------------------------------------------------


def wake_affine(m, domain: Domain, task: TaskRecord, this: CpuRecord, prev: CpuRecord) -> CpuRecord:
    """Return the waker's CPU or the task's last one; cf. wake_affine()."""
    if is_idle(this) and share_cache(m, this, prev):
        return prev if is_idle(prev) else this
    if is_idle(prev):
        return prev
    load = task.balance.load.read(m.now)
    this_load = (cpu_load(m, this) + load) * 100
    prev_load = (cpu_load(m, prev) - load) * (100 + (domain.imbalance_pct - 100) // 2)
    return this if this_load < prev_load else prev


def share_cache(m, one: CpuRecord, other: CpuRecord) -> bool:
    """Whether both CPUs are in one last-level cache, and online; cf. cpus_share_cache()."""
    return one.active and other.active and llc_of(m, one.number) is llc_of(m, other.number)


# ---- an idle CPU near it ---------------------------------------------------------------------------------------------


def fits(m, cpu: CpuRecord, task: TaskRecord) -> bool:
    """Whether the CPU is idle; with wake-cookie-check its core must suit the task too."""
    return is_idle(cpu) and (not m.kernel.has("wake-cookie-check") or core_cookie_matches(m, cpu, task))


def select_idle_sibling(m, task: TaskRecord, prev: CpuRecord, target: CpuRecord) -> CpuRecord:
    """Return an idle CPU in the cache of the target, or the target; cf. select_idle_sibling()."""
    if fits(m, target, task):
        return target
    if prev is not target and share_cache(m, prev, target) and fits(m, prev, task):
        return prev
    recent = m.cpus[task.balance.recent_cpu]
    task.balance.recent_cpu = prev.number
    if recent not in (prev, target) and share_cache(m, recent, target) and recent.number in task.allowed:
        if fits(m, recent, task):
            return recent
    if not has_cache_domain(target):
        return target
    llc = llc_of(m, target.number)
    looks_for_core = False
    if has_siblings(m):
        looks_for_core = llc.has_idle_cores
        if not looks_for_core and share_cache(m, prev, target):
            beside = [cpu for cpu in core_of(m, prev) if cpu is not prev and cpu.number in task.allowed]
            found = next((cpu for cpu in beside if fits(m, cpu, task)), None)
            if found is not None:
                return found
    return select_idle_cpu(m, task, llc, target, looks_for_core) or target


def has_siblings(m) -> bool:
    """Whether some core has more than one thread; cf. sched_smt_active()."""
    return any(len(core) > 1 for core in m.machine.cores)


def select_idle_cpu(m, task: TaskRecord, llc, target: CpuRecord, looks_for_core: bool) -> CpuRecord | None:
    """Return an idle CPU of the cache, from the one after the target on; cf. select_idle_cpu().

    The fuller the cache was at the last balance, the fewer are looked at. Where there may be an idle core, all are,
    and any idle CPU that the task may use comes second.
    """
    if llc.nr_idle_scan == 0:
        return None
    n = m.machine.nr_cpus
    order = [(target.number + 1 + k) % n for k in range(n)]
    cpus = [m.cpus[c] for c in order if c in llc.cpus and c in task.allowed and m.cpus[c].active]
    if not looks_for_core:
        seen = cpus[: llc.nr_idle_scan]
        return next((cpu for cpu in seen if is_idle(cpu) and cpu_cookie_matches(m, cpu, task)), None)
    for cpu in cpus:
        if all(is_idle(sibling) for sibling in core_of(m, cpu)):
            return cpu
    llc.has_idle_cores = False
    return first_seen_idle(m, cpus)


def first_seen_idle(m, cpus: list[CpuRecord]) -> CpuRecord | None:
    """Return the idle CPU that a search for idle cores remembers: core by core, lowest number first.

    A core is left at the first idle CPU that may be taken; cf. select_idle_core()
    """
    for cpu in cpus:
        for sibling in core_of(m, cpu):
            if is_idle(sibling) and sibling in cpus:
                return sibling
    return None
