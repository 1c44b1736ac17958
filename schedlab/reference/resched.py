"""Asking a CPU to run __schedule."""

from .events import Source


def resched_curr(m, cpu: int):
    """Ask a CPU to reschedule; cf. resched_curr(). Another CPU hears of it `ipi_ns` later, at once when that is 0.

    A CPU that has been asked already is not asked again. An interrupt that is on its way is not taken back when the CPU
    reschedules before it arrives: the next request is answered by it.
    """
    if cpu == m.this_cpu or m.kernel.costs.ipi_ns == 0:
        m.cpus[cpu].need_resched = True
    elif not is_asked(m, cpu):
        m.cpus[cpu].asked = True
        if m.queue.time_of(Source.RESCHED, cpu) is None:
            m.queue.set(Source.RESCHED, cpu, m.now + m.kernel.costs.ipi_ns)


def is_asked(m, cpu: int) -> bool:
    """Whether the CPU has been asked to reschedule and has not done so yet; cf. test_tsk_need_resched()."""
    return m.cpus[cpu].need_resched or m.cpus[cpu].asked
