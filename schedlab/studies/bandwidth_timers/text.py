"""Sentences about the tables, for the notebook: every number in them is computed."""

import numpy as np
import pandas as pd

from ...published import Comparison
from ...units import NS_PER_US
from . import comparison as compared
from . import schbench
from .payoff import PAYS_PERCENT
from .scenario import QUICK_REPLICATES, Scenario

#: Claims with more numbers than these take one row of the README's table.
LONG_CLAIM = 6


def say_scenario(scenario: Scenario) -> str:
    """Return what is simulated, and with how many seeds, as Markdown."""
    share = 100 * scenario.quota_us / (scenario.period_us * scenario.machine.nr_cpus)
    text = (
        f"Each cgroup runs `stress-ng --cpu={scenario.workers} --cpu-ops={scenario.cpu_ops}` with `cpu.max` "
        f"`{scenario.quota_us} {scenario.period_us}`: {share:.0f} % of {scenario.machine.nr_cpus} CPUs, so that its "
        f"workers run {100 * scenario.window_share:.0f} % of each period of {scenario.period_ms:g} ms. "
        f"Random phases are drawn with {scenario.seeds} seeds from {scenario.seed} on."
    )
    if scenario.quick:
        text += (
            f"\n\n**A quick run:** at most {QUICK_REPLICATES} seeds (of {scenario.replicates} asked for), fewer phases "
            "of the tick, shorter runs of schbench and fewer cells of the map. The numbers below are coarser for it."
        )
    if not scenario.is_published:
        text += (
            "\n\n**Not the published scenario:** the published numbers stand beside the model's as context, "
            "and no row counts as a prediction."
        )
    return text


def say_mechanism(shares: pd.DataFrame) -> str:
    """Return what the windows show.

    Parameters
    ----------
    shares : pandas.DataFrame
        From `df_time_shares`.
    """
    by = shares.set_index("timers")
    aligned, other = by.loc["aligned"], by.loc["interleaved"]
    return (
        f"With aligned timers both groups run {aligned['both_percent']:.0f} % of the time and nobody "
        f"{aligned['nobody_percent']:.0f} %; with these random phases both run {other['both_percent']:.0f} % of the "
        f"time, one alone {other['one_group_percent']:.0f} %, nobody {other['nobody_percent']:.0f} %. Quota is paid in "
        "time, not in work: a thread that shares its core with fewer others gets more done before it is throttled."
    )


def say_stress(table: pd.DataFrame) -> str:
    """Return what the phases do to time, power and energy.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_stress`.
    """
    two = table[table["groups"] == 2].set_index("phases")
    aligned = two.loc["aligned"]
    lines = [f"Two groups with aligned timers take {aligned['time_s']:.1f} s."]
    for phase, row in two.drop("aligned").iterrows():
        spread = f" ({row['time_low_s']:.1f} to {row['time_high_s']:.1f} s over {row['runs']:.0f} runs)"
        line = f"With {phase} phases: {row['time_s']:.1f} s{spread}, {row['time_saved_percent']:.0f} % less time"
        if not pd.isna(row["power_w"]):
            line += f", {100 * (row['power_w'] / aligned['power_w'] - 1):+.0f} % power"
            line += f", {row['energy_saved_percent']:.0f} % less energy per job"
        lines.append(f"{line}.")
    return "\n".join(f"- {line}" for line in lines)


def say_power(phases: pd.DataFrame, sensitivity: pd.DataFrame) -> str:
    """Return how the power predictions come out, and what idle power would have made of them.

    Parameters
    ----------
    phases, sensitivity : pandas.DataFrame
        From `df_published_phases` and `df_idle_sensitivity`.
    """
    good = phases["error_percent"].abs() <= compared.POWER_PERCENT
    text = (
        f"At the phase that each published run's time implies, {good.sum()} of {len(phases)} powers are within "
        f"{compared.POWER_PERCENT:g} %"
    )
    for row in phases[~good].itertuples():
        text += f"; run {row.run} is off by {row.error_percent:+.1f} %"
    all_agree = sensitivity.groupby("idle_w")["agrees"].all()
    ranges = f"{sensitivity['idle_w'].min():g} to {sensitivity['idle_w'].max():g} W"
    fits = ", ".join(f"{idle_w:g}" for idle_w in all_agree.index[all_agree]) or "none"
    now = ", ".join(f"{idle_w:.1f} W" for idle_w in sensitivity.loc[sensitivity["in_use"], "idle_w"].unique())
    return (
        f"{text}. These predictions are *conditional*: the time of a run says which phase it drew, and only then has "
        f"the model a power for it. One group and two aligned ones do not determine the idle power (in use: {now} from "
        f"an earlier posting); of the values tried, {ranges}, these would have put all {len(phases)} runs within "
        f"{compared.POWER_PERCENT:g} %: {fits}. None of them was chosen for that."
    )


