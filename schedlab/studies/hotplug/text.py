"""Sentences about the tables of group walks, their growth and the review: every number in them is computed."""

import pandas as pd

from ...hotplug.fit import GUEST, GUEST_GROUPS, cost_table
from ...machine import Machine
from .scope import Scope
from .series_a import OPERATIONS

NAMES = {"partition_root": "partition switch", "cpu_offline": "CPU offline", "cpu_online": "CPU online"}


def say_scope(scope: Scope) -> str:
    """Return what is counted and what is fitted, as Markdown."""
    guest, table = Machine.load(GUEST), cost_table(GUEST)
    text = (
        f"Counts come from the machine and the kernel alone and are exact. Costs are fitted or assumed. The guest has "
        f"{guest.nr_cpus} CPUs and {GUEST_GROUPS - 1:,} cgroups ({GUEST_GROUPS:,} task groups with the root). The "
        f"operations are `{'`, `'.join(OPERATIONS.values())}`. How each cost of the guest was obtained:\n\n"
    )
    text += "\n".join(f"- `{name}`: {how}" for name, how in table.how.items())
    if scope.quick:
        text += (
            "\n\n**A quick run:** fewer numbers of cgroups and CPUs, and only the smaller servers. The published cases "
            "and the comparison are those of a full run."
        )
    return text


def say_operations(operations: pd.DataFrame, walks: pd.DataFrame) -> str:
    """Return what each level leaves of the three operations.

    Parameters
    ----------
    operations, walks : pandas.DataFrame
        From `df_operations` and `df_walks`.
    """
    ms = operations.pivot(index="kernel", columns="operation", values="predicted_ms")
    visits = walks.pivot(index="kernel", columns="operation", values="group_visits")
    lines = [
        "| kernel | " + " | ".join(f"{NAMES[name]} (ms) | group visits" for name in OPERATIONS) + " |",
        "|:---" + "|---:" * (2 * len(OPERATIONS)) + "|",
    ]
    for level in operations["kernel"].unique():
        cells = (f"{ms.loc[level, name]:.2f} | {visits.loc[level, name]:,}" for name in OPERATIONS)
        lines.append(f"| {level} | {' | '.join(cells)} |")
    base, both, fused = (ms.loc[level] for level in ("base", "patch1+2", "V1a"))
    calls = walks.set_index(["kernel", "operation"]).loc[("base", "partition_root"), "rq_attach_root"]
    lines += [
        "",
        f"A partition switch is {calls} calls of rq_attach_root() and two walks in each. Both patches take it from "
        f"{base['partition_root']:.1f} to {both['partition_root']:.1f} ms. V2 does the same work without a new field. "
        f"The fused loop leaves {fused['partition_root']:.1f} ms at the assumed share "
        f"({cost_table(GUEST).fuse_phi:g} of two separate visits); V1b changes the CPU that goes alone.",
    ]
    return "\n".join(lines)


def say_fits(fits: pd.DataFrame, visits: pd.DataFrame) -> str:
    """Return how much the fits are worth: parameters against numbers.

    Parameters
    ----------
    fits, visits : pandas.DataFrame
        From `df_fits` and `df_visit_costs`.
    """
    lines = ["| model | parameters | numbers | largest error | |", "|:---|---:|---:|---:|:---|"]
    for row in fits.sort_values("parameters").itertuples():
        error = f"{row.max_error_percent:.1f} %"
        lines.append(f"| {row.model} | {row.parameters} | {row.numbers} | {error} | {row.says} |")
    used = fits.set_index("model").loc["M1"]
    by = visits.set_index("operation")
    lines += [
        "",
        f"In use is M1: **{used['parameters']} parameters for {used['numbers']} numbers**, a calibration and no proof. "
        f"A visit costs {used['clear_ns']:.0f} (clear) and {used['resync_ns']:.0f} ns (resync) in a partition switch, "
        f"{used['factor_offline']:.2f} times as much in an offline and {used['factor_online']:.2f} times in an online. "
        f"The number of calls does not explain the factor: it is the same within one. That a hotplug operation runs on "
        f"another CPU each time, whose caches hold none of the groups' data, would; it is a hypothesis. Differences of "
        f"published medians, without any fit, give {by.loc['partition', 'call_us']:.0f}, "
        f"{by.loc['offline', 'call_us']:.0f} and {by.loc['online', 'call_us']:.0f} us a call; in the online, one "
        f"factor for clear and resync does not do ({by.loc['online', 'clear_ns'] / by.loc['partition', 'clear_ns']:.2f}"
        f" and {by.loc['online', 'resync_ns'] / by.loc['partition', 'resync_ns']:.2f}), which is where M1 is off most.",
    ]
    return "\n".join(lines)


