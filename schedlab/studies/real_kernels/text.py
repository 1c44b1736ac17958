"""Sentences about the tables, for the notebook: every number in them is computed."""

import pandas as pd

from ...io.recordings import load
from ...kernel import Kernel
from ...published import Comparison
from . import rules
from .hole import HOUSEKEEPING
from .periods import NEAR_US
from .runs import Scenario, df_latency, end_us, usage_us

#: Starts later than this after a refill wait for a tick (on an idle CPU they take some 0.1 ms), us.
LATE_US = 600.0


def df_recordings() -> pd.DataFrame:
    """Return what was recorded: source, version, build, kind, recordings, what."""
    rows = [
        ("host" if not one.is_guest else "guest", one.raw["kernel"]["version"], one.raw["kernel"]["build"], one.kind)
        for one in load()
    ]
    table = pd.DataFrame(rows, columns=["source", "version", "build", "kind"])
    return table.value_counts(["source", "version", "build", "kind"], sort=False).rename("recordings").reset_index()


def say_recordings(scenario: Scenario) -> str:
    """Return how the comparison is made, as Markdown."""
    late = scenario.late_us
    return (
        f"{len(load())} recordings. Each is simulated as it was (groups, programs with their measured CPU work, start "
        "times, phase of the tick, phases of the period timers where the trace tells them), and with the timer phases "
        f"drawn anew by {scenario.seeds} seeds (five times as many where only distributions can be compared). "
        "**One cost "
        f"is fitted:** the latency from a timer's expiry to the first run, {late['host']:.0f} us on the host and "
        f"{late['guest']:.0f} us in guests (medians over host repeats r0 and guest scenarios a); host repeats r2 and "
        "guest scenarios d check it. Instructions are taken from the function graph of guest c."
    )


def say_latency() -> str:
    """Return the latency where it was fitted and where it was checked."""
    rows = df_latency().itertuples()
    return (
        "; ".join(f"{r.source}, {r.used}: {r.median_us:.0f} us ({r.p10_us:.0f} to {r.p90_us:.0f})" for r in rows)
        + " (median, 10th to 90th percentile)."
    )


def say_counters(comparison: Comparison) -> str:
    """Return how the counters came out, by claim."""
    table = comparison.table()
    asked = table[table["role"] == "prediction"]
    lines = [
        f"- {claim}: {int((rows['agrees'] == True).sum())} of {len(rows)} agree."  # noqa: E712
        for claim, rows in asked.groupby("claim", sort=False)
    ]
    return "\n".join(lines)


def say_alignment(alignment: pd.DataFrame) -> str:
    """Return what the run time per period shows."""
    table = alignment.set_index("recording")
    pinned, free = (table.loc[name, "near_share"] for name in ("host/i_1thr_pin.r2", "host/i_1thr_pin.r0"))
    off = 100 * (alignment["model_mean_ms"] / alignment["measured_mean_ms"] - 1).abs()
    return (
        f"*Alignment* is the share of periods (from one expiry of the group's timer to the next) whose run time in the "
        f"model lies within {NEAR_US / 1000:g} ms of the measured. With one pinned thread on the quiet host it is "
        f"{100 * pinned:.0f} %, with load beside it {100 * free:.0f} %: another task on the CPU moves the "
        "start of a run "
        "to a tick and its end by a tick of 4 ms, and the overrun is paid back later. The mean run per "
        "period is off by "
        f"at most {off.max():.1f} %."
    )


def say_cookies(shared_cores: pd.DataFrame) -> str:
    """Return what two groups with a cookie each did on one core and on two; from `df_cookies`."""
    table = shared_cores.set_index(["recording", "group", "measure"])
    run = "b-7.3.4-sc-ic3/cookie_"
    idle = {
        (name, group): table.loc[(f"{run}{name}", group, "force_idle_ms")]
        for name in ("1v1_samecore", "2v1_samecore", "3v3_free")
        for group in ("/X", "/Y")
    }
    own, third, free = idle["1v1_samecore", "/X"], idle["2v1_samecore", "/Y"], idle["3v3_free", "/X"]
    more = table.loc[(f"{run}2v1_samecore", "/X", "usage_ms")]
    return (
        f"One thread against one on a core, {own['seconds']:g} s: each is idle on the other's account for half of the "
        f"time (measured {own['measured']:.0f} ms, model {own['mean']:.0f}). Two against one: the single thread gets "
        f"two thirds, beside an idle sibling (measured {third['measured']:.0f} ms, model {third['mean']:.0f}); the two "
        f"threads measured {more['measured']:.0f} ms of CPU time against {more['mean']:.0f} in the model. The guest's "
        "siblings hear of a pick late, some 0.19 ms after it, and run on beside the other cookie until then; the model "
        "has the latency of a timer's interrupt, which was fitted on other recordings, in its place. On two cores with "
        f"three threads each the model says {free['least']:.0f} to {free['most']:.0f} ms of force idle for one group, "
        f"by chance of the start: the balancer parts the cookies by core or does not. Measured: "
        f"{free['measured']:.0f} ms."
    )


