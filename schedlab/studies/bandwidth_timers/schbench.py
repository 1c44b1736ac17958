"""schbench in two groups: how long its workers wait to run after a wake-up."""

from dataclasses import replace

import pandas as pd

from ...kernel import Costs
from ...simulate import simulate
from ...workload import Group
from ...workloads.schbench import schbench
from .._threads import in_threads
from .scenario import Scenario

#: What the kernel's work costs here (fact sheet E1 and B6: a switch 1 to 2 us, an IPI 1 to 5 us).
COSTS = Costs(context_switch_ns=1_500, ipi_ns=3_000)
#: A message thread's time for each worker that it wakes, and a worker's to post itself and go to wait (fact sheet E1:
#: 1 to 2 us for a system call that wakes).
WAKE_COST_NS = POST_COST_NS = 1_500
#: What "Groups: 16" of the mail is taken for: ``schbench -t 16`` with the default of two message threads.
MESSAGE_THREADS = 2
PERCENTILES = (50, 75, 90, 95, 99, 99.5, 99.9)
#: Simulated seconds of a run, runs with aligned and with random timers; the same for a quick run.
SECONDS, ALIGNED_RUNS, RANDOM_RUNS = 20, 10, 20
QUICK_SECONDS, QUICK_RUNS = 10, 5
#: Seconds and runs (aligned and random alike) for each of READINGS, and in a quick run.
READING_SECONDS, READING_RUNS, QUICK_READING_SECONDS, QUICK_READING_RUNS = 10, 3, 5, 1
#: Other readings of the mail, which says neither the options nor the kernel's HZ: options of schbench, of the kernel.
#: With -C message threads compute for as long as workers do.
READINGS = {
    "in use: -m 2, HZ 250": ({}, {}),
    "HZ 100": ({}, {"hz": 100}),
    "HZ 1000": ({}, {"hz": 1000}),
    "-C 30000 (newer schbench)": ({"message_cputime_us": 30_000}, {}),
    "-m 1": ({"message_threads": 1}, {}),
}
#: Percentiles whose agreement `df_schbench_readings` counts, and the factor that counts as agreement.
COUNTED, WITHIN = (50, 75, 90, 95, 99), 2.0


def df_schbench_runs(scenario: Scenario) -> pd.DataFrame:
    """Return wake-up latencies of schbench in two groups with the scenario's limit, aligned and random, run by run.

    A run's percentiles are over the workers of both groups. With aligned timers the tick has another phase in each
    run; random phases are drawn anew in each.

    Returns
    -------
    pandas.DataFrame
        threads (``-t``), phases (rule), seed, percentile, latency_us.
    """
    seconds = QUICK_SECONDS if scenario.quick else SECONDS
    aligned, drawn = (QUICK_RUNS, QUICK_RUNS) if scenario.quick else (ALIGNED_RUNS, RANDOM_RUNS)
    return _runs(scenario, seconds, aligned, drawn)


def _runs(scenario, seconds, aligned, drawn, options=None):
    cases = []
    for threads in scenario.schbench_groups:
        kernels = scenario.kernels("aligned", aligned)
        cases += [(threads, "aligned", kernel, scenario.seed + k) for k, kernel in enumerate(kernels)]
        kernel = scenario.kernel_with("random")
        cases += [(threads, "random", kernel, scenario.seed + k) for k in range(drawn)]
    found = in_threads(lambda case: _run(scenario, seconds, options or {}, *case), cases)
    return pd.DataFrame([row for rows in found for row in rows])


