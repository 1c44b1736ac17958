"""ask(): a question about a host, answered in one call; `schedlab whatif` and the notebook do the same."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ... import _check
from ..._html import html_table
from .host import Host, load
from .question import Question
from .runs import Runs, scenario
from .search import df_burst, df_quota
from .tables import df_combinations, df_replay
from .text import burst_lines, quota_lines


@dataclass(frozen=True, repr=False)
class Answer:
    """What came out.

    Attributes
    ----------
    host : Host
    question : Question
    replay, combinations, quota, burst : pandas.DataFrame
        See `df_replay`, `df_combinations`, `df_quota` and `df_burst`.
    nr_runs : int
        How many simulations it took.
    """

    host: Host
    question: Question
    replay: pd.DataFrame
    combinations: pd.DataFrame
    quota: pd.DataFrame
    burst: pd.DataFrame
    nr_runs: int

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by name."""
        names = ("replay", "combinations", "quota", "burst")
        return {name: getattr(self, name) for name in names}

    @property
    def lines(self) -> list[str]:
        """The smallest quota and burst in words."""
        return [*quota_lines(self.quota), *burst_lines(self.burst)]

    def __repr__(self):
        return f"<Answer for {self.host.group} in {self.host.name}: {len(self.combinations)} combinations>"

    def _repr_html_(self):
        return html_table(repr(self)[1:-1], [*(("", line) for line in self.lines), ("demand", self.host.demand)])


def ask(
    source,
    group: str,
    *,
    quota=None,
    burst=None,
    period=None,
    phase=None,
    seeds: int = 10,
    resolution_us: int = 1000,
    search: bool = True,
    on_run=None,
    **host_options,
) -> Answer:
    """Return what other limits of a group would do on a host that was recorded.

    Parameters
    ----------
    source : str or Path
        A snapshot's folder or a trace's file.
    group : str
        Path of the group.
    quota, burst, period, phase
        Text such as "150ms,200ms", or a sequence; all combinations are tried. See `Question.of`.
    seeds : int
        Runs for each combination; a seed draws where timers and ticks lie against the demand.
    resolution_us : int
        Of the smallest quota and burst.
    search : bool
        Whether to look for those.
    on_run : callable, optional
        Called with the number of simulations so far.
    **host_options
        demand, demand_period, duration, arrivals, kernel, tasks, was, cpu_stat: see `load`.

    Raises
    ------
    ValueError
        In one line: a file that cannot be read, a group that is not there, a snapshot without a trace for which no
        demand model is named, a value that the kernel does not take.

    Examples
    --------
    >>> ask("host1", "/kubepods/x", quota="150ms,200ms", burst="0,50ms").quota  # doctest: +SKIP
    """
    seeds = _check.whole("seeds", seeds, 1, 10_000)
    resolution_us = _check.whole("resolution_us", resolution_us, 1, 1_000_000, "1 s")
    host = load(source, group, **host_options)
    given = {"quota": quota, "burst": burst, "period": period, "phase": phase}
    question = Question.of(host.now, default_phase=host.default_phase, **given)
    for limit in question.limits:
        check_limit(host, limit)
    runs = Runs(host, seeds, on_run)
    replay, combinations = df_replay(runs), df_combinations(runs, question)
    searched = question if search else Question(question.now, (), question.phases)
    tables = df_quota(runs, searched, resolution_us), df_burst(runs, searched, resolution_us)
    return Answer(host, question, replay, combinations, *tables, len(runs))


def check_limit(host: Host, limit) -> None:
    """Raise ValueError where the host's kernel would not take the limit: under cgroup v1 a child above its parent."""
    kernel, work = scenario(host, limit, host.default_phase, 0)
    work.check(kernel)
