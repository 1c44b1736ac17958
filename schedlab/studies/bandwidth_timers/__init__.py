"""Bandwidth timers: what interleaving the CFS bandwidth timers does, held against the patch that proposed it.

The order of the notebook: the scenario, the mechanism, stress-ng with its calibration, schbench, when it pays, and the
comparison with the published numbers.
"""

from .calibration import POWER_PERCENT, df_calibration, df_idle_sensitivity
from .comparison import SCHBENCH_CLAIMED, SCHBENCH_FACTOR, compare, df_failures
from .mechanism import df_run_windows, df_threads_per_core, df_time_shares
from .payoff import df_full_utilisation, df_payoff, df_payoff_limit
from .scenario import PHASES, Scenario
from .schbench import df_schbench, df_schbench_readings, df_schbench_runs, name_readings
from .stress import df_phase_curve, df_published_phases, df_stress, df_stress_runs
from .text import (
    check_calibration,
    say_agreement,
    say_comparison,
    say_mechanism,
    say_payoff,
    say_power,
    say_scenario,
    say_schbench,
    say_schbench_setup,
    say_stress,
    say_verdict,
)

__all__ = [
    "PHASES",
    "POWER_PERCENT",
    "SCHBENCH_CLAIMED",
    "SCHBENCH_FACTOR",
    "Scenario",
    "check_calibration",
    "compare",
    "df_calibration",
    "df_failures",
    "df_full_utilisation",
    "df_idle_sensitivity",
    "df_payoff",
    "df_payoff_limit",
    "df_phase_curve",
    "df_published_phases",
    "df_run_windows",
    "df_schbench",
    "df_schbench_readings",
    "df_schbench_runs",
    "df_stress",
    "df_stress_runs",
    "df_threads_per_core",
    "df_time_shares",
    "name_readings",
    "say_agreement",
    "say_comparison",
    "say_mechanism",
    "say_payoff",
    "say_power",
    "say_scenario",
    "say_schbench",
    "say_schbench_setup",
    "say_stress",
    "say_verdict",
]
