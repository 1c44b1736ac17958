"""The workers of a Dask scheduler as a pool."""

from __future__ import annotations

import concurrent.futures
import contextlib
import math
import os
import queue
import time
import uuid
import warnings

from .._check import wrong
from .stopping import Failed, Stopped, WorkerDied, stop

#: How long to try to reach a scheduler; between two looks at how many workers it has; without any before saying so; s.
CONNECT_S, LOOK_S, ALONE_S = 10, 2, 30
#: Pieces under way while a cluster has no worker yet, so that one that grows with its load sees a load.
AHEAD = 16


class Cluster:
    """The workers of a Dask scheduler.

    Parameters
    ----------
    scheduler : str or distributed.Client
        Address such as "tcp://host:8786", the path of a scheduler file, or a client that is there already.
    workers : int, optional
        Most pieces under way; by default three for each thread of the cluster.
    batch_s : float
        Put as many items into a piece as make that many seconds of work, by the time that earlier ones took: each
        piece costs this process and the scheduler some 10 ms. By default one.

    Raises
    ------
    ValueError
        When no scheduler answers there, or a worker does not run what runs here.

    Notes
    -----
    A piece moves to another worker when its own dies, as often as the scheduler's ``allowed-failures`` says.
    """

    def __init__(self, scheduler, workers: int | None = None, batch_s: float = 0.0):
        self.token = uuid.uuid4().hex
        self._batch_s, self._batch = batch_s, 1
        self._distributed = _distributed(scheduler)
        self._mine = isinstance(scheduler, str | os.PathLike)
        self.name = str(scheduler) if self._mine else scheduler.scheduler.address
        self.client = self._connect(scheduler) if self._mine else scheduler
        self._ended, self._fetched = queue.SimpleQueue(), {}
        self._most, self._room, self._looked, self._alone_since = workers, AHEAD, -LOOK_S, None
        try:
            self._check_workers()
        except BaseException:
            self.__exit__()
            raise

    def _connect(self, scheduler):
        import dask

        where = {"scheduler_file": str(scheduler)} if os.path.isfile(scheduler) else {"address": str(scheduler)}
        try:
            # a client keeps its last 1000 messages for debugging, which are the scenarios of as many pieces
            with dask.config.set({"distributed.admin.low-level-log-length": 0}):
                return self._distributed.Client(**where, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            said = f" ({error})" if isinstance(error, ValueError) else f" within {CONNECT_S} s"
            raise wrong("scheduler", str(scheduler), f"no Dask scheduler answers there{said}") from None

    def _check_workers(self):
        from .. import provenance

        here = provenance.identity()
        found = self.client.run(provenance.identity, on_error="return")
        for address, there in found.items():
            if isinstance(there, BaseException):
                said = f"{type(there).__name__}: {there}".splitlines()[0]
                raise wrong("scheduler", self.name, f"worker {address} cannot run schedlab: {said}")
            if there != here:
                raise wrong("scheduler", self.name, f"worker {address} {provenance.difference(here, there)}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._mine:
            self.client.close()

    def room(self) -> int:
        """How many pieces may be under way; workers may come and go."""
        if self._most:
            return self._most
        if time.monotonic() - self._looked > LOOK_S:
            self._looked = time.monotonic()
            with contextlib.suppress(OSError):  # the scheduler is gone: the futures say so
                threads = sum(self.client.nthreads().values())
                self._room = max(AHEAD, 3 * threads)
                self._say_when_alone(threads)
        return self._room

    def _say_when_alone(self, threads):
        if threads:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = self._looked
        elif self._looked - self._alone_since > ALONE_S:
            warnings.warn(f"scheduler={self.name!r}: has had no worker for {ALONE_S} s; waiting for one", stacklevel=4)
            self._alone_since = math.inf  # once

    def batch(self) -> int:
        """How many items make a piece."""
        return self._batch

    def submit(self, function, batch):
        """Begin a piece of work: a list of (number, item)."""
        items = [item for _, item in batch]
        future = self.client.submit(_one_by_one, function, items, pure=False, key=f"schedlab-{uuid.uuid4().hex}")
        future.add_done_callback(self._ended.put)
        return future

    def wait(self, futures):
        """Wait for one or more to end, and return those; none when that takes long."""
        ended = []
        try:
            ended.append(self._ended.get(timeout=LOOK_S))
            while True:
                ended.append(self._ended.get_nowait())
        except queue.Empty:
            pass
        return [future for future in ended if self._fetch(future)]

    def _fetch(self, future) -> bool:
        """Get what a piece gave; False when that went with its worker, and the piece is done anew."""
        try:
            self._fetched[future] = future.result(timeout=LOOK_S)
        except TimeoutError:
            self._ended.put(future)
            return False
        except (Exception, concurrent.futures.CancelledError):  # `result` meets it again, where it has a name
            pass
        return True

    def _lost(self):
        return Failed(f"scheduler={self.name!r}: lost; what was finished by then is kept")

    def result(self, future, batch):
        """Return what the items of a piece gave up to the first that failed, and what that failed with or None."""
        try:
            found, error, seconds = self._fetched.pop(future) if future in self._fetched else future.result(LOOK_S)
        except self._distributed.KilledWorker:
            return [], WorkerDied(f"{batch[0][1]}: each worker that began it died (out of memory?)")
        except concurrent.futures.CancelledError:
            raise self._lost() from None
        except Exception as error:  # not the work's own: it could not be sent, or what it gave could not
            return [], Failed(f"{batch[0][1]}: {type(error).__name__}: {error}".splitlines()[0])
        if found:
            fits = int(self._batch_s * len(found) / max(seconds, 1e-6))
            self._batch = max(1, min(fits, 2 * self._batch))
        return found, error

    def succeeded(self, future) -> bool:
        """Tell whether a piece ended and gave something."""
        return future.status == "finished"

    def stop(self, futures) -> None:
        """Drop what waits, and let what runs end at its next check."""
        with contextlib.suppress(OSError, concurrent.futures.CancelledError, self._distributed.TimeoutError):
            self.client.run(stop, self.token, on_error="ignore")
            self.client.cancel([future for future in futures if not future.done()])


def _one_by_one(function, items):
    """On a worker: return what the items of a piece gave, what the next one failed with or None, and the seconds."""
    began, found = time.perf_counter(), []
    for item in items:
        try:
            found.append(function(item))
        except (Failed, Stopped) as error:
            return found, error, time.perf_counter() - began
        except Exception as error:
            failed = Failed(f"{item}: {type(error).__name__}: {error}".splitlines()[0])
            return found, failed, time.perf_counter() - began
    return found, None, time.perf_counter() - began


def _distributed(scheduler):
    try:
        import distributed
    except ImportError:
        rule = "Dask is not installed; the extra has it: pip install 'schedlab[cluster]'"
        raise wrong("scheduler", str(scheduler), rule) from None
    return distributed
