"""The HTML pages: one a study, and the index over all of them. Nothing in them is fetched from the network."""

import csv
import json
import os
from importlib import resources
from pathlib import Path

from .studies import Study

_TEMPLATES = resources.files(__package__) / "templates"


def _environment():
    from jinja2 import DictLoader, Environment

    sources = {path.name: path.read_text(encoding="utf-8") for path in _TEMPLATES.iterdir()}
    return Environment(loader=DictLoader(sources), autoescape=True, trim_blocks=True, lstrip_blocks=True)


def _render(template: str, **values) -> str:
    from markupsafe import Markup  # jinja2 stands on it

    style = Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8"))
    return _environment().get_template(template).render(style=style, **values)


def write_page(study: Study, notebook, made: dict, path: Path) -> None:
    """Write a study's page: the executed notebook, its code folded away, and what made it.

    Parameters
    ----------
    study
        The study.
    notebook
        The executed notebook (nbformat node).
    made
        The provenance that goes into the manifest.
    path
        The file to write.
    """
    from markupsafe import Markup  # jinja2 stands on it
    from nbconvert import HTMLExporter
    from pygments.formatters import HtmlFormatter

    exporter = HTMLExporter(
        raw_template=(_TEMPLATES / "body.html.j2").read_text(encoding="utf-8"),
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        exclude_anchor_links=True,
        embed_images=True,
    )
    body, _ = exporter.from_notebook_node(notebook, resources={"metadata": {"path": str(path.parent)}})
    highlight = Markup(HtmlFormatter().get_style_defs("div.highlight"))
    page = _render("report.html.j2", study=study, body=Markup(body), highlight=highlight, made=made)
    path.write_text(page, encoding="utf-8")


def read_comparison(folder: Path) -> list[dict]:
    """Return the rows of a report's comparison.csv: text, numbers as float, ``agrees`` as True, False or None."""
    path = folder / "comparison.csv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for name in ("published", "model"):
            for column in (name, f"{name}_low", f"{name}_high"):
                row[column] = float(row[column]) if row[column] else None
        row["agrees"] = {"True": True, "False": False}.get(row["agrees"])
    return rows


def predictions(rows: list[dict]) -> dict[str, int]:
    """Return how many predictions there are and how many of them agree."""
    agreed = [row["agrees"] for row in rows if row["role"] == "prediction"]
    return {"count": len(agreed), "agree": sum(verdict is True for verdict in agreed)}


def number(row: dict, name: str) -> str:
    """Return ``published`` or ``model`` of a comparison row as text: the mean, and the range where it has one."""
    mean, low, high = (row[column] for column in (name, f"{name}_low", f"{name}_high"))
    if mean is None:
        return "–"
    spread = f" ({_short(low)}–{_short(high)})" if low is not None and high is not None and low != high else ""
    return f"{_short(mean)}{spread}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _claims(rows):
    """Return one entry for each claim and role: its verdict, and its numbers where it rests on a single row."""
    groups = {}
    for row in rows:
        groups.setdefault((row["claim"], row["role"]), []).append(row)
    claims = []
    for (text, role), members in groups.items():
        judged = [row["agrees"] for row in members if row["agrees"] is not None]
        single = members[0] if len(members) == 1 else None
        if not judged or role == "context":
            mood, verdict = "", "context"
        elif single:
            mood, verdict = ("good", "agrees") if single["agrees"] else ("bad", "differs")
        else:
            mood = "good" if all(judged) else "bad"
            verdict = f"{sum(judged)} of {len(judged)} agree"
        claims.append(
            {
                "text": text,
                "role": role,
                "mood": "" if role == "calibration" else mood,
                "verdict": verdict,
                "published": f"{number(single, 'published')} {single['unit']}" if single else "",
                "model": f"{number(single, 'model')} {single['unit']}" if single else f"{len(members)} numbers",
            }
        )
    return claims


def _thumbnail(study: Study, folder: Path) -> str:
    """Return the figure that stands for a study, relative to its folder; "" where there is none."""
    pictures = sorted(folder.glob("figures/*.png"))
    chosen = [p for p in pictures if p.stem == study.thumbnail] or pictures[:1]
    return f"figures/{chosen[0].name}" if chosen else ""


def _entry(study: Study, folder: Path) -> dict:
    made = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    rows = read_comparison(folder)
    defaults = {name: parameter.default for name, parameter in study.parameters.items()}
    return {
        "name": study.name,
        "title": study.title,
        "description": study.description,
        "thumbnail": _thumbnail(study, folder),
        "claims": _claims(rows),
        "total": predictions(rows),
        "changed": {name: v for name, v in made["parameters"].items() if defaults.get(name) != v},
    }


def write_index(studies: list[Study], out: Path) -> Path:
    """Write ``out/index.html`` over those of the studies that have a report in ``out``, and return its path."""
    entries = [_entry(s, out / s.name) for s in studies if (out / s.name / "manifest.json").is_file()]
    total = {key: sum(entry["total"][key] for entry in entries) for key in ("count", "agree")}
    page = _render("index.html.j2", studies=entries, total=total)
    part = out / f".index.html.{os.getpid()}"
    part.write_text(page, encoding="utf-8")
    os.replace(part, out / "index.html")
    return out / "index.html"
