"""The whole notebook, quick: it runs, it explains itself, and it leaves the same bytes twice."""

import pandas as pd
import pytest
from whole_report import digests, make_report

STUDY = "force_idle_push"


@pytest.mark.slow
def test_report__quick_is_whole_and_the_same_bytes_twice(tmp_path):
    first, second = (make_report(STUDY, tmp_path / seed, seed) for seed in ("1", "2"))
    found = digests(first)
    assert found == digests(second)
    assert len([name for name in found if name.endswith(".svg")]) == 8
    comparison = pd.read_csv(first / "comparison.csv").set_index("quantity")
    assert set(comparison["role"]) == {"prediction", "context"}
    assert comparison.loc[comparison["role"] == "prediction", "agrees"].astype(str).eq("True").all()
    assert comparison.loc["noise_percent.push", "published"] == 0.66
    page = (first / "report.html").read_text()
    assert "A quick run" in page and "not explained" not in page
