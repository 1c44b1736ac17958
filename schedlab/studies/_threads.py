"""Many runs side by side: the engine does not hold the GIL."""

import os
from concurrent.futures import ThreadPoolExecutor, as_completed


def in_threads(function, items, *, progress: bool = False) -> list:
    """Return ``[function(item) for item in items]``, computed in threads; the order does not depend on their number.

    Parameters
    ----------
    function : callable
    items : iterable
    progress : bool
        Show a progress bar.
    """
    pool = ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0)))
    try:
        futures = [pool.submit(function, item) for item in items]
        for future in _bar(futures) if progress else ():
            future.result()  # a failure ends the rest at once
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _bar(futures):
    from tqdm.auto import tqdm

    return tqdm(as_completed(futures), total=len(futures), leave=False, unit="run")
