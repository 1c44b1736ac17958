"""What the notebook says, with the numbers of the tables."""

from __future__ import annotations

import pandas as pd

from . import follow, host
from .factors import ALL, ALWAYS, FACTORS, MEANING, RELEASE, base_kernel
from .runs import RESPONSES
from .scope import Scope

_BY_COLUMN = {response.column: response for response in RESPONSES}


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, a true minus, and no sign for what rounds to zero.

    Examples
    --------
    >>> signed(1234.5, 0), signed(-0.004, 2)
    ('+1,234', '0.00')
    """
    text = f"{abs(value):,.{digits}f}"
    if not float(text.replace(",", "")):
        return text
    return ("+" if value > 0 else "\N{MINUS SIGN}") + text


def _range(row, digits):
    return f"{signed(row.low, digits)} to {signed(row.high, digits)}"


def say_scope(scope: Scope) -> str:
    """Return what host, kernel and load are, and how many runs there are.

    Parameters
    ----------
    scope : Scope
    """
    machine, cells = host.machine(), scope.cells
    active = host.TENANTS * host.ACTIVE
    groups = len(host.workload().groups)
    text = (
        f"**The host.** {machine.nr_cpus} CPUs ({len(machine.cores)} cores of {host.SMT} threads) and "
        f"{host.CGROUPS:,} cgroups. {groups:,} of these are in the simulation: {host.TENANTS} limited tenants "
        f"({host.TENANT_QUOTA_US / 1e5:g} CPUs each) with {host.SANDBOXES} sandboxes, {active} of which work "
        f"({host.TASKS} batch tasks each, 1 CPU at most); {host.VMS} guests of {host.VCPUS} virtual CPUs, "
        f"{host.VM_QUOTA_US / 1e5:g} CPUs at most; {host.FRONT} front tasks of the host that wake about once in "
        "1.1 ms, work 0.1 ms and ask for slices of 0.5 ms. Each tenant and guest has a cookie of core scheduling. The "
        f"other {host.CGROUPS - groups:,} cgroups are idle and unlimited, and cost in the walks of hotplug alone; idle "
        "ones below a tenant also cost in its throttles and unthrottles.\n\n"
        f"**The load** has a cycle of {host.CYCLE_MS / 1000:g} s: in its second half the guests compute. In the first, "
        f"{len(follow.LEAVING)} CPUs (whole cores) go offline one after the other, in the second they come back, each "
        "as fast as the kernel makes it. Real hosts do this more rarely; what it holds up shrinks in proportion.\n\n"
        f"**The kernel** is the row {RELEASE} with the kernel's balancing, on which every factor can be switched: its "
        "own timer phases and per-task throttle are taken away in the base. In all of them: "
        f"{', '.join(sorted(base_kernel().patches))}. Not in one kernel with them: what CFS rows had (the old "
        "expiry and slack timers), and 7.2's own rules of lag and HRTICK.\n\n"
        f"**The runs**: {len(cells)} kernels, {scope.seeds} seeds each, {len(cells) * scope.seeds} runs of "
        f"{host.CYCLE_MS / 1000:g} s. "
    )
    if scope.quick:
        return text + (
            "*A quick run: half of the factorial (resolution VI: pairs are mixed with interactions of four alone), "
            "few seeds, and none of the other patches. Its intervals are wide.*"
        )
    return text + "The factorial is full: every combination of the six factors."


def say_factors() -> str:
    """Return the factors as a Markdown table."""
    lines = ["| factor | what it is | patches |", "|:---|:---|:---|"]
    for name, patches in FACTORS.items():
        lines.append(f"| {name} | {MEANING[name]} | {', '.join(patches)} |")
    return "\n".join(lines)


def say_patches(patches: pd.DataFrame) -> str:
    """Return what becomes of all patches of the package, and why some are left out.

    Parameters
    ----------
    patches : pandas.DataFrame
        From `df_patches`.
    """
    count = patches["here"].value_counts()
    left = patches[patches["here"] == "left out"]
    lines = [
        f"Of the {len(patches)} patches of the package {count['factor']} are in the {len(FACTORS)} factors, "
        f"{count['one at a time']} are tried one at a time, {count['always']} are in every kernel, {count['old']} are "
        f"behaviours of older kernels, and {len(left)} are left out:",
        "",
    ]
    return "\n".join(lines + [f"- {row.patch}: {row.what}" for row in left.itertuples()])


def say_follow(ramps: pd.DataFrame) -> str:
    """Return how fast CPUs follow the load.

    Parameters
    ----------
    ramps : pandas.DataFrame
        From `df_follow`.
    """
    parts = []
    for cell, mine in ramps.groupby("cell", sort=False):
        comes = mine[mine["operation"].str.startswith("online")]
        parts.append(
            f"{comes['end_ms'].iloc[-1] - comes['begin_ms'].iloc[0]:.0f} ms ({cell}; longest call "
            f"{mine['call_us'].max():.0f} us)"
        )
    rendezvous = ramps["rendezvous_us"].max()
    return (
        f"Until the {len(follow.LEAVING)} CPUs are back it takes {', '.join(parts)}. Without series B each CPU that "
        f"comes flushes its caches and keeps all CPUs for {rendezvous:.0f} us in a rendezvous. Unit costs are those "
        f"fitted to the server {follow.COSTS} (group walks: to the 32-CPU guest); what of them grows with the number "
        "of CPUs is not known, and here all of the rest and of the rendezvous does: the less dear end."
    )


def say_effects(effects: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Return each response's base and main effects as a Markdown table.

    Parameters
    ----------
    effects, runs : pandas.DataFrame
        From `df_effects` and `df_runs`.
    """
    from .effects import base_mean

    lines = [
        "Main effect: the mean with the factor minus the mean without it, over everything else. In brackets the 95 % "
        "interval (Student's t over the seeds); bold where it excludes 0.",
        "",
        "| response | base | " + " | ".join(FACTORS) + " |",
        "|:---|---:|" + "---:|" * len(FACTORS),
    ]
    for response in RESPONSES:
        part = effects[effects["response"] == response.column].set_index("factor")
        cells = []
        for name in FACTORS:
            row, digits = part.loc[name], response.digits
            value = signed(row["effect"], digits)
            cells.append(f"{f'**{value}**' if row['nonzero'] else value} ({_range(row, digits)})")
        base = f"{base_mean(runs, response.column):,.{response.digits}f}"
        lines.append(f"| {response.title} ({response.unit}) | {base} | {' | '.join(cells)} |")
    return "\n".join(lines)


