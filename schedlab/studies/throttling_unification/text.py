"""Sentences about the tables, for the notebook: every number in them is computed."""

import pandas as pd

from ...published import Comparison
from ..bandwidth_timers import say_comparison
from . import comparison as compared
from . import hotplug, overrun, steps, unthrottle
from .hackbench import MORE_BOOTS, MORE_PERIODS, US_PER_MESSAGE
from .noise import published_fewest, published_needed
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
            "\n\n**A quick run:** fewer boots, shorter ones, fewer further `-g` and fewer points of every sweep. The "
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


def say_steps(schedules: pd.DataFrame) -> str:
    """Return what the steps show.

    Parameters
    ----------
    schedules : pandas.DataFrame
        From `df_schedules`.
    """
    one = schedules[schedules["hogs"] == 1].set_index("model")["schedules"]
    most = schedules["hogs"].max()
    many = schedules[schedules["hogs"] == most].set_index("model")
    new = many.loc["7.2"]
    text = (
        f"With one hog: {one['6.12']:g} call of `__schedule` for each throttle on 6.12, {one['6.18']:g} on 6.18, "
        f"{one['7.2']:g} on 7.2. 6.12 takes the whole group off the queue, so further hogs cost nothing "
        f"({many.loc['6.12', 'schedules']:g} with {most}). Under per-task throttling each of them is "
        f"picked once and leaves: "
        f"{many.loc['6.18', 'schedules']:g} calls and {many.loc['6.18', 'works']:g} dequeues with {most} on 6.18, "
        f"{new['schedules']:g} and {new['works']:g} on 7.2."
    )
    if new["schedules_high"] > new["schedules_low"]:
        text += (
            f" (On 7.2 it is {new['schedules_low']:g}, and {new['schedules_high']:g} where the tick that "
            f"ends the quota "
            "ends a slice too.)"
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
                f"{row['high_percent']:+.2f} %, p = {row['p']:.2f})" + (";" if kernel == SERIES else ".")
            )
        lines.append(line)
    row = table[(table["groups"] == scenario.groups) & (table["kernel"] == SERIES)].iloc[0]
    same = table[(table["groups"] == scenario.groups) & (table["kernel"] == OLD)].iloc[0]
    text = "\n".join(lines) + (
        f"\n\nThe same seed has the same phases under both kernels; taken boot by boot, the series changes "
        f"{row['paired_low_percent']:+.2f} to {row['paired_high_percent']:+.2f} % (95 %)."
    )
    if same["paired_low_percent"] == same["paired_high_percent"] == 0:
        text += (
            f" With `-g {scenario.groups}` 6.18 does exactly what tip does: a CPU has one task to choose from, so that "
            "HRTICK and the newer rules of EEVDF decide nothing."
        )
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
    each = "; ".join(f"{row.runs} runs a side: p = {row.p:.3f}" for row in noise.itertuples())
    first = noise.iloc[0]
    row = table[(table["groups"] == groups) & (table["kernel"] == SERIES)].iloc[0]
    ours = (
        f"about {row['boots_needed']:.0f} boots a side"
        if row["boots_needed"] == row["boots_needed"]
        else "more boots than could be simulated"
    )
    verdict = "cannot" if noise.loc[noise["runs"] < needed, "p"].max() > 0.05 else "can"
    return (
        f"**Can {first['difference_percent']:+.1f} % be told from noise?** With the posted standard "
        f"deviations Welch's test "
        f"gives: {each}. At 5 % it takes **{needed} runs a side** to find a difference of this size in four cases of "
        f"five. The mail does not say how many there were; its minimum, median, mean and maximum fit no "
        f"fewer than {fewest}. "
        f"Unless there were about {needed} or more, the posted difference {verdict} be told from noise.\n\n"
        f"The model's own difference at `-g {groups}`, {row['difference_percent']:+.2f} %, would take {ours}; "
        f"{row['boots']:.0f} were run (p = {row['p']:.2f})."
    )


def say_overrun(table: pd.DataFrame) -> str:
    """Return what the overrun depends on.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_overrun`.
    """
    at = table[table["layout"] == overrun.ONE].set_index(["model", "section_ms"])["p99_ms"]
    short, long = table["section_ms"].min(), table["section_ms"].max()
    lines = [
        f"- 6.12 stops a task inside the kernel too (full preemption): {at['6.12', short]:.1f} ms at the "
        f"99th percentile, "
        f"whatever the sections; that is the tick of 4 ms.",
        f"- 6.18 lets each task run on to its return to user space: {at['6.18', short]:.1f} ms with sections of up to "
        f"{short:g} ms, {at['6.18', long]:.0f} ms with {long:g} ms.",
        f"- 7.2 is the same in kind: {at['7.2', long]:.0f} ms with {long:g} ms. With short sections it overruns less "
        f"({at['7.2', short]:.2f} ms), by HRTICK and not by the series: without HRTICK it is "
        f"{at[overrun.NO_HRTICK, short]:.1f} ms.",
    ]
    beyond = table[table["max_ms"] > table["bound_ms"]]
    if len(beyond):
        worst = beyond.loc[(beyond["max_ms"] / beyond["bound_ms"]).idxmax()]
        lines.append(
            f"- *{worst['layout']}*: {worst['model']} goes beyond a tick and a section of each task "
            f"({worst['max_ms']:.1f} ms where that is {worst['bound_ms']:.1f} ms). The next table says why."
        )
    return "\n".join(lines)


