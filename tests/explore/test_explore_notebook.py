"""notebooks/explore.ipynb without a browser: as a report, and under bare papermill."""

import json
from pathlib import Path

import pandas as pd
import pytest

from schedlab.report import report

TOP = Path(__file__).parents[2]


def test_report__default_scenario(tmp_path):
    (outcome,) = report(["explore"], out=tmp_path, parameters={"length_ms": 200, "nr_groups": 3})
    assert outcome.state == "done", outcome.message
    folder = tmp_path / "explore"
    assert set(pd.read_csv(folder / "tables" / "cpu_stat.csv")["group"]) == {"/a", "/b", "/c"}
    assert (folder / "figures" / "explore.svg").is_file()
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page and "sl.simulate(" in page
    notebook = json.loads((folder / "notebook.ipynb").read_text(encoding="utf-8"))
    assert "widgets" not in notebook["metadata"]


def test_papermill__runs_with_widgets_and_no_browser(tmp_path, monkeypatch):
    papermill = pytest.importorskip("papermill")
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    source = (TOP / "notebooks" / "explore.ipynb").read_text(encoding="utf-8")
    place = json.dumps(json.dumps(str(tmp_path / "out")))[1:-1]
    copy = tmp_path / "explore.ipynb"
    copy.write_text(source.replace('sl.report_dir(\\"explore\\")', place), encoding="utf-8")
    done = papermill.execute_notebook(copy, tmp_path / "done.ipynb", progress_bar=False, kernel_name="python3")
    outputs = [output for cell in done.cells for output in cell.get("outputs", ())]
    assert any("application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.output_type in ("error", "stream")]
    assert (tmp_path / "out" / "scenarios" / "explore.py").is_file()
