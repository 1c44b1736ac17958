"""Tables on disk: CSV that is the same byte for byte whenever the numbers are, and safe to open in a spreadsheet."""

import os
from pathlib import Path

COMPARISON_COLUMNS = (
    "claim",
    "quantity",
    "unit",
    "published",
    "published_low",
    "published_high",
    "model",
    "model_low",
    "model_high",
    "role",
    "agrees",
)
ROLES = ("calibration", "prediction", "context")

# 10 significant digits: more than any published number has, fewer than the last bits in which two libraries may differ.
_FLOAT = "%.10g"


def _plain(cell):
    """Return a text cell that no spreadsheet takes for a formula."""
    if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        try:
            float(cell)
        except ValueError:
            return "'" + cell
    return cell


def plain_table(df):
    """Return a table in which no text is a formula to a spreadsheet."""
    table = df.rename(columns=_plain)
    for position, kind in enumerate(table.dtypes):
        if kind.kind not in "iufbcmM":
            table.isetitem(position, table.iloc[:, position].map(_plain).astype(object))
    return table


def _to_csv(df, path: Path, index: bool) -> None:
    table = plain_table(df.reset_index() if index else df)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    table.to_csv(part, index=False, float_format=_FLOAT, lineterminator="\n", encoding="utf-8")
    os.replace(part, path)


def save_table(df, out, name: str) -> None:
    """Write a table to ``<out>/tables/<name>.csv``.

    Parameters
    ----------
    df : pandas.DataFrame
        The table. An index that has a name is written as leading columns, a plain row number is not.
    out
        The notebook's folder, from ``report_dir()``.
    name
        File name without ending: letters, digits, ``_``, ``-`` and ``.``.

    Raises
    ------
    ValueError
        When ``name`` would leave the folder.
    """
    if not name or not all(c.isalnum() or c in "_-." for c in name) or name.startswith("."):
        raise ValueError(f"name={name!r}: a table's name has letters, digits, '_', '-' and '.' only")
    _to_csv(df, Path(out) / "tables" / f"{name}.csv", index=any(n is not None for n in df.index.names))


def write_comparison(df, out) -> None:
    """Write ``<out>/comparison.csv``, one row a published quantity.

    Parameters
    ----------
    df : pandas.DataFrame
        Columns as in ``COMPARISON_COLUMNS``; ``schedlab.published.Comparison.table()`` makes it.
    out
        The notebook's folder, from ``report_dir()``.

    Raises
    ------
    ValueError
        When a column is missing or extra, a role unknown, or a quantity occurs twice.
    """
    if tuple(df.columns) != COMPARISON_COLUMNS:
        raise ValueError(f"columns={list(df.columns)}: a comparison has exactly {list(COMPARISON_COLUMNS)}")
    unknown = sorted(set(df["role"]) - set(ROLES))
    if unknown:
        raise ValueError(f"role={unknown[0]!r}: one of {', '.join(ROLES)}")
    twice = df["quantity"][df["quantity"].duplicated()]
    if len(twice):
        raise ValueError(f"quantity={twice.iloc[0]!r}: occurs twice")
    _to_csv(df, Path(out) / "comparison.csv", index=False)
