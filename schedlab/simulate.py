"""simulate() and replicate(): one deterministic run of the engine, and many with other seeds."""

from __future__ import annotations

from functools import partial

import numpy as np

from . import _check, _first_run
from ._pool import Threads, check, stream
from .engine import loop, record
from .engine.bandwidth import ERROR_PERIOD_LOOP
from .engine.debug import ERROR_INVARIANT
from .engine.events import MAX_TIME
from .engine.program import ERROR_INSTANT_LOOP
from .kernel import Kernel
from .lowering import lower
from .machine import Machine
from .run import Run
from .run.collect import collect
from .units import to_ns
from .workload import Workload

#: Events between two looks at the clock: progress, Ctrl-C, other threads' exceptions.
CHUNK_EVENTS = 500_000
#: Log records kept in memory at most (40 bytes each): 400 MB.
LOG_LIMIT = 10_000_000


class Simulation:
    """A simulation that can be advanced piece by piece; `simulate` is the usual way.

    Parameters
    ----------
    machine, kernel, workload : Machine, Kernel, Workload
    seed : int
    log : bool or sequence of str
        True logs every kind of event, a sequence those kinds (see `Run.events`).
    stop_on_exit : bool
        End when every task has exited.

    Attributes
    ----------
    state : schedlab.engine.state.State
        The engine's records, for checks between events.
    now : int
        Simulated time, ns.
    """

    def __init__(self, machine, kernel, workload, *, seed=0, log=False, stop_on_exit=False, log_limit=LOG_LIMIT):
        _check.noun("machine", machine, Machine, 'Machine.load("laptop-8cpu")')
        _check.noun("kernel", kernel, Kernel, 'Kernel.version("6.12")')
        _check.noun("workload", workload, Workload, "Workload(groups, tasks)")
        seed = _check.whole("seed", seed, 0)
        _first_run.tell()
        self.machine, self.kernel, self.workload, self.seed = machine, kernel, workload, seed
        self.log_kinds = _log_kinds(log)
        mask = sum(1 << record.KINDS.index(kind) for kind in self.log_kinds)
        self.state = lower(machine, kernel, workload, seed, mask, stop_on_exit)
        self.log_limit, self.log_lost = log_limit, 0
        self._log: list[np.ndarray] = []
        self._log_size = 0
        self.finished = False

    @property
    def now(self) -> int:
        """Simulated time in ns."""
        return int(self.state["sys_now"][0])

    @property
    def nr_events(self) -> int:
        """Events so far: popped entries of the event queue."""
        return int(self.state["sys_nr_events"][0])

    def advance(self, until_ns: int, max_events: int = CHUNK_EVENTS) -> bool:
        """Process events before `until_ns`, at most `max_events`; whether there is nothing left to do before it."""
        code = loop.run_until(self.state.address, until_ns, max_events)
        self._drain_log()
        if code == loop.ERROR:
            raise RuntimeError(self._error())
        self.finished = code == loop.ALL_EXITED
        return code in (loop.DONE, loop.ALL_EXITED)

    def _drain_log(self):
        n = int(self.state["sys_log_n"][0])
        self.log_lost += int(self.state["sys_log_dropped"][0])
        self.state["sys_log_dropped"][0] = 0
        if n == 0:
            return
        self.state["sys_log_n"][0] = 0
        take = max(0, min(n, self.log_limit - self._log_size))
        self.log_lost += n - take
        self._log.append(self.state.arrays["log"][:take].copy())
        self._log_size += take

    def _error(self) -> str:
        error, a, b = (int(self.state[f"sys_error{x}"][0]) for x in ("", "_a", "_b"))
        if error == ERROR_PERIOD_LOOP:
            path = self.workload.group_paths[a]
            return f"group {path}: its period timer's handler takes longer than its period of {b} ns and never returns"
        if error == ERROR_INSTANT_LOOP:
            return f"task {self.workload.tasks[a].name}: a million steps of its program took no time at {self.now} ns"
        if error == ERROR_INVARIANT:
            return f"invariant G{a} does not hold at {self.now} ns (number {b})"
        return f"engine error {error} ({a}, {b}) at {self.now} ns"

    def result(self) -> Run:
        """The Run as of now."""
        log = np.concatenate(self._log) if self._log else None
        if log is None and self.log_kinds:
            log = self.state.arrays["log"][:0].copy()
        return Run(
            machine=self.machine,
            kernel=self.kernel,
            workload=self.workload,
            seed=self.seed,
            kinds=record.KINDS,
            bucket_edges=record.bucket_edges(),
            log=log,
            log_kinds=self.log_kinds,
            log_lost=self.log_lost,
            **collect(self.state, self.kernel, self.workload),
        )


