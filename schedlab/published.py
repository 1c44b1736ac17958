"""Published numbers, and the one rule that says whether the model agrees with them.

The rule is fixed before a study runs: a quantity agrees when the *mean* of the model's draws lies inside the published
range widened by the tolerance that was named for that quantity. A wide model interval does not help. Extremes (the
fastest or slowest of n published runs) are held against the model's distribution of the extreme of n draws.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ._resources import data_path
from .tables import COMPARISON_COLUMNS, ROLES

# A published extreme must lie in the central 95 % of the model's distribution of extremes: the share cut at each end.
EXTREME_TAIL = 0.025


def names() -> list[str]:
    """Return the names of the published tables, such as ``bandwidth_stress_ng``."""
    return sorted(path.stem for path in data_path("published").glob("*.csv"))


def load(name: str) -> pd.DataFrame:
    """Return one published table; units are in the column names, sources in data/published/SOURCES.md.

    Raises
    ------
    ValueError
        When there is no such table.

    Examples
    --------
    >>> load("bandwidth_stress_ng").query("kernel == 'aligned' and cgroups == 2")["time_s"].tolist()
    [40.0, 40.2, 40.1, 40.3]
    """
    path = data_path("published", f"{name}.csv")
    if name not in names():
        raise ValueError(f"name={name!r}: no published table of that name; there are {', '.join(names())}")
    return pd.read_csv(path)


def widen(
    low: float,
    high: float,
    *,
    plus_minus: float | None = None,
    percent: float | None = None,
    factor: float | None = None,
    accept: tuple[float | None, float | None] | None = None,
) -> tuple[float, float]:
    """Return the range in which the model's mean has to lie: the published range, widened by one tolerance.

    Parameters
    ----------
    low, high
        The published range, in the quantity's unit.
    plus_minus
        Tolerance in the quantity's unit.
    percent
        Tolerance in percent of each end.
    factor
        Tolerance as a factor of at least 1: from ``low / factor`` to ``high * factor``.
    accept
        The range itself, where it was named outright; None for an open end.

    Raises
    ------
    ValueError
        When more than one tolerance is given, or one that narrows the range.

    Examples
    --------
    >>> widen(100, 104, percent=5)
    (95.0, 109.2)
    """
    given = {"plus_minus": plus_minus, "percent": percent, "factor": factor, "accept": accept}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) > 1:
        raise ValueError(f"{', '.join(given)}: give one tolerance only")
    if accept is not None:
        low, high = (-np.inf if accept[0] is None else accept[0], np.inf if accept[1] is None else accept[1])
        if low > high:
            raise ValueError(f"accept={accept}: the lower end comes first")
        return float(low), float(high)
    if factor is not None:
        if factor < 1 or low < 0:
            raise ValueError(f"factor={factor}: at least 1, and for quantities that are not negative")
        return low / factor, high * factor
    if min(given.values(), default=0) < 0:
        raise ValueError(f"{next(iter(given))}={next(iter(given.values()))}: a tolerance is not negative")
    if percent is not None:
        return float(low - abs(low) * percent / 100), float(high + abs(high) * percent / 100)
    return float(low - (plus_minus or 0)), float(high + (plus_minus or 0))


def extreme_of(draws, count: int, which: str) -> tuple[float, float, float]:
    """Return the mean and the central 95 % interval of the extreme of ``count`` model draws.

    The model's own draws stand for its distribution: the extreme of ``count`` draws with replacement.

    Parameters
    ----------
    draws
        The model's values, any order.
    count
        How many runs were published.
    which
        ``"min"`` or ``"max"``.
    """
    if which not in ("min", "max"):
        raise ValueError(f"which={which!r}: 'min' or 'max'")
    sign = 1 if which == "max" else -1
    values = np.sort(sign * np.asarray(draws, dtype=float))
    # P(largest of count <= i-th smallest of N) = (i / N) ** count
    reached = (np.arange(1, values.size + 1) / values.size) ** count
    mean = float(np.sum(values * np.diff(reached, prepend=0.0)))
    ends = [float(values[np.searchsorted(reached, share)]) for share in (EXTREME_TAIL, 1 - EXTREME_TAIL)]
    low, high = sorted(sign * end for end in ends)
    return sign * mean, low, high


def _finite(quantity: str, name: str, values) -> np.ndarray:
    array = np.atleast_1d(np.asarray(values, dtype=float))
    if array.size == 0 or not np.isfinite(array).all():
        raise ValueError(f"{quantity}: {name}={values!r}: finite numbers, at least one")
    return array


@dataclass
class Comparison:
    """A study's comparison with what was published: one row a quantity, in the order of the calls.

    Examples
    --------
    >>> comparison = Comparison()
    >>> comparison.add("One group alone", "time_s.1cg", "s", [27.5, 27.7], 27.6, role="calibration")
    >>> comparison.table()[["model", "role", "agrees"]].values.tolist()
    [[27.6, 'calibration', True]]
    """

    _rows: list[dict] = field(default_factory=list)
    _rules: list[dict] = field(default_factory=list)

    def add(self, claim: str, quantity: str, unit: str, published, model, *, role: str = "prediction", **tolerance):
        """Add a quantity whose model mean is held against the published range.

        Parameters
        ----------
        claim
            The sentence that the row is evidence for; rows that share it stand together in reports.
        quantity
            The name under which the number can be found over time, such as ``time_s.1cg``.
        unit
            Unit of all the numbers of the row; ``""`` for a ratio.
        published
            One published number, or all runs of it; None where nothing was published (role ``context`` alone, unless
            ``accept`` says what to hold the model against).
        model
            One model number, or all draws.
        role
            ``calibration`` (the number was used to fit a parameter), ``prediction`` (it was not) or ``context``.
        **tolerance
            At most one of ``plus_minus``, ``percent``, ``factor`` and ``accept``: see `widen`.
        """
        draws = _finite(quantity, "model", model)
        if published is None:
            runs = np.array([np.nan])
        else:
            runs = _finite(quantity, "published", published)
        accepted = widen(runs.min(), runs.max(), **tolerance)
        mean = float(draws.mean())
        agrees = None if np.isnan(accepted).any() else bool(accepted[0] <= mean <= accepted[1])
        self._append(claim, quantity, unit, runs, (mean, draws.min(), draws.max()), role, agrees)
        self._rules.append({"quantity": quantity, "statistic": "mean", "low": accepted[0], "high": accepted[1]})

    def add_extreme(self, claim: str, quantity: str, unit: str, published, model, which: str, *, role="prediction"):
        """Add the smallest or largest of the published runs, held against the model's extreme of as many draws.

        Parameters
        ----------
        published
            All published runs.
        model
            All model draws.
        which
            ``"min"`` or ``"max"``.

        The other parameters are those of `add`. ``model`` in the table is the mean of the model's distribution of
        that extreme, ``model_low`` and ``model_high`` its central 95 %; the row agrees when the published extreme lies
        inside.
        """
        runs = _finite(quantity, "published", published)
        mean, low, high = extreme_of(_finite(quantity, "model", model), runs.size, which)
        extreme = runs.min() if which == "min" else runs.max()
        self._append(claim, quantity, unit, np.array([extreme]), (mean, low, high), role, bool(low <= extreme <= high))
        self._rules.append({"quantity": quantity, "statistic": f"{which} of {runs.size}", "low": low, "high": high})

    def _append(self, claim, quantity, unit, runs, model, role, agrees):
        if role not in ROLES:
            raise ValueError(f"{quantity}: role={role!r}: one of {', '.join(ROLES)}")
        if agrees is None and role != "context":
            raise ValueError(f"{quantity}: role={role!r}: nothing was published to hold it against, so context alone")
        if any(row["quantity"] == quantity for row in self._rows):
            raise ValueError(f"quantity={quantity!r}: already in the comparison")
        values = (claim, quantity, unit, runs.mean(), runs.min(), runs.max(), *map(float, model), role, agrees)
        self._rows.append(dict(zip(COMPARISON_COLUMNS, values, strict=True)))

    def table(self) -> pd.DataFrame:
        """Return the table that becomes comparison.csv.

        Columns ``claim, quantity, unit, published, published_low, published_high, model, model_low, model_high, role,
        agrees``: published is the mean of the published runs and low and high the smallest and largest of them, the
        same for the model's draws; agrees is None where nothing was published.
        """
        return pd.DataFrame(self._rows, columns=list(COMPARISON_COLUMNS)).astype({"agrees": object})

    def rules(self) -> pd.DataFrame:
        """Return what each quantity had to fulfil.

        Columns ``quantity, statistic, low, high``. For a mean, the model's mean had to lie between low and high; for
        an extreme (``min of 4``), the published extreme did.
        """
        return pd.DataFrame(self._rules, columns=["quantity", "statistic", "low", "high"])

    def failures(self) -> pd.DataFrame:
        """Return the rows of `table` whose role is prediction and which do not agree."""
        table = self.table()
        return table[(table["role"] == "prediction") & (table["agrees"] == False)]  # noqa: E712  None is not a failure
