"""What the notebook says of the runs, with the numbers of the tables."""

from __future__ import annotations

import pandas as pd

from . import host
from .factors import FACTORS
from .runs import RESPONSES

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
            f"- The longest time with interrupts off is throttling's, not hotplug's, in {100 * own[False]:.0f} % of "
            f"the runs without *interleave* and {100 * own[True]:.0f} % with it: a tenant that is unthrottled walks "
            f"over its {host.SANDBOXES} sandboxes, and aligned timers let all tenants do so at once.",
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
        f"\N{DAGGER} also exclude it as one of {many} (Bonferroni). The others are hints: with other seeds some of "
        "them give way to others. Sums are of differences: what two factors multiply shows as "
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
    mark = "\N{DAGGER}" if row.nonzero_of_all else ""
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
        return "Each strengthens the other." if better else "Each takes away some of what the other gains."
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

    one = steps[steps["step"].isin(["alone", "last"])]
    lines = [
        f"Of the {len(one)} intervals (95 %) of a factor alone or left out, {int(one['nonzero'].sum())} exclude 0; "
        f"about {0.05 * len(one):.0f} would by chance, so that one which the main effects do not have is a hint at "
        "most.",
        "",
    ]
    for response in RESPONSES:
        mine = steps[steps["response"] == response.column]
        by = mine[mine["factor"] == ""].set_index("step")
        both, alone, digits, unit = by.loc["together"], by.loc["sum of alone"], response.digits, response.unit
        base = base_mean(runs, response.column)
        line = (
            f"- **{response.title}**: {base:,.{digits}f} {unit} at base, {base + both['difference']:,.{digits}f} with "
            f"all ({signed(both['difference'], digits)}, {_range(both, digits)}); the six alone sum up to "
            f"{signed(alone['difference'], digits)} ({_range(alone, digits)})."
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
