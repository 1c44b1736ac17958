"""What happens if you combine them? A half factorial over five switches, with main effects and interactions."""

import itertools
import math

import numpy as np
import pandas as pd

from ..throttling_unification.statistics import CONFIDENCE, t_quantile
from .measure import measure_all
from .scenario import BASE, KEEP, PUSH, Scenario

#: Factors, each off (-1) or on (+1). The last is the product of the others in each cell: a resolution V design, in
#: which no main effect and no interaction of two is mixed up with another one of these.
FACTORS = ("push", "LB-c", "wake check", "active balance", "HZ 1000")
_PATCH = {"push": PUSH, "LB-c": KEEP, "wake check": BASE[0]}
MEASURES = ("n_max", "n_sum")


def cells() -> list[tuple[int, ...]]:
    """Return the 16 cells: -1 or +1 for each factor.

    Examples
    --------
    >>> len(cells()), cells()[0]
    (16, (-1, -1, -1, -1, 1))
    """
    return [(*levels, math.prod(levels)) for levels in itertools.product((-1, 1), repeat=len(FACTORS) - 1)]


def kernel_of(scenario: Scenario, cell):
    """Return the kernel of a cell."""
    level = dict(zip(FACTORS, cell))
    kernel = scenario.kernel.without_patch(*BASE).with_(hz=1000 if level["HZ 1000"] > 0 else 250)
    kernel = kernel.with_patch(*(patch for name, patch in _PATCH.items() if level[name] > 0))
    return kernel if level["active balance"] > 0 else kernel.with_patch("lb-no-active-balance")


def df_factorial_runs(scenario: Scenario, *, progress: bool = True) -> pd.DataFrame:
    """Return every run of the factorial.

    Returns
    -------
    pandas.DataFrame
        cell, one column (-1 or +1) a factor, and the columns of `measure.summarise`.
    """
    work, count = scenario.workload(), scenario.factorial_runs
    rows = measure_all(
        (
            dict(
                machine=scenario.machine, kernel=kernel_of(scenario, cell), workload=work,
                seconds=scenario.factorial_seconds, seed=scenario.seed + k,
            )
            for cell in cells()
            for k in range(count)
        ),
        progress,
    )  # fmt: skip
    table = pd.DataFrame(rows)
    levels = np.repeat(np.array(cells()), count, axis=0)
    for k, name in reversed(list(enumerate(FACTORS))):
        table.insert(0, name, levels[:, k])
    table.insert(0, "cell", np.repeat(np.arange(len(cells())), count))
    return table


def df_cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of each cell. Columns: the factors, runs, n_max, n_sum, forced_idle_cpus, pushes."""
    names = [*MEASURES, "forced_idle_cpus", "pushes"]
    by = runs.groupby(list(FACTORS), sort=True)
    table = by[names].mean()
    table.insert(0, "runs", by.size())
    return table.reset_index()


def df_effects(runs: pd.DataFrame) -> pd.DataFrame:
    """Return main effects and interactions on the noise, as factors, with 95 % intervals, by two kinds of mean.

    Noise scatters in proportion to its size, so logarithms are analysed: once those of the runs, which makes effects
    ratios of *geometric* means, in which a run with next to no noise weighs heavily; once those of each cell's *plain*
    mean, which is what was published. Where the two differ, the size of an effect hangs on the kind of mean. The error
    is that between runs of a cell, pooled over the cells (Student's t; of plain means by the delta method).

    Parameters
    ----------
    runs : pandas.DataFrame
        From `df_factorial_runs`.

    Returns
    -------
    pandas.DataFrame
        measure ("n_max" or "n_sum"), effect ("push", or "push x LB-c"), order (1 or 2), factor (order 1: noise with it
        on over noise with it off, geometric mean over the other factors; order 2: by what the factor of either changes
        when the other is on; 1 is no interaction), low, high, clear (whether the interval leaves out 1); plain,
        plain_low, plain_high, plain_clear (the same of plain means).
    """
    levels = runs.groupby("cell")[list(FACTORS)].first()
    freedom = len(runs) - len(levels)
    scale = t_quantile(1 - CONFIDENCE, freedom) * 2 / math.sqrt(len(runs))
    rows = []
    for measure in MEASURES:
        kinds = _cell_logs(runs, measure)
        for order in (1, 2):
            for names in itertools.combinations(FACTORS, order):
                sign = levels[list(names)].prod(axis=1)
                row = [measure, " x ".join(names), order]
                for values, spread in kinds:
                    effect = values[sign > 0].mean() - values[sign < 0].mean()
                    ends = (effect, effect - scale * spread, effect + scale * spread)
                    found = [math.exp(order * value) for value in ends]
                    row += [*found, not found[1] <= 1 <= found[2]]
                rows.append(row)
    columns = [f"{kind}{name}" for kind in ("", "plain_") for name in ("factor", "low", "high", "clear")]
    columns[4] = "plain"
    return pd.DataFrame(rows, columns=["measure", "effect", "order", *columns])


def _cell_logs(runs, measure):
    """Return the logarithm of each cell's geometric and plain mean, and how far (relatively) runs of a cell scatter."""
    by = runs.groupby("cell")[measure]
    logs = np.log(runs[measure]).groupby(runs["cell"])
    geometric = logs.mean(), math.sqrt(logs.var(ddof=1).mean())
    plain = np.log(by.mean()), math.sqrt((by.var(ddof=1) / by.mean() ** 2).mean())
    return geometric, plain


def df_combined(runs: pd.DataFrame) -> pd.DataFrame:
    """Return what push does to N_max without and with each other factor, geometric means over the rest.

    Returns
    -------
    pandas.DataFrame
        other, level ("off" or "on"), without_push, with_push (percent), factor; plain (the factor from plain means of
        each cell's runs).
    """
    cells = runs.groupby("cell")[list(FACTORS)].first()
    (geometric, _), (plain, _) = _cell_logs(runs, "n_max")
    rows = []
    for other in FACTORS[1:]:
        for level, word in ((-1, "off"), (1, "on")):
            pick = {push: (cells[other] == level) & (cells["push"] == push) for push in (-1, 1)}
            off, on = (math.exp(geometric[pick[push]].mean()) for push in (-1, 1))
            ratio = math.exp(plain[pick[1]].mean() - plain[pick[-1]].mean())
            rows.append((other, word, off, on, on / off, ratio))
    return pd.DataFrame(rows, columns=["other", "level", "without_push", "with_push", "factor", "plain"])
