"""Sentences about the answers. What came out of a file is escaped: they go into HTML."""

from __future__ import annotations

import html

import pandas as pd

from .host import Host
from .question import Limit, Question
from .runs import LATENCIES, PERCENTILES
from .tables import USAGE_PERCENT


def code(text) -> str:
    """Return a text out of a file as HTML in a Markdown cell."""
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in str(text))
    return f"<code>{html.escape(shown).replace('|', '&#124;').replace('`', '&#96;').replace('$', '&#36;')}</code>"


def say_host(host: Host, question: Question) -> str:
    """Return what is simulated, and what of it is not known."""
    inside = sum(task.label in host.labels for task in host.workload.tasks)
    lines = [
        f"{code(host.name)}: group {code(host.group)} with {inside} tasks, limit **{host.now}**; "
        f"{len(host.workload.tasks) - inside} other tasks, {host.machine.nr_cpus} CPUs, "
        f"kernel {code(host.kernel.asked)}, {host.duration_ns / 1e9:.2f} s.",
        f"**Demand: {html.escape(host.demand)}.**",
        *(html.escape(note) for note in (*host.notes, *(f"not asked: {one}" for one in question.skipped))),
    ]
    return "\n".join(f"- {line}" for line in lines)


def say_replay(host: Host, replay: pd.DataFrame) -> str:
    """Return whether to believe it."""
    if not len(replay):
        return "Nothing was measured, so nothing says whether to believe the rest."
    known = replay[replay["source"] == "cpu.stat"]
    lines = [
        f"{int(rows['inside'].sum())} of {len(rows)} numbers of {what} lie in the model's range over the seeds"
        f"{_beside(rows)}."
        for what, rows in (("cpu.stat", known), ("the recording's latencies", replay.drop(known.index)))
        if len(rows)
    ]
    if not host.demand_known:
        lines.append("The usage is that of the demand model by construction and says nothing.")
    elif host.measured.get("nr_throttled"):
        lines.append(
            "The group was throttled in the recording: requests that came meanwhile are seen later than they came, "
            "and a program that never sleeps shows no more demand than it was given."
        )
    return " ".join(lines)


def _beside(rows):
    """Name what lies outside the range, but within what it may be off by."""
    beside = rows[rows["inside"] & ~rows["measured"].between(rows["low"], rows["high"])]
    said = [
        f"{row.measure} ({row.measured:.4g}, model {row.low:.4g} to {row.high:.4g})"
        for row in beside.round(3).itertuples()
    ]
    if not said:
        return ""
    allowed = f"a count by 1, usage by {USAGE_PERCENT:g} %"
    return f", {len(said)} of them only by what was allowed ({allowed}): {', '.join(said)}"


def say_combinations(combinations: pd.DataFrame) -> str:
    """Return each combination as a row of a Markdown table: mean and range over the seeds.

    Parameters
    ----------
    combinations : pandas.DataFrame
        From `df_combinations`.
    """
    columns = {"throttled_percent": "throttled periods (%)", "throttled_ms": "throttled (ms)"}
    columns |= {f"{name}_p{p}_ms": f"{name} p{p} (ms)" for name in LATENCIES for p in PERCENTILES}
    lines = [
        "*Wake-up* latency is from the end of a sleep to running, *completion* from the end of a sleep to the next "
        f"sleep (the job is done). Mean and range over {combinations['seeds'].max()} seeds:",
        "",
        "| limit | timers | " + " | ".join(columns.values()) + " |",
        "|:---|:---|" + "---:|" * len(columns),
    ]
    for _, row in combinations.iterrows():
        quota_us = None if pd.isna(row["quota_us"]) else int(row["quota_us"])
        cells = (_spread(*(row[name + end] for end in ("", "_low", "_high"))) for name in columns)
        limit = Limit(quota_us, int(row["period_us"]), int(row["burst_us"]))
        lines.append(f"| {limit} | {row['phase']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _spread(mean, low, high):
    """Return a mean and its range in a few digits; nothing where nothing was seen."""
    if pd.isna(mean):
        return ""
    return f"{mean:.3g}" if low == high else f"{mean:.3g} ({low:.3g} to {high:.3g})"


def say_answers(host: Host, question: Question, quota: pd.DataFrame, burst: pd.DataFrame) -> str:
    """Return the smallest quota and burst in words, one line a row."""
    lines = [f"- {line}" for line in [*quota_lines(quota), *burst_lines(burst)]]
    limited = sum(group.quota_us is not None for group in host.workload.groups if group.path != host.group) + 1
    if len(question.phases) > 1 and limited == 1:
        lines.append("- One group has a limit, so that aligned and random phases are the same question.")
    if len(quota):
        row = quota.iloc[0]
        lines.append(
            f"- By bisection in steps of {row['resolution_us'] / 1000:g} ms; no throttling means in none of "
            f"{row['seeds']} seeds. Demand: {html.escape(host.demand)}."
        )
    return "\n".join(lines)


def quota_lines(quota: pd.DataFrame) -> list[str]:
    """Return a sentence for each row of `df_quota`."""
    said = []
    for row in quota.itertuples():
        where = f"period {row.period_us / 1000:g} ms, burst {row.burst_us / 1000:g} ms, {row.phase} timers"
        if pd.isna(row.quota_us):
            said.append(f"{where}: throttled with every quota up to all CPUs")
        else:
            said.append(f"{where}: smallest quota without throttling {row.quota_us / 1000:g} ms ({row.cpus:.2f} CPUs)")
    return said


def burst_lines(burst: pd.DataFrame) -> list[str]:
    """Return a sentence for each row of `df_burst`."""
    said = []
    for row in burst.itertuples():
        where = f"{Limit(int(row.quota_us), int(row.period_us))}, {row.phase} timers"
        if pd.isna(row.burst_us):
            said.append(f"{where}: no burst removes throttling (one of the whole quota is the largest)")
        elif row.burst_us == 0:
            said.append(f"{where}: not throttled, no burst is needed")
        else:
            said.append(f"{where}: smallest burst that removes throttling {row.burst_us / 1000:g} ms")
    return said
