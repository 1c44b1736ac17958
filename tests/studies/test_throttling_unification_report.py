"""The whole notebook, quick: it runs, it explains itself, and every prediction that can be judged is."""

import os
import subprocess
import sys

import pandas as pd
import pytest

STUDY = "throttling_unification"


@pytest.mark.slow
def test_report__quick_is_whole(tmp_path):
    command = [sys.executable, "-m", "schedlab.cli", "report", STUDY, "--quick", "--out", str(tmp_path)]
    subprocess.run(command, check=True, env=os.environ, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    folder = tmp_path / STUDY
    assert len(list(folder.glob("figures/*.png"))) == 7 and len(list(folder.glob("tables/*.csv"))) == 14
    comparison = pd.read_csv(folder / "comparison.csv").set_index("quantity")
    assert set(comparison["role"]) == {"calibration", "prediction", "context"}
    assert comparison.loc[comparison["role"] == "prediction", "agrees"].astype(str).eq("True").all()
    page = (folder / "report.html").read_text()
    assert "A quick run" in page and "not explained" not in page
