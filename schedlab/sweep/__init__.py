"""sweep(): a grid of scenarios and seeds into one table, resumable, in threads or on a Dask cluster."""

from __future__ import annotations

import json

from .. import provenance
from .._check import choice, whole, wrong
from .._pool import pool_for, stream
from ..simulate import _duration
from . import keys
from .points import expand
from .progress import reporter
from .store import Store
from .summary import summary
from .work import Job, PointFailed, run_job

__all__ = ["Plan", "PointFailed", "summary", "sweep"]

_OPTIONS = ("log", "stop", "log_limit")
#: Seeds at most: a slip (a duration in place of a number) would fill the memory before anything ran.
MOST_SEEDS = 1_000_000
#: Work that a worker of a cluster gets at a time, s: little enough to lose when it dies.
BATCH_S = 0.5


def sweep(
    scenario,
    grid=None,
    *,
    seeds=1,
    reduce=None,
    store=None,
    workers=None,
    scheduler=None,
    progress=True,
    **options,
):
    """Run each point of a grid with each seed, and return one table.

    Every point is made once before the first one runs, so that a wrong name or value is told at once. The table is the
    same, byte for byte, whatever runs it: threads, a cluster, or several calls of which all but the last were
    interrupted.

    Parameters
    ----------
    scenario : tuple, callable, list or dict
        (machine, kernel, workload, duration), whose fields the grid changes (see `schedlab.sweep.points.changed` for
        the names); or a function that returns such a tuple and takes a point as keyword arguments; or several of these,
        in a list or by name, which the column "scenario" tells apart.
    grid : dict or list of dict, optional
        Values by name of parameter, of which every combination is a point, the last name changing fastest; or the
        points one by one.
    seeds : int or iterable of int
        That many seeds from 0 on, or these.
    reduce : callable, optional
        Makes a row of a Run: a dict of numbers and texts. By default `schedlab.sweep.summary`: cpu.stat, latencies and
        power. The Run is not kept.
    store : path, optional
        Folder for finished points (JSON lines). Points that are there are not run again, unless the code of schedlab or
        of `reduce` has changed since.
    workers : int, optional
        Threads; one a CPU by default. On a cluster: most points under way.
    scheduler : str or distributed.Client, optional
        Run on the workers of a Dask scheduler, such as "tcp://host:8786", or the file that ``dask scheduler
        --scheduler-file`` wrote; needs the extra ``cluster``. Workers need the same schedlab and versions.
    progress : bool or callable
        Show a bar with the time left, or call this with (points done, points, points found in the store).
    **options
        log, stop and log_limit of `simulate`.

    Returns
    -------
    pandas.DataFrame
        One row a point and seed, in the order of the grid and the seeds; columns: the parameters, seed, and what
        `reduce` gave.

    Raises
    ------
    ValueError
        For a name or a value that cannot be, before anything runs.
    PointFailed
        When a point cannot be run, naming it. Points that were finished stay in the store, also after Ctrl-C.

    Examples
    --------
    >>> import schedlab as sl
    >>> work = sl.Workload((sl.Group("/a", quota_us=10_000),), (sl.Task("t", sl.run("1s"), group="/a"),))
    >>> base = sl.Machine.uniform(1), sl.Kernel.version("6.12"), work, "1s"
    >>> table = sl.sweep(base, {"quota_us": [10_000, 100_000]}, progress=False)
    >>> table[["quota_us", "seed", "nr_throttled"]].values.tolist()
    [[10000, 0, 10], [100000, 0, 0]]
    """
    plan = Plan(scenario, grid, seeds=seeds, reduce=reduce, store=store, **options)
    return plan.run(workers=workers, scheduler=scheduler, progress=progress)


