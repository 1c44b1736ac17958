"""The rules of the engine again, in plain Python: slow, obvious, and written from the specification alone.

Nothing here is imported from `schedlab.engine`. Tests run both on random scenarios and compare the event logs, so
that a slip in one of them shows. The rules are those of docs/model.md, but for two patches of balancing and late
period timers, which are refused, and the prices of work with interrupts off.
"""

from .model import Model
from .result import ReferenceRun

__all__ = ["Model", "ReferenceRun", "simulate"]


def simulate(machine, kernel, workload, duration_ns: int, seed: int = 0, log_all: bool = False) -> ReferenceRun:
    """Run a workload on a kernel on a machine.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
    workload : Workload
    duration_ns : int
        Simulated time; events at its very end do not run.
    seed : int
        Seed of all random streams.
    log_all : bool
        Whether to log each `__schedule` and each tick too.

    Returns
    -------
    ReferenceRun

    Raises
    ------
    ValueError
        When the workload does not fit the machine or the kernel.

    Examples
    --------
    >>> from schedlab.kernel import Kernel
    >>> from schedlab.machine import Machine
    >>> from schedlab.steps import run
    >>> from schedlab.workload import Task, Workload
    >>> one = Workload(tasks=(Task("one", run("3ms")),))
    >>> simulate(Machine.uniform(1), Kernel.version("6.1"), one, 10_000_000).tasks()[0]["end_ns"]
    3000000
    """
    model = Model(machine, kernel, workload, seed, log_all)
    model.run(duration_ns)
    return ReferenceRun(model)
