"""The study against the published numbers: which agree by the one rule, and what is known about those that do not."""

import pandas as pd

from ...published import Comparison
from .calibration import POWER_PERCENT
from .scenario import Scenario

ALONE = "One group alone: calibrated"
ALIGNED = "Two groups with aligned timers: calibrated"
RANDOM = "Two groups with random phases: time"
POWER = "Power of the published interleaved runs, at the phase that their time implies"
CONTROL = "Nothing to gain at full utilisation"
ORDER = "schbench: the 99th percentile improves with 16 and 32 threads, not with 64"
BEYOND = "schbench beyond the 99th percentile: no tolerance was named"
LIMIT = "Up to which utilisation random phases pay (the mail: while the total is below 50 %)"

# Tolerances, all named before the first run of the study.
ALONE_S, ALIGNED_S, RANDOM_MEAN_S = (27.0, 28.2), (39.5, 40.8), (32.5, 33.7)
FASTEST_S, SLOWEST_S = 27.4, 40.8
CALIBRATED_POWER_PERCENT = 1.0
FULL_UTILISATION = (0.99, 1.01)
SCHBENCH_FACTOR, SCHBENCH_CLAIMED = 2.0, 99
#: A gain is a 99th percentile that shrinks by more than 5 %: asked for with 16 and 32 threads, not allowed with 64.
NO_GAIN = 0.95


def compare(
    scenario: Scenario,
    *,
    runs: pd.DataFrame,
    phases: pd.DataFrame,
    full: pd.DataFrame,
    schbench: pd.DataFrame,
    schbench_runs: pd.DataFrame,
    limits: pd.DataFrame,
    published: pd.DataFrame,
) -> Comparison:
    """Return the comparison with the published numbers.

    For another scenario than the published one every row has the role ``context``.

    Parameters
    ----------
    scenario : Scenario
    runs, phases, full : pandas.DataFrame
        From `df_stress_runs`, `df_published_phases`, `df_full_utilisation`.
    schbench, schbench_runs, limits : pandas.DataFrame
        From `df_schbench`, `df_schbench_runs`, `df_payoff_limit`.
    published : pandas.DataFrame
        ``published.load("bandwidth_stress_ng")``.
    """
    comparison = _Roles(scenario)
    _add_stress(comparison, scenario, runs, published)
    _add_power(comparison, scenario, runs, phases, published)
    if "random" in set(full["phases"]):
        ratio = full.set_index("phases").loc["random", "over_aligned"]
        name = "time_ratio.2cg.full_utilisation.random_over_aligned"
        comparison.add(CONTROL, name, "", None, ratio, accept=FULL_UTILISATION)
    _add_schbench(comparison, schbench, schbench_runs)
    for row in limits[limits["phases"] == "random"].dropna(subset=["pays_below_percent"]).itertuples():
        name = f"pays_below_percent.{row.groups}cg.random"
        comparison.add(LIMIT, name, "%", [50], row.pays_below_percent, role="context")
    return comparison.comparison


class _Roles:
    """Adds rows to a comparison, as context where the scenario is not the published one."""

    def __init__(self, scenario):
        self.comparison = Comparison()
        self._is_published = scenario.is_published

    def add(self, *args, role="prediction", **tolerance):
        self.comparison.add(*args, role=role if self._is_published else "context", **tolerance)

    def add_extreme(self, *args):
        self.comparison.add_extreme(*args, role="prediction" if self._is_published else "context")


def _runs(runs, groups, phase, column):
    return runs.loc[(runs["groups"] == groups) & (runs["phases"] == phase), column].to_numpy()


def _theirs(published, kernel, groups, column):
    return published.loc[(published["kernel"] == kernel) & (published["cgroups"] == groups), column].to_numpy()


def _add_stress(comparison, scenario, runs, published):
    times = _theirs(published, "aligned", 1, "time_s"), _theirs(published, "aligned", 2, "time_s")
    alone, aligned = (_runs(runs, groups, "aligned", "time_s") for groups in (1, 2))
    comparison.add(ALONE, "time_s.1cg", "s", times[0], alone, role="calibration", accept=ALONE_S)
    comparison.add(ALIGNED, "time_s.2cg.aligned", "s", times[1], aligned, role="calibration", accept=ALIGNED_S)
    if "random" not in scenario.phases:
        return
    drawn, theirs = _runs(runs, 2, "random", "time_s"), _theirs(published, "interleaved", 2, "time_s")
    name = "time_s.2cg.random"
    comparison.add(RANDOM, f"{name}.mean", "s", theirs, drawn, accept=RANDOM_MEAN_S)
    comparison.add_extreme(RANDOM, f"{name}.min", "s", theirs, drawn, "min")
    comparison.add_extreme(RANDOM, f"{name}.max", "s", theirs, drawn, "max")
    comparison.add(RANDOM, f"{name}.fastest_seed", "s", None, drawn.min(), accept=(FASTEST_S, None))
    comparison.add(RANDOM, f"{name}.slowest_seed", "s", None, drawn.max(), accept=(None, SLOWEST_S))
    late_s = drawn.max() - aligned.mean()
    name = f"{name}.slowest_seed_minus_aligned"
    comparison.add(RANDOM, name, "s", None, late_s, accept=(None, scenario.period_us / 1e6))