def say_why(runs: pd.DataFrame) -> str:
    """Return what lies behind the main effects: speed, forced idle time and ramps, without and with a factor.

    Parameters
    ----------
    runs : pandas.DataFrame
        From `df_runs`.
    """
    design = runs[runs["design"]]
    speed = (design["throughput"] / design["batch_cpus"]).groupby(design["interleave"]).mean()
    used = design.groupby("interleave")["batch_cpus"].mean()
    idle, pushes = (design.groupby("push")[name].mean() for name in ("forced_idle_cpus", "pushes"))
    ramps = design.groupby(["walks", "large"])["ramps_ms"].mean()
    quota = host.TENANTS * host.TENANT_QUOTA_US / 1e5
    own = (design["throttle_irq_off_max_us"] >= design["irq_off_max_us"]).groupby(design["interleave"]).mean()
    broken = int(runs["violations"].sum())
    return "\n".join(
        [
            f"- *interleave*: the tenants' quota is {quota:g} CPUs, of which batch tasks use {used[False]:.1f} without "
            f"it and {used[True]:.1f} with it. What changes is how fast a task is while it runs, {speed[False]:.3f} "
            f"and {speed[True]:.3f}: with aligned timers all tenants run at once and share cores.",
            f"- *push*: {pushes[True]:.0f} pushes a run; forced idle are {idle[False]:.2f} CPUs without it and "
            f"{idle[True]:.2f} with it.",
            f"- *walks* and *large*: both ramps take {ramps[False, False]:.0f} ms with neither, "
            f"{ramps[True, False]:.0f} with *walks*, {ramps[False, True]:.0f} with *large* and "
            f"{ramps[True, True]:.0f} with both.",
            f"- The longest time with interrupts off is throttling's, not hotplug's, in {100 * own[False]:.0f} % of the "
            f"runs without *interleave* and {100 * own[True]:.0f} % with it: a tenant that is unthrottled walks over "
            f"its {host.SANDBOXES} sandboxes, and aligned timers let all tenants do so at once.",
            f"- The model's invariants were broken {'in no run' if not broken else f'{broken} times'}.",
        ]
    )


def say_interactions(interactions: pd.DataFrame) -> str:
    """Return a sentence for each interaction whose interval excludes 0.

    Parameters
    ----------
    interactions : pandas.DataFrame
        From `df_interactions`.
    """
    nonzero = interactions[interactions["nonzero"]]
    many = len(interactions)
    lines = [
        f"{len(nonzero)} of {many} intervals exclude 0; about {0.05 * many:.0f} would by chance, and those marked "
        f"* also exclude it as one of {many} (Bonferroni). Sums are of differences: what two factors multiply shows as "
        "an interaction too.",
    ]
    for response in RESPONSES:
        mine = nonzero[nonzero["response"] == response.column]
        lines += ["", f"**{response.title[0].upper()}{response.title[1:]}** ({response.unit})", ""]
        if mine.empty:
            lines.append("- no interaction is told apart from 0")
        for row in mine.reindex(mine["interaction"].abs().sort_values(ascending=False).index).itertuples():
            lines.append("- " + sentence(row))
    return "\n".join(lines)


