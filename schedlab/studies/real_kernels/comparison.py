"""The model against the recordings, row by row: what holds, what does not, and what is known about why."""

import pandas as pd

from ...io.recordings import Recording, load
from ...published import Comparison
from . import cookies, hole, phases, rebuild, rules

AS_WAS = "Counters with the phases as recorded"
PLACED = "Guests, each thread on its recorded CPU"
DRAWN = "Counters with unknown phases: the mean over seeds"
RANGE = "Stranding, bursts and equal nests: the measured lie in the model's distribution over phases"
PERIODS = "Run time per period"
TIMERS = "Timers are aligned before 6.4, random from then on"
CALLS = "Rebuild: counts of calls"
SLOPE = "Rebuild: the slope over groups and CPUs"
ONE_CORE = "Core scheduling on one core: shares and force idle"
TWO_CORES = "Core scheduling on two cores: the measured lie in the model's distribution"
HOLE = "7.2's hole: two tasks in an unlimited child of a limited group"
NOT_CLAIMED = "What the row 7.3 does not claim: nested quotas"


def compare(*, counters, alignment, scans, shared_cores, calls, walks, slopes, measured_hole, model_hole) -> Comparison:
    """Return the comparison.

    Parameters
    ----------
    counters, alignment, scans, shared_cores, calls, walks, slopes, measured_hole, model_hole : pandas.DataFrame
        From `df_counters`, `df_alignment`, `df_phases`, `df_cookies`, `df_calls`, `df_walks`, `df_slopes`,
        `hole.df_measured` and `hole.df_model`.
    """
    comparison = Comparison()
    by_name = {one.name: one for one in load("quota")}
    for (name, path), rows in counters.groupby(["recording", "group"], sort=False):
        one, rows = by_name[name], rows.set_index("measure")
        if not rules.is_chaotic(one):
            _add_as_was(comparison, one, path, rows)
            _add_drawn(comparison, one, path, rows)
    _add_ranges(comparison, counters)
    _add_alignment(comparison, alignment)
    _add_timers(comparison, scans)
    _add_cookies(comparison, shared_cores)
    _add_rebuild(comparison, calls, walks, slopes)
    _add_hole(comparison, measured_hole, model_hole)
    return comparison


def _id(one: Recording, path: str, measure: str, *more: str) -> str:
    return ".".join([one.name, path.lstrip("/").replace("/", "_"), measure, *more])


def _role(one: Recording, path: str) -> str:
    """Nested quotas are not claimed for 7.3."""
    nested = "/" in path.strip("/") or any(other.startswith(path + "/") for other in one.measured)
    return "context" if one.kernel.release == "7.3" and nested else "prediction"


def _add_as_was(comparison, one, path, rows):
    if rows["given"].isna().all():
        return
    role, tight = _role(one, path), rules.is_tight(one, path)
    free_guest = one.is_guest and not rules.is_pinned(one) and not rules.has_pipes(one)
    tolerances = {
        "nr_periods": dict(plus_minus=1),
        "nr_throttled": dict(plus_minus=1),
        "throttled_ms": dict(percent=rules.throttled_percent(one, True)),
        "usage_ms": dict(percent=rules.USAGE),
    }
    for measure, tolerance in tolerances.items():
        theirs, ours = rows.loc[measure, "measured"], rows.loc[measure, "given"]
        asked = measure == "nr_periods" or tight
        if measure == "usage_ms":
            asked = rules.seconds(one) >= rules.USAGE_FROM_S and pd.notna(theirs) and tight
        if measure == "throttled_ms" and rules.has_pipes(one):
            asked = False
        if pd.isna(theirs) or (not asked and not theirs and not ours):
            continue
        kind = role if asked else "context"
        unit = "ms" if measure.endswith("_ms") else ""
        given = tolerance if asked else {}
        comparison.add(AS_WAS, _id(one, path, measure), unit, theirs, ours, role=kind, **given)
        if free_guest and asked and measure == "throttled_ms":
            pinned = rows.loc[measure, "recorded_cpu"]
            name = _id(one, path, measure, "recorded_cpu")
            comparison.add(
                PLACED,
                name,
                unit,
                theirs,
                pinned,
                role=kind,
                percent=rules.GIVEN if rules.threads(one) == 1 else rules.UNPINNED,
            )


