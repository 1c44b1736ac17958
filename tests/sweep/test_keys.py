"""Keys of finished points: the same for the same content in every process, different for everything else."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import GRID, plain, scenario

import schedlab as sl
from schedlab.sweep import Plan, keys, summary
from schedlab.sweep.points import expand

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def _typed(value):
    """What tells two values apart: 1, 1.0 and True do, the order of a dict does not."""
    if isinstance(value, dict):
        return "dict", frozenset((k, _typed(v)) for k, v in value.items())
    if isinstance(value, list):
        return "list", tuple(map(_typed, value))
    return type(value).__name__, repr(value)


@given(PLAIN, PLAIN)
def test_digest__equal_exactly_where_the_values_are(a, b):
    assert (keys.digest(a) == keys.digest(b)) == (_typed(a) == _typed(b))


TEXT = st.text(alphabet='ab0\0",[]', max_size=4)


@given(st.tuples(TEXT, TEXT, TEXT, st.integers(0, 30)), st.tuples(TEXT, TEXT, TEXT, st.integers(0, 30)))
def test_key__parts_do_not_run_into_each_other(a, b):
    assert (keys.key(*a) == keys.key(*b)) == (a == b)


@given(st.sets(st.integers(1_000, 10_000), min_size=1, max_size=5), st.sets(st.integers(0, 99), min_size=1, max_size=5))
def test_keys__one_for_each_point_and_seed(quotas, seeds):
    found = Plan(scenario, {"quota_us": sorted(quotas), "hz": [250, 1000]}, seeds=seeds, reduce=plain).keys()
    assert len(set(found)) == 2 * len(quotas) * len(seeds) == len(found)


def _content(machine, kernel, workload, duration, options=None):
    return keys.Contents().digest(machine, kernel, workload, sl.units.to_ns(duration), options or {})


def test_content__every_part_counts():
    machine, kernel, work, duration = scenario()
    group, task = work.groups[0], work.tasks[0]
    variants = [
        scenario(),
        (sl.Machine.uniform(1, speed=(2.0,)), kernel, work, duration),
        (machine, kernel.with_(skew_tick=True), work, duration),
        (machine, sl.Kernel.version("6.12").without_patch("interleave-timers"), work, duration),
        (machine, kernel, work.replace(groups=(sl.Group("/a", quota_us=4_000),)), duration),
        (machine, kernel, work.replace(tasks=(sl.Task("t", sl.run("1ms"), group="/a"),)), duration),
        (machine, kernel, work.replace(tasks=(sl.Task("t", task.program, group="/a", nice=1),)), duration),
        (machine, kernel, work.replace(events=(sl.SetCpuMax("10ms", "/a", group.quota_us),)), duration),
        (machine, kernel, work, "51ms"),
    ]
    digests = [_content(*variant) for variant in variants] + [_content(*scenario(), {"stop": "exit"})]
    assert len(set(digests)) == len(digests)
    assert _content(*scenario()) == digests[0]


def test_keys__the_same_in_another_process_and_under_another_hash_seed():
    code = (
        "import sweeps; from schedlab.sweep import Plan\n"
        "print(*Plan(sweeps.scenario, sweeps.GRID, reduce=sweeps.plain).keys())"
    )
    here = Plan(scenario, GRID, reduce=plain).keys()
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", code]
        there = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        assert there.split() == here


# ------------------------------------------------------------------ functions


def _made(source, **names):
    exec(source, names)
    return names["f"]


def test_fingerprint__sees_code_constants_names_defaults_and_closures():
    sources = [
        "f = lambda run: run.seed",
        "f = lambda run: run.nr_events",
        "f = lambda run: run.seed + 1",
        "f = lambda run: run.seed + 1.0",
        "f = lambda run: run.seed * 1",
        "f = lambda run, k=1: run.seed",
        "f = lambda run, k=2: run.seed",
        "f = lambda run, *, k=2: run.seed",
        "f = (lambda k: lambda run: k)(1)",
        "f = (lambda k: lambda run: k)(True)",
        "f = (lambda k: lambda run: [k for _ in range(2)])(1)",
        "f = lambda run: [x + 1 for x in run]",
        "f = lambda run: [x + 2 for x in run]",
        "f = lambda run: run in {1, 2}",
        "f = lambda run: run in {1, 3}",
    ]
    prints = [keys.fingerprint(_made(source)) for source in sources]
    assert len(set(prints)) == len(prints)
    assert prints == [keys.fingerprint(_made("\n\n" + source)) for source in sources]


def test_fingerprint__sees_what_a_function_uses_outside_itself():
    source = "def g(x): return x + K\ndef f(run): return [g(v) for v in run]"
    ones = [keys.fingerprint(_made(source, K=k)) for k in (1, 2, 1.0, np.float64(1), np.arange(3), np.arange(4))]
    assert len(set(ones)) == len(ones)
    other = source.replace("x + K", "x - K")
    assert keys.fingerprint(_made(other, K=1)) not in ones


def test_fingerprint__function_that_calls_itself_ends():
    keys.fingerprint(_made("def f(run): return f(run) if run else g(run)\ndef g(run): return f(run)"))


def test_fingerprint__partials_by_their_arguments():
    partials = [functools.partial(summary, groups=g) for g in (("/a",), ("/b",), ())]
    assert len({keys.fingerprint(f) for f in [*partials, summary]}) == 4


@pytest.mark.parametrize("held", [object(), open(os.devnull)], ids=["object", "file"])
def test_fingerprint__what_cannot_be_told_is_refused(held):
    with pytest.raises(ValueError, match="whose content cannot be told"):
        keys.fingerprint(lambda run: held)


def test_expand__labels_tell_points_apart():
    with pytest.raises(ValueError, match="occurs twice"):
        expand(scenario(), {"kernel": [sl.Kernel.version("6.12"), sl.Kernel.version("6.12", hz=1000)]})
