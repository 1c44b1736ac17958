"""The one style sheet of all figures."""

import functools

import matplotlib
import matplotlib.pyplot as plt

# Okabe and Ito's palette, which people with any colour vision tell apart; one meaning a colour throughout.
COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "yellow": "#F0E442",
    "ink": "#1c2430",
    "quiet": "#5b6675",
    "line": "#dde2e8",
}
#: Published numbers, in every figure.
PUBLISHED = {"color": COLOURS["ink"], "marker": "D", "linestyle": "none", "markersize": 5.5, "zorder": 5}

_SHEET = {
    "font.family": "DejaVu Sans",  # ships with matplotlib, so the picture is the same on every machine
    "font.size": 9.5,
    "text.color": COLOURS["ink"],
    "axes.edgecolor": COLOURS["quiet"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titlepad": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": matplotlib.cycler(color=[COLOURS[c] for c in ("blue", "orange", "green", "vermilion")]),
    "grid.color": COLOURS["line"],
    "grid.linewidth": 0.8,
    "xtick.color": COLOURS["quiet"],
    "ytick.color": COLOURS["quiet"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.titlesize": 11.5,
    "figure.titleweight": "bold",
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 170,
    "savefig.facecolor": "white",
    "svg.hashsalt": "schedlab",  # ids in the file: the same in each run
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


def styled(function):
    """Let a function draw in the style sheet, whatever the caller has set; no setting leaks out of it."""

    @functools.wraps(function)
    def draw(*args, **kwargs):
        with plt.rc_context({**matplotlib.rcParamsDefault, "backend": matplotlib.get_backend(), **_SHEET}):
            return function(*args, **kwargs)

    return draw


def headline(figure, text: str) -> None:
    """Put the finding above the panels, at the left."""
    figure.suptitle(plain(text), x=0.01, ha="left")


def plain(text) -> str:
    """Return a text out of a file for a figure: nothing unprintable, and no dollar begins a formula."""
    shown = "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in str(text))
    return shown.replace("$", r"\$")
