"""Many pieces of work at a time, in threads or on a Dask cluster: streamed, with a bounded number under way."""

from .._check import wrong
from .stopping import Failed, Stopped, WorkerDied, check, on_stop, stop
from .streaming import stream
from .threads import Threads

__all__ = ["Failed", "Stopped", "Threads", "WorkerDied", "check", "on_stop", "pool_for", "stop", "stream"]


def pool_for(scheduler, workers: int | None, batch_s: float = 0.0):
    """Return threads, or a cluster where a scheduler is named; `batch_s` as in `Cluster`.

    Raises
    ------
    ValueError
        For a number of workers below 1, or a scheduler that does not answer.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise wrong("workers", workers, "a whole number, at least 1")
    if scheduler is None:
        return Threads(workers)
    from .cluster import Cluster

    return Cluster(scheduler, workers, batch_s)
