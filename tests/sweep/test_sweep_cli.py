"""`schedlab sweep`: a TOML file into a table, one line for every mistake, and on from where it was stopped."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from sweeps import digest

import schedlab as sl
from schedlab.cli import main
from schedlab.sweep import file as sweep_file

FILE = """
duration = "200ms"
seeds = 2
machine = { nr_cpus = 2 }
kernel = { version = "6.12", hz = 1000 }

[groups."/web"]
quota_us = 40_000

[workload.load]
use = "schbench"
group = "/web"
message_threads = 1
threads = 2
cputime_us = 3_000
sleeptime_us = 3_000

[grid]
"/web.burst_us" = [0, 20_000]
"load.threads" = [2, 4]

[columns]
groups = ["/web"]
labels = ["web:schbench"]
"""


@pytest.fixture
def toml(tmp_path):
    path = tmp_path / "burst.toml"
    path.write_text(FILE)
    return path


def _run(capsys, *arguments):
    """Return (exit status, standard output, standard error) of a command."""
    with pytest.raises(SystemExit) as ended:
        main(["sweep", *map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


def test_sweep__writes_what_the_function_returns(capsys, toml):
    status, out, err = _run(capsys, toml)
    assert status == 0 and "4 points, 8 runs, 0 of them in" in err
    table = sl.sweep(**sweep_file.read(toml), progress=False)
    assert out == table.to_csv(index=False)
    assert {"/web.burst_us", "load.threads", "seed", "/web.nr_throttled", "web:schbench.sample_p99_us"} <= {
        *table.columns
    }
    assert table["load.threads"].tolist() == [2, 2, 4, 4] * 2


def test_sweep__second_call_finds_all_and_writes_the_same(capsys, toml):
    _, first, _ = _run(capsys, toml)
    status, again, err = _run(capsys, toml, "--to", toml.with_suffix(".csv"))
    assert (status, again) == (0, "") and "8 of them in" in err
    assert toml.with_suffix(".csv").read_text() == first
    _run(capsys, toml, "--to", toml.with_suffix(".parquet"))
    assert digest(pd.read_parquet(toml.with_suffix(".parquet"))) == digest(pd.read_csv(io.StringIO(first)))


def test_sweep__dry_run_counts_and_writes_nothing(capsys, toml):
    status, out, err = _run(capsys, toml, "--dry-run", "--seeds", "25")
    assert (status, out) == (0, "") and err.startswith("4 points, 100 runs, 0 of them in ")
    assert [path.name for path in toml.parent.iterdir()] == ["burst.toml"]


def test_sweep__rtapp_files_are_beside_the_toml(capsys, toml):
    job = {"tasks": {"t": {"loop": 5, "run": 1000, "sleep": 1000}}}
    toml.with_name("job.json").write_text(json.dumps(job))
    toml.write_text(
        'duration = "1s"\nmachine = "vm-32cpu"\nkernel = "6.12"\nworkload.x = { use = "rtapp", file = "job.json" }'
    )
    assert _run(capsys, toml)[1].splitlines()[1].startswith("0,1.0,5000,")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("duration =", "duraton =", "did you mean 'duration'"),
        ('duration = "200ms"', "", "duration is missing"),
        ('"200ms"', '"200mss"', "200mss"),
        ("[grid]", "[grid", "not TOML"),
        ('"load.threads"', '"load.threds"', "did you mean 'threads'"),
        ('"load.threads"', '"laod.threads"', "no workload 'laod' in the file; did you mean 'load'"),
        ('"200ms"', "0.2", "duration=0.2: a text with a unit"),
        ("seeds = 2", "seeds = 1_000_000_000", "seeds=1000000000: at most 1000000"),
        ("seeds = 2", 'seeds = 2\nstop = "soon"', "stop='soon': one of duration, exit"),
        ("{ nr_cpus = 2 }", "{ file = 4 }", "machine.file=4: a path, as a text"),
        ("hz = 1000", "patches = 5", "kernel.patches=5: a name or a list of names"),
        ("hz = 1000", "patches = [5]", "patch=5: one of"),
        ("hz = 1000", "costs = { tick = 5 }", "did you mean 'tick_ns'"),
        ('group = "/web"', 'group = "/wbe"', "not among the groups; add [groups.\"/wbe\"]; did you mean '/web'"),
        ('groups = ["/web"]', 'groups = ["/wbe"]', "columns.groups='/wbe': one of /, /web"),
        ('groups = ["/web"]', 'groups = "/web"', "columns.groups='/web': a list of names"),
        ('labels = ["web:schbench"]', 'labels = ["web"]', "columns.labels='web': one of"),
        ('"/web.burst_us"', '"/web.burst"', "did you mean '/web.burst_us'"),
        ("[0, 20_000]", "[0, 50_000]", "burst_us=50000"),
        ("hz = 1000", "hzz = 1000", "did you mean 'hz'"),
        ('"6.12"', '"5.4"', "5.4"),
        ("nr_cpus", "nr_cpu", "did you mean 'nr_cpus'"),
        ("{ nr_cpus = 2 }", '"vm-32cqu"', "did you mean 'vm-32cpu'"),
        ("{ nr_cpus = 2 }", '{ file = "no.toml" }', "No such file"),
        ('"schbench"\ngroup', '"shbench"\ngroup', "did you mean 'schbench'"),
        ("cputime_us", "cputme_us", "schbench has no argument of that name; did you mean 'cputime_us'"),
        ('use = "schbench"', "", 'a table with use = "schbench"'),
        ("quota_us = 40_000", "quotaus = 40_000", "did you mean 'quota_us'"),
        ("seeds = 2", "seeds = 0", "seeds=0: at least 1"),
        ('labels = ["web', 'lables = ["web', "did you mean 'labels'"),
    ],
)
def test_mistake_in_the_file__one_line_and_status_2(capsys, toml, old, new, told):
    assert old in FILE
    toml.write_text(FILE.replace(old, new, 1))
    status, out, err = _run(capsys, toml)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and told in err and err.startswith("schedlab: ")
    assert [path.name for path in toml.parent.iterdir()] == ["burst.toml"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--to", "x.xls"], "ends in .csv or .parquet"),
        (["--to", "nowhere/x.csv"], "--to nowhere/x.csv: no folder nowhere"),
        (["--workers", "0"], "workers=0: a whole number, at least 1"),
        (["--seeds", "0"], "seeds=0"),
        (["--shceduler", "x"], "--scheduler"),
        (["--store", "/dev/null"], "not a folder to write to"),
    ],
)
def test_mistake_on_the_command_line__one_line_and_status_2(capsys, toml, arguments, told):
    status, out, err = _run(capsys, toml, *arguments)
    assert (status, out) == (2, "")
    assert told in err and err.splitlines()[-1].startswith("schedlab: ") and "Traceback" not in err


def test_no_file__one_line(capsys, tmp_path):
    assert _run(capsys, tmp_path / "no.toml") == (2, "", f"schedlab: {tmp_path}/no.toml: No such file or directory\n")


def test_label_that_no_run_has__told_before_anything_runs(capsys, toml):
    toml.write_text(FILE.replace("web:schbench", "web:shbench"))
    status, _, err = _run(capsys, toml)
    assert status == 2 and "/web.burst_us=0 load.threads=2: columns.labels=" in err and "did you mean" in err


def test_ctrl_c__status_130_and_the_same_command_goes_on(capsys, toml):
    command = [sys.executable, "-m", "schedlab.cli", "sweep", toml, "--seeds", "400", "--workers", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    store, deadline = toml.with_suffix(".sweep"), time.monotonic() + 120
    while time.monotonic() < deadline and sum(path.stat().st_size for path in store.glob("*")) < 10_000:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "") and "Traceback" not in err
    assert f"Finished points are in {store}; the same command goes on from there." in err
    _, _, err = _run(capsys, toml, "--seeds", "400", "--dry-run")
    found = int(err.split(", ")[2].split()[0])
    assert 5 < found < 1600
    _, _, err = _run(capsys, toml, "--seeds", "4")
    assert "16 runs" in err and "0 of them" not in err


def test_docs__examples_run(capsys, tmp_path, monkeypatch):
    """The example in Python and the one in TOML of docs/sweeps.md."""
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text()
    (code,), (toml,) = (re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("python", "toml"))
    names = {}
    exec(compile(code, "sweeps.md", "exec"), names)  # noqa: S102  the point of the test
    assert len(names["table"]) == 16 and "sample_p99_us" in capsys.readouterr().out
    Path("burst.toml").write_text(toml)
    status, out, err = _run(capsys, "burst.toml", "--seeds", "1")
    assert status == 0 and len(out.splitlines()) == 5 and "/web.nr_throttled" in out
    # both use burst.sweep, and neither takes the other's points
    assert "4 points, 4 runs, 0 of them" in err


def test_progress__lines_with_an_estimate_where_there_is_no_terminal(capsys, toml, monkeypatch):
    monkeypatch.setattr("schedlab.cli_sweep.EVERY_S", 0.0)
    _, _, err = _run(capsys, toml)
    assert "points/s, about" in err and "8 of 8, " in err


def test_progress__bar_in_a_terminal(toml):
    """TTY_COMPATIBLE makes rich take a pipe for a terminal; the bar shows count and estimate."""
    command = [sys.executable, "-m", "schedlab.cli", "sweep", toml]
    shown = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TTY_COMPATIBLE": "1"})
    assert shown.returncode == 0 and "points/s, about 0 s left" in shown.stderr
