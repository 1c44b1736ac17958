"""The whole notebook, quick: it runs, it explains itself, and it leaves the same bytes in another process."""

import pandas as pd
import pytest
from whole_report import digests, make_report

STUDY = "real_kernels"


@pytest.mark.slow
def test_report__quick_is_whole_and_the_same_bytes_twice(tmp_path):
    first, second = (make_report(STUDY, tmp_path / seed, seed) for seed in ("1", "2"))
    found = digests(first)
    assert found == digests(second)
    assert len([name for name in found if name.endswith(".svg")]) == 7 and len(found) > 7 * 3 + 12
    comparison = pd.read_csv(first / "comparison.csv")
    assert set(comparison["role"]) == {"prediction", "context"}
    assert "predictions agree" in (first / "report.html").read_text()
    failures = pd.read_csv(first / "tables" / "failures.csv")
    assert len(failures) and not (failures["why"] == "not explained").any()
    assert {path.name for path in first.iterdir()} >= {"manifest.json", "notebook.ipynb", "report.html"}
