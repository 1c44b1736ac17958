"""Throttling unification: three ways to stop a group out of quota, and the series of 7.2 held against its mail.

The order of the notebook: one throttle step by step, hackbench with its calibration and the test of its noise, overrun,
unthrottling many groups, hotplug, and the comparison with the published numbers.
"""

from .comparison import HOTPLUG_PUBLISHED_S, compare, df_failures
from .hackbench import df_fit, df_hackbench, df_hackbench_runs, df_levels
from .hotplug import IDEAL_S, df_hotplug, implied_rate
from .noise import df_noise, published_fewest, published_needed, significant_from
from .overrun import COUNTS, df_overrun, df_told
from .scenario import Scenario
from .steps import df_schedules, df_steps
from .text import (
    check_claims,
    say_comparison,
    say_fit,
    say_hackbench,
    say_noise,
    say_scenario,
    say_verdict,
)
from .text_models import say_hotplug, say_overrun, say_steps, say_told, say_unthrottle
from .unthrottle import ANCHOR, ANCHOR_MS, LOCKUP, df_counts, df_irqoff

__all__ = [
    "ANCHOR",
    "ANCHOR_MS",
    "COUNTS",
    "HOTPLUG_PUBLISHED_S",
    "IDEAL_S",
    "LOCKUP",
    "Scenario",
    "check_claims",
    "compare",
    "df_counts",
    "df_failures",
    "df_fit",
    "df_hackbench",
    "df_hackbench_runs",
    "df_hotplug",
    "df_irqoff",
    "df_levels",
    "df_noise",
    "df_overrun",
    "df_schedules",
    "df_steps",
    "df_told",
    "implied_rate",
    "published_fewest",
    "published_needed",
    "significant_from",
    "say_comparison",
    "say_fit",
    "say_hackbench",
    "say_hotplug",
    "say_noise",
    "say_overrun",
    "say_scenario",
    "say_steps",
    "say_told",
    "say_unthrottle",
    "say_verdict",
]