def say_irq_off(irq_off: pd.DataFrame) -> str:
    """Return what one call takes with interrupts off, and what is left unexplained.

    Parameters
    ----------
    irq_off : pandas.DataFrame
        From `df_irq_off`.
    """
    by = irq_off.set_index(["kernel", "statistic"])
    median, longest, typical = by.loc[("base", "median")], by.loc[("base", "max")], by.loc[("patch1+2", "typical")]
    return (
        f"The median of {median['published_us']:.0f} us follows from the operations ({median['predicted_us']:.0f} us). "
        f"The maximum of {longest['published_us']:.0f} us does not: **{longest['unexplained_us']:.0f} us of it stay "
        f"unexplained**, since all calls of a switch do the same work in the model. The {typical['published_us']:.0f} "
        "us with both patches are taken as they are: the cost of a call without walks."
    )


def say_review(review: pd.DataFrame, shortest: pd.DataFrame) -> str:
    """Return the trace that the naive boolean does not survive, as a Markdown table.

    Parameters
    ----------
    review, shortest : pandas.DataFrame
        From `df_review` and `df_shortest_traces`.
    """
    levels = ["base", "patch1+2", "V2", "V2-naive"]
    trace = review[review["trace"] == "quota while offline"]
    lines = [
        "| step | operation | group has a quota | " + " | ".join(levels) + " |",
        "|---:|:---" + "|:---" * (1 + len(levels)) + "|",
    ]
    spoken = ("CPU 3 goes offline", "the group gets a quota", "CPU 3 comes online")
    for number, part in trace.groupby("step"):
        by = part.set_index("kernel")
        cells = []
        for level in levels:
            row = by.loc[level]
            value = f"{row['runtime_enabled']:d}" if row["online"] else f"({row['runtime_enabled']:d}, offline)"
            cells.append(f"**{value}: stale**" if row["violation"] else value)
        quota = "yes" if by["quota"].iloc[0] else "no"
        lines.append(f"| {number} | {spoken[number - 1]} | {quota} | {' | '.join(cells)} |")
    broken = shortest[shortest["broken"] > 0]
    fresh = shortest[~shortest["begins_with_quota"]]
    first = broken[~broken["begins_with_quota"]].iloc[0]
    short = broken[broken["begins_with_quota"]].iloc[0]
    tried = fresh.loc[fresh["kernel"] == first["kernel"], "tried"].sum()
    (violation,) = trace.loc[trace["violation"] != "", "violation"]
    lines += [
        "",
        "The columns show `runtime_enabled` of the group on CPU 3. At the end the model says: "
        f"**{violation}.** The group runs without a limit there until somebody writes its quota again. "
        f"Of the {tried} possible sequences of up to {first['steps']} operations on "
        f"a group without a quota, {first['broken']} end like this, and none that is shorter; "
        f"with a quota from the start, {short['steps']} are enough ({short['first_broken']}). "
        f"Every other level survives all of them: {', '.join(sorted(set(shortest['kernel']) - set(broken['kernel'])))}."
        " The order is the reason: the coming CPU is made active, the rebuild's own rq_attach_root() puts it online "
        "with the boolean *false*, and the call with *true* that comes after finds it online and does nothing. Put "
        "before the rebuild, it does its one walk (V2).",
    ]
    return "\n".join(lines)


def say_growth(groups: pd.DataFrame, cpus: pd.DataFrame) -> str:
    """Return how times grow with groups and CPUs.

    Parameters
    ----------
    groups, cpus : pandas.DataFrame
        From `df_groups` and `df_cpus`.
    """
    lines = []
    fewest, most = groups["cgroups"].min(), groups["cgroups"].max()
    for level in ("base", "patch1+2"):
        part = groups[groups["kernel"] == level].pivot(index="cgroups", columns="operation", values="predicted_ms")
        each = ", ".join(f"{NAMES[name]} {part.loc[most, name] - part.loc[fewest, name]:.2f} ms" for name in OPERATIONS)
        lines.append(f"- {level}: from {fewest:,} to {most:,} cgroups, {each} longer.")
    walks = cpus[cpus["kernel"] == "base"].pivot(index="cpus", columns="operation", values="walks_ms")
    few, many = walks.index[0], walks.index[-1]
    before, after = walks.loc[few, "cpu_offline"], walks.loc[many, "cpu_offline"]
    lines.append(
        f"- From {few} to {many:,} CPUs the walks of an offline take {after / before:.0f} times as long in base; with "
        f"{many:,} CPUs they would take {after / 1e3:.1f} s. Fixed costs are held constant there, which nothing "
        "published confirms."
    )
    return "\n".join(lines)


def say_partitions(partitions: pd.DataFrame) -> str:
    """Return what partitions take off a hotplug operation.

    Parameters
    ----------
    partitions : pandas.DataFrame
        From `df_partitions`.
    """
    parts = partitions.set_index("partitions")
    most = parts.index[-1]
    by = parts.iloc[0] / parts.iloc[-1]
    return (
        f"Only the partition that holds the CPU is rebuilt. With {most} of them an offline visits "
        f"{by['group_visits']:.1f} times fewer groups and scans {by['span_scan']:.0f} times fewer CPUs. Updates of "
        f"deadline servers fall by {by['dl_updates']:.0f} alone, not by {most**2}: the accounting at the end goes over "
        "every root domain, whether it changed or not."
    )
