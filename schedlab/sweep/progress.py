"""How far a sweep is, and how long the rest will take."""

from __future__ import annotations

import contextlib
import time


class Estimate:
    """Time left, from the points that were run in this call: those found in a store took none.

    Parameters
    ----------
    clock : callable, optional
        Gives seconds.
    """

    def __init__(self, clock=time.monotonic):
        self._clock, self._began, self.per_second, self.left_s = clock, clock(), None, None

    def update(self, done: int, total: int, found: int) -> None:
        """Take note that `done` of `total` are there, `found` of them from before."""
        seconds, ran = self._clock() - self._began, done - found
        if ran > 0 and seconds > 0:
            self.per_second = ran / seconds
            self.left_s = (total - done) / self.per_second

    def __str__(self):
        if self.left_s is None:
            return "no estimate yet"
        return f"{self.per_second:.3g} points/s, about {in_words(self.left_s)} left"


def in_words(seconds: float) -> str:
    """Return a length of time as people say it.

    Examples
    --------
    >>> in_words(7), in_words(95), in_words(7300)
    ('7 s', '1 min 35 s', '2 h 1 min')
    """
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"


@contextlib.contextmanager
def reporter(progress):
    """Give the function that is told (done, total, found): a bar of tqdm for True, none for False, else `progress`."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda done, total, found: None
        return
    from tqdm.auto import tqdm

    bars = []

    def show(done, total, found):
        if not bars:
            bars.append(tqdm(total=total, initial=found, unit="point"))
        bars[0].update(done - bars[0].n)

    try:
        yield show
    finally:
        for bar in bars:
            bar.close()
