"""Sentences about the tables, for the notebook: every number in them is computed."""

import pandas as pd

from ...published import Comparison
from ..bandwidth_timers import say_comparison
from . import comparison as compared
from . import steps
from .hackbench import MORE_BOOTS, MORE_PERIODS, US_PER_MESSAGE
from .noise import published_fewest, published_needed, significant_from
from .scenario import CONTEXT_SWITCH_NS, ENOUGH_BOOTS, ENOUGH_PERIODS, OLD, SERIES, Scenario

__all__ = ["say_comparison"]


def say_scenario(scenario: Scenario) -> str:
    """Return what is simulated, and with how many boots, as Markdown."""
    text = (
        f"hackbench `-p -T -g {scenario.groups}` runs in each of four leaves of a tree of limited groups (32, 16 and 8 "
        f"CPUs, as posted), on {scenario.machine.nr_cpus} CPUs. {scenario.nr_boots} boots a kernel, "
        f"seeds from {scenario.seed} on; a boot draws the phases of the seven timers. Each is measured for "
        f"{scenario.nr_periods} periods of 100 ms after a first one that is not counted. One step of a task stands for "
        f"{scenario.coarsen} messages. A context switch costs {CONTEXT_SWITCH_NS / 1000:g} us.\n\n"
        "*tip* is the kernel of 7.2 without the series and *tip + series* the same with it, so that they differ in it "
        "alone. *6.18* stands beside them: it lacks the series too, and more. HRTICK, which ends slices by a timer of "
        "their own, is on in 7.2 and therefore in both; it is off in 6.18 and 6.12."
    )
    if scenario.quick:
        text += (
            "\n\n**A quick run:** fewer boots, shorter ones, no further `-g` and fewer points of every sweep. The "
            "numbers below are coarser for it."
        )
    if not scenario.is_published:
        text += "\n\n**Not the published scenario:** the rows of hackbench stand in the comparison as context."
    elif not scenario.is_enough:
        text += (
            f"\n\nFewer than {ENOUGH_BOOTS} boots or {ENOUGH_PERIODS} periods: the rows of hackbench stand in the "
            "comparison as context."
        )
    return text


def say_fit(fit: pd.DataFrame) -> str:
    """Return how the cost of a message was fitted.

    Parameters
    ----------
    fit : pandas.DataFrame
        From `df_fit`.
    """
    row = fit[fit["in_use"]].iloc[0]
    return (
        f"**Calibration.** The published time, 207.8 s, makes {US_PER_MESSAGE:g} us of CPU time a message if the quota "
        f"limits throughout. A write and a read are given one cost, fitted on *tip* alone in {len(fit)} short runs: "
        f"{row['cost_ns']:.0f} ns each, with which a message takes {row['cpu_us_per_message']:.3f} us. So the absolute "
        "time proves nothing; what the series changes was not fitted."
    )


def say_hackbench(scenario: Scenario, table: pd.DataFrame) -> str:
    """Return what the boots say.

    Parameters
    ----------
    scenario : Scenario
    table : pandas.DataFrame
        From `df_hackbench`.
    """
    lines = []
    for groups, part in table.groupby("groups", sort=False):
        rows = part.set_index("kernel")
        line = f"- `-g {groups}`, {rows['boots'].iloc[0]} boots:"
        for kernel in (SERIES, OLD):
            row = rows.loc[kernel]
            line += (
                f" {kernel} {row['difference_percent']:+.2f} % against tip (95 %: {row['low_percent']:+.2f} to "
                f"{row['high_percent']:+.2f} %, p = {row['p']:.2f}; boot by boot {row['paired_low_percent']:+.2f} to "
                f"{row['paired_high_percent']:+.2f} %)" + (";" if kernel == SERIES else ".")
            )
        lines.append(line)
    row = table[(table["groups"] == scenario.groups) & (table["kernel"] == SERIES)].iloc[0]
    same = table[(table["groups"] == scenario.groups) & (table["kernel"] == OLD)].iloc[0]
    text = "\n".join(lines) + "\n\n"
    text += "*Boot by boot*: a seed has the same phases under each kernel, so that pairs can be compared. "
    if row["identical"]:
        text += (
            f"With `-g {scenario.groups}` the series changes no boot: each passes the very same number of "
            f"messages. There "
            "are more CPUs than tasks; a task that runs is told at the same tick either way, and runs on "
            "to the end of its "
            "call. What the series saves are calls of `__schedule` that pick the same task again, and "
            "**those the model "
            "has for nothing: a ratio of exactly 1 is no measurement of their price.** Were each as dear "
            "as a whole switch "
            f"({CONTEXT_SWITCH_NS / 1000:g} us), they would be {row['schedules_cost_percent']:.3f} % of the CPU time."
        )
    else:
        text += (
            f"Taken so, the series changes {row['paired_low_percent']:+.2f} to {row['paired_high_percent']:+.2f} % at "
            f"`-g {scenario.groups}` (95 %)."
        )
    if same["identical"]:
        text += " 6.18 does what tip does: where a CPU has one task, HRTICK and newer rules of EEVDF decide nothing."
    more = [n for n in table["groups"].unique() if n != scenario.groups]
    if more:
        text += (
            f" The further `-g` have at most {MORE_BOOTS} boots of at most {MORE_PERIODS} periods: their intervals say "
            "how little that is."
        )
    return text


