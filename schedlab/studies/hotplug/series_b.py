"""The eight patches for large systems: the ladder, what a unit of each loop costs, and what cannot be told apart."""

from itertools import combinations

import pandas as pd

from ...hotplug import Offline, Online, State, ramp
from ...hotplug.costs import price
from ...hotplug.fit import cost_table
from ...hotplug.heldout import AMD, INTEL, fit_structure, held_out, ramp_of_size
from ...hotplug.ladder import base_ramp, fit_ladder
from ...hotplug.published_tables import base_kernel
from ...hotplug.shapes import with_nodes
from ...machine import Machine
from ...patches_hotplug import LARGE_SYSTEMS, SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC
from ...published import load

MACHINES = (INTEL, AMD)
_S = 1e9


def df_ladder(machine: str) -> pd.DataFrame:
    """Return every published cell of the ladder beside the fit's.

    Columns: after_patch, column (offline, online, total), published_s, predicted_s, error_percent.
    """
    rows = fit_ladder(machine, method="cells").cells()
    table = pd.DataFrame(rows, columns=["after_patch", "column", "published_s", "predicted_s"])
    return table.assign(error_percent=100 * (table["predicted_s"] / table["published_s"] - 1))


def df_waterfall(machine: str) -> pd.DataFrame:
    """Return the predicted ramp after each patch.

    Columns: after_patch, patch (the last one applied), offline_s, online_s, total_s, removed_s.
    """
    fit, rows = fit_ladder(machine, method="cells"), []
    for number, patch in enumerate(("", *LARGE_SYSTEMS)):
        seconds = [fit.seconds(number, column) for column in ("offline", "online", "total")]
        rows.append((number, patch, *seconds, fit.removed_s.get(patch, 0.0)))
    return pd.DataFrame(rows, columns=["after_patch", "patch", "offline_s", "online_s", "total_s", "removed_s"])


def df_unit_costs() -> pd.DataFrame:
    """Return what each patch removed over the work that it takes away.

    Columns: machine, patch, removed_s, driver (work over the ramp), unit_ns, unit_ns_cells (the same from least squares
    over all cells).
    """
    rows = []
    for machine in MACHINES:
        fit, cells = fit_ladder(machine), fit_ladder(machine, method="cells")
        for patch in LARGE_SYSTEMS:
            units = fit.unit_ns[patch], cells.unit_ns[patch]
            rows.append((machine, patch, fit.removed_s[patch], fit.driver[patch], *units))
    return pd.DataFrame(rows, columns=["machine", "patch", "removed_s", "driver", "unit_ns", "unit_ns_cells"])


def df_structure() -> pd.DataFrame:
    """Return the fit of three costs to patches 5, 6 and 7 and dl_clear_root_domain().

    Columns: machine, nodes_a_package, t_pc_ns, t_ln_ns, t_it_ns, error_p5, error_p6, error_p7, error_dl_clear (all in
    percent), condition.
    """
    rows = []
    for name, nodes in ((INTEL, 1), (INTEL, 3), (AMD, 1)):
        # by its name a ramp is found that other tables have made already
        done = base_ramp(name if nodes == 1 else with_nodes(Machine.load(name), nodes))
        found = fit_structure(fit_ladder(name, done), done)
        errors = [100 * error for error in found["residuals"]]
        rows.append((name, nodes, found["t_pc"], found["t_ln"], found["t_it"], *errors, found["condition"]))
    errors = ["error_p5", "error_p6", "error_p7", "error_dl_clear"]
    columns = ["machine", "nodes_a_package", "t_pc_ns", "t_ln_ns", "t_it_ns", *errors, "condition"]
    return pd.DataFrame(rows, columns=columns)


def df_held_out() -> pd.DataFrame:
    """Return the predictions that were held out.

    Columns: quantity, unit, predicted, predicted_low, predicted_high, published, why, error_percent, allowed_percent.
    """
    table = pd.DataFrame(held_out())
    error = 100 * (table["predicted"] / table["published"] - 1)
    return table.assign(error_percent=error, allowed_percent=100 * table.pop("tolerance"))


#: How a cost of the Intel machine may be carried over to the AMD one.
CARRIED = ("as it is", "by memory")


def df_transfer() -> pd.DataFrame:
    """Return what the Intel costs of patches 4, 5, 7 and 8 give on AMD, as they are and scaled by memory.

    By memory: times the ratio of what a write of extra_bw costs on the two machines (from patch 6, which therefore is
    not in the table). Two of the eight rows are held-out predictions; the others show what was *not* predicted.

    Columns: patch, carried, predicted_s, published_s, error_percent, named_before.
    """
    intel, amd = fit_ladder(INTEL), fit_ladder(AMD)
    servers = LARGE_SYSTEMS[5]
    ratios = dict(zip(CARRIED, (1.0, amd.unit_ns[servers] / intel.unit_ns[servers])))
    rows = []
    for number in (4, 5, 7, 8):
        patch = LARGE_SYSTEMS[number - 1]
        for carried, ratio in ratios.items():
            predicted = intel.unit_ns[patch] * ratio * amd.driver[patch] / _S
            error = 100 * (predicted / amd.removed_s[patch] - 1)
            rows.append((patch, carried, predicted, amd.removed_s[patch], error, (number, carried) in _NAMED))
    columns = ["patch", "carried", "predicted_s", "published_s", "error_percent", "named_before"]
    return pd.DataFrame(rows, columns=columns)


_NAMED = {(5, "by memory"), (7, "as it is")}


