"""Sentences about both patches together, the cost, SMT off, and the verdict: every number in them is computed."""

import pandas as pd

from ...published import Comparison
from .. import bandwidth_timers
from . import comparison as compared
from .cost import AGAIN_MS
from .experiment import PUBLISHED
from .scenario import Scenario
from .text import name_of

_SAID = {"n_max": "N_max", "n_sum": "N_sum"}


def say_combined(runs: pd.DataFrame, effects: pd.DataFrame, combined: pd.DataFrame) -> str:
    """Return the answer to the reviewer's question.

    Parameters
    ----------
    runs, effects, combined : pandas.DataFrame
        From `df_runs`, `df_effects`, `df_combined`.
    """
    table = compared.df_together(runs)
    lines = [
        "Of the baseline's noise, with the kernels of the experiment:",
        "",
        "| push with | measure | push alone | the other alone | both (95 %) | if they did not interact | both below "
        "the "
        "better one? |",
        "|:---|:---|---:|---:|:---|---:|:---|",
    ]
    for row in table.itertuples():
        cells = f"{row.push:.2f} | {row.alone:.2f} | {row.both:.2f} ({row.both_low:.2f} to {row.both_high:.2f})"
        lines.append(
            f"| {name_of(row.other)} | {_SAID[row.measure]} | {cells} | {row.product:.2f} | {row.below_best} |"
        )
    by = table.set_index(["other", "measure"])
    most, sums = by.loc[("lb_c", "n_max")], by.loc[("lb_c", "n_sum")]
    posted = PUBLISHED["push+lb_c"] / PUBLISHED["baseline"]
    lines += [
        "",
        f"**What happens if you combine the two?** Posted: {100 * posted:.0f} % of the baseline, below either alone. "
        f"In "
        f"the model, with LB-c: N_max {100 * most['both']:.0f} % ({name_of(most['best'])} alone {_best(most)} %), "
        f"N_sum "
        f"{100 * sums['both']:.0f} % ({name_of(sums['best'])} alone {_best(sums)} %). {_verdict(most, 'N_max')} "
        f"{_verdict(sums, 'N_sum')}",
        "",
        _say_effects(effects),
        "",
        "Push over no push on N_max, by geometric means (by plain ones): "
        + "; ".join(f"{row.other} {row.level} x{row.factor:.2f} ({row.plain:.2f})" for row in combined.itertuples())
        + ".",
    ]
    return "\n".join(lines)


def _best(row):
    return f"{100 * min(row['push'], row['alone']):.0f}"


def _verdict(row, measure):
    said = {
        "yes": f"Together they beat the better one in {measure}.",
        "no": f"In {measure} the better one alone is quieter than both.",
        "not shown": f"That both differ from the better one in {measure} is not shown: the intervals overlap.",
    }
    return said[row["below_best"]]


def _say_effects(effects):
    many = len(effects)
    count = [int(effects[column].sum()) for column in ("clear", "plain_clear")]
    text = (
        "The factorial puts five switches on and off in 16 of the 32 combinations, such that main effects and "
        "interactions of two are told apart. An effect is a factor on the noise; an interaction, by what one makes "
        "the other's factor. In *geometric* means of runs a run with next to no noise weighs heavily; *plain* means "
        f"are those of the experiment above and of the mail. Of {many} intervals (95 %) {count[0]} leave out 1 by "
        f"geometric means and {count[1]} by plain ones; about {0.05 * many:.1f} would by chance.\n"
    )
    for measure, name in _SAID.items():
        mine = effects[effects["measure"] == measure]
        both = ", ".join(mine[mine["clear"] & mine["plain_clear"]]["effect"])
        text += (
            f"\n- **{name}**, shown by geometric means: {_listed(mine, 'factor', '')}; by plain means: "
            f"{_listed(mine, 'plain', 'plain_')}. By both: {both or 'none'}."
        )
    return text


def _listed(rows, factor, kind):
    """Return the effects whose interval leaves out 1, with their factor by one kind of mean."""
    clear = rows[rows[f"{kind}clear"]]
    ends = zip(clear["effect"], clear[factor], clear[f"{kind}low"], clear[f"{kind}high"])
    return ", ".join(f"{name} x{value:.2f} ({low:.2f} to {high:.2f})" for name, value, low, high in ends) or "none"


