"""balance="kernel": engine and reference leave the same log, with core scheduling and without."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from balance_strategies import BALANCE_RELEASES, balance_core_scenarios, balance_scenarios
from core_strategies import CORE_RELEASES
from test_against_engine import check_random_scenarios


@pytest.mark.parametrize("release", BALANCE_RELEASES)
def test_same_log__random_balancing(release):
    check_random_scenarios(balance_scenarios(release), 30)


@pytest.mark.parametrize("release", CORE_RELEASES)
def test_same_log__random_balancing_with_cookies(release):
    check_random_scenarios(balance_core_scenarios(release), 30)


@pytest.mark.slow
@pytest.mark.parametrize("release", BALANCE_RELEASES)
def test_same_log__much_random_balancing(release):
    check_random_scenarios(balance_scenarios(release), 600)


@pytest.mark.slow
@pytest.mark.parametrize("release", CORE_RELEASES)
def test_same_log__much_random_balancing_with_cookies(release):
    check_random_scenarios(balance_core_scenarios(release), 600)
