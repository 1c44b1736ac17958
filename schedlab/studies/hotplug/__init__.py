"""Hotplug: what a domain rebuild costs, and what each patch takes off, held against both series.

The order of the notebook: the group walks and their variants, how they grow, the review, the ladder of the series for
large systems, what was held out, both together, and the comparison with the published numbers.
"""

from .comparison import compare, df_failures
from .review import TRACES, df_review
from .scaling import df_cpus, df_exponents, df_groups, df_partitions
from .series_a import LEVELS, df_fits, df_irq_off, df_operations, df_visit_costs, df_walks
from .series_b import (
    MACHINES,
    df_both_series,
    df_held_out,
    df_identifiability,
    df_ladder,
    df_lattice,
    df_sizes,
    df_structure,
    df_unit_costs,
    df_waterfall,
)

__all__ = [
    "LEVELS",
    "MACHINES",
    "TRACES",
    "compare",
    "df_both_series",
    "df_cpus",
    "df_exponents",
    "df_failures",
    "df_fits",
    "df_groups",
    "df_held_out",
    "df_identifiability",
    "df_irq_off",
    "df_ladder",
    "df_lattice",
    "df_operations",
    "df_partitions",
    "df_review",
    "df_sizes",
    "df_structure",
    "df_unit_costs",
    "df_visit_costs",
    "df_walks",
    "df_waterfall",
]
