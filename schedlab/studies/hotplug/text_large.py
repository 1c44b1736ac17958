"""Sentences about the series for large systems and about the comparison: every number in them is computed."""

import pandas as pd

from ...hotplug.heldout import AMD, INTEL
from ...patches_hotplug import LARGE_SYSTEMS
from ...published import Comparison
from .comparison import df_failures

MACHINE_NAMES = {INTEL: "Intel", AMD: "AMD"}
_NUMBER = {patch: number for number, patch in enumerate(LARGE_SYSTEMS, 1)}


def say_exponents(intel: pd.DataFrame, amd: pd.DataFrame) -> str:
    """Return by which powers the counts grow, beside those of the mails.

    Parameters
    ----------
    intel, amd : pandas.DataFrame
        From `df_exponents`.
    """
    lines = ["| count | mail | Intel shape | AMD shape |", "|:---|:---|---:|---:|"]
    for name, part in intel.groupby("count", sort=False):
        other = amd[amd["count"] == name]
        claimed = part["claimed"].iloc[0]
        says = "" if pd.isna(claimed) else f"O(N^{claimed:.0f})"
        lines.append(f"| {name} | {says} | {_span(part['exponent'])} | {_span(other['exponent'])} |")
    sizes = sorted({*intel["from_cpus"], *intel["to_cpus"]})
    both = pd.concat([intel, amd], ignore_index=True).dropna(subset=["claimed"])
    furthest = both.loc[(both["exponent"] - both["claimed"]).abs().idxmax()]
    lines += [
        "",
        f"Power of N between neighbours of {', '.join(f'{n:,}' for n in sizes)} CPUs, for one CPU online. Furthest "
        f"from what the mail says is {furthest['count']} from {furthest['from_cpus']} to {furthest['to_cpus']} CPUs: "
        f"{furthest['exponent']:.3f}.",
    ]
    return "\n".join(lines)


def _span(values):
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else f"{low} to {high}"


def say_ladder(sizes: pd.DataFrame) -> str:
    """Return how many parameters the ladder has for how many numbers.

    Parameters
    ----------
    sizes : pandas.DataFrame
        From `df_fit_sizes`.
    """
    each = "; ".join(
        f"{MACHINE_NAMES[row.machine]} **{row.parameters} parameters for {row.numbers} independent numbers** "
        f"({row.cells} cells, {row.cells - row.numbers} of them sums of two others), largest error "
        f"{row.max_error_percent:.1f} %"
        for row in sizes.itertuples()
    )
    return (
        f"Each patch has one parameter (what it took off) and each direction one (what is left): {each}. One cell a "
        "patch is used up by its own parameter, so a good fit says no more than that the mail adds up; the noise of "
        "the ladder itself is about 2 %. What is worth something is the *cost of a unit of counted work* below: "
        "whether it is plausible, and whether it carries over to other numbers."
    )


