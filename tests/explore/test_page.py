"""The page without a browser: controls as a hand would move them, and the notebook under papermill."""

import re

import pytest

pytest.importorskip("ipywidgets")

from schedlab.explore import Page, Scenario, View, show  # noqa: E402
from schedlab.explore.controls import Controls  # noqa: E402


@pytest.fixture
def page():
    return Page(Scenario(length_ms=200))


def _number(page):
    return int(re.search(r'data-redraw="(\d+)"', page.message)[1])


@pytest.mark.parametrize("scenario", [
    Scenario(),
    Scenario.of(nr_groups=4, quota_ms=[33, 0], period_ms=[7], burst_ms=[3], phase_ms=[12.5], threads=[9], load=[35]),
    Scenario(machine="uniform-8cpu-smt2", kernel="7.2", patches=("golden",), balance="kernel", cookies=True, seed=9),
])  # fmt: skip
def test_controls__say_the_scenario_that_they_were_made_from(scenario):
    assert Controls(scenario, lambda: None).scenario == scenario


def test_page__each_control_redraws_once(page):
    for name, control in page.controls.each().items():
        before = page.nr_redraws
        if hasattr(control, "options"):
            options = [value for _, value in control._options_full]
            control.value = options[options.index(control.value) - 1]
        elif isinstance(control.value, bool):
            control.value = not control.value
        elif name == "shown_ms":
            control.value = (10, 20)
        else:
            control.value += control.step if control.value < control.max else -control.step
        assert page.nr_redraws == before + 1 == _number(page), name


def test_page__a_change_redraws_picture_and_table(page):
    picture, stat, view = page._picture.value, page._stat.value, page.view
    page.controls.cards[0].fields["quota_ms"].value = 50
    assert page._picture.value != picture and page._stat.value != stat and page.view is not view
    assert page.view.scenario.groups[0].quota_ms == 50


def test_page__another_release_brings_its_own_patches_in_one_redraw(page):
    page.controls.kernel.value = "7.2"
    assert page.nr_redraws == 2
    assert page.controls.patches["throttle-at-account"].value and page.view.scenario.patches is None
    page.controls.kernel.value = "6.1"
    assert not any(box.value for box in page.controls.patches.values())


def test_page__what_cannot_be_is_one_line_and_the_picture_stays_faded(page):
    view = page.view
    page.controls.patches["staggered"].value = True
    assert "Cannot be:" in page.message and "excludes" in page.message
    assert page.view is view and "opacity:0.35" in page._picture.value
    page.controls.patches["staggered"].value = False
    assert "Cannot be" not in page.message and "opacity:1" in page._picture.value


def test_page__starts_with_what_cannot_be():
    page = Page(Scenario(kernel="6.1", cookies=True))
    assert "Cannot be:" in page.message and page.view is None
    with pytest.raises(ValueError, match="could be drawn yet"):
        from schedlab.explore import export

        export(page, "nowhere")
    page.controls.cookies.value = False
    assert page.view is not None


def test_page__longer_and_shorter_runs_keep_the_window(page):
    controls = page.controls
    controls.length_ms.value = 400
    assert controls.shown_ms.value == (0, 400)
    controls.shown_ms.value = (100, 300)
    controls.length_ms.value = 250
    assert controls.shown_ms.value == (100, 250) and controls.shown_ms.max == 250
    controls.length_ms.value = 50
    assert controls.shown_ms.value == (49, 50) and page.nr_redraws == 5


def test_show__a_report_has_the_view_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDLAB_REPORT_DIR", str(tmp_path))
    assert isinstance(show(Scenario(length_ms=50)), View)
    monkeypatch.delenv("SCHEDLAB_REPORT_DIR")
    assert isinstance(show(Scenario(length_ms=50)), Page)
