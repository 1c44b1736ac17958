"""Reports: the notebooks through papermill, behind strict parameters, each moved into place when it is whole."""

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

from .. import provenance
from .._resources import reports_path
from .execute import Kernels, Stopped, import_papermill, run_notebook
from .parameters import Refused, convert
from .studies import Study, find_studies

__all__ = ["Outcome", "Refused", "Study", "find_studies", "gallery", "report"]


@dataclass(frozen=True)
class Outcome:
    """What became of one study: ``done``, ``current`` (its report was up to date), ``failed`` or ``stopped``."""

    study: str
    state: str
    seconds: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class _Job:
    study: Study
    parameters: dict
    out: Path

    @property
    def target(self) -> Path:
        return self.out / self.study.name

    @property
    def failed(self) -> Path:
        return self.out / f"{self.study.name}.failed.ipynb"

    def made(self) -> dict:
        """Return the manifest but for the seconds: two reports with the same one hold the same numbers."""
        effective = {name: parameter.default for name, parameter in self.study.parameters.items()} | self.parameters
        made = provenance.provenance(effective, effective.get("seed"))
        return made | {
            "study": self.study.name,
            "title": self.study.title,
            "notebook_digest": provenance.file_digest(self.study.path),
        }

    def is_current(self) -> bool:
        """Tell whether the report in place was made by this very code, notebook, data and parameters."""
        try:
            manifest = json.loads((self.target / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        manifest.pop("seconds", None)
        return manifest == self.made()


def _write_json(path, value):
    path.write_text(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def _replace(folder: Path, target: Path) -> None:
    """Put a finished folder in the place of an earlier one; the earlier one stays until the new one is there."""
    old = target.with_name(f".{target.name}.old-{os.getpid()}")
    if target.exists():
        os.rename(target, old)
    try:
        os.rename(folder, target)
    except OSError:
        if old.exists():
            os.rename(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _run(job: _Job, kernels: Kernels, on_cell) -> Outcome:
    from papermill.exceptions import PapermillExecutionError

    started = time.perf_counter()
    if kernels.stopped:
        return Outcome(job.study.name, "stopped")
    staging = job.out / f".{job.study.name}.{os.getpid()}"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    try:
        notebook = run_notebook(job.study.path, job.parameters, staging, kernels, on_cell)
        from .pages import write_page

        made = job.made()
        write_page(job.study, notebook, made, staging / "report.html")
        seconds = time.perf_counter() - started
        _write_json(staging / "manifest.json", made | {"seconds": round(seconds, 1)})
        shutil.rmtree(staging / ".ipython", ignore_errors=True)
        _replace(staging, job.target)
        job.failed.unlink(missing_ok=True)
        return Outcome(job.study.name, "done", seconds)
    except PapermillExecutionError as problem:
        os.replace(staging / "notebook.ipynb", job.failed)
        where = f"{problem.ename}: {problem.evalue}".splitlines()[0]
        message = f"cell {problem.exec_count}: {where} (the notebook so far: {job.failed})"
        return Outcome(job.study.name, "failed", time.perf_counter() - started, message)
    except Stopped:
        return Outcome(job.study.name, "stopped", time.perf_counter() - started)
    except Exception as problem:
        state = "stopped" if kernels.stopped else "failed"
        message = f"{type(problem).__name__}: {problem}".splitlines()[0]
        return Outcome(job.study.name, state, time.perf_counter() - started, message)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def plan(names, parameters: Mapping, out: Path, notebooks: Path | None) -> list[_Job]:
    """Return the jobs of a report; Refused where a study, a parameter's name or its value is wrong."""
    studies = find_studies(names, notebooks)
    return [_Job(study, convert(study.name, study.parameters, dict(parameters)), out) for study in studies]


def report(
    names=(),
    *,
    parameters: Mapping | None = None,
    quick: bool = False,
    out: Path | None = None,
    notebooks: Path | None = None,
    workers: int | None = None,
    resume: bool = False,
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
    on_cell
        Called from the notebooks' threads as ``on_cell(study, cells_done, cells)``.
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
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Refused(f"--out {out}: {problem.strerror}") from None
    current = {job.study.name for job in jobs if resume and job.is_current()}
    ended = {name: Outcome(name, "current") for name in current}
    for outcome in ended.values():
        on_end(outcome)
    try:
        _run_all([job for job in jobs if job.study.name not in current], workers, on_cell, on_end, ended)
    finally:
        from .pages import write_index

        write_index(indexed, out)
    return [ended[job.study.name] for job in jobs]


def _run_all(jobs, workers, on_cell, on_end, ended):
    """Run the jobs side by side and fill ``ended``; an interrupt ends our kernels and waits for the threads."""
    if not jobs:
        return
    # Here, before the threads: two that import papermill at the same time can meet it half-initialised.
    import_papermill()
    # The page maker is a second to import: it comes in while the first notebook's kernel computes.
    threading.Thread(target=lambda: import_module("nbconvert"), daemon=True).start()

    kernels = Kernels()
    pool = ThreadPoolExecutor(max_workers=workers or min(len(jobs), len(os.sched_getaffinity(0))))
    try:
        pending = {pool.submit(_run, job, kernels, partial(on_cell, job.study.name)) for job in jobs}
        while pending:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            for outcome in (future.result() for future in finished):
                ended[outcome.study] = outcome
                on_end(outcome)
    except KeyboardInterrupt:
        kernels.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


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
