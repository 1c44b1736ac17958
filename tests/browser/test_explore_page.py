"""The page `explore` in JupyterLab and a headless browser: every control is moved, and the redraws are timed there."""

import json
import os
import re
import shutil
import statistics
from collections import Counter

import pytest

pytest.importorskip("selenium", reason="selenium is not installed: the page was not tried in a browser")

from lab_in_browser import TOP, missing, running_lab, wait_for  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

from schedlab.explore.controls import Controls  # noqa: E402
from schedlab.explore.scenario import OFFERED, Scenario  # noqa: E402

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing()),
]

# From the key or click that moves a control to the second frame after the last part of the page was replaced.
_STOPWATCH = """
window.redraws = [];
let last = document.querySelector('.schedlab-said'), began = 0;
for (const kind of ['keydown', 'click', 'change'])
    document.addEventListener(kind, event => { began = event.timeStamp; }, true);
new MutationObserver(() => {
    const said = document.querySelector('.schedlab-said'), from = began;
    if (said === null || said === last) return;
    last = said;
    requestAnimationFrame(() => requestAnimationFrame(() =>
        window.redraws.push([performance.now() - from, said.innerText])));
}).observe(document.body, {childList: true, subtree: true});
"""
_LABEL = """
return arguments[0].closest('.widget-inline-hbox').querySelector('label').textContent.trim();
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab on a copy of the notebooks, which writes into a folder of its own."""
    Scenario(length_ms=10).run()  # compiled here where it has to be, so that the page does not wait for it
    folder = tmp_path_factory.mktemp("lab")
    notebooks = folder / "notebooks"
    shutil.copytree(TOP / "notebooks", notebooks)
    explore = notebooks / "explore.ipynb"
    text = explore.read_text(encoding="utf-8")
    assert 'sl.report_dir(\\"explore\\")' in text
    place = json.dumps(json.dumps(str(folder / "out")))[1:-1]
    explore.write_text(text.replace('sl.report_dir(\\"explore\\")', place), encoding="utf-8")
    with running_lab(folder, notebooks) as lab:
        lab.out = folder / "out"
        yield lab


def _links(lab):
    """Return the links of the start page by text, once a click on them is JupyterLab's and not the browser's."""
    if not lab.find(".jp-MarkdownViewer"):
        lab.browser.get(lab.url)
    css = ".jp-MarkdownViewer table a[href*='/files/']"  # set together with what a click does
    return {link.text: link for link in wait_for("the start page", lambda: lab.find(css))}


@pytest.fixture(scope="module")
def page(lab):
    """The page after all cells of the notebook ran, with the stopwatch in it."""
    _links(lab)["explore"].click()
    wait_for("the kernel", lambda: lab.script(
        "return window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
    ))  # fmt: skip
    lab.command("notebook:run-all-cells")
    wait_for("the picture", lambda: lab.find(".schedlab-said"), 600)
    # widgets are put into the page one by one
    wait_for("the sliders", lambda: len(lab.find(".widget-hslider")) == 2 + 6 * 4)
    wait_for("the patches", lambda: len(lab.find(".widget-checkbox input")) == 1 + len(OFFERED))
    wait_for("the last cell", lambda: (lab.out / "scenarios" / "explore.py").exists())
    lab.script(_STOPWATCH)
    return lab


def _move(lab, what, act):
    """Do something to a control and return (ms until it was redrawn, the line above the picture)."""
    before = lab.script("return window.redraws.length")
    act()
    wait_for(f"a redraw after {what}", lambda: lab.script("return window.redraws.length") > before, 30)
    return lab.script("return window.redraws[window.redraws.length - 1]")


def _key(handle):
    """Return the key that moves a slider's handle from where it is."""
    place, end = (float(handle.get_attribute(f"aria-value{name}")) for name in ("now", "max"))
    return Keys.ARROW_LEFT if place >= end else Keys.ARROW_RIGHT


def _sliders(lab, name):
    handles = [handle for handle in lab.find(".widget-hslider .noUi-handle-lower") if handle.is_displayed()]
    return [handle for handle in handles if lab.script(_LABEL, handle) == name]


def _picture(lab):
    return lab.script("return document.querySelector('.schedlab-picture').outerHTML")


# ------------------------------------------------------------------ tests, in this order


def test_start_page__make_lab_opens_it_rendered(lab):
    assert set(_links(lab)) == {path.stem for path in (TOP / "notebooks").glob("*.ipynb")}


def test_page__moving_a_slider_changes_the_figure(page, record_property):
    """The redraws of the default scenario are timed in the page; the bound here is a sanity check alone."""
    quotas = _sliders(page, "quota")
    assert len(quotas) == 2
    before, seen = _picture(page), page.find(".schedlab-picture")[0].screenshot_as_png
    _move(page, "quota", lambda: quotas[0].send_keys(Keys.ARROW_LEFT))
    assert _picture(page) != before
    assert page.find(".schedlab-picture")[0].screenshot_as_png != seen
    _move(page, "quota", lambda: quotas[0].send_keys(Keys.ARROW_RIGHT))
    assert _picture(page) == before
    keys = [Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT] * 5
    timed = [_move(page, "quota", lambda k=k, key=key: quotas[k % 2].send_keys(key))[0] for k, key in enumerate(keys)]
    median, load = statistics.median(timed), os.getloadavg()[0]
    record_property(
        "measured",
        f"explore: {len(timed)} redraws of the default scenario, in the page: median {median:.0f} ms, "
        f"{min(timed):.0f} to {max(timed):.0f} ms (load {load:.1f} on {os.cpu_count()} CPUs)",
    )
    assert median < 5_000


