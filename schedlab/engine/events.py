"""The event queue: one slot a source, a 16-ary tree of minima over (time, source).

The key packs time and source, so the order is total: equal times are served in the order of the sources, which the
lowering numbers by priority (docs/model.md, "Time and order"). Handlers set their slot again; nothing is pushed twice.
"""

from __future__ import annotations

import numpy as np

from schedlab._jit import internal
from schedlab.engine.state import NEVER

#: 2^20 sources; 43 bits of time are left: 2.4 hours of nanoseconds.
SOURCE_BITS = 20
SOURCE_MASK = (1 << SOURCE_BITS) - 1
MAX_TIME = 1 << 43


@internal
def set_timer(s, source, time):
    """Set when `source` is due (ns); NEVER disarms it."""
    key = NEVER
    if time < MAX_TIME:
        key = (time << SOURCE_BITS) | source
    old = s.ev_key[source]
    if key == old:
        return
    s.ev_key[source] = key
    child = source
    base = 0
    for level in range(1, s.sys_nr_levels[0]):
        parent = child >> 4
        at = s.lvl_off[level] + parent
        least = s.ev_key[at]
        if key < least:
            s.ev_key[at] = key
        elif old == least:
            block = base + (parent << 4)
            key = s.ev_key[block]
            for k in range(block + 1, block + 16):
                if s.ev_key[k] < key:
                    key = s.ev_key[k]
            s.ev_key[at] = key
        else:
            return
        old = least
        child = parent
        base = s.lvl_off[level]


@internal
def is_armed(s, source):
    """Whether `source` is due at some time."""
    return s.ev_key[source] != NEVER


@internal
def first_key(s):
    """The key of the next event; NEVER when there is none."""
    return s.ev_key[s.lvl_off[s.sys_nr_levels[0] - 1]]


def levels(nr_sources: int) -> tuple[np.ndarray, int]:
    """Offsets of the tree's levels and the number of keys, for `nr_sources` leaves (each level padded to 16)."""
    offsets, at, size = [], 0, nr_sources
    while True:
        padded = -(-size // 16) * 16
        offsets.append(at)
        at += padded
        if size == 1:
            return np.array(offsets, np.int64), at
        size = padded // 16
