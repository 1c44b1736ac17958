"""What a user sees while notebooks run: on standard error, a live line each in a terminal, plain lines elsewhere."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

_WORDS = {"done": "done", "current": "up to date", "failed": "FAILED", "stopped": "stopped"}


class Progress:
    """Shows cells done and time elapsed for each notebook, and says at the end what was finished."""

    def __init__(self, console: Console):
        self._console = console
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("cells"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._tasks = {}
        self._ended = []

    def __enter__(self):
        self._bars.start()
        return self

    def __exit__(self, kind, problem, trace):
        self._bars.stop()
        if kind is KeyboardInterrupt:
            finished = ", ".join(self._ended) or "none"
            self._console.print(f"Stopped. Finished: {finished}. Reports of the others are as they were.")

    def on_cell(self, study: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` cells of a study have run."""
        if study not in self._tasks:
            self._tasks[study] = self._bars.add_task(study, total=total)
            if not self._console.is_terminal:
                self._console.print(f"{study}: started, {total} cells")
        self._bars.update(self._tasks[study], completed=done, total=total)

    def on_end(self, outcome) -> None:
        """Say what became of a study."""
        if outcome.state == "done":
            self._ended.append(outcome.study)
        task = self._tasks.get(outcome.study)
        if task is not None:
            self._bars.remove_task(task)
        took = f" in {outcome.seconds:.1f} s" if outcome.seconds else ""
        detail = f": {outcome.message}" if outcome.message else ""
        self._console.print(f"{outcome.study}: {_WORDS[outcome.state]}{took}{detail}", markup=False)
