"""Entry points that drive one part of the engine on its own, for the tests beside this file."""

from schedlab._jit import entry
from schedlab.engine.events import SOURCE_BITS, SOURCE_MASK, first_key, set_timer
from schedlab.engine.rng import draw
from schedlab.engine.state import NEVER, as_state
from schedlab.engine.tree import tree_erase, tree_first, tree_insert, tree_next


@entry
def add_to_field(address, n):
    """vruntime[i] += i for the first n entities; returns the sum."""
    s = as_state(address)
    total = 0
    for i in range(n):
        s.se_vruntime[i] += i
        total += s.se_vruntime[i]
    return total


@entry
def set_times(address, times):
    """Set source k's time to times[k]."""
    s = as_state(address)
    for k in range(len(times)):
        set_timer(s, k, times[k])


@entry
def pop_all(address, out):
    """Take out event after event: (time, source) pairs into out; returns how many."""
    s = as_state(address)
    n = 0
    while first_key(s) != NEVER:
        key = first_key(s)
        out[n, 0] = key >> SOURCE_BITS
        out[n, 1] = key & SOURCE_MASK
        set_timer(s, key & SOURCE_MASK, NEVER)
        n += 1
    return n


@entry
def change_tree(address, entities, keys, insert):
    """Insert (1) or erase (0) entities of queue 0, one after the other."""
    s = as_state(address)
    for k in range(len(entities)):
        if insert[k] == 1:
            tree_insert(s, 0, entities[k], keys[k])
        else:
            tree_erase(s, 0, entities[k])


@entry
def walk_tree(address, out):
    """The entities of queue 0 in order; returns how many."""
    s = as_state(address)
    n = 0
    e = tree_first(s, 0)
    while e >= 0:
        out[n] = e
        n += 1
        e = tree_next(s, e)
    return n


@entry
def draw_many(address, out, kind, p1, p2):
    """Durations drawn from stream 0."""
    s = as_state(address)
    for k in range(len(out)):
        out[k] = draw(s, 0, 0, kind, p1, p2)