def _add_drawn(comparison, one, path, rows):
    """Unknown phases: where they do not decide themselves what comes out."""
    depends = any(part in one.name for part in rules.BY_PHASE)
    if depends or rules.has_pipes(one) or not rules.is_tight(one, path) or one.is_guest:
        return
    theirs, row = rows.loc["throttled_ms", "measured"], rows.loc["throttled_ms"]
    name = _id(one, path, "throttled_ms", "unknown_phases")
    if "k2_free" in one.name:
        # one or two CPUs, by balancing: either is right
        comparison.add(DRAWN, name, "ms", theirs, row["mean"], role="context")
        return
    tolerance = dict(percent=rules.throttled_percent(one, False))
    comparison.add(DRAWN, name, "ms", theirs, row["mean"], role=_role(one, path), **tolerance)
    if "timers_us" not in one.raw:
        _add_unthrottled(comparison, one, path, rows)


def _add_unthrottled(comparison, one, path, rows):
    """Without phases the end of a run can differ by a period: periods in which the group was not throttled."""
    left = rows["measured"]["nr_periods"] - rows["measured"]["nr_throttled"]
    ours = rows["mean"]["nr_periods"] - rows["mean"]["nr_throttled"]
    comparison.add(DRAWN, _id(one, path, "periods_unthrottled"), "", left, ours, plus_minus=1)


def _add_ranges(comparison, counters):
    """The smallest and largest of the repeats of one scenario, against the model's distribution of them."""
    chaotic = counters[counters["recording"].map(lambda name: any(part in name for part in rules.CHAOTIC))]
    chaotic = chaotic.assign(scenario=chaotic["recording"].str.replace(r"\.r\d$", "", regex=True))
    names = {one.name: one for one in load("quota")}
    for (scenario, path, measure), rows in chaotic.groupby(["scenario", "group", "measure"], sort=False):
        if measure not in ("nr_throttled", "throttled_ms") or not rows["measured"].any():
            continue
        one = names[rows["recording"].iloc[0]]
        draws = [rows["least"].min(), *rows["mean"], rows["most"].max()]
        unit = "ms" if measure.endswith("_ms") else ""
        name = f"{scenario}.{path.lstrip('/').replace('/', '_')}.{measure}"
        for which, theirs in (("least", rows["measured"].min()), ("most", rows["measured"].max())):
            accept = (theirs, None) if which == "most" else (None, theirs)
            model = draws[-1] if which == "most" else draws[0]
            comparison.add(RANGE, f"{name}.{which}", unit, theirs, model, role=_role(one, path), accept=accept)
    wide = counters[counters["measure"] == "throttled_ms"].set_index("recording")
    for repeat in ("r0", "r2"):
        none, some = (wide.loc[f"host/v_burst{k}.{repeat}"] for k in (0, 20))
        name = f"host/v_burst.{repeat}.throttled_ratio_20_over_0"
        theirs = some["measured"] / none["measured"]
        comparison.add(RANGE, name, "", theirs, some["mean"] / none["mean"], accept=(None, 1))


def _add_alignment(comparison, alignment):
    by_name = {one.name: one for one in load("quota")}
    for row in alignment.itertuples():
        one = by_name[row.recording]
        if rules.is_chaotic(one) or rules.has_pipes(one):
            continue
        role, single = _role(one, row.group), rules.threads(one) == 1
        # the demand is for a thread that has its CPU for itself
        alone = single and len(one.raw["programs"]) == 1 and rules.is_pinned(one) and not one.is_loaded
        asked = alone and not one.is_guest and "per10" not in one.name
        name = _id(one, row.group, "near_share")
        near = dict(accept=(rules.NEAR_SHARE, None)) if asked else {}
        comparison.add(
            PERIODS, name, "", 1.0 if asked else None, row.near_share, role=role if asked else "context", **near
        )
        comparison.add(
            PERIODS,
            _id(one, row.group, "run_mean_ms"),
            "ms",
            row.measured_mean_ms,
            row.model_mean_ms,
            role=role,
            percent=rules.RUN_MEAN,
        )


