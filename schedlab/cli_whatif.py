"""`schedlab whatif`: other limits of a group on a recorded host, as tables and figures that are whole or not there."""

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from .cli_sweep import EVERY_S

FORMATS = ("table", "csv", "json")
#: By its presence a folder is known as one that this command made, and may be replaced.
MADE = "whatif.json"


def ask_what_if(
    source: Annotated[
        Path, typer.Argument(metavar="TRACE_OR_SNAPSHOT", help="A folder of schedlab snapshot, or a trace's file.")
    ],
    group: Annotated[str, typer.Option("--group", metavar="PATH", help="The group, such as /kubepods/x.")],
    quota: Annotated[
        str | None, typer.Option("--quota", metavar="LIST", help="Such as 150ms,200ms, 1500m (millicores) or max.")
    ] = None,
    burst: Annotated[str | None, typer.Option("--burst", metavar="LIST", help="Such as 0,50ms.")] = None,
    period: Annotated[str | None, typer.Option("--period", metavar="LIST", help="Such as 100ms,20ms.")] = None,
    phase: Annotated[
        str | None, typer.Option("--phase", metavar="LIST", help="aligned, random or both; as the kernel by default.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="Runs for each combination.")] = 10,
    resolution: Annotated[
        str, typer.Option("--resolution", metavar="TIME", help="Of the smallest quota and burst.")
    ] = "1ms",
    search: Annotated[bool, typer.Option("--search/--no-search", help="Look for the smallest quota and burst.")] = True,
    demand: Annotated[
        str | None,
        typer.Option("--demand", metavar="MODEL", help="constant or periodic, for a snapshot without a trace."),
    ] = None,
    demand_period: Annotated[
        str, typer.Option("--demand-period", metavar="TIME", help="Of periodic demand.")
    ] = "100ms",
    duration: Annotated[str, typer.Option("--duration", metavar="TIME", help="Simulated with a demand model.")] = "10s",
    arrivals: Annotated[
        str, typer.Option("--arrivals", help="recorded: requests come when they came; relative: after as long a sleep.")
    ] = "recorded",
    kernel: Annotated[
        str | None, typer.Option("--kernel", metavar="VERSION", help="In place of the snapshot's.")
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(
            "--tasks", metavar="PATTERNS", help="Trace alone: names of the group's tasks, or a CSV pid,group."
        ),
    ] = None,
    was: Annotated[
        str | None, typer.Option("--was", metavar="LIMIT", help="Trace alone: its limit, as quota/period/burst.")
    ] = None,
    cpu_stat: Annotated[
        str | None,
        typer.Option("--cpu-stat", metavar="FILES", help="Trace alone: the group's cpu.stat, or before,after."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where tables and figures go.")] = Path("whatif"),
    form: Annotated[str, typer.Option("--format", help="What is printed: table, csv or json.")] = "table",
):
    """Predict throttling and latency of a group under other limits, from a recording of its host.

    A recorded host is first replayed as it was, and held against its own cpu.stat.
    """
    from . import _check, _first_run
    from .cli_io import Told

    with Told():
        _check.choice("format", form, FORMATS)
        _check_out(out)
        options = dict(quota=quota, burst=burst, period=period, phase=phase, seeds=seeds, search=search, demand=demand)
        options |= dict(demand_period=demand_period, duration=duration, arrivals=arrivals, kernel=kernel, tasks=tasks)
        options |= dict(was=was, cpu_stat=cpu_stat, resolution_us=_us("resolution", resolution))
        _first_run.tell(always=True)
        answer = _ask(source, group, options)
        _print(answer, form)
        _write(answer, out, {"source": source.name, "group": group} | options)
    typer.echo(str(out), err=form != "table")


def _us(field, text) -> int:
    from .units import to_ns

    try:
        return to_ns(text) // 1000
    except ValueError as error:
        raise ValueError(f"{field}={error}") from None


def _check_out(out: Path) -> None:
    if out.exists() and not (out.is_dir() and ((out / MADE).is_file() or not any(out.iterdir()))):
        raise ValueError(f"--out {out}: it is there and was not made by schedlab whatif; name another")
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not (above.is_dir() and os.access(above, os.W_OK | os.X_OK)):
        raise ValueError(f"--out {out}: no folder can be made in {above}")


def _ask(source, group, options):
    """Ask, with the number of runs: live on a terminal, else a line now and then."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from .studies.what_if import ask

    console = Console(stderr=True)
    if not console.is_terminal:
        return ask(source, group, on_run=_Lines(), **options)
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        shown = progress.add_task("reading")
        return ask(source, group, on_run=lambda n: progress.update(shown, description=f"{n} runs"), **options)


class _Lines:
    """Prints the number of runs on standard error, not more often than each `EVERY_S` seconds."""

    def __init__(self):
        self._said = time.monotonic()

    def __call__(self, n: int) -> None:
        if time.monotonic() - self._said >= EVERY_S:
            self._said = time.monotonic()
            print(f"{n} runs", file=sys.stderr, flush=True)


def _print(answer, form):
    if form == "json":
        print(json.dumps(_plain(answer), indent=1, ensure_ascii=False))
    elif form == "csv":
        from .tables import plain_table

        print(plain_table(answer.combinations).to_csv(index=False, float_format="%.10g", lineterminator="\n"), end="")
    else:
        _print_tables(answer)


def _plain(answer) -> dict:
    """The answer as plain values; what is not known is null."""
    tables = {name: json.loads(table.to_json(orient="records")) for name, table in answer.tables.items()}
    head = {"source": answer.host.name, "group": answer.host.group, "now": str(answer.host.now)}
    head |= {"demand": answer.host.demand, "notes": list(answer.host.notes), "not_asked": list(answer.question.skipped)}
    return head | tables | {"runs": answer.nr_runs}


def _print_tables(answer):
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    console = console if console.is_terminal else Console(highlight=False, markup=False, width=230)
    host = answer.host
    console.print(
        f"{host.name}: {host.group.encode('unicode_escape').decode()}, {host.now}; kernel {host.kernel.asked}"
    )
    console.print(f"demand: {host.demand}")
    for note in (*host.notes, *(f"not asked: {one}" for one in answer.question.skipped)):
        console.print(f"note: {note}")
    if len(answer.replay):
        table = Table("as it was", "measured", "model", "range", "", box=None, pad_edge=False, header_style="bold")
        for row in answer.replay.itertuples():
            numbers = (f"{row.measured:.4g}", f"{row.predicted:.4g}", f"{row.low:.4g} to {row.high:.4g}")
            table.add_row(row.measure, *numbers, "" if row.inside else "outside")
        console.print(table)
    measures = tuple(f"{name}_p{p}_ms" for name in ("wakeup", "completion") for p in (50, 99, 99.9))
    measures = ("nr_throttled", "throttled_ms", *measures)
    table = Table("limit", "timers", box=None, pad_edge=False, header_style="bold")
    for measure in measures:
        table.add_column(measure.replace("completion", "done"))
    for row in answer.combinations.to_dict("records"):
        table.add_row(_limit(row), row["phase"], *(_spread(row, measure) for measure in measures))
    console.print(table)
    for line in answer.lines:
        console.print(line)
    seeds = int(answer.combinations["seeds"].iloc[0])
    console.print("wakeup: from wake-up to running; done: from wake-up to the next sleep (ms)")
    console.print(f"mean (least–most) over {seeds} seeds; demand: {host.demand}")


def _limit(row) -> str:
    import pandas as pd

    from .studies.what_if import Limit

    quota_us = None if pd.isna(row["quota_us"]) else int(row["quota_us"])
    return str(Limit(quota_us, int(row["period_us"]), int(row["burst_us"])))


def _spread(row, measure) -> str:
    mean, low, high = (row[f"{measure}{end}"] for end in ("", "_low", "_high"))
    if mean != mean:
        return "none"
    mean, low, high = (f"{value:.0f}" if value >= 100 else f"{value:.2g}" for value in (mean, low, high))
    return mean if low == high else f"{mean} ({low}–{high})"


def _write(answer, out: Path, asked: dict) -> None:
    """Write tables and figures beside the place and move them there."""
    from . import provenance
    from .figures import save_figure
    from .figures import what_if as draw
    from .report.job import move_into_place
    from .tables import save_table

    part = out.absolute().with_name(f".{out.absolute().name}.{os.getpid()}")
    try:
        part.mkdir(parents=True)
        for name, table in answer.tables.items():
            save_table(table, part, name)
        save_figure(draw.plot_combinations(answer.combinations), part, "combinations")
        if len(answer.replay):
            save_figure(draw.plot_replay(answer.replay), part, "replay")
        if answer.combinations["quota_us"].nunique() > 2:
            save_figure(draw.plot_curve(answer.combinations, answer.quota), part, "curve")
        made = provenance.provenance(asked, None) | _plain(answer)
        (part / MADE).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        move_into_place(part, out.absolute())
    finally:
        shutil.rmtree(part, ignore_errors=True)
