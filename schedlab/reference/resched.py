"""Asking a CPU to run __schedule, at once or at the next return to user space."""

from .events import Source


def resched_curr(m, cpu: int):
    """Ask a CPU to reschedule; cf. resched_curr(). Another CPU hears of it `ipi_ns` later, at once when that is 0.

    A CPU that has been asked already is not asked again. An interrupt that is on its way is not taken back when the CPU
    reschedules before it arrives: the next request is answered by it.
    """
    if m.cpus[cpu].need_resched:
        return
    if m.cpus[cpu].off_until > m.now:  # it hears of it when interrupts are on again
        m.cpus[cpu].asked = True
        m.queue.set(Source.RESCHED, cpu, m.cpus[cpu].off_until)
    elif cpu == m.this_cpu or m.kernel.costs.ipi_ns == 0:
        m.cpus[cpu].need_resched = True
    elif not is_asked(m, cpu):
        m.cpus[cpu].asked = True
        if m.queue.time_of(Source.RESCHED, cpu) is None:
            m.queue.set(Source.RESCHED, cpu, m.now + m.kernel.costs.ipi_ns)


def resched_curr_lazy(m, cpu: int):
    """Ask a CPU to reschedule when its task returns to user space or it ticks; cf. resched_curr_lazy(), v6.18.

    Without lazy preemption, and for an idle CPU, this is a plain request. No interrupt is sent.
    """
    if not m.kernel.lazy_resched or m.cpus[cpu].curr is None:
        resched_curr(m, cpu)
    elif not is_asked(m, cpu):
        m.cpus[cpu].lazy = True


def is_asked(m, cpu: int) -> bool:
    """Whether the CPU has been asked to reschedule and has not done so yet; cf. test_tsk_need_resched().

    A lazy request does not count.
    """
    return m.cpus[cpu].need_resched or m.cpus[cpu].asked


def leave_interrupt(m):
    """The event on this CPU is over: where it interrupted user work, a lazy request counts now."""
    cpu = m.cpus[m.this_cpu]
    if cpu.lazy and cpu.curr is not None and cpu.curr.in_user_step:
        cpu.lazy = False
        resched_curr(m, cpu.number)


def clear_requests(cpu):
    """All requests to the CPU are answered; cf. clear_tsk_need_resched()."""
    cpu.need_resched = cpu.asked = cpu.lazy = False