def test_page__what_cannot_be_is_one_line(page):
    """A burst above the quota; the last picture stays, faded, and comes back."""
    (burst,) = _sliders(page, "burst")[:1]
    _, said = _move(page, "burst", lambda: burst.send_keys(Keys.END))
    assert said.startswith("Cannot be: group /a: burst_us=1000000: at most quota_us=") and "\n" not in said
    assert "opacity:0.35" in _picture(page)
    _, said = _move(page, "burst", lambda: burst.send_keys(Keys.HOME))
    assert "Cannot be" not in said and "opacity:1" in _picture(page)


def test_page__each_control_moves_and_leaves_no_exception(page, record_property):
    moved = Counter()
    dropdowns = {page.script(_LABEL, element): Select(element) for element in page.find(".widget-dropdown select")}
    moved["groups"] += 1
    timed = [_move(page, "groups", lambda: dropdowns.pop("groups").select_by_visible_text("4"))]
    page.find(".jupyter-widget-Collapse-header")[0].click()
    wait_for("the list of patches", lambda: page.find(".widget-checkbox input")[-1].is_displayed())
    for handle in page.find(".widget-hslider .noUi-handle-lower"):
        name, key = page.script(_LABEL, handle), _key(handle)
        moved[name] += 1
        timed.append(_move(page, name, lambda h=handle, k=key: h.send_keys(k)))
    for box in page.find(".widget-checkbox input"):
        name = page.script("return arguments[0].closest('label').textContent.trim()", box)
        moved[name] += 1
        timed += [_move(page, name, box.click) for _ in range(2)]
    for name, choice in dropdowns.items():
        first = choice.first_selected_option.text
        moved[name] += 1
        other = next(option.text for option in choice.options if option.text not in (first, "uniform-1cpu"))
        timed += [_move(page, name, lambda c=choice, t=text: c.select_by_visible_text(t)) for text in (other, first)]
    (seed,) = page.find(".widget-text input[type=number]")
    moved["seed"] += 1
    timed.append(_move(page, "seed", lambda: seed.send_keys(Keys.ARROW_UP, Keys.ENTER)))
    wanted = Counter(control.description for control in Controls(Scenario(), lambda: None).each().values())
    assert moved == wanted
    refused = sum(said.startswith("Cannot be") for _, said in timed)
    assert refused < len(timed) / 2
    _no_exception(page)
    median = statistics.median(ms for ms, _ in timed)
    record_property(
        "measured",
        f"explore: {len(timed)} redraws while each of {sum(moved.values())} controls moved, four groups: "
        f"median {median:.0f} ms, {refused} of them a line that says why not",
    )


def test_page__export_is_what_is_on_screen(page):
    (quota,) = _sliders(page, "quota")[:1]
    _move(page, "quota", lambda: quota.send_keys(Keys.HOME))
    script = page.out / "scenarios" / "explore.py"
    script.unlink()
    _run_last_cell(page)
    wait_for("the export", script.exists)
    assert 'sl.Group("/a", quota_us=1_000, period_us=' in script.read_text()
    assert {path.suffix for path in (page.out / "figures").iterdir()} == {".svg", ".pdf", ".png"}


def test_page__an_exception_would_show_in_the_log(page):
    """The last test: it breaks the page, so that the search for exceptions above is known to find one."""
    fail = 'page.controls.seed.observe(lambda change: 1 / 0, "value"); done = print("watched")'
    _run_last_cell(page, fail)
    wait_for("the cell", lambda: "watched" in _outputs(page, "stdout"))
    (seed,) = page.find(".widget-text input[type=number]")
    seed.send_keys(Keys.ARROW_UP, Keys.ENTER)
    wait_for("the exception", lambda: "ZeroDivisionError" in _problems(page))
    with pytest.raises(AssertionError):
        _no_exception(page)


def _run_last_cell(lab, source=None):
    """Run the last cell, with another source where one is given."""
    lab.script(
        "const notebook = window.jupyterapp.shell.currentWidget.content;"
        "notebook.activeCellIndex = notebook.widgets.length - 1;"
        "if (arguments[0]) notebook.activeCell.model.sharedModel.setSource(arguments[0]);",
        source,
    )
    lab.command("notebook:run-cell")


def _outputs(lab, *kinds):
    """Return the outputs of those kinds of all cells, as JSON."""
    return lab.script(
        "const kinds = arguments[0];"
        "return window.jupyterapp.shell.currentWidget.content.widgets"
        ".filter(cell => cell.model.type === 'code')"
        ".flatMap(cell => cell.model.outputs.toJSON())"
        ".filter(output => kinds.includes(output.name) || kinds.includes(output.output_type))"
        ".map(output => JSON.stringify(output)).join('\\n')",
        kinds,
    )


def _problems(lab):
    """Return what the cells, the server and the kernel say of exceptions."""
    return _outputs(lab, "error", "stderr") + "\n".join(re.findall(r".*(?:Traceback|Exception|Error\b).*", lab.log))


def _no_exception(lab):
    assert _problems(lab) == ""
