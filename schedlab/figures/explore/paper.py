"""A scene as a matplotlib figure, for SVG, PDF and PNG files."""

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba

from ..style import styled
from .scene import Boxes, Lines

_ANCHORS = {"start": "left", "middle": "center", "end": "right"}
_HATCHES = {"/": "//////", "x": "xxxxxx"}
#: Pixels of a scene to the inch.
_PER_INCH = 100


@styled
def plot_scene(scene):
    """Draw a scene; `save_figure` writes it.

    Parameters
    ----------
    scene : schedlab.figures.explore.scene.Scene

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    fig = plt.figure(figsize=(scene.width / _PER_INCH, scene.height / _PER_INCH))
    fig.set_layout_engine("none")  # all places are known
    axis = fig.add_axes((0, 0, 1, 1))
    axis.set(xlim=(0, scene.width), ylim=(scene.height, 0))
    axis.axis("off")
    for order, item in enumerate(scene.items):
        _draw(axis, item, 1 + order)
    return fig


def _draw(axis, item, order):
    points = 72 / _PER_INCH
    if isinstance(item, Boxes):
        x, y = item.corners[:, [0, 2, 2, 0]], item.corners[:, [1, 1, 3, 3]]
        corners, edge = np.stack([x, y], axis=2), {"edgecolor": item.colour, "linewidth": 0.3}
        if not item.hatch:
            look = {"facecolor": item.colour, "alpha": item.opacity, **edge}
            axis.add_collection(PolyCollection(corners, zorder=order, **look), autolim=False)
            return
        ground = PolyCollection(corners, facecolor=to_rgba(item.colour, 0.22), linewidth=0, zorder=order)
        hatched = {"facecolor": "none", "edgecolor": item.colour, "linewidth": 0, "hatch": _HATCHES[item.hatch]}
        axis.add_collection(ground, autolim=False)
        axis.add_collection(PolyCollection(corners, zorder=order, **hatched), autolim=False)
    elif isinstance(item, Lines):
        style = (0, (5, 3)) if item.dashed else "solid"
        look = {"colors": item.colour, "linewidths": item.width * points, "linestyles": style}
        axis.add_collection(LineCollection(item.ends.reshape(-1, 2, 2), zorder=order, **look), autolim=False)
    else:
        look = {"color": item.colour, "fontsize": item.size * points, "fontweight": "bold" if item.bold else "normal"}
        axis.text(item.x, item.y, item.text, ha=_ANCHORS[item.anchor], va="baseline", zorder=order, **look)