def say_hole(measured: pd.DataFrame, model: pd.DataFrame) -> str:
    """Return the hole of 7.2, measured and predicted, with its condition."""

    def ends(table, version, condition):
        rows = table[(table["version"] == version) & (table["condition"] == condition) & (table["variant"] != "Nalone")]
        return f"{rows['share_percent'].min():.0f} to {rows['share_percent'].max():.0f} %"

    return (
        "A limited group (10 ms in 100 ms) holds an unlimited child with two tasks. In 7.2 the task that "
        "takes over when "
        "the quota runs out is not told to stop, until any other task runs on that CPU. Shares of the CPU "
        "over 10 s:\n\n"
        f"- **With a housekeeping task** ({HOUSEKEEPING} in the root group; an ordinary guest has kworkers "
        "and kcompactd): "
        f"model {ends(model, '7.2', 'as it comes')}, measured {ends(measured, '7.2.13', 'as it comes')}.\n"
        f"- **Nothing else on the CPU:** model {ends(model, '7.2', 'CPU kept free')}, measured "
        f"{ends(measured, '7.2.13', 'CPU kept free')}: a guest's CPU cannot be emptied quite, so the model's "
        "condition is "
        "an upper bound.\n"
        f"- 6.18.15 and 7.3.4 stay at the quota: {ends(measured, '6.18.15', 'as it comes')} and "
        f"{ends(measured, '7.3.4', 'as it comes')}.\n"
        f"- The row 7.3 would still have the hole ({ends(model, '7.3', 'as it comes')} with the housekeeping task) and "
        f"therefore claims nothing about nested quotas. Its note: {Kernel.version('7.3').note}."
    )


def df_left_out(slopes: pd.DataFrame) -> pd.DataFrame:
    """Return what the model leaves out and how large it is in these recordings: what, where, size, unit."""
    rows = []
    for loaded, name in ((True, "host r0"), (False, "host r2")):
        waits = [_waiting(one) for one in load("quota", "host/ii_") if one.is_loaded == loaded]
        rows.append(("other load: time neither used nor throttled", name, sum(waits) / len(waits), "% of CPU time"))
        late = [_late_share(one) for one in load("quota", "host/") if one.is_loaded == loaded and _is_late_known(one)]
        rows.append(
            ("refills after which another task runs on until a tick", name, sum(late) / len(late), "% of refills")
        )
        steal = [one.raw["steal_ticks"] for one in load("quota", "host/") if one.is_loaded == loaded]
        rows.append(("steal", name, max(steal), "ticks a run, at most"))
    latency = df_latency().set_index(["source", "used"])
    for source in ("host", "guest"):
        row = latency.loc[source, "check"]
        rows.append(("interrupt and IPI latency, 90th percentile", source, row["p90_us"], "us after the expiry"))
    for row in slopes[~slopes["patched"]].itertuples():
        rest = row.interrupted - row.model_per_group_per_cpu
        size = 100 * rest / row.measured_per_group_per_cpu
        rows.append(
            ("interrupts that hit the walks (traced mean less median, noisy)", row.recording, size, "% of the slope")
        )
    return pd.DataFrame(rows, columns=["what", "where", "size", "unit"])


def _is_late_known(one) -> bool:
    return any(part in one.name for part in ("i_1thr_pin", "ii_4thr_pin", "vi_nest3.r"))


def _late_share(one) -> float:
    """Percent of a group's starts after a refill, on each CPU, that come more than LATE_US later."""
    ((path, times),) = one.raw["timers_us"].items()
    starts = {}
    for cpu, _, start, _ in one.raw["runs_us"]:
        starts.setdefault(cpu, []).append(start)
    waits = [
        min(start - time for start in mine if start > time)
        for mine in starts.values()
        for time, following in zip(times, times[1:])
        if any(time < start < following for start in mine) and len(mine) > len(times) / 2
    ]
    return 100 * sum(wait > LATE_US for wait in waits) / len(waits)


