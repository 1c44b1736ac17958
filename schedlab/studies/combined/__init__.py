"""All patches at once: what they do to each other on one host of agent sandboxes.

The order of the notebook: host and kernels, how CPUs follow the load, main effects, interactions, alone and left out,
other patches, and what is not modelled.
"""

from .comparison import compare
from .effects import df_effects, df_interactions, df_others, df_steps
from .factors import ALL, FACTORS, Cell, base_kernel, df_patches, factorial, others
from .follow import UP_MS, df_follow
from .host import CYCLE_MS, machine, workload
from .runs import RESPONSES, df_runs, measure, scenario
from .scope import Scope
from .text import say_effects, say_interactions, say_others, say_steps, say_why
from .text_host import say_factors, say_follow, say_limits, say_patches, say_scope

__all__ = [
    "ALL",
    "CYCLE_MS",
    "FACTORS",
    "RESPONSES",
    "UP_MS",
    "Cell",
    "Scope",
    "base_kernel",
    "compare",
    "df_effects",
    "df_follow",
    "df_interactions",
    "df_others",
    "df_patches",
    "df_runs",
    "df_steps",
    "factorial",
    "machine",
    "measure",
    "others",
    "say_effects",
    "say_factors",
    "say_follow",
    "say_interactions",
    "say_limits",
    "say_others",
    "say_patches",
    "say_scope",
    "say_steps",
    "say_why",
    "scenario",
    "workload",
]
