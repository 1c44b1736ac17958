import dataclasses

import pytest

from schedlab import patches
from schedlab.kernel import Costs, Kernel
from schedlab.patches import PATCHES, THROTTLE_SERIES, Patch
from schedlab.phases import DEFAULT_PERIOD_NS, group_phases, phase_ns
from schedlab.workload import Group, SetCpuMax, Workload


@pytest.mark.parametrize(
    ("asked", "release", "policy", "phase", "is_async", "delayed", "base_slice_ns"),
    [
        ("6.1", "6.1", "cfs", "aligned", False, False, 750_000),
        ("6.2-rc6", "6.1", "cfs", "aligned", False, False, 750_000),
        ("6.3", "6.3", "cfs", "aligned", True, False, 750_000),
        ("6.4", "6.4", "cfs", "random", True, False, 750_000),
        ("v6.5.3", "6.4", "cfs", "random", True, False, 750_000),
        ("6.6", "6.6", "eevdf", "random", True, False, 750_000),
        ("6.8", "6.6", "eevdf", "random", True, False, 750_000),
        ("6.11", "6.6", "eevdf", "random", True, False, 750_000),
        ("6.12", "6.12", "eevdf", "random", True, True, 700_000),
        ("6.12.74", "6.12", "eevdf", "random", True, True, 700_000),
        ("6.18", "6.18", "eevdf", "random", True, True, 700_000),
        ("7.2.13", "7.2", "eevdf", "random", True, True, 700_000),
    ],
)
def test_version__rows(asked, release, policy, phase, is_async, delayed, base_slice_ns):
    kernel = Kernel.version(asked)
    assert (kernel.release, kernel.policy, kernel.timer_phase) == (release, policy, phase)
    assert (kernel.async_unthrottle, kernel.delayed_dequeue, kernel.preempt_short) == (is_async, delayed, delayed)
    assert kernel.base_slice_ns == base_slice_ns and kernel.asked == asked
    assert kernel.note == ("" if asked == release else f"{asked} takes the row {release}, whose mechanisms it shares")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("6.13", "no row of its own; known rows: 6.1, 6.3, 6.4, 6.6, 6.12, 6.18, 6.19, 7.2, 7.3"),
        ("6.17", "not modelled"),
        ("7.1", "no row of its own"),
        ("7.4", "after 7.3 nothing is modelled"),
        ("5.15", "before 6.1"),
        ("6.0", "before 6.1"),
        ("six", "a text such as"),
        (6.12, "a text such as"),
        ("6.1x", "a text such as"),
    ],
)
def test_version__refused_in_one_line(asked, message):
    with pytest.raises(ValueError, match=message) as caught:
        Kernel.version(asked)
    assert str(caught.value).startswith("version=") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("version", "tunables", "message"),
    [
        ("6.1", dict(hz=200), "hz=200: one of 100, 250, 300, 1000"),
        ("6.1", dict(hx=100), "did you mean 'hz'"),
        ("6.1", dict(base_slice_ns=1), "base_slice_ns=1: 6.1 is CFS, which has latency_ns"),
        ("6.6", dict(latency_ns=1), "latency_ns=1: 6.6 is EEVDF, which has base_slice_ns"),
        ("6.6", dict(base_slice_ns=0), "base_slice_ns=0: at least 1"),
        ("6.1", dict(cfs_bandwidth_slice_us=0), "cfs_bandwidth_slice_us=0: at least 1"),
        ("6.1", dict(tick_offset_us=4000), "tick_offset_us=4000: at most 3999"),
        ("6.1", dict(tick_offset_us=0.5), "tick_offset_us=0.5: a whole number"),
        ("6.1", dict(timer_late_probability=1.5), "timer_late_probability=1.5: at most 1"),
        ("6.1", dict(timer_late_us=-1), "timer_late_us=-1: at least 0"),
        ("6.1", dict(wake_late_us=float("nan")), "wake_late_us=nan: must be finite"),
        ("6.1", dict(cgroup="v3"), "cgroup='v3': one of v2, v1"),
        ("6.1", dict(tunable_scaling="logs"), "did you mean 'log'"),
        ("6.1", dict(delayed_dequeue=True), "delayed_dequeue=True: only EEVDF"),
        ("6.1", dict(hrtick=1), "hrtick=1: True or False"),
        ("6.1", dict(costs=5), "costs=5: a Costs"),
        ("6.1", dict(policy="eevdf"), "tunable='policy'"),
    ],
)
def test_tunables__refused(version, tunables, message):
    with pytest.raises(ValueError, match=message):
        Kernel.version(version, **tunables)


