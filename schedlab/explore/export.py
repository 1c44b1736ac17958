"""export(): what is on screen, as files that others can use."""

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ..figures.explore import plot_scene
from ..figures.save import save_figure
from ..tables import save_table


@dataclass(frozen=True)
class Exported:
    """What was written; a notebook shows the names of the files and the lines that make the run again."""

    paths: tuple[Path, ...]
    code: str

    def _repr_html_(self):
        # names alone: a report holds no paths of the machine that made it
        names = ", ".join(f"{path.parent.name}/{path.name}" for path in self.paths)
        return f"<p>Written: {escape(names)}. The same run without this page:</p><pre>{escape(self.code)}</pre>"


def export(shown, out, name: str = "explore") -> Exported:
    """Write the picture, the tables and the lines that make the scenario again.

    Parameters
    ----------
    shown : View or Page
    out
        The notebook's folder, from ``report_dir()``.
    name
        Of the figure and of the ``.py`` file.

    Raises
    ------
    ValueError
        When the page has drawn nothing yet.

    Returns
    -------
    Exported
        ``figures/<name>.svg``, ``.pdf`` and ``.png``; ``tables/cpu_stat.csv``, ``usage.csv``, ``spans.csv``,
        ``throttled.csv`` and ``forced_idle.csv``; ``scenarios/<name>.py``.
    """
    view = getattr(shown, "view", shown)
    if view is None:
        raise ValueError("shown=nothing: no settings of this page could be drawn yet")
    out = Path(out)
    figure = save_figure(plot_scene(view.scene), out, name)
    tables = {name: getattr(view.tables, name) for name in ("cpu_stat", "usage", "spans", "throttled", "forced_idle")}
    for table, df in tables.items():
        save_table(df, out, table)
    code, script = view.scenario.code(), out / "scenarios" / f"{name}.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    part = script.with_name(f".{script.name}.{os.getpid()}")
    part.write_text(code, encoding="utf-8")
    os.replace(part, script)
    return Exported((*figure.paths, *(out / "tables" / f"{table}.csv" for table in tables), script), code)
