"""10,000 points: progress with an estimate, an interrupt, the rest, the same table, and a memory that stays flat."""

import functools
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from sweeps import dask_processes, digest, scenario

import schedlab as sl

FILE = """
duration = "20ms"
seeds = 100
machine = {{ nr_cpus = 1 }}
kernel = "6.12"
groups."/a" = {{ period_us = 10_000 }}
workload.job = {{ use = "periodic", group = "/a", period = "2ms", work = "1ms" }}
grid."/a.quota_us" = {quotas}
"""
QUOTAS = list(range(1_000, 6_000, 50))

pytestmark = pytest.mark.slow


def rss_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_command_line__is_stopped_goes_on_and_ends_with_the_same_table(tmp_path):
    toml = tmp_path / "many.toml"
    toml.write_text(FILE.format(quotas=QUOTAS))
    command = [sys.executable, "-u", "-m", "schedlab.cli", "sweep", str(toml), "--to"]
    process = subprocess.Popen([*command, str(tmp_path / "two.csv")], stderr=subprocess.PIPE, text=True)
    lines = []
    for line in process.stderr:
        lines.append(line)
        if re.match(r"\d+ of 10000, .* points/s, about .* left", line):
            process.send_signal(signal.SIGINT)
            break
    lines += process.communicate(timeout=60)[0] or []
    assert process.returncode == 130, lines
    assert not (tmp_path / "two.csv").exists()
    second = subprocess.run([*command, str(tmp_path / "two.csv")], capture_output=True, text=True)
    found = int(re.search(r"10000 runs, (\d+) of them", second.stderr).group(1))
    assert 0 < found < 10_000, second.stderr
    other = [*command, str(tmp_path / "one.csv"), "--store", str(tmp_path / "other")]
    subprocess.run(other, check=True, capture_output=True)
    assert (tmp_path / "two.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    table = pd.read_csv(tmp_path / "one.csv")
    assert len(table) == 10_000 and table["/a.quota_us"].nunique() == 100


@pytest.mark.parametrize("where", ["threads", "cluster"])
def test_memory__is_flat(where, tmp_path, request):
    """From a tenth of the points to the last, the process grows by less than a tenth; BR40."""
    sizes = {}

    def measure(done, total, found):
        if done % 1_000 == 0:
            sizes[done] = rss_mb()

    grid = {"quota_us": QUOTAS}
    many = functools.partial(sl.sweep, functools.partial(scenario, duration="20ms"), grid, seeds=100)
    began = time.monotonic()
    if where == "threads":
        table = many(progress=measure, store=tmp_path)
    else:
        pytest.importorskip("distributed")
        # the scheduler is a process of its own: it keeps logs of its events, up to a bound of its own
        with dask_processes(tmp_path, nr_workers=2) as (address, _):
            began = time.monotonic()
            table = many(progress=measure, scheduler=address)
    seconds = time.monotonic() - began
    print(f"{where}: {len(table) / seconds:.0f} points/s, {sizes}, {digest(table)[:16]}")
    assert len(table) == 10_000
    assert sizes[10_000] < 1.1 * sizes[1_000]