def say_cost(cost: pd.DataFrame) -> str:
    """Return what stealing and pushing cost.

    Parameters
    ----------
    cost : pandas.DataFrame
        From `df_cost`.
    """
    table = cost.set_index(["cpus", "variant"])
    sizes = sorted(cost["cpus"].unique())
    lines = [
        "| CPUs | kernel | attempts (1/s) | CPUs looked at an attempt | CPUs looked at (1/s) | pushes (1/s) | queues "
        "locked a push | pushed again within "
        f"{AGAIN_MS} ms (1/s) |",
        "|---:|:---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in cost.itertuples():
        locked = "" if pd.isna(row.locked_per_push) else f"{row.locked_per_push:.1f}"
        lines.append(
            f"| {row.cpus} | {name_of(row.variant)} | {row.callbacks:.0f} | {row.scanned_per_callback:.0f} | "
            f"{row.scanned:,.0f} | {row.pushes:.1f} | {locked} | {row.pushed_again:.1f} |"
        )
    ratio = {size: table.loc[(size, "push"), "scanned"] / table.loc[(size, "baseline"), "scanned"] for size in sizes}
    large = table.loc[(sizes[-1], "push")]
    vain = cost.loc[cost["locked_per_push"].idxmax()]
    cheaper = [str(size) for size in sizes if ratio[size] < 1]
    lines += [
        "",
        "An attempt with the push looks at more CPUs than one without: each domain is gone over twice, wider ones with "
        "those within them. But the push ends the force idle that made attempts necessary: on machines of "
        f"{', '.join(cheaper) or 'no size'} CPUs fewer CPUs are looked at a second than in the baseline (at "
        f"{sizes[-1]} CPUs {100 * ratio[sizes[-1]]:.0f} %). Small machines under this load often have no idle CPU to "
        "push to, or only beside another cookie: then attempts look, and may lock, in vain "
        f"(most: {vain['locked_per_push']:.0f} queues a push at {vain['cpus']:.0f} CPUs with "
        f"{name_of(vain['variant'])}). At {sizes[-1]} CPUs one push looks at {large['scanned_per_push']:,.0f} "
        f"CPUs "
        f"(each the line of another run queue) and locks {large['locked_per_push']:.0f} queues with interrupts off, "
        f"{large['again_percent']:.0f} % of the pushed are pushed again within {AGAIN_MS} ms. The model gives "
        f"looking and "
        f"locking no price in time. Numbers are means of {cost['runs'].max()} runs, without intervals.",
    ]
    return "\n".join(lines)


def say_smt_off(table: pd.DataFrame, crossover: pd.DataFrame, busy: pd.DataFrame) -> str:
    """Return when core scheduling beats SMT off.

    Parameters
    ----------
    table, crossover, busy : pandas.DataFrame
        From `df_smt_off`, `df_crossover`, `df_busy`.
    """
    rows = crossover.set_index(["guests", "host"])
    pairs, singles = crossover["guests"].unique()
    plain, alone = rows.loc[(pairs, "core scheduling")], rows.loc[(singles, "core scheduling")]
    light = table[(table["host"] == "core scheduling") & (table["load"] < 1)]["response_of_smt_off"]
    worst = table[(table["host"] == "core scheduling") & (table["guests"] == singles)]["of_smt_off"].min()
    by = busy.set_index("layout")
    return (
        f"**Guests that fill a core** ({pairs}): core scheduling does more than SMT off from a load of "
        f"{plain['more_throughput_from']:.2f} on, and {plain['at_full_load']:.2f} times as much with busy virtual "
        f"CPUs: "
        f"what SMT gives. **Guests that cannot** ({singles}): {alone['at_full_load']:.2f} times as much with busy "
        f"virtual "
        f"CPUs, and down to {worst:.3f} in between. Below a load of 1 a request takes up to "
        f"{100 * (light.max() - 1):.1f} % longer than without SMT, as the kernel's documentation warns: threads "
        f"share a "
        "core, or one idles, while another core is free.\n\n"
        f"Two public reports by the same model: 8 busy virtual CPUs on 4 cores run on "
        f"{by.loc['no cookies', 'running']:.1f} "
        f"threads without cookies, {by.loc['a cookie a guest', 'running']:.1f} with one and "
        f"{by.loc['a cookie a virtual CPU', 'running']:.1f} with one each; on 2 cores two guests of two get "
        f"{by.loc['2 guests of 2', 'of_smt_off']:.2f} times the work of SMT off, four of one "
        f"{by.loc['4 guests of 1', 'of_smt_off']:.2f} times."
    )


def say_verdict(scenario: Scenario, comparison: Comparison, runs: pd.DataFrame) -> str:
    """Return what agrees with the published numbers, what does not, and why, as Markdown."""
    table = comparison.table()
    predictions = table[table["role"] == "prediction"]
    good = (predictions["agrees"] == True).sum()  # noqa: E712  an object column
    lines = [f"**{good} of {len(predictions)} predictions agree.** By claim:", ""]
    for claim, part in predictions.groupby("claim", sort=False):
        lines.append(f"- {claim}: {(part['agrees'] == True).sum()} of {len(part)} agree.")  # noqa: E712
    lines += [f"- {row.claim}." for row in table.itertuples() if compared.NOT_SHOWN in row.claim]
    if not (scenario.is_published and scenario.is_enough):
        lines += ["", "The noise is not judged: this is not the posted set-up, or there are too few runs."]
    failures = compared.df_failures(comparison, runs)
    if len(failures):
        lines += ["", "**What does not agree, and why.** These rows stay in the table as they came out.", ""]
    lines += [
        f"- `{row.quantity}`: {row.published:.3g} {row.unit} published, {row.model:.3g} {row.unit} in the model: "
        f"{row.why}"
        for row in failures.itertuples()
    ]
    return "\n".join(lines)


def say_comparison(comparison: Comparison) -> str:
    """Return a whole comparison as a Markdown table; a row whose intervals overlap says "not shown"."""
    lines = bandwidth_timers.say_comparison(comparison).splitlines()
    for k, claim in enumerate(comparison.table()["claim"]):
        if compared.NOT_SHOWN in claim:  # two lines of heading come first; the verdict is the last cell
            lines[k + 2] = lines[k + 2].removesuffix(" |").rpartition("| ")[0] + "| not shown |"
    return "\n".join(lines)


def check_claims(scenario: Scenario, comparison: Comparison, micro: pd.DataFrame) -> None:
    """Raise when the fitted baseline is off, or the table of one core.

    Raises
    ------
    AssertionError
        Naming what is off.
    """
    table = comparison.table()
    off = table[(table["role"] == "calibration") & (table["agrees"] == False)]  # noqa: E712  an object column
    assert off.empty, f"calibrated, but off: {', '.join(off['quantity'])}"
    errors = micro[micro["largest_error"] > compared.MICRO_POINTS]
    assert errors.empty, f"off by more than a point: {', '.join(errors['layout'])}"
