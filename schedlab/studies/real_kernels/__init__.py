"""Real kernels: the recordings of data/recordings, predicted and measured.

The order of the notebook: what was recorded, counters, run time per period, phases of timers, core scheduling,
rebuilds, 7.2's hole, and the comparison with what was left out.
"""

from .comparison import compare
from .cookies import df_cookies
from .hole import df_measured as df_hole_measured
from .hole import df_model as df_hole_model
from .hole import df_windows
from .periods import df_alignment, df_intervals, df_run_per_period
from .phases import df_phase_points, df_phases
from .rebuild import df_calls, df_points, df_slopes, df_walks
from .runs import Scenario, df_counters, df_latency
from .text import (
    df_failures,
    df_left_out,
    df_recordings,
    say_alignment,
    say_cookies,
    say_counters,
    say_failures,
    say_hole,
    say_latency,
    say_recordings,
    say_verdict,
)
from .text_parts import say_names, say_phases, say_rebuild

__all__ = [
    "Scenario",
    "compare",
    "df_alignment",
    "df_calls",
    "df_cookies",
    "df_counters",
    "df_failures",
    "df_hole_measured",
    "df_hole_model",
    "df_intervals",
    "df_latency",
    "df_left_out",
    "df_phase_points",
    "df_phases",
    "df_points",
    "df_recordings",
    "df_run_per_period",
    "df_slopes",
    "df_walks",
    "df_windows",
    "say_alignment",
    "say_cookies",
    "say_counters",
    "say_failures",
    "say_hole",
    "say_latency",
    "say_names",
    "say_phases",
    "say_rebuild",
    "say_recordings",
    "say_verdict",
]