class Plan:
    """A sweep whose points were all made and checked, and of which what is in the store is known.

    Parameters are those of `sweep`.

    Attributes
    ----------
    points : list of Point
    seeds : list of int
    found : int
        Rows that the store has.
    """

    def __init__(self, scenario, grid=None, *, seeds=1, reduce=None, store=None, **options):
        for name in options:
            choice("option", name, _OPTIONS)
        if "stop" in options:
            choice("stop", options["stop"], ("duration", "exit"))
        if reduce is not None and not callable(reduce):
            raise wrong("reduce", reduce, "a function that makes a row of a Run")
        self.points, self.seeds = expand(scenario, grid), _seeds(seeds)
        self._reduce, self._options = summary if reduce is None else reduce, options
        self._rows = [None] * (len(self.points) * len(self.seeds))
        self._store, self._keys, self._contents = None, [], keys.Contents()
        self._digests = [self._made(point)[1] for point in self.points]
        if store is not None:
            self._keys, self._store = self.keys(), Store(store, keys.code())
            self._look_up()
        self.found = len(self._rows) - self._rows.count(None)

    def _made(self, point) -> tuple:
        """Return a point's scenario, checked, and the digest of its content."""
        machine, kernel, workload, duration = point.make()
        try:
            workload.check(kernel)
            workload.check_machine(machine)
            scenario = machine, kernel, workload, _duration(duration)
        except ValueError as error:
            raise ValueError(f"{point}: {error}" if point.values else str(error)) from error
        return scenario, self._contents.digest(*scenario, self._options)

    def keys(self) -> list[str]:
        """Return what a store knows each row by."""
        code, reduce = keys.code(), keys.fingerprint(self._reduce)
        return [keys.key(code, reduce, digest, seed) for digest in self._digests for seed in self.seeds]

    def _look_up(self):
        rows_of = {}
        for row, key in enumerate(self._keys):
            rows_of.setdefault(key, []).append(row)
        for key, found in self._store.find():
            for row in rows_of.get(key, ()):
                self._rows[row] = json.dumps(found)

    def run(self, *, workers=None, scheduler=None, progress=True):
        """Run what is missing and return the table; parameters and exceptions as those of `sweep`."""
        done = self.found
        with reporter(progress) as show:
            show(done, len(self._rows), self.found)

            def take(job, row):
                nonlocal done
                if self._store is not None:
                    self._store.add(self._keys[job.row], self._point(job.row).labels, job.seed, row)
                done += self._rows[job.row] is None
                self._rows[job.row] = row
                show(done, len(self._rows), self.found)

            if done < len(self._rows):
                with pool_for(scheduler, workers, BATCH_S) as pool:
                    identity = None if scheduler is None else provenance.identity()
                    try:
                        stream(pool, run_job, self._jobs(pool.token, identity), take)
                    finally:
                        if self._store is not None:
                            self._store.close()
        return self._table()

    def _point(self, row: int):
        return self.points[row // len(self.seeds)]

    def _jobs(self, token, identity):
        """Jobs for the missing rows, one by one: the scenarios of all points at a time need not fit into memory."""
        n = len(self.seeds)
        for number, point in enumerate(self.points):
            missing = [row for row in range(number * n, number * n + n) if self._rows[row] is None]
            if not missing:
                continue
            scenario, digest = self._made(point)
            if digest != self._digests[number]:
                raise wrong("scenario", str(point), "the function made something else of it the second time")
            for row in missing:
                seed = self.seeds[row % n]
                yield Job(row, str(point), scenario, seed, self._options, self._reduce, token, identity)

    def _table(self):
        import pandas as pd

        columns = {name: [] for name in (*self.points[0].labels, "seed")}
        parameters = tuple(columns)
        for row, text in enumerate(self._rows):
            values = json.loads(text)
            for name in values:
                if name in parameters:
                    raise wrong("reduce", name, "gives a column of that name, which is a parameter's already")
                if name not in columns:
                    columns[name] = [None] * row  # rows before this one do not have it
            values |= self._point(row).labels | {"seed": self.seeds[row % len(self.seeds)]}
            for name, column in columns.items():
                column.append(values.get(name))
        table = pd.DataFrame(columns)
        for name in table.columns:
            if table[name].isna().all():
                table[name] = table[name].astype(float)
        return table


def _seeds(seeds) -> list[int]:
    if isinstance(seeds, bool | str):
        raise wrong("seeds", seeds, "how many, or which")
    try:
        numbers = list(seeds)
    except TypeError:
        return list(range(whole("seeds", seeds, 1, MOST_SEEDS)))
    numbers = [whole("seeds", seed, 0) for seed in numbers]
    if not numbers or len(set(numbers)) < len(numbers):
        raise wrong("seeds", numbers, "one or more, each once")
    return numbers
