"""Queue, run queue and random streams of the engine, each against an obvious version."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernels import change_tree, draw_many, pop_all, set_times, walk_tree

from schedlab.durations import exponential, lognormal, uniform
from schedlab.engine import rng
from schedlab.engine.events import MAX_TIME, levels
from schedlab.engine.state import NEVER, State

TIMES = st.one_of(st.integers(0, 20), st.integers(0, MAX_TIME - 1), st.just(int(NEVER)))


def queue(nr_sources):
    offsets, nr_keys = levels(nr_sources)
    state = State(ev=nr_keys, lvl=len(offsets))
    state["ev_key"][:] = NEVER
    state["lvl_off"][:] = offsets
    state["sys_nr_levels"][0] = len(offsets)
    return state


@given(
    st.sampled_from((1, 15, 16, 17, 40, 257, 300)).flatmap(
        lambda n: st.lists(st.lists(TIMES, min_size=n, max_size=n), min_size=1, max_size=3)
    )
)
def test_queue__pops_in_order_of_time_then_source(rounds):
    state = queue(len(rounds[0]))
    for times in rounds:  # later rounds set slots that are armed already
        set_times(state.address, np.array(times, np.int64))
    out = np.zeros((len(times), 2), np.int64)
    n = pop_all(state.address, out)
    want = sorted((time, source) for source, time in enumerate(times) if time < MAX_TIME)
    assert [tuple(row) for row in out[:n]] == want


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(-4, 4)), min_size=1, max_size=60))
def test_tree__keeps_order_ties_by_insertion_and_minima(changes):
    state = State(se=16, rq=1)
    state["rq_root"][:] = -1
    state["se_vruntime"][:] = np.arange(16) * 7 % 5
    state["se_slice"][:] = np.arange(16) * 3 % 7
    queued, todo = [], []
    for entity, key in changes:  # an entity that is queued leaves, one that is not comes
        inside = [item for item in queued if item[1] == entity]
        todo.append((entity, key, 0 if inside else 1))
        if inside:
            queued.remove(inside[0])
        else:
            queued.append((key, entity))
    entities, keys, insert = (np.array(column, np.int64) for column in zip(*todo, strict=True))
    change_tree(state.address, entities, keys, insert)
    out = np.zeros(16, np.int64)
    n = walk_tree(state.address, out)
    assert out[:n].tolist() == [entity for _, entity in sorted(queued, key=lambda item: item[0])]
    root = state["rq_root"][0]
    if queued:
        members = [entity for _, entity in queued]
        assert state["se_min_vruntime"][root] == min(state["se_vruntime"][members])
        assert state["se_min_slice"][root] == min(state["se_slice"][members])
    else:
        assert root == -1


def splitmix64(seed, n):
    words, mask = [], (1 << 64) - 1
    for _ in range(n):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        words.append(z ^ (z >> 31))
    return words


def test_splitmix64__published_test_vector():
    # first outputs for the seed 1234567, from the algorithm's public reference
    assert splitmix64(1234567, 2) == [6457827717110365317, 3203168211198807973]


def test_draw__same_as_the_durations_rule():
    from schedlab.durations import load_tables

    tables = load_tables()
    for duration in (exponential("3ms"), lognormal("2ms", 0.5), uniform("1ms", "4ms"), uniform(5, 10**12)):
        state = State(stream=1, table=tables.size)
        state["table_value"][:] = tables.ravel()
        state["stream_rng"][0] = 42
        if duration.kind == "table":
            args = rng.TABLE, duration.table, duration.low_ns
        else:
            args = rng.UNIFORM, duration.low_ns, duration.high_ns - duration.low_ns + 1
        out = np.zeros(200, np.int64)
        draw_many(state.address, out, *args)
        assert out.tolist() == [duration.draw(u) for u in splitmix64(42, 200)]
