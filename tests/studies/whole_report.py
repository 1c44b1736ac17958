"""A whole quick report in a process of its own, and the bytes that it leaves."""

import hashlib
import os
import subprocess
import sys


def make_report(study, out, hash_seed):
    """Run a study's notebook, quick but with all figure formats, under another PYTHONHASHSEED; returns its folder."""
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "SCHEDLAB_FIGURE_FORMATS": "svg,pdf,png"}
    command = [sys.executable, "-m", "schedlab.cli", "report", study, "--quick", "--out", str(out)]
    subprocess.run(command, check=True, env=env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return out / study


def digests(folder):
    """Return the SHA-256 of each figure, table and of the comparison, by path."""
    names = [*folder.glob("figures/*"), *folder.glob("tables/*"), folder / "comparison.csv"]
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(names)}