def say_noise(noise: pd.DataFrame, table: pd.DataFrame, published: pd.DataFrame, groups: int) -> str:
    """Return whether the published difference, and the model's, can be told from noise.

    Parameters
    ----------
    noise, table, published : pandas.DataFrame
        From `df_noise`, `df_hackbench`, ``published.load("throttling_hackbench")``.
    groups : int
    """
    needed, fewest = published_needed(published), published_fewest(published)
    each = "; ".join(f"{row.runs} runs a side: {_p(row.p)}" for row in noise.itertuples())
    first = noise.iloc[0]
    row = table[(table["groups"] == groups) & (table["kernel"] == SERIES)].iloc[0]
    ours = (
        f"about {row['boots_needed']:.0f} boots a side"
        if row["boots_needed"] == row["boots_needed"]
        else "more boots than could be simulated"
    )
    least = significant_from(published)
    own = (
        f"The model's own difference at `-g {groups}`, {row['difference_percent']:+.2f} %, would take {ours}; "
        f"{row['boots']:.0f} were run (p = {row['p']:.2f})."
    )
    if row["identical"]:
        own = f"The model has no difference of its own at `-g {groups}`: no number of boots would find one."
    return (
        f"**Can {first['difference_percent']:+.1f} % be told from noise?** With the posted standard "
        f"deviations Welch's test "
        f"gives: {each}. **With fewer than {least} runs a side it cannot** (p above 0.05), and it takes "
        f"**{needed} runs a "
        "side** to find a difference of this size in four cases of five. The mail does not say how many "
        "there were; its "
        f"minimum, median, mean and maximum fit no fewer than {fewest}.\n\n"
        f"{own}"
    )


def _p(p):
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def say_verdict(scenario: Scenario, comparison: Comparison) -> str:
    """Return what agrees with the published numbers, what does not, and why, as Markdown."""
    table = comparison.table()
    predictions = table[table["role"] == "prediction"]
    good = (predictions["agrees"] == True).sum()  # noqa: E712  an object column
    lines = [f"**{good} of {len(predictions)} predictions agree.** By claim:", ""]
    for claim, part in predictions.groupby("claim", sort=False):
        lines.append(f"- {claim}: {(part['agrees'] == True).sum()} of {len(part)} agree.")  # noqa: E712
    failures = compared.df_failures(scenario, comparison)
    if failures.empty:
        return "\n".join(lines)
    lines += ["", "**What does not agree, and why.** These rows stay in the table as they came out.", ""]
    for row in failures.itertuples():
        lines.append(f"- `{row.quantity}` (×{row.model_over_published:.2g}): {row.why}")
    return "\n".join(lines)


def check_claims(comparison: Comparison, schedules: pd.DataFrame, counts: pd.DataFrame) -> None:
    """Raise when a calibrated number is off, the schedule counts are not D3's, or the closed form is not the engine's.

    Raises
    ------
    AssertionError
        Naming the rows.
    """
    table = comparison.table()
    off = table[(table["role"] == "calibration") & (table["agrees"] == False)]  # noqa: E712  an object column
    assert off.empty, f"calibrated, but off: {', '.join(off['quantity'])}"
    one = schedules[schedules["hogs"] == 1].set_index("model")
    exact = {model: [n, n] for model, n in steps.SCHEDULES.items()}
    found = {model: one.loc[model, ["schedules_low", "schedules_high"]].tolist() for model in exact}
    assert found == exact, f"schedule calls for each throttle: {found}"
    assert counts["equal"].all(), "the closed form does not count what the engine counts"
