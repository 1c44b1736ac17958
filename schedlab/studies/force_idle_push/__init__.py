"""Force idle: what pushing the blocked task away buys, alone and with balancing that knows of force idle.

The order of the notebook: one core by hand, the posted experiment, what its noise is made of and depends on, both
patches together, the cost, core scheduling against SMT off, and the comparison with the published numbers.
"""

from .comparison import compare, df_failures, df_together
from .cost import df_cost
from .experiment import PUBLISHED, df_burst, df_causes, df_noise, df_runs, df_work
from .factorial import df_cells, df_combined, df_effects, df_factorial_runs
from .meetings import df_meetings
from .micro import RELEASE_MS, df_micro, df_schedules
from .scenario import VARIANTS, Scenario
from .smt_off import df_busy, df_crossover, df_smt_off
from .text import say_causes, say_micro, say_noise, say_scenario, say_schedules, say_tornado
from .text_combined import check_claims, say_combined, say_comparison, say_cost, say_smt_off, say_verdict
from .tornado import df_tornado

__all__ = [
    "PUBLISHED",
    "RELEASE_MS",
    "VARIANTS",
    "Scenario",
    "check_claims",
    "compare",
    "df_burst",
    "df_busy",
    "df_causes",
    "df_cells",
    "df_combined",
    "df_cost",
    "df_crossover",
    "df_effects",
    "df_factorial_runs",
    "df_failures",
    "df_meetings",
    "df_micro",
    "df_noise",
    "df_runs",
    "df_schedules",
    "df_smt_off",
    "df_together",
    "df_tornado",
    "df_work",
    "say_causes",
    "say_combined",
    "say_comparison",
    "say_cost",
    "say_micro",
    "say_noise",
    "say_scenario",
    "say_schedules",
    "say_smt_off",
    "say_tornado",
    "say_verdict",
]