def _log_kinds(log) -> tuple[str, ...]:
    if log is True:
        return tuple(kind for kind in record.KINDS if kind not in record.VERBOSE)
    if not log:
        return ()
    kinds = (log,) if isinstance(log, str) else tuple(log)
    for kind in kinds:
        if kind not in record.KINDS:
            raise ValueError(f"log={kind!r}: one of {', '.join(record.KINDS)}")
    return kinds


def _duration(duration) -> int:
    try:
        until_ns = to_ns(duration)
    except ValueError as error:
        raise ValueError(f"duration={error}") from None
    if not 0 < until_ns < MAX_TIME:
        raise ValueError(f"duration={duration!r}: above 0 and below {MAX_TIME} ns (2.4 hours)")
    return until_ns


def simulate(
    machine, kernel, workload, duration, *, seed=0, log=False, stop="duration", progress=None, log_limit=LOG_LIMIT
) -> Run:
    """Run a workload on a machine under a kernel.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
    workload : Workload
    duration : int or str
        Simulated time in ns, or text such as ``"10s"``; below 2.4 hours. Events at the very end are not processed.
    seed : int
        Seed of random durations and, where the kernel draws them, of the phases of the bandwidth timers.
    log : bool or sequence of str
        Log all events, or those kinds: switch, wake, block, exit, start, migrate, throttle, unthrottle, period, slack,
        sample. Without it memory does not grow with the duration.
    stop : {"duration", "exit"}
        "exit" ends the run as soon as every task has exited.
    progress : callable, optional
        Called with (simulated ns, duration in ns) between chunks of events.
    log_limit : int
        Most log records kept; the Run says how many were lost.

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        For a value that cannot be, naming it.
    RuntimeError
        When the scenario cannot go on (a period timer that never catches up, a program that takes no time).

    Examples
    --------
    >>> import schedlab as sl
    >>> work = sl.Workload(tasks=(sl.Task("hog", sl.run("30ms")),))
    >>> run = sl.simulate(sl.Machine.uniform(1), sl.Kernel.version("6.12"), work, "1s", stop="exit")
    >>> run.duration_ns
    30000000
    """
    if stop not in ("duration", "exit"):
        raise ValueError(f"stop={stop!r}: duration or exit")
    until_ns = _duration(duration)
    sim = Simulation(machine, kernel, workload, seed=seed, log=log, stop_on_exit=stop == "exit", log_limit=log_limit)
    while not sim.advance(until_ns):
        if progress is not None:
            progress(sim.now, until_ns)
    return sim.result()


def replicate(
    machine, kernel, workload, duration, n, *, seed=0, workers=None, progress=True, reduce=None, **options
) -> list:
    """Run n seeds, in threads; the results do not depend on their number.

    Parameters
    ----------
    machine, kernel, workload, duration
        As for `simulate`.
    n : int
        Number of runs; run k has the seed `seed` + k.
    seed : int
        First seed.
    workers : int, optional
        Threads; the number of CPUs by default. The engine runs without the GIL.
    progress : bool
        Show a progress bar.
    reduce : callable, optional
        Applied to each Run as it ends; its results are returned in place of the Runs (which are then not kept).
    **options
        Further options of `simulate`.

    Returns
    -------
    list
        In the order of the seeds.

    Examples
    --------
    >>> import schedlab as sl
    >>> work = sl.Workload(tasks=(sl.Task("t", sl.repeat(9, sl.run("1ms"), sl.sleep(sl.exponential("5ms")))),))
    >>> few = sl.replicate(sl.Machine.uniform(1), sl.Kernel.version("6.1"), work, "1s", 3, progress=False)
    >>> [run.seed for run in few]
    [0, 1, 2]
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n={n!r}: a whole number, at least 1")
    from tqdm.auto import tqdm

    def one(k):
        stop_early = partial(_look, pool.token)
        run = simulate(machine, kernel, workload, duration, seed=seed + k, progress=stop_early, **options)
        return run if reduce is None else reduce(run)

    def take(k, result):
        results[k] = result
        bar.update()

    results = [None] * n
    with Threads(workers) as pool, tqdm(total=n, disable=not progress, leave=False, unit="run") as bar:
        stream(pool, one, range(n), take)
    return results


def _look(token, now, until):
    check(token)
