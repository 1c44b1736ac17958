"""What a reader left out of a file or doubts, counted by kind with the first place."""

from dataclasses import dataclass, field

from .._html import html_table


@dataclass
class Report:
    """Counts of what was dropped, ignored or is in conflict.

    Attributes
    ----------
    found : dict
        Kind -> [count, first place, first example].
    notes : list of str
        Remarks on the file as a whole.
    """

    found: dict[str, list] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def count(self, kind: str, place: str, example: str = "", n: int = 1) -> None:
        """Count `n` of a kind; place and example are kept of the first."""
        if kind in self.found:
            self.found[kind][0] += n
        else:
            self.found[kind] = [n, place, example]

    def __getitem__(self, kind: str) -> int:
        """Return how many of a kind there were."""
        return self.found.get(kind, [0])[0]

    def table(self):
        """Return one row a kind: kind, count, first (place), example."""
        import pandas as pd

        rows = [(kind, *entry) for kind, entry in self.found.items()]
        return pd.DataFrame(rows, columns=["kind", "count", "first", "example"])

    def __str__(self):
        lines = [
            f"{count} x {kind}, first at {place}" + (f": {example}" if example else "")
            for kind, (count, place, example) in self.found.items()
        ]
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        rows = [(kind, f"{count}, first at {place}: {text}") for kind, (count, place, text) in self.found.items()]
        return html_table("Left out or in doubt", [*rows, *(("note", note) for note in self.notes)])
