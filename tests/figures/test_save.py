"""save_figure(): three files, the same bytes in every process, and nothing of the style leaks."""

import hashlib
import os
import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import pytest

import schedlab as sl
from schedlab.figures.save import _fit_title
from schedlab.figures.style import headline, styled

DRAW = """
import sys
import schedlab as sl
from schedlab.figures.save import _fit_title
from schedlab.figures.style import headline, styled

@styled
def draw():
    import matplotlib.pyplot as plt
    fig, axis = plt.subplots()
    axis.fill_between([0, 1, 2], [1, 2, 3], [2, 3, 5], label="band", alpha=0.3)
    axis.plot([0, 1, 2], [1.5, 2.5, 4], label="µs")
    axis.set(xlabel="time (ms)", ylabel="wait (µs)")
    axis.legend()
    headline(fig, "A finding")
    return fig

sl.save_figure(draw(), sys.argv[1], "small")
"""


def _digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_save_figure__same_bytes_in_two_processes(tmp_path):
    found = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        env = {**os.environ, "PYTHONHASHSEED": seed}
        env.pop("SOURCE_DATE_EPOCH", None)
        subprocess.run([sys.executable, "-c", DRAW, str(out)], check=True, env=env)
        found.append(_digests(out / "figures"))
    assert list(found[0]) == ["small.pdf", "small.png", "small.svg"]
    assert found[0] == found[1]


def test_save_figure__shows_the_picture_and_closes_the_figure(tmp_path):
    fig, _ = plt.subplots()
    saved = sl.save_figure(fig, tmp_path, "empty")
    picture, said = saved._repr_png_()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and repr(saved) == "<SavedFigure empty>"
    assert said == {"alt": "empty"}
    assert not plt.fignum_exists(fig.number)


def test_save_figure__the_finding_is_its_alternative_text(tmp_path):
    fig, _ = plt.subplots()
    headline(fig, "5 $ a boot")
    assert sl.save_figure(fig, tmp_path, "found")._repr_png_()[1] == {"alt": "5 $ a boot"}


@pytest.mark.parametrize(("words", "fits"), [(3, True), (15, False)])
def test_save_figure__a_title_fits_its_figure(words, fits):
    fig, _ = plt.subplots()
    headline(fig, "number " * words)
    before = fig._suptitle.get_fontsize()
    _fit_title(fig)
    assert fig._suptitle.get_window_extent().width <= fig.bbox.width
    assert (fig._suptitle.get_fontsize() == before) == fits


def test_save_figure__writes_the_formats_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDLAB_FIGURE_FORMATS", "svg")
    saved = sl.save_figure(plt.figure(), tmp_path, "quick")
    assert [path.suffix for path in saved.paths] == [".svg", ".png"]
    monkeypatch.setenv("SCHEDLAB_FIGURE_FORMATS", "svg, jpeg")
    with pytest.raises(ValueError, match="SCHEDLAB_FIGURE_FORMATS='jpeg': known formats: svg, pdf, png"):
        sl.save_figure(plt.figure(), tmp_path, "other")
    plt.close("all")


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a.b"])
def test_save_figure__refuses_other_names(tmp_path, name):
    fig, _ = plt.subplots()
    with pytest.raises(ValueError, match="a figure's name has letters"):
        sl.save_figure(fig, tmp_path, name)
    plt.close(fig)


def test_styled__leaves_no_setting_behind_and_heeds_none():
    before = dict(matplotlib.rcParams)

    @styled
    def seen():
        return plt.rcParams["axes.titlelocation"], plt.rcParams["lines.linewidth"]

    with plt.rc_context({"lines.linewidth": 17.0}):
        assert seen() == ("left", matplotlib.rcParamsDefault["lines.linewidth"])
    assert dict(matplotlib.rcParams) == before
