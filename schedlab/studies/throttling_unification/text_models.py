"""Sentences about what the models do on small machines: steps, overrun, unthrottling, hotplug."""

import pandas as pd

from . import comparison as compared
from . import hotplug, overrun, unthrottle


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
        f"99th percentile with sections of up to {short:g} ms, {at['6.12', long]:.1f} ms with {long:g} ms; a tick is "
        "4 ms.",
        f"- 6.18 lets each task run on to its return to user space: {at['6.18', short]:.1f} ms with sections of up to "
        f"{short:g} ms, {at['6.18', long]:.0f} ms with {long:g} ms.",
        f"- 7.2 is the same in kind: {at['7.2', long]:.0f} ms with {long:g} ms. With short sections it overruns less "
        f"({at['7.2', short]:.2f} ms), by HRTICK and not by the series: without HRTICK it is "
        f"{at[overrun.NO_HRTICK, short]:.1f} ms.",
    ]
    middle = 10 if 10 in set(table["section_ms"]) else long
    ticked, plain = at["7.2", middle], at[overrun.NO_HRTICK, middle]
    if ticked > plain:
        lines.append(
            f"- With long sections HRTICK does the opposite: {ticked:.0f} ms with sections of up to {middle:g} ms, "
            f"{plain:.0f} ms without it. Slices that end on time end inside sections too, so that more tasks are on "
            "their way through the kernel when the group is throttled."
        )
    beyond = table[table["max_ms"] > table["bound_ms"]]
    if len(beyond):
        worst = beyond.loc[(beyond["max_ms"] / beyond["bound_ms"]).idxmax()]
        lines.append(
            f"- *{worst['layout']}*: {worst['model']} goes beyond a tick and a section of each task "
            f"({worst['max_ms']:.1f} ms where that is {worst['bound_ms']:.1f} ms). The next table says why."
        )
    return "\n".join(lines)


def _measured():
    """Say what guests with real kernels did, from the recordings of the hole."""
    from ..real_kernels import df_hole_measured

    runs = df_hole_measured()
    runs = runs[runs["variant"] != "Nalone"]
    new = runs["version"].str.startswith("7.2.")
    free = new & (runs["condition"] == "CPU kept free")
    usual = new & (runs["condition"] == "as it comes")
    share, others = runs["share_percent"], runs[~new]
    names = ", ".join(sorted(others["version"].unique(), key=lambda name: [int(part) for part in name.split(".")]))
    return (
        f"Guests with {' and '.join(sorted(runs[new]['version'].unique()))} do it: two tasks in an unlimited child, "
        f"under a quota of 10 % of a CPU, got {share[usual].min():.0f} to {share[usual].max():.0f} % of it over 10 s, "
        f"and {share[free].min():.0f} to {share[free].max():.0f} % where the CPU was kept free of all else (any other "
        "task there, such as a kworker, ends a stretch); up to "
        f"{runs[new]['longest_ms'].max() / 1000:.1f} s at full speed, then a standstill until the debt is paid. Guests "
        f"with {names} got at most {others['share_percent'].max():.1f} %. (The report on real kernels has the runs.)"
    )


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
        f"**A finding of the model, confirmed on real kernels: 7.2 lets such a group run on.** {_measured()} "
        "In v7.2.13 the pick no longer looks whether a level is "
        "throttled. The next task is told by set_next_task_fair(), "
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
        "at every level, which is the bounded case."
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
        "that contention for locks and caches, which the model has not, may have been a part of it."
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
    text += (
        " What was asked of the model before: within a tick on each CPU of what is due without hotplug and with the "
        f"fix, and more than {compared.HOTPLUG_S['buggy'][0]:g} s without it. That it comes close to "
        f"{posted['buggy']:g} s is the choice of rate."
    )
    return text + (
        f" Without hotplug and with the fix {posted['none']:g} and {posted['fixed']:g} s were posted, more "
        f"than is due; the "
        "21 s of real time that the mail has for a run would make 10.5 s."
    )