def say_told(table: pd.DataFrame) -> str:
    """Return what becomes of a group whose tasks are a level further down.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_told`.
    """
    new = table[table["model"] == "7.2"]
    others = table[table["model"] != "7.2"]["usage_over_quota"].max()
    alone = new[new["beside"] == "alone"]
    worst = alone.loc[alone["usage_over_quota"].idxmax()]
    limited = alone[alone["tree"] == "child with a limit"]["usage_over_quota"].max()
    beside = new[new["beside"] != "alone"]["usage_over_quota"].max()
    return (
        "**A finding, read from the source and reproduced by the model; nobody has confirmed it on a real kernel.** In "
        "v7.2.13 the pick no longer looks whether a level is throttled. The next task is told by set_next_task_fair(), "
        "which begins at the task's own queue and stops at the first level that still has a `curr`. When one task of "
        "a child group follows another, that is the child's parent: throttled or not, it is not looked at. And a task "
        "is otherwise told only at the moment at which the group becomes throttled, when it is the one that runs.\n\n"
        f"So {worst['tasks']} {worst['program']} in a child without limit use "
        f"{worst['usage_over_quota']:.2f} times their "
        f"parent's quota in the model of 7.2 ({worst['throttles']} throttle, {worst['works']} task "
        f"stopped): one leaves, "
        f"the rest go on, and the debt grows faster than refills repay it. A limit of the child's own bounds it "
        f"({limited:.2f}), and so does any other group on the CPU ({beside:.2f}): the way back from there "
        f"passes through "
        f"all levels. Without the series, on 6.18 and on 6.12 nothing exceeds {others:.2f}. hackbench's "
        f"tree has limits "
        "at every level: the runs above show how little of this reaches it."
    )


def say_unthrottle(counts: pd.DataFrame, irqoff: pd.DataFrame) -> str:
    """Return where the time goes when many groups come back.

    Parameters
    ----------
    counts, irqoff : pandas.DataFrame
        From `df_counts` and `df_irqoff`.
    """
    lockup, anchor = unthrottle.LOCKUP, unthrottle.ANCHOR
    at = irqoff[(irqoff["groups"] == lockup["groups"]) & (irqoff["cpus"] == lockup["cpus"])].set_index("way")
    ratio = at.loc["inline", "longest_ms"] / at.loc["async", "longest_ms"]
    low, high = unthrottle.ANCHOR_MS
    most = irqoff[irqoff["way"] == "inline"].loc[lambda d: d["longest_ms"].idxmax()]
    return (
        f"One limited group, throttled on every CPU, with so many groups below it and ten tasks in each. "
        f"The counts are a "
        f"closed form that equals the engine's in {counts['equal'].sum()} of {len(counts)} simulated "
        f"cases; states of the "
        f"full size would not fit into memory. **Calibration:** a unit (a queue served, a group walked over, a level "
        f"queued on) costs {unthrottle.price_ns():.0f} ns, so that the longest distribution with "
        f"{anchor['groups']} groups "
        f"on {anchor['cpus']} CPUs takes {(low + high) / 2:g} ms (observed: {low:g} to {high:g}). That the "
        f"three units cost "
        "the same, and how that machine's groups were nested, is assumed.\n\n"
        f"On {lockup['cpus']} CPUs with {lockup['groups']} groups inline distribution holds one CPU for "
        f"{at.loc['inline', 'longest_ms']:.0f} ms, asynchronous for {at.loc['async', 'longest_ms']:.1f} "
        f"ms: {ratio:.0f} times "
        f"as long, near the number of CPUs, while the sum over CPUs is the same. Per-task throttling adds the tasks: "
        f"{at.loc['per task', 'longest_ms']:.1f} ms. The series changes none of these counts (one group "
        f"has one queue a CPU; "
        f"what is saved is a lock section). Reports speak of hard lockups, which take 10 s: at this price not "
        f"even {most['cpus']} CPUs and {most['groups']} groups come to that ({most['longest_ms'] / 1000:.1f} s), so "
        "that contention for locks and caches, which the model has not, must have been a part of it."
    )


def say_hotplug(table: pd.DataFrame) -> str:
    """Return what hotplug does to the limit.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_hotplug`.
    """
    buggy = table[table["kernel"] == "buggy"].set_index("every_ms")["used_s"]
    fixed = table[table["kernel"] == "fixed"]["used_s"].max()
    posted = compared.HOTPLUG_PUBLISHED_S
    rate = hotplug.implied_rate(table, posted["buggy"])
    text = (
        f"{hotplug.CPUS} hogs, cpu.max {hotplug.QUOTA_US} 100000, {hotplug.SECONDS} s: {hotplug.IDEAL_S:g} "
        f"s of CPU time are "
        f"due. Up to 6.13 each rebuild of the domains unthrottled the group on every CPU and gave it 1 ns: "
        f"{buggy[hotplug.JUDGED_MS]:.1f} s with an operation each {hotplug.JUDGED_MS} ms. With the fix at "
        f"most {fixed:.2f} s."
    )
    if rate == rate:
        text += (
            f" The mail does not say how fast its loop was: {posted['buggy']:g} s would be {rate:.1f} "
            f"operations a second "
            "here."
        )
    return text + (
        f" Its runs without hotplug and with the fix took {posted['none']:g} and {posted['fixed']:g} s, "
        f"more than is due: they "
        "lasted about 21 s, and counted start and exit."
    )


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
