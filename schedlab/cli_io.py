"""Commands that bring something in or take it out. A bad file gets one line and exit status 2."""

from pathlib import Path
from typing import Annotated

import typer

from .cli_whatif import ask_what_if

Out = Annotated[
    Path | None,
    typer.Option(
        "--to", metavar="FILE", help="Write it as .pftrace (Perfetto), .json (Chrome), .txt or .txt.gz (ftrace)."
    ),
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("snapshot")(take_snapshot)
    app.command("trace")(show_trace)
    app.command("rtapp")(show_rtapp)
    app.command("whatif")(ask_what_if)


def take_snapshot(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    seconds: Annotated[float, typer.Option("--seconds", metavar="N", help="Time between the two readings.")] = 10.0,
    trace: Annotated[bool, typer.Option("--trace", help="Record scheduling events meanwhile (root).")] = False,
):
    """Write what this host says about its CPUs, cgroups and tasks into a folder of text files."""
    from .io import snapshot

    with Told():
        missing = snapshot.write(folder, seconds=seconds, trace=trace)
    for path, reason in sorted(missing.items()):
        print(f"missing: {_line(path)}: {reason}")
    print(folder)


def show_trace(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Text of ftrace or perf; also gzip or zstd.")],
    to: Out = None,
):
    """Show what a trace holds and what was left out of it, or write it in another format."""
    from .io import chrome, ftrace, perfetto, read_trace

    writers = {".pftrace": perfetto.write, ".json": chrome.write, ".txt": ftrace.write, ".gz": ftrace.write}
    with Told():
        if to is not None and to.suffix not in writers:
            raise ValueError(f"--to {_line(to)}: a name that ends in {', '.join(writers)}")
        trace = read_trace(path)
        print(repr(trace))
        if (trace.events["event"] == "sched_switch").any():
            spans = trace.spans()
            length = (spans["end_ns"] - spans["start_ns"]).groupby(spans["state"], observed=False).sum() / 1e9
            print(", ".join(f"{state} {seconds:.6f} s" for state, seconds in length.items()))
        if str(trace.report):
            print(trace.report)
        if to is not None:
            writers[to.suffix](trace, to)
            print(to)


def show_rtapp(path: Annotated[Path, typer.Argument(metavar="FILE", help="JSON of rt-app.")]):
    """Check a JSON of rt-app and show what is modelled otherwise."""
    from .io import rtapp

    with Told():
        found = rtapp.read(path)
    print(f"{len(found.workload.tasks)} tasks in {len(found.workload.groups)} groups")
    for note in found.notes:
        print(_line(note))


class Told:
    """Turns what a reader or a writer raises into one line and exit status 2."""

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, traceback):
        from .report.parameters import Refused

        if isinstance(problem, Refused):
            return False
        if isinstance(problem, ValueError):
            raise Refused(_line(problem)) from None
        if isinstance(problem, OSError) and not isinstance(problem, BrokenPipeError):
            place = f"{problem.filename}: " if problem.filename else ""
            raise Refused(_line(f"{place}{problem.strerror or problem}")) from None
        return False


def _line(what) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in str(what))
