"""The comparison tables of finished reports, printed."""

from pathlib import Path

from .._check import nearest
from .pages import number, predictions, read_comparison
from .parameters import Refused

_VERDICTS = {True: "yes", False: "no", None: ""}


def find_comparisons(names, out: Path) -> dict[str, list[dict]]:
    """Return the comparison rows of the reports in ``out``, by study.

    Raises
    ------
    Refused
        When there is none, or a named study has none.
    """
    there = {path.parent.name: path.parent for path in sorted(out.glob("[!.]*/comparison.csv"))}
    if not there:
        raise Refused(f"out={out}: no comparison.csv there; schedlab report writes them")
    for name in names:
        if name not in there:
            known = nearest(name, there) or f"; there are {', '.join(there)}"
            raise Refused(f"study={name!r}: no comparison in {out}{known}")
    return {name: read_comparison(folder) for name, folder in there.items() if not names or name in names}


def print_comparison(console, name: str, rows: list[dict]) -> bool:
    """Print one study's comparison and return whether a prediction disagrees."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", title=name, title_justify="left")
    for column in ("quantity", "published", "model", "unit", "role", "agrees"):
        table.add_column(column, justify="right" if column in ("published", "model") else "left", overflow="fold")
    claim = None
    for row in rows:
        if row["claim"] != claim:
            claim = row["claim"]
            table.add_section()
        style = "red" if row["agrees"] is False and row["role"] == "prediction" else None
        cells = (row["quantity"], number(row, "published"), number(row, "model"), row["unit"], row["role"])
        table.add_row(*cells, _VERDICTS[row["agrees"]], style=style)
    console.print(table)
    total = predictions(rows)
    console.print(f"{total['agree']} of {total['count']} predictions agree\n")
    return total["agree"] < total["count"]
