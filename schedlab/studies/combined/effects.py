"""Effects with intervals: contrasts of each seed's runs, and Student's t over the seeds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from ..throttling_unification.statistics import mean_interval
from .factors import ALL, FACTORS
from .runs import RESPONSES

#: A contrast below this share of the response is rounding.
_ROUNDING = 1e-9


def _excludes_zero(low, high, scale):
    least = abs(scale) * _ROUNDING
    return bool(low > least or high < -least)


def _by_seed(runs, column, **on):
    """The mean of the cells in which those factors are so, by seed."""
    mask = np.ones(len(runs), bool)
    for name, level in on.items():
        mask &= (runs[name] == level).to_numpy()
    return runs[mask].groupby("seed")[column].mean().to_numpy()


def df_effects(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the main effect of each factor on each response: with it minus without it, over all else.

    Parameters
    ----------
    runs : pandas.DataFrame
        From `df_runs`.

    Returns
    -------
    pandas.DataFrame
        response, factor, effect, low, high (95 %, t over seeds), percent (of the base kernel's mean), nonzero.
    """
    design, rows = runs[runs["design"]], []
    for response in RESPONSES:
        scale = base_mean(runs, response.column)
        for name in FACTORS:
            values = _by_seed(design, response.column, **{name: True}) - _by_seed(
                design, response.column, **{name: False}
            )
            effect, low, high = mean_interval(values)
            row = {"response": response.column, "factor": name, "effect": effect, "low": low, "high": high}
            rows.append(row | {"percent": 100 * effect / scale, "nonzero": _excludes_zero(low, high, scale)})
    return pd.DataFrame(rows)


def df_interactions(runs: pd.DataFrame) -> pd.DataFrame:
    """Return each pairwise interaction: what the first factor does with the second minus without it, over all else.

    Parameters
    ----------
    runs : pandas.DataFrame
        From `df_runs`.

    Returns
    -------
    pandas.DataFrame
        response, first, second, interaction, low, high (95 %, t over seeds), percent (of the base kernel's mean),
        first_without, first_with (what the first does without and with the second), second_without, second_with,
        nonzero (the interval excludes 0), nonzero_of_all (also as one of all intervals of this table).
    """
    design, rows = runs[runs["design"]], []
    pairs = list(combinations(FACTORS, 2))
    many = len(pairs) * len(RESPONSES)
    for response in RESPONSES:
        column, scale = response.column, base_mean(runs, response.column)
        for first, second in pairs:
            mean = {
                (a, b): _by_seed(design, column, **{first: a, second: b}) for a in (False, True) for b in (False, True)
            }
            without, with_ = mean[True, False] - mean[False, False], mean[True, True] - mean[False, True]
            value, low, high = mean_interval(with_ - without)
            strict = mean_interval(with_ - without, many)[1:]
            rows.append(
                {
                    "response": column,
                    "first": first,
                    "second": second,
                    "interaction": value,
                    "low": low,
                    "high": high,
                    "percent": 100 * value / scale,
                    "first_without": without.mean(),
                    "first_with": with_.mean(),
                    "second_without": (mean[False, True] - mean[False, False]).mean(),
                    "second_with": (mean[True, True] - mean[True, False]).mean(),
                    "nonzero": _excludes_zero(low, high, scale),
                    "nonzero_of_all": _excludes_zero(*strict, scale),
                }  # fmt: skip
            )
    return pd.DataFrame(rows)


def base_mean(runs: pd.DataFrame, column: str) -> float:
    """Return the mean of a column over the runs of the base kernel."""
    return float(_cell(runs, column, frozenset()).mean())


def _cell(runs, column, on, label=""):
    """One kernel's values, by seed."""
    mask = (runs["label"] == label).to_numpy(copy=True)
    for name in FACTORS:
        mask &= (runs[name] == (name in on)).to_numpy()
    return runs[mask].sort_values("seed")[column].to_numpy(float)


def df_steps(runs: pd.DataFrame) -> pd.DataFrame:
    """Return what each factor does alone, what it does last (all but it, then all), and what all do together.

    Parameters
    ----------
    runs : pandas.DataFrame
        From `df_runs`.

    Returns
    -------
    pandas.DataFrame
        response, step ("alone", "last", "together", "sum of alone"), factor ("" for the last two), difference, low,
        high (95 %, t over seeds), percent (of the base kernel's mean), nonzero.
    """
    rows = []
    for response in RESPONSES:
        column = response.column
        base, everything = _cell(runs, column, frozenset()), _cell(runs, column, ALL)
        alone = {name: _cell(runs, column, frozenset({name})) - base for name in FACTORS}
        found = [("alone", name, values) for name, values in alone.items()]
        found += [("last", name, everything - _cell(runs, column, ALL - {name})) for name in FACTORS]
        found += [("together", "", everything - base), ("sum of alone", "", sum(alone.values()))]
        for step, name, values in found:
            value, low, high = mean_interval(values)
            row = {"response": column, "step": step, "factor": name, "difference": value, "low": low, "high": high}
            scale = float(base.mean())
            rows.append(row | {"percent": 100 * value / scale, "nonzero": _excludes_zero(low, high, scale)})
    return pd.DataFrame(rows)


def df_others(runs: pd.DataFrame) -> pd.DataFrame:
    """Return what other patches do, against the base kernel and against all factors together.

    Where a patch stands in the place of a factor, that factor is off in both kernels of "alone" and replaced in "with
    all". A quick run has none.

    Returns
    -------
    pandas.DataFrame
        label, response, against ("base" or "all"), difference, low, high (95 %, t over seeds), nonzero.
    """
    rows = []
    for label in [label for label in runs["label"].unique() if label]:
        mine = runs[runs["label"] == label]
        for against, on in (("base", frozenset()), ("all", ALL)):
            part = mine[mine[list(FACTORS)].any(axis=1) == bool(on)].sort_values("seed")
            for response in RESPONSES:
                reference = _cell(runs, response.column, on)
                value, low, high = mean_interval(part[response.column].to_numpy(float) - reference)
                row = {"label": label, "response": response.column, "against": against, "difference": value}
                nonzero = _excludes_zero(low, high, base_mean(runs, response.column))
                rows.append(row | {"low": low, "high": high, "nonzero": nonzero})
    columns = ["label", "response", "against", "difference", "low", "high", "nonzero"]
    return pd.DataFrame(rows, columns=columns)
