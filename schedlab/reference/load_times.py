"""Load balancing, when: a CPU is about to idle, at ticks, and for the idle CPUs, which do not tick, by one of them.

cf. sched_balance_newidle(), sched_balance_domains(), nohz_balancer_kick(), _nohz_idle_balance(), v6.18
"""

from .domains import Domain, jiffies
from .idleness import counts_as_idle, is_idle
from .load_move import balance, run_stoppers
from .load_search import Occasion
from .resched import is_asked
from .state import CpuRecord

#: A busy CPU balances so many times more seldom.
BUSY_FACTOR = 16


def interval_of(m, domain: Domain, busy: bool) -> int:
    """Return the jiffies between two balances of a domain; cf. get_sd_balance_interval()."""
    ms = domain.interval * (BUSY_FACTOR if busy else 1)
    # rounded up, as msecs_to_jiffies() does
    interval = -(-ms * 1_000_000 // m.kernel.tick_ns)
    longest = m.kernel.hz * sum(cpu.active for cpu in m.cpus) // 10
    return min(max(interval - busy, 1), longest)


def pull(m, cpu: CpuRecord) -> bool:
    """A CPU that is about to idle balances, from its narrowest domain on until a task has come, and returns whether.

    A balance takes no time here, so that its cost never bars it.
    """
    if not (cpu.active and cpu.balance.domains):
        return False
    soonest, is_wanted = jiffies(m) + m.kernel.hz, m.balance.overloaded
    for domain in cpu.balance.domains:
        soonest = min(soonest, domain.last_balance + interval_of(m, domain, busy=False))
        if not is_wanted:
            break
        moved, goes_on = balance(m, cpu, domain, Occasion.NEWLY_IDLE)
        if moved or not goes_on:
            break
    cpu.balance.next_balance = min(cpu.balance.next_balance, soonest)
    return cpu.root.h_nr_queued > 0


def tick(m, cpu: CpuRecord):
    """At a tick: the CPU's own domains that are due, then those of the idle CPUs; cf. sched_balance_trigger()."""
    if not cpu.active:
        return
    if jiffies(m) >= cpu.balance.next_balance:
        balance_domains(m, cpu, Occasion.NOT_IDLE)
    kick(m, cpu)


def balance_domains(m, cpu: CpuRecord, occasion: Occasion):
    """Balance the CPU's domains that are due, the narrowest first."""
    now = jiffies(m)
    soonest = now + 60 * m.kernel.hz
    for domain in cpu.balance.domains:
        busy, goes_on = occasion is not Occasion.IDLE, True
        if now >= domain.last_balance + interval_of(m, domain, busy):
            moved, goes_on = balance(m, cpu, domain, occasion)
            if moved:
                occasion = Occasion.IDLE if counts_as_idle(m, cpu) else Occasion.NOT_IDLE
                busy = occasion is not Occasion.IDLE
            domain.last_balance = now
            run_stoppers(m)
        soonest = min(soonest, domain.last_balance + interval_of(m, domain, busy))
        if not goes_on:
            break
    cpu.balance.next_balance = soonest


# ---- idle CPUs -------------------------------------------------------------------------------------------------------


def kick(m, cpu: CpuRecord):
    """A busy CPU has the lowest idle one balance for all idle ones, at most once a jiffy; cf. nohz_balancer_kick()."""
    others = [other for other in m.cpus if other is not cpu and other.active]
    if not any(other.curr is None for other in others):
        return
    if jiffies(m) < m.balance.nohz_next:
        return
    if cpu.root.h_nr_queued < 2 and nr_busy_in_cache(m, cpu) < 2:
        return
    m.balance.nohz_next = jiffies(m) + 1
    kicked = next((other for other in others if counts_as_idle(m, other)), None)
    if kicked is not None:
        here, m.this_cpu = m.this_cpu, kicked.number
        balance_idle(m, kicked)
        m.this_cpu = here


def nr_busy_in_cache(m, cpu: CpuRecord) -> int:
    """Return how many CPUs of the cache run something."""
    llc = next(llc for llc in m.balance.llcs if cpu.number in llc.cpus)
    return sum(m.cpus[c].curr is not None for c in llc.cpus)


def balance_idle(m, kicked: CpuRecord):
    """Balance for every idle CPU that is due, the one that was kicked last; it stops when it has got work itself."""
    soonest = jiffies(m) + 60 * m.kernel.hz
    after = m.cpus[kicked.number + 1 :] + m.cpus[: kicked.number + 1]
    for cpu in after:
        if not cpu.active or not counts_as_idle(m, cpu):
            continue
        if not is_idle(kicked) and is_asked(m, kicked.number):
            return
        if jiffies(m) >= cpu.balance.next_balance:
            balance_domains(m, cpu, Occasion.IDLE)
        soonest = min(soonest, cpu.balance.next_balance)
    m.balance.nohz_next = soonest
