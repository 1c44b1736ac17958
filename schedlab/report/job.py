"""One study to report: from its notebook to a folder that is moved into place when it is whole."""

import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from .. import provenance
from .._pool import Stopped
from .execute import Kernels, run_notebook
from .studies import Study


@dataclass(frozen=True)
class Outcome:
    """What became of one study: ``done``, ``current`` (its report was up to date), ``failed`` or ``stopped``."""

    study: str
    state: str
    seconds: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class Job:
    """A study, its parameters in the declared types, and the folder of all reports."""

    study: Study
    parameters: dict
    out: Path

    def __str__(self):
        return self.study.name

    @property
    def target(self) -> Path:
        """Where its report goes."""
        return self.out / self.study.name

    @property
    def failed(self) -> Path:
        """Where the notebook goes when it fails."""
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


def move_into_place(folder: Path, target: Path) -> None:
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


def staging_for(job: Job) -> Path:
    """Return an empty folder beside the place of a report."""
    staging = job.out / f".{job.study.name}.{os.getpid()}"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    return staging


def run(job: Job, kernels: Kernels, on_cell) -> Outcome:
    """Run a notebook and put its report in place; an earlier one stays when it fails."""
    from papermill.exceptions import PapermillExecutionError

    started = time.perf_counter()
    if kernels.stopped:
        return Outcome(job.study.name, "stopped")
    staging = staging_for(job)
    try:
        notebook = run_notebook(job.study.path, job.parameters, staging, kernels, on_cell)
        from .pages import write_page

        made = job.made()
        write_page(job.study, notebook, made, staging / "report.html")
        seconds = time.perf_counter() - started
        _write_json(staging / "manifest.json", made | {"seconds": round(seconds, 1)})
        shutil.rmtree(staging / ".ipython", ignore_errors=True)
        move_into_place(staging, job.target)
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
