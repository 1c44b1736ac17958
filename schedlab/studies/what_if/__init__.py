"""What if: other limits of a group on a host that was recorded, and whether to believe the answer.

`ask` answers in one call. The notebook goes step by step: `load` the host, `Runs` over seeds, the tables.
"""

from .answer import Answer, ask
from .comparison import EXAMPLE, compare, df_failures, df_measured, is_example, path_of, say_comparison, say_rows
from .host import Host, load
from .question import Limit, Question, around
from .runs import Runs
from .search import df_burst, df_quota
from .tables import MEASURES, df_combinations, df_replay
from .text import say_answers, say_combinations, say_host, say_replay

__all__ = [
    "Answer", "EXAMPLE", "Host", "Limit", "MEASURES", "Question", "Runs", "around", "ask", "compare", "df_burst",
    "df_combinations", "df_failures", "df_measured", "df_quota", "df_replay", "is_example", "load",
    "path_of", "say_answers", "say_combinations", "say_comparison", "say_host", "say_replay", "say_rows",
]  # fmt: skip