def say_schbench_setup(scenario: Scenario) -> str:
    """Return how schbench is run, and what the kernel's work costs it."""
    wake_us, post_us = schbench.WAKE_COST_NS / NS_PER_US, schbench.POST_COST_NS / NS_PER_US
    switch_us, ipi_us = schbench.COSTS.context_switch_ns / NS_PER_US, schbench.COSTS.ipi_ns / NS_PER_US
    return (
        f"{schbench.MESSAGE_THREADS} message threads (the default), workers that spin 30 ms of wall-clock time: the "
        f"classic schbench of 2020 and 2021, on HZ {scenario.kernel.hz}. A context switch costs {switch_us:g} us, an "
        f"interrupt to another CPU {ipi_us:g} us, waking a worker {wake_us:g} us of the message thread's time, a "
        f"worker's own call {post_us:g} us: the middle of what is usual for each."
    )


def say_schbench(table: pd.DataFrame) -> str:
    """Return how the percentiles come out.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_schbench`.
    """
    lines = []
    for threads, part in table.groupby("threads", sort=False):
        p99 = part[part["percentile"] == 99].set_index("phases")
        ratio = {c: p99.loc["random", c] / p99.loc["aligned", c] for c in ("latency_us", "published_us")}
        line = f"`-t {threads}`: interleaving takes the 99th percentile to {ratio['latency_us']:.2f} of what it was"
        judged = part[(part["percentile"] <= compared.SCHBENCH_CLAIMED) & part["published_us"].notna()]
        if len(judged):
            factor = compared.SCHBENCH_FACTOR
            within = judged["model_over_published"].between(1 / factor, factor).sum()
            line += f" (published: {ratio['published_us']:.2f})"
            line += f"; {within} of {len(judged)} percentiles up to there are within a factor of {factor:g}"
        lines.append(f"- {line}.")
    return "\n".join(lines)


def say_payoff(limits: pd.DataFrame, full: pd.DataFrame) -> str:
    """Return when interleaving pays.

    Parameters
    ----------
    limits, full : pandas.DataFrame
        From `df_payoff_limit` and `df_full_utilisation`.
    """
    lines = []
    for row in limits[limits["phases"] == "random"].itertuples():
        lines.append(
            f"- {row.groups} groups, random phases: {row.best_saved_percent:.0f} % of the time saved at "
            f"{row.best_at_percent:g} % utilisation, {row.saved_at_50_percent:.0f} % at 50 %, less than "
            f"{PAYS_PERCENT:g} % from {row.pays_below_percent:.0f} % on."
        )
    lines.append("")
    lines.append(
        "The mail says that it pays while the total stays below 50 %. In the model that is where windows *can* be kept "
        "apart altogether, and where staggered timers do; but nothing ends there: random phases lose their gain little "
        "by little as windows come to fill the period."
    )
    if "random" in set(full["phases"]):
        ratio = full.set_index("phases").loc["random", "over_aligned"]
        lines.append(f"With a quota that lets every worker run all the time, random over aligned is {ratio:.4f}.")
    return "\n".join(lines)


def say_verdict(scenario: Scenario, comparison: Comparison) -> str:
    """Return what agrees with the published numbers, what does not, and why, as Markdown.

    Parameters
    ----------
    scenario : Scenario
    comparison : Comparison
        From `compare`.
    """
    if not scenario.is_published:
        return "This is not the scenario that the published numbers are from: nothing is judged."
    table = comparison.table()
    predictions = table[table["role"] == "prediction"]
    good = predictions["agrees"] == True  # noqa: E712  an object column
    lines = [f"**{good.sum()} of {len(predictions)} predictions agree.**" + _best(table), "", "By claim:", ""]
    for claim, part in predictions.groupby("claim", sort=False):
        lines.append(f"- {claim}: {(part['agrees'] == True).sum()} of {len(part)} agree.")  # noqa: E712
    failures = compared.df_failures(scenario, comparison)
    if failures.empty:
        return "\n".join(lines)
    lines += ["", "**What does not agree, and why.** These rows stay in the table as they came out.", ""]
    for why, part in failures.groupby("why", sort=False):
        names = ", ".join(f"`{row.quantity}`{_times(row.model_over_published)}" for row in part.itertuples())
        lines.append(f"- {names}: {why}")
    return "\n".join(lines)


