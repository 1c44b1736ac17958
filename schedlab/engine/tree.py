"""Run queues: an intrusive treap a cfs_rq, ordered by (key, order of insertion), augmented with extremes.

The key is the deadline (EEVDF) or the vruntime (CFS); `min_vruntime`, `min_slice` and `max_slice` are taken over a
subtree, as the kernel's pick and lag need them. Heap priorities are hashes of the insertion number: they shape the
tree, never the result.
"""

from __future__ import annotations

import numpy as np

from schedlab._jit import internal
from schedlab.engine.rng import mix

_SHIFT = np.uint64(2)


@internal
def _pull_up(s, e):
    """Recompute the extremes of one node; returns whether they changed."""
    v = s.se_vruntime[e]
    sl = s.se_slice[e]
    most = sl
    child = s.se_left[e]
    if child >= 0:
        v = min(v, s.se_min_vruntime[child])
        sl = min(sl, s.se_min_slice[child])
        most = max(most, s.se_max_slice[child])
    child = s.se_right[e]
    if child >= 0:
        v = min(v, s.se_min_vruntime[child])
        sl = min(sl, s.se_min_slice[child])
        most = max(most, s.se_max_slice[child])
    if s.se_min_vruntime[e] == v and s.se_min_slice[e] == sl and s.se_max_slice[e] == most:
        return False
    s.se_min_vruntime[e] = v
    s.se_min_slice[e] = sl
    s.se_max_slice[e] = most
    return True


@internal
def _replace(s, q, parent, old, new):
    """Make `new` the child of `parent` (or the root) where `old` was."""
    if parent < 0:
        s.rq_root[q] = new
    elif s.se_left[parent] == old:
        s.se_left[parent] = new
    else:
        s.se_right[parent] = new
    if new >= 0:
        s.se_up[new] = parent


@internal
def _rotate_up(s, q, e):
    """Rotate `e` above its parent (minima are the caller's)."""
    parent = s.se_up[e]
    _replace(s, q, s.se_up[parent], parent, e)
    if s.se_left[parent] == e:
        child = s.se_right[e]
        s.se_left[parent] = child
        s.se_right[e] = parent
    else:
        child = s.se_left[e]
        s.se_right[parent] = child
        s.se_left[e] = parent
    if child >= 0:
        s.se_up[child] = parent
    s.se_up[parent] = e


@internal
def tree_insert(s, q, e, key):
    """Insert an entity behind those of the same key."""
    s.sys_seq[0] += 1
    prio = np.int64(mix(np.uint64(s.sys_seq[0])) >> _SHIFT)
    s.se_key[e] = key
    s.se_prio[e] = prio
    s.se_left[e] = -1
    s.se_right[e] = -1
    v = s.se_vruntime[e]
    sl = s.se_slice[e]
    s.se_min_vruntime[e] = v
    s.se_min_slice[e] = sl
    s.se_max_slice[e] = sl
    parent = -1
    at = s.rq_root[q]
    left = True
    while at >= 0:
        if v < s.se_min_vruntime[at]:
            s.se_min_vruntime[at] = v
        if sl < s.se_min_slice[at]:
            s.se_min_slice[at] = sl
        if sl > s.se_max_slice[at]:
            s.se_max_slice[at] = sl
        parent = at
        left = key < s.se_key[at]
        at = s.se_left[at] if left else s.se_right[at]
    s.se_up[e] = parent
    if parent < 0:
        s.rq_root[q] = e
        return
    if left:
        s.se_left[parent] = e
    else:
        s.se_right[parent] = e
    while parent >= 0 and prio > s.se_prio[parent]:
        _rotate_up(s, q, e)
        _pull_up(s, parent)
        _pull_up(s, e)
        parent = s.se_up[e]


@internal
def tree_erase(s, q, e):
    """Remove an entity from its tree."""
    while True:
        left = s.se_left[e]
        right = s.se_right[e]
        if left < 0 or right < 0:
            break
        _rotate_up(s, q, left if s.se_prio[left] > s.se_prio[right] else right)
    child = left if left >= 0 else right
    parent = s.se_up[e]
    _replace(s, q, parent, e, child)
    # rotated nodes lie on the way up and all need new minima, so no early end
    while parent >= 0:
        _pull_up(s, parent)
        parent = s.se_up[parent]


@internal
def tree_refresh(s, e):
    """Propagate a changed slice of an entity in the tree."""
    while e >= 0 and _pull_up(s, e):
        e = s.se_up[e]


@internal
def tree_first(s, q):
    """The entity with the least key, -1 when the tree is empty."""
    e = s.rq_root[q]
    if e < 0:
        return -1
    left = s.se_left[e]
    while left >= 0:
        e = left
        left = s.se_left[e]
    return e


@internal
def tree_next(s, e):
    """The next entity in order, -1 after the last."""
    at = s.se_right[e]
    if at >= 0:
        while s.se_left[at] >= 0:
            at = s.se_left[at]
        return at
    up = s.se_up[e]
    while up >= 0 and s.se_right[up] == e:
        e = up
        up = s.se_up[e]
    return up
