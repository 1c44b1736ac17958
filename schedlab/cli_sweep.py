"""`schedlab sweep`: a TOML file into a table, with progress on standard error."""

import os
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster, such as tcp://host:8786."),
]
#: Seconds between two lines of progress where there is no terminal.
EVERY_S = 10.0


def run_sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TOML: machine, kernel, workload, grid.")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write .csv or .parquet; else CSV on standard output.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DIR", help="Finished points; FILE with .sweep by default.")
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", metavar="N", help="In place of the file's.")] = None,
    scheduler: Scheduler = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Threads; one a CPU by default.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the file and count the points.")] = False,
):
    """Run every point of a grid and write one table; what was finished before an interrupt is not run again."""
    from . import _first_run
    from .cli_io import Told
    from .sweep import Plan
    from .sweep.file import read

    store = file.with_suffix(".sweep") if store is None else store
    with Told():
        if to is not None and to.suffix not in (".csv", ".parquet"):
            raise ValueError(f"--to {to}: a name that ends in .csv or .parquet")
        if to is not None and not to.absolute().parent.is_dir():
            raise ValueError(f"--to {to}: no folder {to.parent}")
        if to is not None and not os.access(to.absolute().parent, os.W_OK):
            raise ValueError(f"--to {to}: no file can be made in {to.parent}")
        given = read(file)
        if seeds is not None:
            given["seeds"] = seeds
        plan = Plan(**given, store=None if dry_run and not store.is_dir() else store)
    rows = len(plan.points) * len(plan.seeds)
    print(f"{len(plan.points)} points, {rows} runs, {plan.found} of them in {store}", file=sys.stderr)
    if dry_run:
        return
    if plan.found < rows and scheduler is None:
        _first_run.tell(always=True)
    try:
        with Told(), Progress() as progress:
            table = plan.run(workers=workers, scheduler=scheduler, progress=progress)
            _write(table, to)
    except KeyboardInterrupt:
        print(f"Stopped. Finished points are in {store}; the same command goes on from there.", file=sys.stderr)
        raise


def _write(table, to: Path | None):
    """Write the table; one beside and then in its place, so that an earlier one stays until this one is whole."""
    if to is None:
        table.to_csv(sys.stdout, index=False, lineterminator="\n")
        return
    part = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        if to.suffix == ".csv":
            table.to_csv(part, index=False, lineterminator="\n")
        else:
            table.to_parquet(part, index=False)
        os.replace(part, to)
    finally:
        part.unlink(missing_ok=True)
    print(to, file=sys.stderr)


class Progress:
    """On standard error: a bar with the time left in a terminal, else a line now and then."""

    def __init__(self):
        from rich.console import Console

        from .sweep.progress import Estimate

        self._console = Console(stderr=True, highlight=False)
        self._estimate, self._said, self._bar = Estimate(), time.monotonic(), None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int, found: int) -> None:
        """Show that `done` of `total` are there, `found` of them from before."""
        self._estimate.update(done, total, found)
        if self._console.is_terminal:
            self._show(done, total)
        elif time.monotonic() - self._said >= EVERY_S:
            self._said = time.monotonic()
            print(f"{done} of {total}, {self._estimate}", file=sys.stderr, flush=True)

    def _show(self, done, total):
        from rich import progress as rich

        if self._bar is None:
            columns = (rich.BarColumn(bar_width=24), rich.MofNCompleteColumn(), rich.TextColumn("{task.description}"))
            self._bar = rich.Progress(*columns, console=self._console, transient=True)
            self._bar.add_task("", total=total)
            self._bar.start()
        (task,) = self._bar.task_ids
        self._bar.update(task, completed=done, description=str(self._estimate))