def _run(scenario, seconds, options, threads, phase, kernel, seed):
    groups = [Group(f"/cg{k}", quota_us=scenario.quota_us, period_us=scenario.period_us) for k in (1, 2)]
    how = dict(message_threads=MESSAGE_THREADS, threads=threads, wake_cost_ns=WAKE_COST_NS, post_cost_ns=POST_COST_NS)
    jobs = [schbench(group=group, **(how | options)) for group in groups]
    run = simulate(scenario.machine, kernel.with_(costs=COSTS), jobs[0] + jobs[1], f"{seconds}s", seed=seed)
    labels = [job.name for job in jobs]
    return [
        {"threads": threads, "phases": phase, "seed": seed, "percentile": p}
        | {"latency_us": run.percentile_ns(labels, p) / 1000}
        for p in PERCENTILES
    ]


def df_schbench(runs: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return the percentiles of `df_schbench_runs` beside the published ones.

    Parameters
    ----------
    runs : pandas.DataFrame
        From `df_schbench_runs`.
    published : pandas.DataFrame
        ``published.load("bandwidth_schbench")``.

    Returns
    -------
    pandas.DataFrame
        threads, phases, percentile, latency_us (mean over runs), latency_low_us, latency_high_us (over runs),
        published_us (missing where none was), model_over_published.
    """
    latency = runs.groupby(["threads", "phases", "percentile"])["latency_us"]
    table = latency.agg(latency_us="mean", latency_low_us="min", latency_high_us="max").reset_index()
    theirs = published.assign(phases=published["kernel"].map({"aligned": "aligned", "interleaved": "random"}))
    theirs = theirs.rename(columns={"groups": "threads", "latency_us": "published_us"}).drop(columns="kernel")
    table = table.merge(theirs, how="left", on=["threads", "phases", "percentile"])
    return table.assign(model_over_published=table["latency_us"] / table["published_us"])


def df_schbench_readings(scenario: Scenario, published: pd.DataFrame) -> pd.DataFrame:
    """Return how other readings of the mail would have come out, in short runs.

    None of them was chosen by its agreement: the first is what the fact sheet guesses, the others show how much hangs
    on the guess.

    Parameters
    ----------
    scenario : Scenario
    published : pandas.DataFrame
        ``published.load("bandwidth_schbench")``.

    Returns
    -------
    pandas.DataFrame
        reading, threads, p75_over_published, p99_over_published (aligned), p99_random_over_aligned, within (how many of
        the 50th to 99th percentiles, aligned and random, lie within a factor of two), of.
    """
    seconds, count = (READING_SECONDS, READING_RUNS)
    if scenario.quick:
        seconds, count = QUICK_READING_SECONDS, QUICK_READING_RUNS
    tables = []
    for reading, (options, tunables) in READINGS.items():
        changed = replace(scenario, kernel=scenario.kernel.with_(**tunables))
        table = df_schbench(_runs(changed, seconds, count, count, options), published)
        tables.append(table.assign(reading=reading))
    table = pd.concat(tables)
    ratio = table["model_over_published"]
    counted = table[table["percentile"].isin(COUNTED) & ratio.notna()]
    counted = counted.assign(within=counted["model_over_published"].between(1 / WITHIN, WITHIN))
    by = ["reading", "threads"]
    found = counted.groupby(by, sort=False)["within"].agg(within="sum", of="count")
    for percentile in (99, 75):
        part = table[(table["percentile"] == percentile) & (table["phases"] == "aligned")].set_index(by)
        found.insert(0, f"p{percentile}_over_published", part["model_over_published"])
    p99 = table[table["percentile"] == 99].pivot(index=by, columns="phases", values="latency_us")
    found.insert(2, "p99_random_over_aligned", p99["random"] / p99["aligned"])
    return found.reset_index()


def name_readings(table: pd.DataFrame) -> pd.DataFrame:
    """Return `df_schbench_readings` with columns that say what they are, by reading and threads."""
    names = {
        "p75_over_published": "75th percentile, aligned: model over published",
        "p99_over_published": "99th percentile, aligned: model over published",
        "p99_random_over_aligned": "99th percentile in the model: random over aligned",
        "within": f"percentiles (to the 99th) within a factor of {WITHIN:g}",
        "of": "of",
    }
    return table.set_index(["reading", "threads"]).rename(columns=names)