def test_costs__refused():
    with pytest.raises(ValueError, match="ipi_ns=-1: at least 0"):
        Costs(ipi_ns=-1)
    assert Costs(tick_ns=1e3) == Costs(tick_ns=1000)


@pytest.mark.parametrize(("hz", "tick_ns"), [(100, 10_000_000), (250, 4_000_000), (300, 3_333_333), (1000, 1_000_000)])
def test_tick_ns__as_the_kernel_rounds(hz, tick_ns):
    assert Kernel.version("6.1", hz=hz).tick_ns == tick_ns


@pytest.mark.parametrize(
    ("scaling", "factors"),
    [("log", [1, 2, 2, 3, 3, 3, 3, 4, 4]), ("linear", [1, 2, 3, 4, 5, 6, 7, 8, 8]), ("none", [1] * 9)],
)
def test_scaling_factor__fact_sheet_a2(scaling, factors):
    kernel = Kernel.version("6.1", tunable_scaling=scaling)
    assert [kernel.scaling_factor(n) for n in (1, 2, 3, 4, 5, 6, 7, 8, 512)] == factors


def test_with_patch__switches_and_keeps_the_rest():
    kernel = Kernel.version("6.1", hz=1000)
    patched = kernel.with_patch("interleave-timers", "lifo-throttle-list")
    assert patched.has("interleave-timers") and patched.has("lifo-throttle-list") and patched.hz == 1000
    assert not kernel.has("interleave-timers") and kernel.patches == frozenset()
    assert patched.without_patch("lifo-throttle-list").patches == {"interleave-timers"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda k: k.with_patch("interleave"), "did you mean 'interleave-timers'"),
        (lambda k: k.with_patch("staggered"), r"excludes 'staggered': .*without_patch|excludes 'interleave-timers'"),
        (lambda k: k.without_patch("golden"), r"does not have it \(it has: interleave-timers\)"),
        (lambda k: k.has("goldn"), "did you mean 'golden'"),
        (lambda k: dataclasses.replace(k, patches="golden"), "a set of names"),
    ],
)
def test_patches__refused(change, message):
    with pytest.raises(ValueError, match=message) as caught:
        change(Kernel.version("6.6"))
    assert "\n" not in str(caught.value)


def test_patches__without_what_it_needs(monkeypatch):
    needy = Patch("needy", "own", "needs another", "test", needs=frozenset({"golden"}))
    monkeypatch.setitem(patches.PATCHES, "needy", needy)
    with pytest.raises(ValueError, match="patch='needy': needs 'golden'"):
        Kernel.version("6.1").with_patch("needy")
    assert Kernel.version("6.1").with_patch("golden", "needy").has("needy")


KINDS = ("mainline", "posted", "variant", "own", "legacy")


def test_patches__table_is_consistent():
    for name, patch in PATCHES.items():
        assert name == patch.name and patch.kind in KINDS and patch.title and patch.origin
        assert (patch.needs | patch.excludes) <= PATCHES.keys()
        assert all(name in PATCHES[other].excludes for other in patch.excludes)
    assert PATCHES["interleave-timers"].merged == "6.4"


