"""What the combination predicts: nothing was published to hold it against, so that all rows are context."""

from __future__ import annotations

import pandas as pd

from ...published import Comparison
from .effects import _cell
from .factors import ALL
from .runs import RESPONSES

_CLAIMS = {"base": "The host without any of the patches: not measured by anybody", "all": "With all of them: likewise"}


def compare(runs: pd.DataFrame) -> Comparison:
    """Return base and all together, one row a response and kernel, in the role of context.

    Parameters
    ----------
    runs : pandas.DataFrame
        From `df_runs`.
    """
    comparison = Comparison()
    for name, on in (("base", frozenset()), ("all", ALL)):
        for response in RESPONSES:
            values = _cell(runs, response.column, on)
            quantity = f"{response.column}.{name}"
            comparison.add(_CLAIMS[name], quantity, response.unit, None, values, role="context")
    return comparison
