"""The page's scenario: what it builds, what it refuses in one line, and the lines that make it again."""

import pytest

from schedlab.explore import GroupSettings, Scenario
from schedlab.explore.scenario import KERNELS, OFFERED, PATHS
from schedlab.patches import PATCHES

SCENARIOS = {
    "default": Scenario(),
    "four groups": Scenario.of(nr_groups=4, quota_ms=[20, 0], period_ms=[50], threads=[1, 2], machine="uniform-4cpu"),
    "burst and phase": Scenario.of(burst_ms=[100], phase_ms=[0, 12.5], load=[40], seed=7, length_ms=300),
    "another phase rule": Scenario(kernel="6.18", patches=("golden", "per-task-throttle")),
    "patch taken away": Scenario(kernel="7.2", patches=()),
    "core scheduling": Scenario(cookies=True, machine="uniform-4cpu-smt2", patches=("force-idle-push",)),
    "the kernel's balancing": Scenario(balance="kernel", patches=("interleave-timers", "wake-cookie-check")),
}


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_code__makes_the_same_run(scenario):
    names = {}
    exec(compile(scenario.code(), "scenario.py", "exec"), names)  # noqa: S102  the point of the test
    assert names["run"].digest() == scenario.run().digest()
    assert all(len(line) <= 140 for line in scenario.code().splitlines())


@pytest.mark.parametrize("kernel", KERNELS)
def test_build__each_release_runs_with_its_own_patches(kernel):
    run = Scenario(kernel=kernel, length_ms=120).run()
    assert run.kernel.asked == kernel and run.duration_ns == 120_000_000


def test_build__patches_that_are_not_offered_stay_as_the_release_has_them():
    _, kernel, _ = Scenario(kernel="6.18", patches=()).built
    assert kernel.patches and not kernel.patches & set(OFFERED)


def test_offered__hotplug_alone_is_left_out():
    left_out = set(PATCHES) - set(OFFERED)
    assert {"unthrottle-offline-only", "zero-runtime-at-write", "cache-group-capacity"} <= left_out
    assert {"interleave-timers", "staggered", "throttle-at-account", "force-idle-push"} <= set(OFFERED)


REFUSED = {
    "burst above quota": (dict(nr_groups=2, burst_ms=[0, 400]), "group /b: burst_us=400000: at most quota_us=300000"),
    "patches exclude": (dict(patches=("golden", "staggered")), "patch='golden': excludes 'staggered'"),
    "patch needs": (dict(patches=("limbo-local-list",)), "needs 'per-task-throttle'"),
    "row without the mechanism": (dict(kernel="6.1", cookies=True), "kernel 6.1: core scheduling needs 6.12"),
    "per-task on CFS": (dict(kernel="6.1", patches=("per-task-throttle",)), "applies to 6.12 and later"),
    "balance patch": (dict(patches=("lb-force-idle-source",)), 'use balance="kernel"'),
    "quota too small": (dict(quota_ms=[0.5]), "group /a: quota_us=500: at least 1000"),
    "unknown machine": (dict(machine="laptop-9cpu"), "did you mean 'laptop-8cpu'?"),
    "unknown kernel": (dict(kernel="6.13"), "not modelled"),
}


@pytest.mark.parametrize("fields, said", REFUSED.values(), ids=REFUSED.keys())
def test_run__what_cannot_be_is_one_line(fields, said):
    with pytest.raises(ValueError) as problem:
        Scenario.of(**fields).run()
    assert said in str(problem.value) and "\n" not in str(problem.value)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: Scenario(groups=(GroupSettings(),)), "groups=1: two to 4"),
        (lambda: Scenario.of(nr_groups=5), "nr_groups=5: at most 4"),
        (lambda: Scenario(length_ms=0), "length_ms=0: at least 1"),
        (lambda: GroupSettings(threads=0), "threads=0: at least 1"),
        (lambda: GroupSettings(load=101), "load=101: at most 100"),
        (lambda: Scenario.of(thread=[1]), "unexpected keyword argument 'thread'"),
    ],
)
def test_scenario__wrong_value_names_the_field(make, said):
    with pytest.raises((ValueError, TypeError), match=said):
        make()


def test_of__short_lists_are_filled_with_their_last_item():
    groups = Scenario.of(nr_groups=4, quota_ms=[50, 0], threads=[3]).groups
    assert [group.quota_ms for group in groups] == [50, None, None, None]
    assert [group.threads for group in groups] == [3] * len(PATHS)


def test_load__threads_use_about_as_much_as_they_want():
    """Four threads on eight CPUs that nobody limits, 40 % each: 1.6 CPUs, +-25 % over 5 s."""
    one = GroupSettings(quota_ms=None, threads=2, load=40)
    stat = Scenario(groups=(one, one), length_ms=5000).run().cpu_stat()
    assert stat.loc["/", "usage_usec"] / 5e6 == pytest.approx(1.6, rel=0.25)
