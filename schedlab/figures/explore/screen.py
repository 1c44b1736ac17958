"""A scene as SVG text, which a browser draws in a few milliseconds."""

from html import escape

from .scene import Boxes, Lines

_FONT = "DejaVu Sans, Verdana, sans-serif"
#: Paths of one hatch, 6 by 6 pixels.
_HATCHES = {"/": "M-1,7L7,-1M-1,1L1,-1M5,7L7,5", "x": "M0,0L6,6M0,6L6,0"}


def to_svg(scene) -> str:
    """Return the scene as an ``<svg>`` element, at most as wide as its place.

    Each look is one path, so that thousands of boxes are a handful of elements. Ids of the hatches carry their colour,
    so that several pictures on a page do not disturb each other.
    """
    hatches = {(item.hatch, item.colour) for item in scene.items if isinstance(item, Boxes) and item.hatch}
    drawn = "".join(_drawn(item) for item in scene.items)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {scene.width:g} {scene.height:g}" role="img" '
        f'width="{scene.width:g}" height="{scene.height:g}" style="max-width:100%;height:auto" font-family="{_FONT}">'
        f"<title>{escape(scene.label)}</title>"
        f"<defs>{''.join(_pattern(*hatch) for hatch in sorted(hatches))}</defs>"
        f'<rect width="{scene.width:g}" height="{scene.height:g}" fill="#ffffff"/>{drawn}</svg>'
    )


def _pattern(hatch, colour):
    return (
        f'<pattern id="{_id(hatch, colour)}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect width="6" height="6" fill="{colour}" fill-opacity="0.22"/>'
        f'<path d="{_HATCHES[hatch]}" stroke="{colour}" stroke-width="1" fill="none"/></pattern>'
    )


def _id(hatch, colour):
    return f"schedlab-{'slash' if hatch == '/' else 'cross'}-{colour.lstrip('#')}"


def _drawn(item):
    if isinstance(item, Boxes):
        corners = item.corners.copy()
        corners[:, 2:] -= corners[:, :2]
        path = "".join([f"M{x:.1f},{y:.1f}h{w:.1f}v{h:.1f}H{x:.1f}z" for x, y, w, h in corners.tolist()])
        if item.hatch:
            return f'<path d="{path}" fill="url(#{_id(item.hatch, item.colour)})"/>'
        # the thin edge keeps a box visible that is narrower than a pixel
        edge = f'stroke="{item.colour}" stroke-width="0.4" '
        return f'<path d="{path}" fill="{item.colour}" {edge}opacity="{item.opacity:g}"/>'
    if isinstance(item, Lines):
        path = "".join([f"M{x0:.1f},{y0:.1f}L{x1:.1f},{y1:.1f}" for x0, y0, x1, y1 in item.ends.tolist()])
        dashes = ' stroke-dasharray="5 3"' if item.dashed else ""
        return f'<path d="{path}" stroke="{item.colour}" stroke-width="{item.width:g}" fill="none"{dashes}/>'
    weight = ' font-weight="bold"' if item.bold else ""
    return (
        f'<text x="{item.x:.1f}" y="{item.y:.1f}" font-size="{item.size:g}" fill="{item.colour}" '
        f'text-anchor="{item.anchor}"{weight}>{escape(item.text)}</text>'
    )
