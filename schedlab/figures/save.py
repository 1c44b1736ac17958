"""save_figure(): the same figure is the same bytes."""

import io
import os
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt

from .style import styled

# Without these the file holds the time at which it was written.
_METADATA = {
    "svg": {"Date": None, "Creator": "schedlab"},
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "schedlab", "Producer": "matplotlib"},
    "png": {"Software": None},
}
#: Share of a figure's width that its title may take.
TITLE_SHARE = 0.98


@dataclass(frozen=True)
class SavedFigure:
    """A figure that has been written; a notebook shows the picture.

    Attributes
    ----------
    paths : tuple of pathlib.Path
        The SVG, PDF and PNG files, or those of them that `formats` names.
    title : str
        The finding above its panels, for those who do not see it.
    """

    paths: tuple[Path, ...]
    title: str = ""

    def __repr__(self):
        return f"<SavedFigure {self.paths[0].stem}>"

    def _repr_png_(self):
        picture = next(path for path in self.paths if path.suffix == ".png").read_bytes()
        return picture, {"alt": self.title or self.paths[0].stem}


def formats() -> tuple[str, ...]:
    """Return the endings that `save_figure` writes: all, or those that SCHEDLAB_FIGURE_FORMATS names (``"svg,png"``).

    SVG and PDF take most of the time; a quick report leaves them out. The PNG is always written: a notebook shows it.

    Raises
    ------
    ValueError
        When the variable names another format.
    """
    asked = [word.strip() for word in os.environ.get("SCHEDLAB_FIGURE_FORMATS", "").split(",") if word.strip()]
    for ending in asked:
        if ending not in _METADATA:
            raise ValueError(f"SCHEDLAB_FIGURE_FORMATS={ending!r}: known formats: {', '.join(_METADATA)}")
    return tuple(ending for ending in _METADATA if not asked or ending in asked or ending == "png")


def _fit_title(fig) -> None:
    """Make a title smaller that would not fit: how long it is depends on the numbers in it."""
    title = fig._suptitle  # matplotlib gives out its text alone
    if title is not None and title.get_text():
        share = title.get_window_extent().width / fig.bbox.width / TITLE_SHARE
        if share > 1:
            title.set_fontsize(title.get_fontsize() / share)


@styled
def save_figure(fig, out, name: str) -> SavedFigure:
    """Write a figure to ``<out>/figures/<name>.svg``, ``.pdf`` and ``.png`` (see `formats`), and close it.

    The bytes depend on the figure alone: no dates, no random ids.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    out
        The notebook's folder, from ``report_dir()``.
    name
        File name without ending: letters, digits, ``_`` and ``-``.

    Returns
    -------
    SavedFigure
        Shows the picture when it is the last value of a notebook's cell.

    Raises
    ------
    ValueError
        When ``name`` would leave the folder.
    """
    if not name or not all(c.isalnum() or c in "_-" for c in name):
        raise ValueError(f"name={name!r}: a figure's name has letters, digits, '_' and '-' only")
    folder = Path(out) / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    if fig.get_layout_engine() is not None:
        fig.get_layout_engine().execute(fig)  # the layout is found once, for all files
        fig.set_layout_engine("none")
    _fit_title(fig)
    paths = []
    for ending in formats():
        metadata, picture = _METADATA[ending], io.BytesIO()
        fig.savefig(picture, format=ending, metadata=metadata)
        path = folder / f"{name}.{ending}"
        part = folder / f".{name}.{ending}.{os.getpid()}"
        part.write_bytes(picture.getvalue())
        os.replace(part, path)
        paths.append(path)
    plt.close(fig)
    return SavedFigure(tuple(paths), fig.get_suptitle().replace(r"\$", "$"))
