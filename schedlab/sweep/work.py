"""One point and seed of a sweep: what a thread or a worker of a cluster gets, does and gives back."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from .. import provenance
from .._check import wrong
from .._pool import Failed, Stopped, check
from ..simulate import simulate


class PointFailed(Failed):
    """A point of a sweep cannot be run; the message is one line that names it and says why."""


@dataclasses.dataclass(frozen=True)
class Job:
    """A point and seed to run, and its row in the table. `identity`: what a worker elsewhere has to run, or None."""

    row: int
    name: str
    scenario: tuple
    seed: int
    options: dict
    reduce: Callable
    token: str
    identity: dict | None = None

    def __str__(self):
        return f"{self.name} seed={self.seed}".strip()


def run_job(job: Job) -> str:
    """Run one point and return its row as JSON.

    Raises
    ------
    PointFailed
        When it cannot be run, or what `reduce` gives is no row.
    Stopped
        When the sweep was stopped meanwhile.
    """
    try:
        if job.identity is not None and provenance.identity() != job.identity:
            raise ValueError(f"its worker {provenance.difference(job.identity, provenance.identity())}")
        run = simulate(*job.scenario, seed=job.seed, progress=partial(_check, job.token), **job.options)
        return encode(job.reduce(run))
    except Stopped:
        raise
    except (ValueError, RuntimeError) as error:
        raise PointFailed(f"{job}: {error}") from error
    except Exception as error:
        raise PointFailed(f"{job}: {type(error).__name__}: {error}") from error


def _check(token, now, until):
    check(token)


def encode(found) -> str:
    """Return a row as JSON: a mapping (or a Series) of numbers and texts; one number is the column "value".

    Missing numbers become null, whichever way they were written, so that a row is the same straight from a run and from
    a store.
    """
    if not isinstance(found, Mapping):
        found = found.to_dict() if hasattr(found, "to_dict") else {"value": found}
    return json.dumps({str(name): _plain(name, value) for name, value in found.items()})


def _plain(name, value):
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise wrong(f"reduce gave {name}", value, "each column is a number, a text, True, False or None")
