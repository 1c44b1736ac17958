"""The engine and the plain reference leave the same event log, event for event."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

sys.path.insert(0, str(Path(__file__).parent))

from compare import differences
from strategies import NEW_RELEASES, RELEASES, new_scenarios, scenarios


def check_random_scenarios(strategy, nr):
    @settings(max_examples=nr)
    @given(strategy)
    def check(scenario):
        found = differences(scenario.machine, scenario.kernel, scenario.workload, scenario.duration_ns, scenario.seed)
        assert not found, f"{scenario}\n{found}"

    check()


@pytest.mark.parametrize("release", RELEASES)
def test_same_log__random_scenarios(release):
    check_random_scenarios(scenarios((release,)), 40)


@pytest.mark.parametrize("release", ("6.12", *NEW_RELEASES))
def test_same_log__random_patches_of_the_series_and_hotplug(release):
    """Per-task throttling with any of the series' patches, tasks that change their group, CPUs that go and come."""
    check_random_scenarios(new_scenarios((release,)), 30)


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_same_log__many_random_scenarios(release):
    check_random_scenarios(scenarios((release,)), 600)


@pytest.mark.slow
@pytest.mark.parametrize("release", ("6.12", *NEW_RELEASES))
def test_same_log__many_random_patches(release):
    check_random_scenarios(new_scenarios((release,)), 600)
