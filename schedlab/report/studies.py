"""The studies: one notebook each, and what its file says about it without running it."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from .._check import nearest
from .._resources import notebooks_path
from .parameters import Parameter, Refused, read_parameters


@dataclass(frozen=True)
class Study:
    """A notebook that can be reported.

    Title and description are its first markdown heading and the paragraph below it; order, minutes, thumbnail and
    gallery come from the notebook's metadata under ``schedlab``.
    """

    name: str
    path: Path
    title: str
    description: str
    parameters: dict[str, Parameter]
    order: int = 1000
    minutes: float | None = None
    thumbnail: str = ""
    gallery: tuple[str, ...] = field(default=())


def _heading(cells):
    """Return (title, first paragraph after it) of the first markdown cell that has a heading."""
    for cell in cells:
        source = cell["source"]
        text = source if isinstance(source, str) else "".join(source)
        lines = text.strip().splitlines()
        if cell["cell_type"] != "markdown" or not lines or not lines[0].startswith("#"):
            continue
        paragraphs = [p.strip() for p in "\n".join(lines[1:]).split("\n\n") if p.strip()]
        plain = re.sub(r"[*`]", "", paragraphs[0]) if paragraphs else ""  # it is shown as text, not as Markdown
        return lines[0].lstrip("# ").strip(), " ".join(plain.split())
    return "", ""


def read_study(path: Path) -> Study:
    """Return the Study in a notebook file.

    Raises
    ------
    Refused
        When the file is no notebook or its parameters cell is not annotated.
    """
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        title, description = _heading(notebook["cells"])
    except (ValueError, KeyError, TypeError) as problem:
        raise Refused(f"{path.name}: not a notebook ({type(problem).__name__}: {problem})") from None
    try:
        parameters = read_parameters(notebook, path.stem)
    except SyntaxError as problem:
        raise Refused(f"{path.stem}: parameters cell: {problem.msg}, line {problem.lineno}") from None
    extra = notebook.get("metadata", {}).get("schedlab", {})
    return Study(
        name=path.stem,
        path=path,
        title=title or path.stem,
        description=description,
        parameters=parameters,
        order=extra.get("order", 1000),
        minutes=extra.get("minutes"),
        thumbnail=extra.get("thumbnail", ""),
        gallery=tuple(extra.get("gallery", ())),
    )


def find_studies(names=(), folder: Path | None = None) -> list[Study]:
    """Return the studies of a folder (notebooks/ by default) in their order, or those named.

    Raises
    ------
    Refused
        When the folder has no notebook, or a name is not among them (the nearest is offered).
    """
    folder = folder or notebooks_path()
    paths = {path.stem: path for path in sorted(folder.glob("*.ipynb"))}
    if not paths:
        raise Refused(f"notebooks={folder}: no notebook there")
    for name in names:
        if name not in paths:
            known = nearest(name, paths) or f"; there are {', '.join(paths)}"
            raise Refused(f"study={name!r}: no notebook of that name{known}")
    studies = [read_study(path) for name, path in paths.items() if not names or name in names]
    return sorted(studies, key=lambda study: (study.order, study.name))