def sentence(row) -> str:
    """Return what one interaction says.

    Parameters
    ----------
    row : named tuple
        A row of `df_interactions`.
    """
    response = _BY_COLUMN[row.response]
    digits = response.digits
    unit = response.unit
    mark = "*" if row.nonzero_of_all else ""
    without, with_ = signed(row.first_without, digits), signed(row.first_with, digits)
    return (
        f"*{row.first}* and *{row.second}*{mark}: {row.first} makes {without} {unit} without {row.second} and {with_} "
        f"{unit} with it, a difference of {signed(row.interaction, digits)} ({_range(row, digits)}). "
        f"{_meaning(row, response)}"
    )


def _meaning(row, response):
    """Whether two factors help or hinder each other, by their sum of each alone."""
    sign = 1 if response.more_is_better else -1
    gains = sign * row.first_without, sign * row.second_without
    better = sign * row.interaction > 0
    if min(gains) > 0:
        return "They add to each other." if better else "Each takes away some of what the other gains."
    if max(gains) < 0:
        return "Together they cost less than one by one." if better else "Together they cost more than one by one."
    return "Together they do better than the sum of each." if better else "Together they do worse than the sum of each."


def say_steps(steps: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Return what all factors do together, and which factors matter alone and last.

    Parameters
    ----------
    steps, runs : pandas.DataFrame
        From `df_steps` and `df_runs`.
    """
    from .effects import base_mean

    lines = []
    for response in RESPONSES:
        mine = steps[steps["response"] == response.column]
        by = mine[mine["factor"] == ""].set_index("step")
        both, digits, unit = by.loc["together"], response.digits, response.unit
        base = base_mean(runs, response.column)
        line = (
            f"- **{response.title}**: {base:,.{digits}f} {unit} at base, {base + both['difference']:,.{digits}f} with "
            f"all ({signed(both['difference'], digits)}, {_range(both, digits)}); the six alone sum up to "
            f"{signed(by.loc['sum of alone', 'difference'], digits)}."
        )
        for step, said in (("alone", "Alone"), ("last", "Left out of all")):
            part = mine[(mine["step"] == step) & mine["nonzero"]]
            names = ", ".join(
                f"{row.factor} ({signed(row.difference if step == 'alone' else -row.difference, digits)})"
                for row in part.itertuples()
            )
            line += f" {said}, these make a difference: {names or 'none'}."
        lines.append(line)
    return "\n".join(lines)


def say_others(others: pd.DataFrame) -> str:
    """Return what other patches do, where their intervals exclude 0.

    Parameters
    ----------
    others : pandas.DataFrame
        From `df_others`.
    """
    if others.empty:
        return "*Left out of a quick run.*"
    many, nonzero = len(others), int(others["nonzero"].sum())
    lines = [
        f"{nonzero} of {many} intervals exclude 0; about {0.05 * many:.0f} would by chance. A patch that stands in "
        "a factor's place is held against the base kernel, and against all with that factor.",
        "",
    ]
    for label, mine in others.groupby("label", sort=False):
        found = [
            f"{_BY_COLUMN[row.response].title} {signed(row.difference, _BY_COLUMN[row.response].digits)} "
            f"{_BY_COLUMN[row.response].unit} ({_range(row, _BY_COLUMN[row.response].digits)}) "
            f"{'at base' if row.against == 'base' else 'with all'}"
            for row in mine[mine["nonzero"]].itertuples()
        ]
        lines.append(f"- {label}: {'; '.join(found) or 'no difference is told apart from 0'}")
    return "\n".join(lines)


def say_limits() -> str:
    """Return what is not modelled, in view of this host."""
    watts = host.WATTS
    return (
        "- Watts are assumed: "
        f"{watts.idle_w:g} W, {watts.core_w:g} more for a busy core and {watts.thread_w:g} for a busy thread. A core "
        "that is offline takes what an idle one does, so that hotplug saves no power of its own here; neither "
        "frequency, idle states nor the energy of a cache flush is in it.\n"
        "- A cache flush lengthens an operation; the misses of the others that follow are not modelled.\n"
        "- The task that executes an operation takes no CPU time between its calls, and stop_machine() is not priced.\n"
        "- Interrupts off: calls and rendezvous of hotplug, and throttling's work at one price for each queue, "
        "group and level. Timers, ticks, balancing and the walks of a core's pick cost nothing.\n"
        "- The cycle is short and the load synthetic. Quotas limit CPU time, so that a patch which makes CPUs share "
        "cores less raises work and power together.\n"
        "- The force-idle-aware balancing is a reading of a series whose text was not found; "
        f"{ALWAYS[0]} is in all kernels, as where the push was measured.\n"
        f"- Throttling's follow-ups are 7.2's, here on {RELEASE}; their hole with nested limits (docs/model.md) comes "
        "along with them.\n"
        "- Nothing was published for the combination: the numbers are predictions that nobody has measured yet, and "
        f"hold for this host. Of the {len(ALL)} factors two are merged."
    )
