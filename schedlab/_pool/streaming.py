"""Many pieces of work through a pool: a bounded number under way, results as they come, failures in order."""

import itertools
import math

from .stopping import WorkerDied


def stream(pool, function, items, take) -> None:
    """Call ``take(item, function(item))`` for all items, in the order in which they end.

    Not more than ``pool.room()`` batches are under way and `items` is read only so far, so that memory does not grow
    with their number. When an item fails, those before it end first: which failure is raised does not depend on the
    pool. Any other exception, Ctrl-C among them, stops those that run. What had ended by then is taken all the same.

    Parameters
    ----------
    pool : Threads or Cluster
    function : callable
        Runs in a thread or on a worker; it ends early by `check` of ``pool.token``.
    items : iterable
    take : callable
        Called in this thread.

    Raises
    ------
    Exception
        What the first item, in the order of `items`, failed with.
    """
    numbered, under_way, failed = enumerate(items), {}, None
    try:
        while True:
            while failed is None and len(under_way) < pool.room():
                if not (batch := list(itertools.islice(numbered, pool.batch()))):
                    break
                under_way[pool.submit(function, batch)] = batch
            waited_for = [f for f, batch in under_way.items() if failed is None or batch[0][0] < failed[0]]
            if not waited_for:
                if failed is not None:
                    raise failed[1]
                return
            for future in pool.wait(waited_for):
                batch = under_way[future]
                found, error = pool.result(future, batch)
                _take(take, batch, found)
                del under_way[future]
                if isinstance(error, WorkerDied) and len(batch) > 1:
                    # which of them it was is told by trying each
                    under_way |= {pool.submit(function, [one]): [one] for one in batch}
                elif error is not None:
                    failed = min(failed or (math.inf,), (batch[len(found)][0], error), key=lambda pair: pair[0])
    except BaseException:
        pool.stop(list(under_way))
        for future, batch in under_way.items():
            if pool.succeeded(future):
                _take(take, batch, pool.result(future, batch)[0])
        raise


def _take(take, batch, found):
    for (_, item), result in zip(batch, found):
        take(item, result)
