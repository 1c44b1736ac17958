"""A period too short for its timer's handler is scaled up, and what that does to a child (fact sheet F8, F9)."""

import pytest
from quota_runs import FOREVER, MS, limited

import schedlab as sl
from schedlab.cgroup import v1_ratio
from schedlab.simulate import Simulation


def scaled(group, handler_ns, *patches):
    """The limit (period, quota, burst) in ns after a period timer whose handler takes so long, and its rounds."""
    kernel = sl.Kernel.version("6.12", costs=sl.Costs(period_timer_ns=handler_ns)).with_patch(*patches)
    work = sl.Workload((group,), (sl.Task("hog", FOREVER, group=group.path),))
    sim = Simulation(sl.Machine.uniform(1), kernel, work, log=("period",))
    # up to the first boundary, at which the handler goes round until it has caught up
    while sim.now < group.period_us * 1000 or not sim.nr_events:
        sim.advance(group.period_us * 1000 + 1, 1)
    limit = tuple(int(sim.state[f"tg_{name}"][1]) for name in ("period", "quota", "burst"))
    return limit, len(sim.result().events())


@pytest.mark.parametrize(
    ("period_ms", "factor"),
    [*((1, 2**k) for k in range(10)), *((100, 2**k) for k in range(4))],
)
def test_f9__period_quota_and_burst_double_together(period_ms, factor):
    """F9: x2 at every 4th round of the handler: 1 to 512 ms, 100 to 800; a handler of 3/4 of a period stops it there.

    The k-th doubling comes after 4 * k rounds; with the last one the handler catches up before 4 more.
    """
    group = limited(4 * period_ms, period_ms=period_ms, burst_ms=2 * period_ms)
    handler_ns = period_ms * factor * MS * 3 // 4
    limit, rounds = scaled(group, handler_ns)
    assert limit == tuple(x * period_ms * factor * MS for x in (1, 4, 2))
    doublings = factor.bit_length() - 1
    assert 4 * doublings <= rounds - 1 < 4 * doublings + 4 if doublings else rounds == 1


@pytest.mark.parametrize(("period_ms", "last_ms"), [(1, 512), (100, 800)])
def test_f9__no_period_of_a_second_or_more(period_ms, last_ms):
    """F9: doubling 512 (800) ms would reach a second: the kernel only warns, and a handler that long never ends."""
    with pytest.raises(RuntimeError, match=f"period of {last_ms * MS} ns"):
        scaled(limited(period_ms, period_ms=period_ms), last_ms * MS)


def kernel_v1_takes(parent_us, child_us):
    """Whether a v1 kernel takes a child with that (quota, period) under that parent."""
    groups = [sl.Group(path, quota_us=q, period_us=p) for path, (q, p) in (("/a", parent_us), ("/a/b", child_us))]
    try:
        sl.Workload(groups).check(sl.Kernel.version("6.1", cgroup="v1"))
    except ValueError as error:
        assert "quota" in str(error)
        return False
    return True


@pytest.mark.parametrize(
    ("patches", "limit_ns", "ratio", "taken"),
    [
        (("period-scaling-147-128",), (11_484_375, 1_148_437), 104_821, False),
        ((), (20_000_000, 2_000_000), 104_857, True),
    ],
)
def test_f8_br11__child_of_a_scaled_parent(patches, limit_ns, ratio, taken):
    """F8, BR11: 1000 of 10000 us, scaled once. 10 ms * 147/128 = 11484375 ns, 1 ms * 11484375/10000000 = 1148437 ns.

    In us (1148 << 20) / 11484 = 104821, below the child's (1000 << 20) / 10000 = 104857: -EINVAL. Doubled it is
    104857 too.
    """
    (period_ns, quota_ns, _), _ = scaled(sl.Group("/g", quota_us=1000, period_us=10_000, phase_us=0), 10 * MS, *patches)
    assert (period_ns, quota_ns) == limit_ns
    parent_us = quota_ns // 1000, period_ns // 1000
    assert v1_ratio(*parent_us) == ratio
    assert v1_ratio(1000, 10_000) == 104_857
    assert kernel_v1_takes(parent_us, (1000, 10_000)) is taken


def test_br11__v2_takes_any_child():
    """BR11: in cgroup v2 a child may have more than its parent; the smaller ratio rules."""
    groups = [sl.Group("/a", quota_us=1148, period_us=11_484), sl.Group("/a/b", quota_us=1000, period_us=10_000)]
    work = sl.Workload(groups)
    work.check(sl.Kernel.version("6.1"))
    assert work.hierarchical_ratio("/a/b") == 104_821