def test_repr_html__shows_note_and_changes():
    html = Kernel.version("6.8", tick_offset_us=5)._repr_html_()
    assert "6.8 takes the row 6.6" in html and "tick_offset_us=5" in html and "base slice" in html
    assert "24" not in html and "wakeup granularity" in Kernel.version("6.1")._repr_html_()


# ---- phases ------------------------------------------------------------------------------------------------------


def _phases(rule, nr, seed=0):
    kernel = Kernel.version("6.1")
    kernel = kernel if rule == "aligned" else kernel.with_patch(rule)
    return [phase_ns(kernel, seed, k, nr) for k in range(nr)]


def test_phase_ns__aligned_and_staggered():
    assert _phases("aligned", 3) == [0, 0, 0]
    assert _phases("staggered", 4) == [0, 25_000_000, 50_000_000, 75_000_000]
    assert _phases("staggered", 3) == [0, 33_333_333, 66_666_666]


def test_phase_ns__golden():
    assert _phases("golden", 4) == [0, 61_803_398, 23_606_797, 85_410_196]


def test_phase_ns__random_is_fixed_by_seed_and_group():
    # golden numbers: numpy's SeedSequence promises them for ever, for the spawn keys (group, 2)
    assert _phases("interleave-timers", 3, seed=1) == [83_955_107, 72_299_148, 80_477_981]
    assert _phases("interleave-timers", 3, seed=1)[:2] == _phases("interleave-timers", 2, seed=1)


def test_phase_ns__random_is_uniform_below_100ms():
    draws = [phase_ns(Kernel.version("6.4"), seed, 0, 1) for seed in range(400)]
    assert 0 <= min(draws) < 5_000_000 and 95_000_000 < max(draws) < DEFAULT_PERIOD_NS
    assert sum(draws) / len(draws) == pytest.approx(DEFAULT_PERIOD_NS / 2, rel=0.1)


def test_group_phases__limited_groups_in_order_of_creation():
    groups = (
        Group("/b", quota_us=10_000),
        Group("/free"),
        Group("/a/x", quota_us=10_000),
        Group("/a"),
        Group("/late"),
        Group("/own", quota_us=10_000, phase_us=12.5),
    )
    workload = Workload(groups=groups, events=(SetCpuMax("1s", "/late", quota_us=20_000),))
    kernel = Kernel.version("6.1").with_patch("staggered")
    assert workload.group_paths == ("/", "/b", "/free", "/a", "/a/x", "/late", "/own")
    assert group_phases(kernel, workload, seed=0) == (0, 0, 0, 0, 25_000_000, 50_000_000, 12_500)


@pytest.mark.parametrize(
    ("kernel", "model"),
    [
        (Kernel.version("6.1"), "queue"),
        (Kernel.version("6.12"), "queue"),
        (Kernel.version("6.12").with_patch("per-task-throttle"), "task"),
        (Kernel.version("6.18"), "task"),
        (Kernel.version("6.18").with_patch("throttle-at-account"), "accounting"),
        (Kernel.version("7.2"), "accounting"),
        (Kernel.version("7.2").without_patch(*THROTTLE_SERIES), "task"),
        (Kernel.version("7.2").without_patch(*THROTTLE_SERIES, "per-task-throttle"), "queue"),
    ],
)
def test_throttle_model(kernel, model):
    assert kernel.throttle_model == model


def test_patches__series_needs_per_task_throttling():
    with pytest.raises(ValueError, match="needs 'per-task-throttle'"):
        Kernel.version("6.12").with_patch("limbo-local-list")
    with pytest.raises(ValueError, match="applies to 6.12 and later"):
        Kernel.version("6.6").with_patch("per-task-throttle")


def test_number_in_place_of_a_name__no_name_is_offered():
    with pytest.raises(ValueError, match="patch=1: one of"):
        Kernel.version("6.12").with_patch(1)
    with pytest.raises(ValueError, match="hz='1000': one of 100, 250, 300, 1000$"):
        Kernel.version("6.12", hz="1000")
