"""A scene: boxes, lines and texts at places in pixels, y downwards. It knows nothing of who draws it.

The page redraws while a slider moves. matplotlib takes some 250 ms for what a browser draws in 20, so the screen gets
SVG text and paper gets matplotlib, from one layout.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Boxes:
    """Boxes of one look: corners as columns (left, top, right, bottom), a colour, perhaps hatched.

    hatch: "" (filled), "/" (lines of the colour on a pale ground) or "x" (crossed lines on a pale ground).
    """

    corners: np.ndarray
    colour: str
    hatch: str = ""
    opacity: float = 1.0


@dataclass(frozen=True)
class Lines:
    """Straight lines of one look: ends as columns (x, y, x, y)."""

    ends: np.ndarray
    colour: str
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Text:
    """A line of text. anchor: start, middle or end; y is the base line."""

    x: float
    y: float
    text: str
    colour: str
    size: float = 12.0
    anchor: str = "start"
    bold: bool = False


@dataclass
class Scene:
    """What is drawn, in order, on a sheet of that size in pixels; `label` says it to those who do not see it."""

    width: float
    height: float
    label: str
    items: list = field(default_factory=list)

    def boxes(self, left, top, right, bottom, colour, **look):
        """Add boxes; scalars and arrays mix."""
        corners = np.stack(np.broadcast_arrays(left, top, right, bottom), axis=-1).reshape(-1, 4)
        if len(corners):
            self.items.append(Boxes(corners, colour, **look))

    def lines(self, x0, y0, x1, y1, colour, **look):
        """Add lines; scalars and arrays mix."""
        ends = np.stack(np.broadcast_arrays(x0, y0, x1, y1), axis=-1).reshape(-1, 4)
        if len(ends):
            self.items.append(Lines(ends, colour, **look))

    def text(self, x, y, text, colour, **look):
        """Add a text."""
        self.items.append(Text(x, y, text, colour, **look))
