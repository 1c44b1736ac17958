"""Reports: the notebooks through papermill, behind strict parameters, each moved into place when it is whole."""

import os
import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

from .._pool import on_stop, pool_for, stream
from .._resources import reports_path
from .execute import Kernels, import_papermill
from .job import Job, Outcome, run
from .parameters import Refused, convert
from .studies import Study, find_studies

__all__ = ["Outcome", "Refused", "Study", "find_studies", "gallery", "report"]


def plan(names, parameters: Mapping, out: Path, notebooks: Path | None) -> list[Job]:
    """Return the jobs of a report; Refused where a study, a parameter's name or its value is wrong."""
    studies = find_studies(names, notebooks)
    return [Job(study, convert(study.name, study.parameters, dict(parameters)), out) for study in studies]


def report(
    names=(),
    *,
    parameters: Mapping | None = None,
    quick: bool = False,
    out: Path | None = None,
    notebooks: Path | None = None,
    workers: int | None = None,
    resume: bool = False,
    scheduler=None,
    on_cell: Callable[[str, int, int], None] = lambda study, done, total: None,
    on_end: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Run studies and write ``out/<study>/`` for each and ``out/index.html`` over all of them.

    Every parameter is checked against every chosen notebook before the first one starts. A study's folder is put
    together beside its place and moved there when it is whole, so an earlier report survives a failure.

    Parameters
    ----------
    names
        Studies to run; none means all.
    parameters
        Values for the notebooks' parameters; text is read as the declared type.
    quick
        Set the parameter ``quick``.
    out
        Where reports go; by default reports/ of the checkout, or of the current folder.
    notebooks
        Where the notebooks are; by default schedlab's own.
    workers
        How many notebooks run side by side; by default one a core.
    resume
        Leave out studies whose report was made by the same code, data, notebook and parameters.
    scheduler
        Run whole notebooks on the workers of a Dask scheduler (address, scheduler file or client), a notebook a task.
    on_cell
        Called from other threads as ``on_cell(study, cells_done, cells)``.
    on_end
        Called in this thread with each Outcome.

    Returns
    -------
    list of Outcome
        In the order of the studies.

    Raises
    ------
    Refused
        When something asked for is wrong; nothing was started or written then.
    KeyboardInterrupt
        When interrupted; the kernels are ended, and reports that were finished before stay.
    """
    given = dict(parameters or {})
    if quick:
        given.setdefault("quick", True)
    out = Path(out).resolve() if out is not None else reports_path()
    if workers is not None and workers < 1:
        raise Refused(f"--workers {workers}: at least 1")
    jobs = plan(names, given, out, notebooks)
    indexed = find_studies((), notebooks)
    current = {job.study.name for job in jobs if resume and job.is_current()}
    to_run = [job for job in jobs if job.study.name not in current]
    with _connect(scheduler, workers, to_run) as cluster:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise Refused(f"--out {out}: {problem.strerror}") from None
        ended = {name: Outcome(name, "current") for name in current}
        for outcome in ended.values():
            on_end(outcome)
        try:
            _run_all(to_run, workers, cluster, on_cell, on_end, ended)
        finally:
            from .pages import write_index

            write_index(indexed, out)
    return [ended[job.study.name] for job in jobs]


def _connect(scheduler, workers, jobs):
    """Return the cluster to run on, before anything is written; None where no scheduler or no job was given."""
    if scheduler is None or not jobs:
        return nullcontext()
    try:
        return pool_for(scheduler, workers or len(jobs))
    except ValueError as problem:
        raise Refused(str(problem)) from None


def _run_all(jobs, workers, cluster, on_cell, on_end, ended):
    """Run the jobs side by side and fill ``ended``; an interrupt ends our kernels and waits for the threads."""
    if not jobs:
        return

    def take(job, outcome):
        ended[job.study.name] = outcome
        on_end(outcome)

    if cluster is not None:
        from .cluster import run_on

        run_on(cluster, jobs, on_cell, take)
        return
    # Here, before the threads: two that import papermill at the same time can meet it half-initialised.
    import_papermill()
    # The page maker is a second to import: it comes in while the first notebook's kernel computes.
    threading.Thread(target=lambda: import_module("nbconvert"), daemon=True).start()

    kernels = Kernels()

    def here(job):
        return run(job, kernels, lambda *cells: on_cell(job.study.name, *cells))

    with (
        pool_for(None, workers or min(len(jobs), len(os.sched_getaffinity(0)))) as pool,
        on_stop(pool.token, kernels.stop),
    ):
        stream(pool, here, jobs, take)


def gallery(out: Path | None = None, notebooks: Path | None = None) -> list[Path]:
    """Copy the figures that notebooks name under ``schedlab.gallery`` to ``out/gallery/`` and return the copies.

    The comparison of such a study goes there too, so that what is said about its figures can be checked.

    Raises
    ------
    Refused
        When a figure that a notebook names is not in its report.
    """
    out = Path(out) if out is not None else reports_path()
    copies = []
    for study in find_studies((), notebooks):
        for figure in study.gallery:
            source = out / study.name / "figures" / f"{figure}.png"
            if not source.is_file():
                raise Refused(f"{source}: not there; schedlab report {study.name} makes it")
            target = out / "gallery" / f"{study.name}-{figure}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            copies.append(target)
        comparison = out / study.name / "comparison.csv"
        if study.gallery and comparison.is_file():
            copies.append(Path(shutil.copyfile(comparison, out / "gallery" / f"{study.name}-comparison.csv")))
    return copies