def _times(ratio):
    return "" if pd.isna(ratio) else f" (×{ratio:.2g})"


def _best(table):
    """Return the sentences about what the study is for: the time that random phases save, and what comes with it."""
    rows = table.set_index("quantity")
    text = ""
    if "time_s.2cg.random.mean" in rows.index:
        mean, aligned = rows.loc["time_s.2cg.random.mean"], rows.loc["time_s.2cg.aligned"]
        text += (
            f" Calibrated on one group and on aligned timers alone, the model says that random phases take "
            f"{mean['model']:.2f} s on the mean where aligned timers take {aligned['model']:.2f} s; the published runs "
            f"took {mean['published']:.2f} s ({mean['published_low']:g} to {mean['published_high']:g} s) and "
            f"{aligned['published']:.2f} s."
        )
    return text


def check_calibration(scenario: Scenario, comparison: Comparison) -> None:
    """Raise when a number that was calibrated does not come out of the model any more.

    Raises
    ------
    AssertionError
        Naming the rows.
    """
    table = comparison.table()
    off = table[(table["role"] == "calibration") & (table["agrees"] == False)]  # noqa: E712  an object column
    assert off.empty, f"calibrated, but off: {', '.join(off['quantity'])}"


def say_agreement(table: pd.DataFrame) -> str:
    """Return a comparison as a short Markdown table, the one of the README: long claims have one row.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns of ``Comparison.table()``, or what ``pandas.read_csv`` makes of a comparison.csv.
    """
    lines = ["| quantity | published | model | agrees |", "|---|---:|---:|---|"]
    for (claim, role), part in table[table["role"] != "context"].groupby(["claim", "role"], sort=False):
        if len(part) > LONG_CLAIM:
            good = (part["agrees"] == True).sum()  # noqa: E712  an object column
            lines.append(f"| {claim} | | {len(part)} numbers | {good} of {len(part)} |")
            continue
        for row in part.itertuples():
            published, model = (_range(row, name) for name in ("published", "model"))
            verdict = "calibrated" if role == "calibration" else ("yes" if row.agrees else "**no**")
            lines.append(f"| `{row.quantity}` | {published} | {model} | {verdict} |")
    return "\n".join(lines)


def say_comparison(comparison: Comparison) -> str:
    """Return a whole comparison as a Markdown table, each row with the range that it was judged by.

    Parameters
    ----------
    comparison : Comparison
    """
    lines = ["| quantity | published | model | role | agrees within | agrees |", "|---|---:|---:|---|---:|---|"]
    verdicts = {True: "yes", False: "**no**"}
    for row, rule in zip(comparison.table().itertuples(), comparison.rules().itertuples(), strict=True):
        published, model = (_range(row, name) for name in ("published", "model"))
        verdict = verdicts.get(row.agrees, "")
        within = accepted(rule) if verdict else ""
        lines.append(f"| `{row.quantity}` | {published} | {model} | {row.role} | {within} | {verdict} |")
    return "\n".join(lines)


def accepted(rule) -> str:
    """Return the range that a row of ``Comparison.rules()`` asks for, in the unit of its quantity.

    Examples
    --------
    >>> from types import SimpleNamespace as Rule
    >>> accepted(Rule(statistic="mean", low=12.0, high=float("inf"))), accepted(Rule(statistic="mean", low=1, high=2))
    ('\N{GREATER-THAN OR EQUAL TO} 12', '1 to 2')
    """
    low, high = _short(rule.low), _short(rule.high)
    if np.isinf(rule.low) or np.isinf(rule.high):
        text = f"\N{LESS-THAN OR EQUAL TO} {high}" if np.isinf(rule.low) else f"\N{GREATER-THAN OR EQUAL TO} {low}"
    else:
        text = low if low == high else f"{low} to {high}"
    return text if rule.statistic == "mean" else f"published in {text}"


def _range(row, name):
    """Return a mean and, where there is one, its range, with the unit."""
    mean, low, high = (getattr(row, column) for column in (name, f"{name}_low", f"{name}_high"))
    if pd.isna(mean):
        return ""
    spread = "" if low == high else f" ({_short(low)} to {_short(high)})"
    return f"{_short(mean)}{spread} {row.unit if isinstance(row.unit, str) else ''}".rstrip()


def _short(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
