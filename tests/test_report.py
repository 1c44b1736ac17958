"""Reports: what lands on disk, that it is the same each time, and that a mistake is refused before anything starts."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedlab import report_dir
from schedlab.report import Refused, find_studies, gallery, report
from schedlab.report.pages import read_comparison, write_index
from schedlab.report.parameters import Kind, convert, read_parameters

NOTEBOOKS = Path(__file__).parent / "notebooks"


def _notebook(source, tags=("parameters",)):
    return {"cells": [{"cell_type": "code", "metadata": {"tags": list(tags)}, "source": source}]}


# ------------------------------------------------------------------ parameters


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Kind("int"), "20000", 20_000),
        (Kind("int"), "20_000", 20_000),
        (Kind("int"), "1e5", 100_000),
        (Kind("int"), "-3", -3),
        (Kind("float"), "0.25", 0.25),
        (Kind("float"), "1e5", 100_000.0),
        (Kind("bool"), "true", True),
        (Kind("bool"), "No", False),
        (Kind("str"), "1e5", "1e5"),
        (Kind("list", Kind("int")), "16,32, 64", [16, 32, 64]),
        (Kind("list", Kind("int")), "[16, 32]", [16, 32]),
        (Kind("list", Kind("str")), "aligned", ["aligned"]),
        (Kind("list", Kind("str")), "", []),
        (Kind("int", optional=True), "none", None),
        (Kind("int", optional=True), "7", 7),
        (Kind("int"), 7, 7),
        (Kind("int"), 1e5, 100_000),
        (Kind("bool"), True, True),
    ],
)
def test_value__of_its_kind(kind, text, value):
    found = kind.value(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind("int"), "1.5"),
        (Kind("int"), "1e400000000"),
        (Kind("int"), "nan"),
        (Kind("int"), "twenty"),
        (Kind("int"), ""),
        (Kind("int"), True),
        (Kind("int"), "9223372036854775808"),
        (Kind("float"), "inf"),
        (Kind("float"), "half"),
        (Kind("float"), True),
        (Kind("bool"), "2"),
        (Kind("bool"), 1),
        (Kind("str"), 5),
        (Kind("list", Kind("int")), "1,x"),
        (Kind("list", Kind("int")), "[1"),
        (Kind("list", Kind("int")), 1),
        (Kind("int"), "none"),
    ],
)
def test_value__not_of_its_kind(kind, text):
    with pytest.raises(ValueError):
        kind.value(text)


def test_read_parameters__types_defaults_and_meanings():
    source = '"""What to run."""\nquota_us: int = 20_000  # pool per period (µs)\n'
    source += "groups: list[int] = [16, 32]\nx: int | None = None\n"
    found = read_parameters(_notebook(source), "study")
    assert [(p.name, str(p.kind), p.default, p.help) for p in found.values()] == [
        ("quota_us", "int", 20_000, "pool per period (µs)"),
        ("groups", "list of int", [16, 32], ""),
        ("x", "int or none", None, ""),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("quota = 5", "each line is name: type = value"),
        ("quota: dict = {}", "annotation 'dict'"),
        ("quota: int = 1.5", "quota: a whole number"),
        ("quota: int = 2 * 3", "quota"),
        ("quota: list[list[int]] = []", "annotation"),
    ],
)
def test_read_parameters__line_that_is_not_annotated(line, message):
    with pytest.raises(Refused, match="study: parameters cell") as caught:
        read_parameters(_notebook(line), "study")
    assert message in str(caught.value)


def test_notebook_without_parameters_cell_takes_none():
    assert read_parameters(_notebook("x = 1", tags=()), "study") == {}


def test_convert__unknown_name_offers_the_nearest():
    (study,) = find_studies(["tiny"], NOTEBOOKS)
    with pytest.raises(Refused, match="-p quotaus '5': tiny has no parameter of that name; did you mean 'quota_us'"):
        convert(study.name, study.parameters, {"quotaus": "5"})


# ------------------------------------------------------------------ studies


def test_find_studies__reads_title_description_and_order():
    tiny, fails = find_studies((), NOTEBOOKS)
    assert (tiny.name, tiny.title, tiny.minutes) == ("tiny", "A tiny study", 0.1)
    assert tiny.description == "Doubling a number and drawing it. It exists to test reports."
    assert (fails.name, fails.title) == ("fails", "A study that fails")


def test_find_studies__unknown_name_offers_the_nearest():
    with pytest.raises(Refused, match="study='tyni': no notebook of that name; did you mean 'tiny'"):
        find_studies(["tyni"], NOTEBOOKS)


def test_find_studies__file_that_is_no_notebook(tmp_path):
    (tmp_path / "broken.ipynb").write_text("{")
    with pytest.raises(Refused, match="broken.ipynb: not a notebook"):
        find_studies((), tmp_path)


# ------------------------------------------------------------------ refused before anything starts (BR33)


@pytest.mark.parametrize(
    ("names", "given"),
    [
        (["tiny"], {"parameters": {"quotaus": "5"}}),
        (["tiny"], {"parameters": {"quota_us": "1.5"}}),
        (["tiny"], {"workers": 0}),
        (["tiny", "fails"], {"parameters": {"quota_us": "5"}}),
        (["fails"], {"quick": True}),
        (["nosuch"], {}),
    ],
)
def test_report__mistake_leaves_nothing_behind(tmp_path, names, given):
    out = tmp_path / "reports"
    with pytest.raises(Refused) as caught:
        report(names, notebooks=NOTEBOOKS, out=out, **given)
    assert "\n" not in str(caught.value)
    assert not out.exists()


# ------------------------------------------------------------------ a real run


def _tree(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two studies reported side by side, one of which fails: (folder, outcomes, calls of on_cell)."""
    out = tmp_path_factory.mktemp("reports")
    calls = []
    outcomes = report(
        (),
        out=out,
        notebooks=NOTEBOOKS,
        workers=2,
        on_cell=lambda *call: calls.append(call),
    )
    return out, {outcome.study: outcome for outcome in outcomes}, calls