def _add_timers(comparison, scans):
    for row in scans.itertuples():
        if row.rule == "aligned":
            accept = (phases.ALIGNED_R, None)
            comparison.add(TIMERS, f"{row.recording}.r", "", row.measured_r, row.model_r, accept=accept)
            continue
        accept = (phases.REJECTED, None)
        comparison.add(TIMERS, f"{row.recording}.rayleigh_p", "", None, row.rayleigh_p, accept=accept)
        comparison.add(TIMERS, f"{row.recording}.r", "", row.measured_r, row.model_r, role="context")


def _add_cookies(comparison, shared_cores):
    """On one core the laws; on two the balancer parts the cookies by core or does not: either may be recorded."""
    for row in shared_cores.itertuples():
        name = f"{row.recording}.{row.group.strip('/')}.{row.measure}"
        slack = cookies.FORCE_IDLE / 100 * max(row.measured, 1000 * row.seconds if "force" in row.measure else 0)
        if row.one_core:
            comparison.add(ONE_CORE, name, "ms", row.measured, row.mean, plus_minus=slack)
            continue
        for which, model, accept in (
            ("least", row.least, (None, row.measured + slack)),
            ("most", row.most, (row.measured - slack, None)),
        ):
            comparison.add(TWO_CORES, f"{name}.{which}", "ms", row.measured, model, accept=accept)


def _add_rebuild(comparison, calls, walks, slopes):
    for row in calls.itertuples():
        name = f"{row.recording}.{row.operation}.rq_attach_root"
        comparison.add(CALLS, name, "", row.measured, row.model, plus_minus=0)
    for row in slopes.itertuples():
        noisy = row.noisy
        role = "context" if noisy else "prediction"
        name = f"{row.recording}.slope_per_group_per_cpu"
        tolerance = dict(plus_minus=0.5) if row.patched else dict(percent=1)
        tolerance = {} if noisy else tolerance
        theirs, ours = row.measured_per_group_per_cpu, row.model_per_group_per_cpu
        comparison.add(SLOPE, name, "instructions", theirs, ours, role=role, **tolerance)
        if not row.patched:
            # counts are exactly linear: the model's is 1, and the measured has to come within a thousandth of that
            linear = {} if noisy else dict(plus_minus=0.001)
            comparison.add(SLOPE, f"{row.recording}.r_squared", "", row.r_squared, 1.0, role=role, **linear)
    share, theirs = rebuild.patch_1_share(walks)
    comparison.add(SLOPE, "patch_1_share_of_slope", "%", theirs, share, accept=(41, 47))


def _add_hole(comparison, measured, model):
    keys = [("6.18.15", "6.18"), ("7.2.13", "7.2"), ("7.3.4", "7.3")]
    for version, row in keys:
        for variant in hole.VARIANTS:
            for condition in hole.CONDITIONS:
                theirs = measured[
                    (measured["version"] == version)
                    & (measured["variant"] == variant)
                    & (measured["condition"] == condition)
                ]
                ours = model[
                    (model["version"] == row) & (model["variant"] == variant) & (model["condition"] == condition)
                ]
                if theirs.empty:
                    continue
                short = "cpu_free" if condition == "CPU kept free" else "as_it_comes"
                name = f"hole.{version}.{variant}.{short}"
                claimed = version != "7.3.4" or variant == "Nalone"
                claim, role = (HOLE, "prediction") if claimed else (NOT_CLAIMED, "context")
                opens = version == "7.2.13" and variant != "Nalone"
                tolerance = {} if opens or not claimed else dict(percent=rules.USAGE)
                comparison.add(
                    claim,
                    f"{name}.share_percent",
                    "%",
                    theirs["share_percent"],
                    ours["share_percent"],
                    role=role,
                    **tolerance,
                )
                burst = theirs["longest_ms"].max(), ours["longest_ms"].max()
                accept = (0, 0) if not opens else (100, None)
                accept = dict(accept=accept) if claimed else {}
                comparison.add(claim, f"{name}.longest_burst_ms", "ms", burst[0], burst[1], role=role, **accept)
