"""Random numbers: one splitmix64 stream a task and purpose, durations by integer inverse-CDF tables.

The streams are seeded outside (numpy's SeedSequence), so that adding a task does not change another's draws, and no
function of libm is called, so that another machine draws the same durations.
"""

from __future__ import annotations

import numpy as np

from schedlab._jit import internal

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
TABLE_SIZE = 4097
_INDEX_SHIFT, _FRACTION_SHIFT, _FRACTION_MASK = np.uint64(52), np.uint64(40), np.uint64(0xFFF)
_HALF, _LOW_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)

CONSTANT, TABLE, UNIFORM = 0, 1, 2
RUN, SLEEP = 0, 1


@internal
def mix(z):
    """The splitmix64 output function."""
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@internal
def next_u64(s, stream, purpose):
    """The next 64 random bits of a stream."""
    if purpose == SLEEP:
        s.stream_rng_sleep[stream] = s.stream_rng_sleep[stream] + _GAMMA
        return mix(s.stream_rng_sleep[stream])
    s.stream_rng[stream] = s.stream_rng[stream] + _GAMMA
    return mix(s.stream_rng[stream])


@internal
def draw(s, stream, purpose, kind, p1, p2):
    """A duration in ns: constant p1; TABLE p1 scaled by p2 / 2^20; UNIFORM in [p1, p1 + p2). cf. Duration.draw()."""
    if kind == CONSTANT:
        return p1
    u = next_u64(s, stream, purpose)
    if kind == UNIFORM:
        # the upper half of u times p2, shifted by 32 bits, without leaving 64
        upper, size = u >> _HALF, np.uint64(p2)
        scaled = upper * (size >> _HALF) + ((upper * (size & _LOW_HALF)) >> _HALF)
        return max(1, p1 + np.int64(scaled))
    i = p1 * TABLE_SIZE + np.int64(u >> _INDEX_SHIFT)
    f = np.int64((u >> _FRACTION_SHIFT) & _FRACTION_MASK)
    low = s.table_value[i]
    value = low + (((s.table_value[i + 1] - low) * f) >> 12)
    return max(1, (p2 * value) >> 20)