def _add_power(comparison, scenario, runs, phases, published):
    if scenario.machine.watts is None:
        return
    for claim, groups, name in ((ALONE, 1, "power_w.1cg"), (ALIGNED, 2, "power_w.2cg.aligned")):
        theirs, ours = _theirs(published, "aligned", groups, "power_w"), _runs(runs, groups, "aligned", "power_w")
        comparison.add(claim, name, "W", theirs, ours, role="calibration", percent=CALIBRATED_POWER_PERCENT)
    if "random" in scenario.phases:
        theirs, ours = _theirs(published, "interleaved", 1, "power_w"), _runs(runs, 1, "random", "power_w")
        name = "power_w.1cg.random"
        comparison.add("One group alone with random phases", name, "W", theirs, ours, percent=POWER_PERCENT)
    for row in phases.itertuples():
        name = f"power_w.2cg.random.run{row.run}"
        comparison.add(POWER, name, "W", row.published_power_w, row.power_w, percent=POWER_PERCENT)


def _add_schbench(comparison, table, runs):
    known = table.dropna(subset=["published_us"])
    for threads in known["threads"].unique():
        p99 = known[(known["threads"] == threads) & (known["percentile"] == 99)].set_index("phases")
        ours, theirs = (p99.loc["random", c] / p99.loc["aligned", c] for c in ("latency_us", "published_us"))
        accept = (NO_GAIN, None) if threads == 64 else (None, NO_GAIN)
        comparison.add(ORDER, f"schbench_p99_ratio.{threads}", "", theirs, ours, accept=accept)
    for row in known.itertuples():
        claimed = row.percentile <= SCHBENCH_CLAIMED
        claim = f"schbench -t {row.threads}: wake-up latency, 50th to 99th percentile" if claimed else BEYOND
        draws = runs.query("threads == @row.threads and phases == @row.phases and percentile == @row.percentile")
        role = "prediction" if claimed else "context"
        name = f"schbench_us.{row.threads}.{row.phases}.p{row.percentile:g}"
        comparison.add(claim, name, "us", row.published_us, draws["latency_us"], role=role, factor=SCHBENCH_FACTOR)


#: With fewer seeds than these a row about random phases may miss its tolerance for that reason alone.
ENOUGH_SEEDS = 100
#: What is known about predictions that fail: the beginning of the quantity's name, whether the model is above the
#: published number, and why.
WHY = (
    (
        "power_w.2cg.random.run",
        True,
        "the published power stops rising where the model's goes on. What may be calibrated on leaves the idle power "
        "open, and the value from RFC v2 puts this run too high (see the figure). An earlier mail of the "
        "thread has 115 W for run 3, close to the model; the commit says 106 W, and that is what is compared.",
    ),
    (
        "schbench_us.16",
        False,
        "the published latencies stand flat near 950 us from the 75th to the 95th percentile with either kernel, which "
        "no queueing gives. It looks like the exit from a deep idle state, which the mail warns of, or another fixed "
        "cost. The model has none: a wake-up on an idle CPU takes an interrupt, a switch and its place in the waker's "
        "list. With message threads that compute as well (newer schbench) the 99th percentile is near (see readings).",
    ),
    (
        "schbench_p99_ratio.16",
        True,
        "with 16 threads a group uses up its quota in each period, but its workers spin by the wall clock, throttled "
        "or not, and those that are woken find idle CPUs: the 99th percentile (near 0.1 ms with either kernel) does "
        "not depend on phases. The published one holds milliseconds to gain.",
    ),
    (
        "schbench_us.32",
        False,
        "about half of the wake-ups find an idle CPU in the model and are done in microseconds; the published median "
        "has the same most of a millisecond that shows with 16 threads.",
    ),
    (
        "schbench_us.32",
        True,
        "two groups of 64 workers share 64 CPUs, so that many are woken onto a busy one. There they wait for its tick "
        "(4 ms at HZ 250; the mail does not say HZ, and at 1000 the middle of the distribution comes down) or, in the "
        "tail, for the end of their group's throttling. The model has no periodic balancing to spread them again.",
    ),
    (
        "schbench_us.64",
        True,
        "with 128 workers a group waits for refills of its quota; which percentile is the first to do so depends on "
        "demand to a few percent.",
    ),
    (
        "schbench_us.64",
        False,
        "the mean over runs hangs on how many of them drew phases that keep the windows of the two groups apart; there "
        "this percentile falls to microseconds (the lower edge of the band).",
    ),
    (
        "schbench_p99_ratio.64",
        False,
        "the model's mean is over many phases, and where they keep the windows of the two groups apart the tail all "
        "but disappears. The mail has one number, from whatever phases its cgroups drew; it lies in the model's range.",
    ),
)


def df_failures(scenario: Scenario, comparison: Comparison) -> pd.DataFrame:
    """Return the predictions that do not agree, and what is known about why.

    Parameters
    ----------
    scenario : Scenario
    comparison : Comparison
        From `compare`.

    Returns
    -------
    pandas.DataFrame
        quantity, unit, published, model, model_over_published (missing where nothing was published), why
        ("not explained" where nothing is known).
    """
    rows = []
    for row in comparison.failures().itertuples():
        ratio = row.model / row.published
        why = [text for part, is_above, text in WHY if row.quantity.startswith(part) and is_above == (ratio > 1)]
        if row.quantity.startswith("time_s.2cg.random") and scenario.seeds < ENOUGH_SEEDS:
            why = [f"{scenario.seeds} seeds are few: their mean and extremes scatter; the tolerance is meant for 200."]
        rows.append((row.quantity, row.unit, row.published, row.model, ratio, why[0] if why else "not explained"))
    return pd.DataFrame(rows, columns=["quantity", "unit", "published", "model", "model_over_published", "why"])
