"""The what-if notebook, quick: about the example, and about a file that is given."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from whole_report import digests, make_report

from schedlab.studies.what_if import path_of

STUDY = "what_if"


@pytest.mark.slow
def test_report__quick_is_whole_and_the_same_bytes_twice(tmp_path):
    first, second = (make_report(STUDY, tmp_path / seed, seed) for seed in ("1", "2"))
    found = digests(first)
    assert found == digests(second)
    assert len([name for name in found if name.endswith(".svg")]) == 3
    comparison = pd.read_csv(first / "comparison.csv")
    predictions = comparison[comparison["role"] == "prediction"]
    assert len(predictions) > 30 and predictions["agrees"].mean() > 0.6
    page = (first / "report.html").read_text()
    assert "as recorded in service-web" in page


@pytest.mark.slow
def test_report__of_a_file_that_is_given(tmp_path):
    given = {
        "recording": str(path_of("example") / "trace.txt.gz"),
        "group": "/web",
        "tasks": "web.*",
        "was": "50ms/100ms",
    }
    given |= {"quota": "60ms,max", "burst": "0"}
    pairs = [part for name, value in given.items() for part in ("-p", name, value)]
    command = [sys.executable, "-m", "schedlab.cli", "report", STUDY, "--quick", "--out", str(tmp_path), *pairs]
    subprocess.run(command, check=True, capture_output=True)
    assert json.loads((tmp_path / STUDY / "manifest.json").read_text())["parameters"]["group"] == "/web"
    assert set(pd.read_csv(tmp_path / STUDY / "comparison.csv")["role"]) == {"prediction"}
