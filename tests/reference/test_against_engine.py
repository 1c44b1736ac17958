"""The engine and the plain reference leave the same event log, event for event."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

sys.path.insert(0, str(Path(__file__).parent))

from compare import differences
from strategies import RELEASES, scenarios


def check_random_scenarios(release, nr):
    @settings(max_examples=nr)
    @given(scenarios((release,)))
    def check(scenario):
        found = differences(scenario.machine, scenario.kernel, scenario.workload, scenario.duration_ns, scenario.seed)
        assert not found, f"{scenario}\n{found}"

    check()


@pytest.mark.parametrize("release", RELEASES)
def test_same_log__random_scenarios(release):
    check_random_scenarios(release, 40)


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_same_log__many_random_scenarios(release):
    check_random_scenarios(release, 600)
