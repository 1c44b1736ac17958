"""Random 64-bit words: one splitmix64 stream for each task and purpose, so that tasks do not disturb each other."""

import numpy as np

_WORD = (1 << 64) - 1

#: Purposes of a task's streams.
RUN_LIKE = 0
SLEEP_LIKE = 1


class Stream:
    """A splitmix64 generator.

    Parameters
    ----------
    seed : int
        Seed of the run.
    task, purpose : int
        Number of the task, and RUN_LIKE or SLEEP_LIKE.
    """

    def __init__(self, seed: int, task: int, purpose: int):
        sequence = np.random.SeedSequence(seed, spawn_key=(task, purpose))
        self.state = int(sequence.generate_state(1, np.uint64)[0])

    def draw(self) -> int:
        """Return the next 64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & _WORD
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _WORD
        return z ^ (z >> 31)