def test_report__leaves_all_its_files(made):
    out, outcomes, calls = made
    assert outcomes["tiny"].state == "done"
    assert set(_tree(out / "tiny")) == {
        "report.html",
        "notebook.ipynb",
        "manifest.json",
        "comparison.csv",
        "figures/line.png",
        "tables/twice.csv",
    }
    assert ("tiny", 5, 5) in calls
    # no working folder stays behind
    assert {path.name for path in out.iterdir()} == {"tiny", "index.html", "fails.failed.ipynb"}


def test_report__failure_is_told_and_its_notebook_kept(made):
    out, outcomes, _ = made
    assert outcomes["fails"].state == "failed"
    assert outcomes["fails"].message.startswith("cell 3: AssertionError: the claim does not hold")
    assert "the claim does not hold" in (out / "fails.failed.ipynb").read_text()


def test_report__manifest_says_what_made_it(made):
    manifest = json.loads((made[0] / "tiny" / "manifest.json").read_text())
    assert manifest["parameters"]["quota_us"] == 20_000
    assert manifest["seed"] == 0
    assert manifest["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert len(manifest["code_digest"]) == len(manifest["notebook_digest"]) == 64
    assert manifest["seconds"] > 0


def test_report__pages_fetch_nothing(made):
    for page in (made[0] / "index.html", made[0] / "tiny" / "report.html"):
        text = page.read_text()
        assert "<script" not in text
        assert 'src="http' not in text and 'href="http' not in text and "@import" not in text


def test_report__page_shows_outputs_and_folds_code(made):
    text = (made[0] / "tiny" / "report.html").read_text()
    assert "<h1" in text and "A tiny study" in text
    assert "data:image/png;base64," in text
    assert '<details class="code">' in text
    assert "quota_us = 20000" in text


def test_report__index_shows_claims_and_thumbnail(made):
    text = (made[0] / "index.html").read_text()
    assert "1 of 1 predictions agree" in text
    assert "Twice is twice" in text
    assert 'src="tiny/figures/line.png"' in text
    assert "A study that fails" not in text


def test_report__same_parameters_same_bytes(made, tmp_path):
    command = [sys.executable, "-m", "schedlab.cli", "report", "tiny", "--notebooks", str(NOTEBOOKS)]
    command += ["--out", str(tmp_path), "-p", "quota_us", "2e4"]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    first, second = _tree(made[0] / "tiny"), _tree(tmp_path / "tiny")
    differ = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    # an injected cell is in the second notebook alone
    assert differ == {"manifest.json", "notebook.ipynb", "report.html"}
    third = tmp_path / "third"
    report(["tiny"], notebooks=NOTEBOOKS, out=third, parameters={"quota_us": 20_000})
    differ = {name for name, content in _tree(third / "tiny").items() if second.get(name) != content}
    assert differ <= {"manifest.json"}


def test_report__resume_leaves_out_what_is_current(made):
    out = made[0]
    before = (out / "tiny" / "manifest.json").stat().st_mtime_ns
    (outcome,) = report(["tiny"], notebooks=NOTEBOOKS, out=out, resume=True)
    assert outcome.state == "current"
    assert (out / "tiny" / "manifest.json").stat().st_mtime_ns == before


def test_gallery__copies_what_the_notebook_names(made):
    copy, comparison = gallery(made[0], NOTEBOOKS)
    assert comparison.name == "tiny-comparison.csv" and comparison.is_file()
    assert copy.name == "tiny-line.png"
    assert copy.read_bytes() == (made[0] / "tiny" / "figures" / "line.png").read_bytes()


def test_report__failure_keeps_the_earlier_report(tmp_path):
    earlier = tmp_path / "fails"
    earlier.mkdir()
    (earlier / "report.html").write_text("earlier")
    report(["fails"], notebooks=NOTEBOOKS, out=tmp_path)
    assert _tree(earlier) == {"report.html": b"earlier"}


def test_report__interrupt_ends_the_kernel_and_keeps_the_earlier_report(tmp_path):
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    slow = json.loads((NOTEBOOKS / "fails.ipynb").read_text())
    pid_file = tmp_path / "pid"
    slow["cells"][-1]["source"] = [
        "import os, pathlib, time\n",
        f"pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid()))\n",
        "time.sleep(600)",
    ]
    (notebooks / "slow.ipynb").write_text(json.dumps(slow))
    out = tmp_path / "reports"
    (out / "slow").mkdir(parents=True)
    (out / "slow" / "report.html").write_text("earlier")
    command = [sys.executable, "-m", "schedlab.cli", "report", "--notebooks", str(notebooks), "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    kernel = int(pid_file.read_text())
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped. Finished: none" in shown
    assert "Traceback" not in shown
    assert not Path(f"/proc/{kernel}").exists()
    assert (out / "slow" / "report.html").read_text() == "earlier"
    assert {path.name for path in out.iterdir()} <= {"slow", "index.html"}


def test_bare_papermill_writes_into_the_report_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("schedlab._resources.reports_path", lambda: tmp_path / "reports")
    monkeypatch.delenv("SCHEDLAB_REPORT_DIR", raising=False)
    assert report_dir("tiny") == tmp_path / "reports" / "tiny"
    monkeypatch.setenv("SCHEDLAB_REPORT_DIR", str(tmp_path / "elsewhere"))
    assert report_dir("tiny") == tmp_path / "elsewhere"


# ------------------------------------------------------------------ the index, by itself


def test_index__escapes_what_notebooks_say(made, tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "manifest.json").write_bytes((made[0] / "tiny" / "manifest.json").read_bytes())
    (folder / "comparison.csv").write_text(
        "claim,quantity,unit,published,published_low,published_high,model,model_low,model_high,role,agrees\n"
        "<b>bold</b>,q,s,1,1,1,2,2,2,prediction,False\n"
        "more,r,s,,,,2,1,3,context,\n"
    )
    text = write_index(find_studies((), NOTEBOOKS), tmp_path).read_text()
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "0 of 1 predictions agree" in text and "differs" in text
    rows = read_comparison(folder)
    assert rows[1]["published"] is None and rows[1]["agrees"] is None


def test_index__no_report_says_what_makes_one(tmp_path):
    assert "schedlab report" in write_index(find_studies((), NOTEBOOKS), tmp_path).read_text()