def _waiting(one) -> float:
    """Percent of the CPU time of a saturating group on two CPUs that was neither used nor throttled."""
    whole = one.machine.nr_cpus * (end_us(one) - one.start_us)
    return 100 * (1 - (usage_us(one, "/A") + one.measured["/A"]["throttled_us"]) / whole)


#: What is known about rows that fail: a part of the quantity's name, and why.
WHY = (
    (
        "cookie_2v1_samecore.X.usage",
        "a guest's sibling runs on beside the other cookie until its interrupt comes, 0.19 ms a switch",
    ),
    (
        "pipe1_nowork",
        "one pair that hands over: how long its two ends run side by side is decided by the latency of a "
        "wake-up, 50 to "
        "400 us in a guest",
    ),
    ("pipe4", "6.1 alone: the model uses less than its quota; not explained further, 6.18 agrees"),
    ("busy2_25_40_60", "the phase of the level below is not in the trace; it throttles once or twice"),
    (
        "busy2_periods",
        "three levels of one ratio: which of them throttles is decided at instants that tie, and 6.1's timers are all "
        "aligned",
    ),
    ("iii_2grp_pin.r0", "other load (average 5) on the CPU that both groups share"),
    (
        "sweep_q150000",
        "other load while the group is not throttled is time neither used nor throttled; with 75 % of both "
        "CPUs that is "
        "most of the time",
    ),
    ("sweep_q2500", "periods of 10 ms: latency and other load are a larger part of each"),
    ("sweep", "other load (average 5 to 6)"),
    (
        "vi_nest3.r2",
        "other load: in a quarter of the refills another task runs on the CPU, an unthrottle does not "
        "preempt it, and the "
        "group starts at the next tick (unthrottled, so that its throttled time is less)",
    ),
    ("v_burst20", "an extreme of two measured runs against the model's draws; close to their end"),
    ("vi_nest3_periods", "an extreme of two measured runs against the model's draws; close to their end"),
    (
        "slope_per_group",
        "a little more than the counted instructions; ticks that hit the walks are of that size (traced mean less "
        "median), but noisy",
    ),
    (
        "cpu_free.share",
        "the guest's CPU cannot be emptied: neighbour work each 5 s, vmstat and others end the stretch; the model's "
        "condition is an upper bound",
    ),
)


def df_failures(comparison: Comparison) -> pd.DataFrame:
    """Return the predictions that do not agree: quantity, unit, published, model, low, high (accepted), why."""
    failed = comparison.failures().merge(comparison.rules()[["quantity", "low", "high"]], on="quantity")
    known = [next((text for part, text in WHY if part in name), "not explained") for name in failed["quantity"]]
    columns = {"published": "measured"}
    table = failed[["quantity", "unit", "published", "model", "low", "high"]].rename(columns=columns)
    return table.assign(why=known)


def say_verdict(comparison: Comparison) -> str:
    """Return how many predictions agree."""
    table = comparison.table()
    asked = table[table["role"] == "prediction"]
    held = int((asked["agrees"] == True).sum())  # noqa: E712
    return (
        f"**{held} of {len(asked)} predictions agree** by the tolerances that were named with the recordings "
        "(throttled "
        f"time {rules.GIVEN:g} % with phases given, {rules.UNKNOWN:g} % without, {rules.LOADED:g} % on the loaded host "
        f"and for threads that are not pinned; usage {rules.USAGE:g} %; counts within 1). The rows that fail "
        "stay, with "
        "what is known about them."
    )


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def say_failures(failures: pd.DataFrame) -> str:
    """Return the rows that fail as a Markdown table, those of one reason together.

    Parameters
    ----------
    failures : pandas.DataFrame
        From `df_failures`.
    """
    lines = ["| rows | measured | model | why |", "|---|---:|---:|---|"]
    for why, rows in failures.groupby("why", sort=False):
        names = "<br>".join(f"`{name}`" for name in rows["quantity"])
        theirs, ours = ("<br>".join(_short(value) for value in rows[side]) for side in ("measured", "model"))
        lines.append(f"| {names} | {theirs} | {ours} | {why} |")
    return "\n".join(lines)
