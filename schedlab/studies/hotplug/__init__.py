"""Hotplug: what a domain rebuild costs, and what each patch takes off, held against both series.

The order of the notebook: the group walks and their variants, how they grow, the review, the ladder of the series for
large systems, what was held out, both together, and the comparison with the published numbers.
"""

from ..bandwidth_timers import say_comparison
from .comparison import compare, df_failures
from .latency import df_latency, say_latency
from .review import TRACES, df_review, df_shortest_traces
from .scaling import df_cpus, df_exponents, df_groups, df_partitions
from .scope import Scope
from .series_a import LEVELS, df_fits, df_irq_off, df_operations, df_visit_costs, df_walks
from .series_b import (
    MACHINES,
    df_both_series,
    df_fit_sizes,
    df_held_out,
    df_identifiability,
    df_ladder,
    df_lattice,
    df_published_ramps,
    df_sizes,
    df_structure,
    df_transfer,
    df_unit_costs,
    df_waterfall,
)
from .statements import df_statements
from .text import (
    say_fits,
    say_growth,
    say_irq_off,
    say_operations,
    say_partitions,
    say_review,
    say_scope,
)
from .text_large import (
    check_calibration,
    say_both_series,
    say_exponents,
    say_held_out,
    say_identifiability,
    say_ladder,
    say_sizes,
    say_statements,
    say_structure,
    say_verdict,
)

__all__ = [
    "LEVELS",
    "MACHINES",
    "TRACES",
    "Scope",
    "check_calibration",
    "compare",
    "df_both_series",
    "df_cpus",
    "df_exponents",
    "df_failures",
    "df_fit_sizes",
    "df_fits",
    "df_groups",
    "df_held_out",
    "df_identifiability",
    "df_irq_off",
    "df_ladder",
    "df_latency",
    "df_lattice",
    "df_operations",
    "df_partitions",
    "df_published_ramps",
    "df_review",
    "df_shortest_traces",
    "df_sizes",
    "df_statements",
    "df_structure",
    "df_transfer",
    "df_unit_costs",
    "df_visit_costs",
    "df_walks",
    "df_waterfall",
    "say_both_series",
    "say_comparison",
    "say_exponents",
    "say_fits",
    "say_growth",
    "say_held_out",
    "say_identifiability",
    "say_irq_off",
    "say_ladder",
    "say_latency",
    "say_operations",
    "say_partitions",
    "say_review",
    "say_scope",
    "say_sizes",
    "say_statements",
    "say_structure",
    "say_verdict",
]
