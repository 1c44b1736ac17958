"""Threads of this process as a pool."""

import concurrent.futures
import os
import uuid

from .stopping import stop


class Threads:
    """Threads of this process; the engine does not hold the GIL."""

    def __init__(self, workers: int | None = None):
        self.token = uuid.uuid4().hex
        self._workers = workers or len(os.sched_getaffinity(0))
        self._pool = concurrent.futures.ThreadPoolExecutor(self._workers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._pool.shutdown(wait=True, cancel_futures=True)

    def room(self) -> int:
        """How many pieces may be under way: twice the threads, so that none waits for the next."""
        return 2 * self._workers

    def batch(self) -> int:
        """How many items make a piece."""
        return 1

    def submit(self, function, batch):
        """Begin a piece of work: a list of one (number, item)."""
        ((_, item),) = batch
        return self._pool.submit(function, item)

    def wait(self, futures):
        """Wait for one or more to end, and return those."""
        return concurrent.futures.wait(futures, return_when=concurrent.futures.FIRST_COMPLETED).done

    def result(self, future, batch):
        """Return what the items of a piece gave up to the first that failed, and what that failed with or None."""
        error = future.exception()
        return ([], error) if error is not None else ([future.result()], None)

    def succeeded(self, future) -> bool:
        """Tell whether a piece ended and gave something."""
        return future.done() and not future.cancelled() and future.exception() is None

    def stop(self, futures) -> None:
        """Drop what waits, and let what runs end at its next check."""
        stop(self.token)
        concurrent.futures.wait([future for future in futures if not future.cancel()])