def df_sizes(machine: str, sizes=(128, 256, 512, 1024)) -> pd.DataFrame:
    """Return the predicted ramp of machines of that shape.

    Columns: cpus, part (a patch or ``final``), low_s, high_s: the bracket that the ladder leaves open.
    """
    rows = [(n, part, *bracket) for n in sizes for part, bracket in ramp_of_size(machine, n).items()]
    return pd.DataFrame(rows, columns=["cpus", "part", "low_s", "high_s"])


def df_published_ramps() -> pd.DataFrame:
    """Return the published ramps of the two machines. Columns: machine, cpus, without_s, with_s (all eight patches)."""
    cpus = load("hotplug_facts").query("quantity == 'cpus'").set_index("machine")["value"]
    total = load("hotplug_ladder").set_index(["machine", "after_patch"])["total_s"]
    rows = [(machine, int(cpus[machine]), total[machine, 0], total[machine, 8]) for machine in MACHINES]
    return pd.DataFrame(rows, columns=["machine", "cpus", "without_s", "with_s"])


def df_both_series(machine: str = INTEL, groups=(1, 1001, 4001)) -> pd.DataFrame:
    """Return the ramp with and without either series over the number of task groups.

    Columns: groups, walks (whether the two patches about walks are applied), large (whether the eight are), walks_s,
    rest_s, total_s.
    """
    rows, base = [], base_kernel().with_(rcu_expedited=True)
    for large in (False, True):
        for skips in (False, True):
            kernel = base.with_patch(*(LARGE_SYSTEMS if large else ()))
            kernel = kernel.with_patch(SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC) if skips else kernel
            done = ramp(Machine.load(machine), kernel) if large or skips else base_ramp(machine)
            for number in groups:
                priced = done.with_groups(number).priced(cost_table(machine))
                walks = sum(parts["walks"] for parts in priced.values()) / _S
                total = sum(sum(parts.values()) for parts in priced.values()) / _S
                rows.append((number, skips, large, walks, total - walks, total))
    columns = ["groups", "walks", "large", "walks_s", "rest_s", "total_s"]
    return pd.DataFrame(rows, columns=columns).sort_values(columns[:3], ignore_index=True)


def df_lattice(machine: str = INTEL) -> pd.DataFrame:
    """Return what each patch still saves of one CPU off and on after every subset of the others.

    Columns: patch, alone_ms (saved as the first), last_ms (saved as the last), least_ms, most_ms (over all 128 subsets
    of the others), share_of_final_percent (least_ms over what is left after all eight).
    """
    built, table, times = Machine.load(machine), cost_table(machine), {}
    last = built.nr_cpus - 1
    for size in range(len(LARGE_SYSTEMS) + 1):
        for chosen in map(frozenset, combinations(LARGE_SYSTEMS, size)):
            state = State(built, base_kernel().with_patch(*chosen))
            steps = (("offline", Offline(last)), ("online", Online(last)))
            parts = [price(state.apply(step), kind, 1, table, expedited=True) for kind, step in steps]
            times[chosen] = sum(sum(part.values()) for part in parts) / 1e6
    everything, rows = frozenset(LARGE_SYSTEMS), []
    for patch in LARGE_SYSTEMS:
        saved = [times[chosen] - times[chosen | {patch}] for chosen in times if patch not in chosen]
        alone = times[frozenset()] - times[frozenset({patch})]
        at_last = times[everything - {patch}] - times[everything]
        share = 100 * min(saved) / times[everything]
        rows.append((patch, alone, at_last, min(saved), max(saved), share))
    columns = ["patch", "alone_ms", "last_ms", "least_ms", "most_ms", "share_of_final_percent"]
    return pd.DataFrame(rows, columns=columns)


#: What the published numbers cannot tell apart.
IDENTIFIABILITY = (
    ("patches 1, 2, 3", "seconds over the ramp", "yes: each touches one direction, which the mail gives"),
    (
        "a write of extra_bw",
        "patch 6, and dl_clear_root_domain() by itself",
        "yes, twice; they differ by 15 to 24 %",
    ),
    ("capacity against balance-mask loops", "patch 5", "no: one sum for both, and for the allocations it saves"),
    ("fixed against growing with CPUs", "patch 4 and the rest", "no: one sum a machine; 0 and 1 are the brackets"),
    ("offline against online", "patches 5 to 8", "no: only totals; the counts say halves within 1 %"),
    ("SNC or NPS on and off", "topology of the machines", "no: both fit the structural model alike"),
    (
        "a grace period",
        "the runs without rcu_expedited",
        "given how many are waited for, a hypothesis",
    ),
    ("flush of a dead CPU", "patch 2", "its effective time alone: nobody waits for it, it slows the others"),
)


def df_fit_sizes() -> pd.DataFrame:
    """Return how many parameters each fit of the series has, for how many numbers.

    A total that is the sum of two published cells counts once with them. Columns: machine, parameters, numbers
    (independent of each other), cells (published), max_error_percent.
    """
    rows = []
    for machine in MACHINES:
        table = df_ladder(machine)
        nr_parameters = sum(seconds > 0 for seconds in fit_ladder(machine, method="cells").removed_s.values()) + 2
        sums = (table.groupby("after_patch")["column"].nunique() == 3).sum()
        rows.append((machine, nr_parameters, len(table) - sums, len(table), table["error_percent"].abs().max()))
    return pd.DataFrame(rows, columns=["machine", "parameters", "numbers", "cells", "max_error_percent"])


def df_identifiability() -> pd.DataFrame:
    """Return what the data can and cannot tell apart. Columns: what, seen_in, identified."""
    return pd.DataFrame(IDENTIFIABILITY, columns=["what", "seen_in", "identified"])
