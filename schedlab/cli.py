"""The command line: reports, benchmarks, files in and out. A mistake gets one line and exit status 2, no traceback."""

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from . import __version__
from .cli_io import add_commands
from .cli_sweep import Scheduler, run_sweep

app = typer.Typer(
    name="schedlab",
    help="Models of the Linux scheduler: reports that hold them against what was published.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

#: Exit status after Ctrl-C.
STOPPED = 130

Studies = Annotated[list[str] | None, typer.Argument(metavar="[STUDY]...", help="Which studies; all without a name.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where reports are; reports/ by default.")]
Notebooks = Annotated[
    Path | None, typer.Option("--notebooks", metavar="DIR", help="Where notebooks are; schedlab's own by default.")
]


def _version(wanted: bool):
    if wanted:
        print(f"schedlab {__version__}")
        raise typer.Exit


@app.callback()
def _schedlab(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = (
        False
    ),
):
    pass


@app.command("list")
def list_studies(studies: Studies = None, notebooks: Notebooks = None):
    """Show the studies; with names, their parameters too."""
    from rich.table import Table

    from .report.studies import find_studies

    console = _console()
    found = find_studies(studies or (), notebooks)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("study", "minutes", "what it shows"):
        table.add_column(column, overflow="fold", justify="right" if column == "minutes" else "left")
    for study in found:
        minutes = "" if study.minutes is None else f"{study.minutes:g}"
        what = f"{study.title}\n{study.description}" if study.description else study.title
        table.add_row(study.name, minutes, what)
    console.print(table)
    for study in found if studies else ():
        _print_parameters(console, study)


def _console(stderr: bool = False):
    """Return a console as wide as the terminal, or wide enough for a file that nobody should find cut lines in."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    return console if console.is_terminal else Console(stderr=stderr, highlight=False, width=200)


def _print_parameters(console, study):
    from rich.table import Table

    table = Table(box=None, pad_edge=False, title=f"\n{study.name}: -p NAME VALUE", title_justify="left")
    for column in ("name", "type", "default", "meaning"):
        table.add_column(column, overflow="fold")
    for parameter in study.parameters.values():
        table.add_row(parameter.name, str(parameter.kind), repr(parameter.default), parameter.help)
    console.print(table)


def _pairs(given: list[str]) -> dict[str, str]:
    from .report import Refused

    pairs = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise Refused(f"-p {pair}: takes a name and a value, as in -p quota_us 20000")
        if name in pairs:
            raise Refused(f"-p {name} {value}: given twice")
        pairs[name] = value
    return pairs


@app.command("report")
def make_report(
    studies: Studies = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("-p", "--parameter", metavar="NAME VALUE", help="Set a parameter of the notebooks; repeatable."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A coarse run for a first look, with PNG figures alone.")
    ] = False,
    out: Out = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Notebooks side by side; one a core by default.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Leave out reports that this very code and these parameters made.")
    ] = False,
    scheduler: Scheduler = None,
    notebooks: Notebooks = None,
):
    """Run the notebooks and write reports/index.html with one folder a study."""
    from .report import report
    from .report.progress import Progress

    with Progress(_console(stderr=True)) as progress:
        outcomes = report(
            studies or (),
            parameters=_pairs(parameter or []),
            quick=quick,
            out=out,
            notebooks=notebooks,
            workers=workers,
            resume=resume,
            scheduler=scheduler,
            on_cell=progress.on_cell,
            on_end=progress.on_end,
        )
    from ._resources import reports_path

    print((out.resolve() if out else reports_path()) / "index.html")
    if any(outcome.state not in ("done", "current") for outcome in outcomes):
        raise typer.Exit(1)


@app.command()
def compare(studies: Studies = None, out: Out = None):
    """Print the comparison tables of the reports; exit status 1 when a prediction disagrees."""
    from ._resources import reports_path
    from .report.comparisons import find_comparisons, print_comparison

    console = _console()
    found = find_comparisons(studies or (), out or reports_path())
    failed = [print_comparison(console, name, rows) for name, rows in found.items()]
    if any(failed):
        raise typer.Exit(1)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(context: typer.Context):
    """Measure the engine, beside rival simulators where they are installed (from a checkout)."""
    import subprocess

    from ._resources import checkout
    from .report import Refused

    script = (checkout() or Path()) / "benchmarks" / "bench.py"
    if checkout() is None or not script.is_file():
        raise Refused(f"bench: {script} is not there; the benchmarks are part of a checkout, not of the wheel")
    raise typer.Exit(subprocess.call([sys.executable, str(script), *context.args]))


record_app = typer.Typer(
    name="record", help="Record what a real kernel does, in the form of data/recordings.", no_args_is_help=True
)
app.add_typer(record_app)

Variables = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A variable of the script, as SECS=1; repeatable."),
]


@record_app.command("guest")
def record_guest(
    kernel: Annotated[Path, typer.Option("--kernel", metavar="IMAGE", help="A bootable kernel image (bzImage).")],
    scenario: Annotated[str, typer.Option("--scenario", help="a, b, c, d or hole; data/recordings/SOURCES.md.")] = "d",
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write.")] = Path("guest.jsonl.gz"),
    variables: Variables = None,
    append: Annotated[str, typer.Option("--append", help="More of the kernel's command line.")] = "",
    timeout_s: Annotated[float, typer.Option("--timeout", help="Stop QEMU after so many seconds.")] = 600.0,
):
    """Boot a kernel in QEMU, in virtual time, and record a scenario."""
    from .record import guest

    if scenario not in guest.SCENARIOS:
        _refuse(f"scenario={scenario!r}: one of {', '.join(guest.SCENARIOS)}")
    options = dict(variables=variables or (), append=append, timeout_s=timeout_s)
    _say_recordings(lambda: guest.record(kernel, scenario, out, **options), out)


@record_app.command("host")
def record_host(
    scenarios: Annotated[
        list[str] | None, typer.Argument(metavar="[SCENARIO]...", help="Which; all without a name.")
    ] = (None),
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to write.")] = Path("host.jsonl.gz"),
    repeat: Annotated[int, typer.Option("--repeat", help="Number that the names end with.")] = 0,
):
    """Record this machine (root; cgroup v1 or v2): makes groups named schedlab, and removes them."""
    from .record import host

    for name in scenarios or ():
        if name not in host.SCENARIOS:
            _refuse(f"scenario={name!r}: one of {', '.join(host.SCENARIOS)}")
    _say_recordings(lambda: host.record(out, scenarios or (), repeat), out)


def _refuse(line: str):
    from .report import Refused

    raise Refused(line)


def _say_recordings(record, out: Path):
    """Record, and print a line for each group; what is missing is one line and exit status 2."""
    from .record.tools import Missing

    try:
        found = record()
    except Missing as problem:
        _refuse(f"record: {problem}")
    except OSError as problem:
        _refuse(f"record: {problem.filename}: {problem.strerror}")
    for one in found:
        for group, row in one.get("measured", {}).items():
            print(one["name"], group, " ".join(f"{name}={value}" for name, value in row.items()))
    print(f"{len(found)} recordings in {out}")


@app.command(hidden=True)
def gallery(out: Out = None):
    """Copy the figures that README shows from the reports to reports/gallery."""
    from .report import gallery as copy

    for path in copy(out):
        print(path)


add_commands(app)
app.command("sweep")(run_sweep)


def _join_pairs(arguments: list[str]) -> list[str]:
    """Return the arguments with each ``-p NAME VALUE`` as ``-p NAME=VALUE``, since typer has no two-valued lists."""
    joined = []
    rest = list(arguments)
    while rest:
        joined.append(rest.pop(0))
        if joined[-1] in ("-p", "--parameter") and rest:
            joined.append(rest.pop(0))
            if "=" not in joined[-1] and rest and not rest[0].startswith("--"):
                joined[-1] += f"={rest.pop(0)}"
    return joined


def _problem_line(problem, given: list[str]) -> str:
    """Return a usage problem of typer as one line, with the value, and with the nearest option or command."""
    from ._check import nearest

    line = " ".join(problem.format_message().split())
    context = getattr(problem, "ctx", None)
    param = getattr(problem, "param", None)
    for option in param.opts if param is not None and line.startswith("Invalid value for") else ():
        for word, value in zip(given, [*given[1:], ""]):
            value = value if word == option else word.removeprefix(f"{option}=") if "=" in word else word
            if value != word:
                line = line.replace(f"'{option}':", f"{option} {value!r}:", 1)
    wrong = getattr(problem, "option_name", None)
    if context is not None and "id you mean" not in line and "ossible options" not in line:
        if wrong:
            line += nearest(wrong, [name for param in context.command.params for name in param.opts])
        elif line.startswith("No such command"):
            line += nearest(line.split("'")[1], context.command.list_commands(context))
    return line


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 something failed or a prediction disagrees, 2 bad input, 130 stopped."""
    from ._pool import Failed
    from .report.parameters import Refused

    started = time.monotonic()
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # in a locale that is not UTF-8 a dash is no reason to fail
    try:
        status = app(args=_join_pairs(given), prog_name="schedlab", standalone_mode=False)
    except Refused as problem:
        print(f"schedlab: {problem}", file=sys.stderr)
        sys.exit(2)
    except Failed as problem:
        print(f"schedlab: {problem}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        status = STOPPED
    except (BrokenPipeError, SystemExit):  # rich and typer make a SystemExit of a closed pipe
        sys.exit(141)
    except OSError as problem:  # a full disk, for one
        place = f"{problem.filename}: " if problem.filename else ""
        print(f"schedlab: {place}{problem.strerror or problem}", file=sys.stderr)
        sys.exit(2)
    except Exception as problem:
        if type(problem).__name__ == "Abort":  # what typer makes of the end of a prompt
            sys.exit(STOPPED)
        if not hasattr(problem, "format_message"):
            raise
        print(f"schedlab: {_problem_line(problem, given)}", file=sys.stderr)
        sys.exit(2)
    if status == STOPPED:  # typer returns it for Ctrl-C
        print(f"schedlab: stopped after {time.monotonic() - started:.0f} s", file=sys.stderr)
    sys.exit(status or 0)


if __name__ == "__main__":
    main()
