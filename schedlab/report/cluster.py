"""Whole notebooks on the workers of a Dask cluster: each runs in a folder of its worker, and its files come back.

Nothing needs to be shared: the notebook travels with its parameters, the report as bytes. It is put together beside its
place and moved there as one that was made here.
"""

import shutil
import tempfile
import threading
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from .. import provenance
from .._pool import on_stop, stream
from .._pool.cluster import Cluster
from .execute import Kernels, import_papermill
from .job import Job, Outcome, move_into_place, run, staging_for

# Two threads of a worker that import papermill at the same time can meet it half-initialised.
_importing = threading.Lock()


@dataclass(frozen=True)
class _Piece:
    """What a worker gets: a job, its notebook, and the identity of the code that asks."""

    job: Job
    notebook: bytes
    token: str
    identity: dict

    def __str__(self):
        return str(self.job)


def run_on(cluster: Cluster, jobs, on_cell, take) -> None:
    """Run jobs on a cluster and call ``take(job, outcome)`` as each ends."""
    topic, identity = f"schedlab-{cluster.token}", provenance.identity()
    cluster.client.subscribe_topic(topic, lambda event: on_cell(*event[1]))
    pieces = (_Piece(job, job.study.path.read_bytes(), cluster.token, identity) for job in jobs)
    try:
        stream(cluster, run_piece, pieces, lambda piece, found: take(piece.job, _put(piece.job, *found)))
    finally:
        cluster.client.unsubscribe_topic(topic)


def run_piece(piece: _Piece) -> tuple[Outcome, dict[str, bytes]]:
    """Run a notebook on a worker and return what became of it, and the files that it left by their paths."""
    from distributed import get_worker

    name, here = piece.job.study.name, provenance.identity()
    if here != piece.identity:
        return Outcome(name, "failed", message=f"its worker {provenance.difference(piece.identity, here)}"), {}
    with _importing:
        import_papermill()
    worker, kernels = get_worker(), Kernels()
    with tempfile.TemporaryDirectory(prefix="schedlab-") as folder, on_stop(piece.token, kernels.stop):
        path, out = Path(folder, f"{name}.ipynb"), Path(folder, "reports")
        path.write_bytes(piece.notebook)
        job = replace(piece.job, study=replace(piece.job.study, path=path), out=out)
        say = partial(_say, worker, f"schedlab-{piece.token}", name)
        outcome = run(job, kernels, say)
        files = {p.relative_to(out).as_posix(): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}
    return replace(outcome, message=outcome.message.replace(str(out), str(piece.job.out))), files


def _say(worker, topic, *progress):
    worker.log_event(topic, progress)


def _put(job: Job, outcome: Outcome, files: dict[str, bytes]) -> Outcome:
    """Write what came back, and return the outcome."""
    if outcome.state != "done":
        for path, content in files.items():
            if path == job.failed.name:
                job.failed.write_bytes(content)
        return outcome
    staging = staging_for(job)
    try:
        for path, content in files.items():
            name, _, rest = path.partition("/")
            if name == job.study.name:
                target = staging / rest
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        move_into_place(staging, job.target)
        job.failed.unlink(missing_ok=True)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return outcome
