"""Operations inside a running workload: whom they hold up with interrupts off, and for how long."""

from __future__ import annotations

import numpy as np

from .. import _check
from ..events import HoldCpu, SetCpuOnline
from ..units import to_ns
from .operations import Offline, Online, parse_operation
from .predict import hotplug


def as_events(
    machine, kernel, operations, *, groups=1, executor: int = 0, costs=None, locality=None, core_scheduling=False
) -> tuple:
    """Return what hotplug operations do to a running system, as events of a Workload.

    Each rq_attach_root() call of a rebuild runs with interrupts off on the CPU that executes the operation and holds
    the run queue's lock of the CPU that is moved: both are held for its predicted time, one call after the other, as
    the CPUs leave their root domain and then join the new one. The explicit set_rq_offline() or set_rq_online() holds
    the CPU that goes or comes. The rest of an operation's time is the executing task's, and holds nobody.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
        Its patches decide how much work a call is.
    operations : sequence of (int or str, operation or str)
        When (ns or text), and what: for example ``[("1s", "offline cpu 3"), ("2s", "online cpu 3")]``.
    groups : int
        Task groups, the root group among them: those of the host, which need not be in the workload.
    executor : int
        CPU on which the operations are executed.
    costs, locality
        As in `hotplug`.
    core_scheduling : bool
        Whether the workload has cookies: the lock of a run queue is then that of its core (cf.
        raw_spin_rq_lock_nested(), v6.18, core.c), so that the siblings are held too.

    Returns
    -------
    tuple of HoldCpu and SetCpuOnline
        For ``Workload.replace(events=...)``. A partition switch holds CPUs; that its CPUs balance no more with the
        others is not modelled in the running system.

    Raises
    ------
    ValueError
        When an operation is impossible, or the machine has no cost table and none is given.
    """
    events, state = [], None
    steps = sorted(
        ((to_ns(at), parse_operation(op) if isinstance(op, str) else op) for at, op in operations),
        key=lambda pair: pair[0],
    )
    for at_ns, operation in steps:
        fresh = {"groups": groups} if state is None else {}
        done = hotplug(machine, kernel, operation, state=state, costs=costs, locality=locality, **fresh)
        if done.irq_off_ns is None:
            raise _check.wrong("machine", machine.name, "has no cost table: give costs=")
        state = done.state
        online = np.flatnonzero(state.online).tolist()
        sharing = machine.cores if core_scheduling else ()
        events += _holds(at_ns, done, executor, online, sharing)
        if isinstance(operation, Offline | Online):
            explicit_ns = round(done.irq_off_ns["sched_set_rq"])
            if explicit_ns:
                events += [HoldCpu(at_ns, cpu, explicit_ns) for cpu in _locked(operation.cpu, online, sharing)]
            events.append(SetCpuOnline(at_ns, operation.cpu, isinstance(operation, Online)))
    return tuple(events)


def _locked(cpu, online, sharing):
    """CPUs that the lock of a run queue keeps out: its own, and the siblings that are online where they share it."""
    siblings = next((core for core in sharing if cpu in core), ())
    return (cpu, *(c for c in siblings if c != cpu and c in online))


def _holds(at_ns, done, executor, online, sharing):
    """The calls one after the other: the executing CPU and those that the lock of a run queue keeps out."""
    begin = at_ns
    for target, ns in done.attach_calls:
        if ns == 0:
            continue
        yield HoldCpu(begin, executor, ns)
        others = (cpu for cpu in _locked(target, online, sharing) if cpu != executor and cpu in online)
        yield from (HoldCpu(begin, cpu, ns) for cpu in others)
        begin += ns
