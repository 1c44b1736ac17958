"""The whole notebook, quick: it runs, it explains itself, and it leaves the same bytes in another process."""

import hashlib
import os
import subprocess
import sys

import pandas as pd
import pytest

STUDY = "real_kernels"


def _report(out, hash_seed):
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "schedlab.cli", "report", STUDY, "--quick", "--out", str(out)]
    subprocess.run(command, check=True, env=env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return out / STUDY


def _digests(folder):
    names = [*folder.glob("figures/*"), *folder.glob("tables/*"), folder / "comparison.csv"]
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(names)}


@pytest.mark.slow
def test_report__quick_is_whole_and_the_same_bytes_twice(tmp_path):
    first, second = (_report(tmp_path / seed, seed) for seed in ("1", "2"))
    found = _digests(first)
    assert found == _digests(second)
    assert len([name for name in found if name.endswith(".svg")]) == 6 and len(found) > 6 * 3 + 12
    comparison = pd.read_csv(first / "comparison.csv")
    assert set(comparison["role"]) == {"prediction", "context"}
    page = (first / "report.html").read_text()
    assert "predictions agree" in page and "Not yet comparable" in page
    assert {path.name for path in first.iterdir()} >= {"manifest.json", "notebook.ipynb", "report.html"}