def say_structure(units: pd.DataFrame, structure: pd.DataFrame) -> str:
    """Return what a unit costs on the two machines, and how three costs explain four numbers.

    Parameters
    ----------
    units, structure : pandas.DataFrame
        From `df_unit_costs` and `df_structure`.
    """
    ns = units.pivot(index="patch", columns="machine", values="unit_ns").loc[list(LARGE_SYSTEMS)]
    both = ns[(ns > 0).all(axis=1)]
    ratio = both[INTEL] / both[AMD]
    each = ", ".join(f"patch {_NUMBER[patch]}: {value:.1f}" for patch, value in ratio.items())
    lines = [
        f"Intel's cost of a unit over AMD's: {each}. Patches 1 to 3 took nothing off the AMD machine.",
        "",
        "Three costs (a line of another CPU's data, a line of the heap, a loop step), none negative, for **four "
        "numbers** a machine (patches 5, 6 and 7, and dl_clear_root_domain() by itself):",
        "",
        "| machine | nodes a package | line of another CPU | heap line | step | patch 5 | 6 | 7 | dl_clear |",
        "|:---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in structure.itertuples():
        costs = " | ".join(f"{value:.1f} ns" for value in (row.t_pc_ns, row.t_ln_ns, row.t_it_ns))
        errors = " | ".join(
            f"{value:+.0f} %".replace("-0 %", "+0 %")
            for value in (row.error_p5, row.error_p6, row.error_p7, row.error_dl_clear)
        )
        lines.append(f"| {MACHINE_NAMES[row.machine]} | {row.nodes_a_package} | {costs} | {errors} |")
    lines += [
        "",
        "The errors of patch 6 and dl_clear are one disagreement: both are writes of extra_bw, and the two numbers "
        "give it two costs. Whether the Intel machine has one node a package or three cannot be told.",
    ]
    return "\n".join(lines)


def say_identifiability(table: pd.DataFrame) -> str:
    """Return in words what the published numbers can tell apart.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_identifiability`.
    """
    lines = ["| what | seen in | can it be told? |", "|:---|:---|:---|"]
    lines += [f"| {row.what} | {row.seen_in} | {row.identified} |" for row in table.itertuples()]
    return "\n".join(lines)


def say_held_out(held_out: pd.DataFrame, transfer: pd.DataFrame) -> str:
    """Return how the held-out predictions come out, and what was not among them.

    Parameters
    ----------
    held_out, transfer : pandas.DataFrame
        From `df_held_out` and `df_transfer`.
    """
    good = held_out["error_percent"].abs() <= held_out["allowed_percent"]
    missed = ", ".join(f"`{row.quantity}` ({row.error_percent:+.0f} %)" for row in held_out[~good].itertuples())
    text = f"{good.sum()} of {len(held_out)} held-out predictions are within what was allowed"
    text += f"; outside: {missed}." if missed else "."
    others = transfer[~transfer["named_before"]]
    wrong = others[others["error_percent"].abs() > held_out["allowed_percent"].max()]
    each = ", ".join(
        f"patch {_NUMBER[row.patch]} {row.carried} {row.error_percent:+.0f} %" for row in wrong.itertuples()
    )
    right = others.drop(wrong.index)
    rest = ", ".join(
        f"patch {_NUMBER[row.patch]} {row.carried} {row.error_percent:+.0f} %" for row in right.itertuples()
    )
    best = transfer.assign(off=transfer["error_percent"].abs()).groupby("patch", sort=False)["off"].min()
    lost = [_NUMBER[patch] for patch, off in best.items() if off > held_out["allowed_percent"].max()]
    text += (
        " They are weaker than they look: that patch 5 is carried over by memory and patch 7 as it is was decided with "
        "both machines' numbers in sight, and the tolerances are wide. Of the other ways to carry patches 4, 5, 7 and "
        f"8 over, which nobody had named, these are outside: {each or 'none'}; these inside: {rest or 'none'}."
    )
    for number in lost:
        text += f" **Patch {number} carries over in neither way.**"
    return text


def say_sizes(intel: pd.DataFrame, amd: pd.DataFrame) -> str:
    """Return what ramps of other sizes would take.

    Parameters
    ----------
    intel, amd : pandas.DataFrame
        From `df_sizes`.
    """
    lines = []
    for name, table in (("Intel", intel), ("AMD", amd)):
        total = table.groupby("cpus")[["low_s", "high_s"]].sum()
        final = table[table["part"] == "final"].set_index("cpus")
        n = total.index[-1]
        before, after = (_bracket(part.loc[n]) for part in (total, final))
        lines.append(f"- A machine of {name}'s shape with {n:,} CPUs: {before} without the series, {after} with it.")
    lines.append(
        "\nThe brackets come from one unknown: how much of the rest, and of the MTRR rendezvous, grows with the number "
        "of CPUs. One sum a machine cannot say. Costs of a unit are held constant, also where masks get wider."
    )
    return "\n".join(lines)


def _bracket(row):
    low, high = f"{row['low_s']:.1f}", f"{row['high_s']:.1f}"
    return f"{low} s" if low == high else f"{low} to {high} s"


def say_both_series(both: pd.DataFrame, lattice: pd.DataFrame) -> str:
    """Return whether each series, and each patch, is worth it after the others.

    Parameters
    ----------
    both, lattice : pandas.DataFrame
        From `df_both_series` and `df_lattice`.
    """
    most = both["groups"].max()
    s = both[both["groups"] == most].set_index(["walks", "large"])["total_s"]
    least = lattice.sort_values("share_of_final_percent").iloc[0]
    ordered = (lattice["most_ms"] - lattice["least_ms"]).max()
    return (
        f"At 480 CPUs and {most - 1:,} cgroups a ramp takes {s[False, False]:.0f} s; with the two patches about walks "
        f"{s[True, False]:.0f} s, with the eight {s[False, True]:.0f} s, with all ten {s[True, True]:.1f} s. The walks "
        "cost what they do on the guest, which is an assumption.\n\n"
        f"Of the eight, each still saves at least {least['least_ms']:.1f} ms of an offline and online at full size "
        f"after any subset of the others (the least: {least['patch']}, {least['share_of_final_percent']:.0f} % of what "
        f"is left after all). What a patch saves does not depend on the others (largest difference {ordered:.2f} ms): "
        "the eight act on separate terms of the model, which therefore *cannot* show that one makes another "
        "superfluous. Patches 5 and 7 both save allocations in reality; these are in the costs of their loops."
    )


def say_statements(statements: pd.DataFrame) -> str:
    """Return which statements hold, as a Markdown table: those that do not first.

    Parameters
    ----------
    statements : pandas.DataFrame
        From `df_statements`.
    """
    order = {"no": 0, "in part": 1, "yes": 2}
    lines = ["| statement | by | holds | found |", "|:---|:---|:---|:---|"]
    for row in statements.sort_values("holds", key=lambda column: column.map(order), kind="stable").itertuples():
        holds = row.holds if row.holds == "yes" else f"**{row.holds}**"
        lines.append(f"| {row.statement} | {row.by} | {holds} | {row.found} |")
    return "\n".join(lines)


def say_verdict(comparison: Comparison) -> str:
    """Return what agrees with the published numbers, what does not, and why, as Markdown.

    Parameters
    ----------
    comparison : Comparison
        From `compare`.
    """
    table = comparison.table()
    lines = []
    for role in ("prediction", "calibration"):
        rows = table[table["role"] == role]
        good = (rows["agrees"] == True).sum()  # noqa: E712  an object column
        if role == "prediction":
            lines += [f"**{good} of {len(rows)} predictions agree.**", ""]
        else:
            lines += [f"{good} of {len(rows)} calibrated numbers are reproduced, which proves nothing.", ""]
        for claim, part in rows.groupby("claim", sort=False):
            lines.append(f"- {claim}: {(part['agrees'] == True).sum()} of {len(part)}.")  # noqa: E712
        lines.append("")
    failures = df_failures(comparison)
    if len(failures):
        lines += ["**What does not agree, and why.** These rows stay in the table as they came out.", ""]
    lines += [
        f"- `{row.quantity}`: {row.published:.4g} {row.unit} published, {row.model:.4g} {row.unit} in the model: "
        f"{row.why}"
        for row in failures.itertuples()
    ]
    return "\n".join(lines)


def check_calibration(comparison: Comparison) -> None:
    """Raise AssertionError when a number that was fitted is not reproduced: the text would be wrong.

    Parameters
    ----------
    comparison : Comparison
        From `compare`.
    """
    table = comparison.table()
    off = table[(table["role"] == "calibration") & (table["agrees"] == False)]  # noqa: E712  an object column
    assert off.empty, f"calibrated, but off: {', '.join(off['quantity'])}"
