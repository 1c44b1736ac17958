"""schedlab whatif: what it prints and writes, and one line with status 2 for what cannot be."""

import json
import shutil
import xml.etree.ElementTree as ElementTree

import pandas as pd
import pytest

from schedlab import cli_whatif
from schedlab.cli import main
from schedlab.studies.what_if import path_of

EXAMPLE = path_of("example")
FEW = ("--group", "/service/web", "--seeds", "1", "--no-search")


def _run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["whatif", *map(str, arguments)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


def _refused(capsys, tmp_path, *arguments):
    """Return the one line of something refused; nothing is left behind."""
    before = sorted(tmp_path.rglob("*"))
    status, out, err = _run(capsys, *arguments, "--out", tmp_path / "out")
    assert status == 2 and out == "" and err.count("\n") == 1 and "Traceback" not in err
    assert sorted(tmp_path.rglob("*")) == before
    return err


def test_whatif__prints_a_table_and_writes_tables_and_figures(capsys, tmp_path):
    out = tmp_path / "out"
    asked = (
        "--quota",
        "40ms,60ms",
        "--burst",
        "0,50ms",
        "--period",
        "100ms",
        "--phase",
        "aligned,random",
        "--seeds",
        "2",
    )
    status, shown, err = _run(capsys, EXAMPLE, "--group", "/service/web", *asked, "--resolution", "10ms", "--out", out)
    assert status == 0 and err == ""
    texts = ("demand: as recorded in service-web", "as it was", "nr_throttled", "60 ms / 100 ms, burst 50 ms")
    texts += ("smallest quota without throttling", "smallest burst", "not asked: 40 ms / 100 ms, burst 50 ms")
    assert not [text for text in texts if text not in shown]
    assert {path.name for path in (out / "tables").iterdir()} == {
        "replay.csv", "combinations.csv", "quota.csv", "burst.csv",
    }  # fmt: skip
    table = pd.read_csv(out / "tables/combinations.csv")
    assert len(table) == 6 and (table["nr_throttled_low"] <= table["nr_throttled"]).all()
    assert {path.name for path in (out / "figures").glob("*.svg")} == {"combinations.svg", "replay.svg"}
    for path in (out / "figures").glob("*.svg"):
        ElementTree.parse(path)
        assert "Demand: as recorded in service-web" in path.read_text()
    made = json.loads((out / "whatif.json").read_text())
    assert made["group"] == "/service/web" and made["parameters"]["quota"] == "40ms,60ms" and made["code_digest"]
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("form", ["csv", "json"])
def test_whatif__other_formats(capsys, tmp_path, form):
    status, shown, err = _run(capsys, EXAMPLE, *FEW, "--quota", "40ms,max", "--format", form, "--out", tmp_path / "o")
    assert status == 0 and err.strip() == str(tmp_path / "o")
    if form == "csv":
        assert shown == (tmp_path / "o/tables/combinations.csv").read_text()
    else:
        answer = json.loads(shown)
        assert [row["quota_us"] for row in answer["combinations"]] == [40_000, None] and answer["quota"] == []


def test_whatif__replaces_what_it_made_and_nothing_else(capsys, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / cli_whatif.MADE).write_text("{}")
    (out / "old").write_text("")
    assert _run(capsys, EXAMPLE, *FEW, "--out", out)[0] == 0 and not (out / "old").exists()
    (out / cli_whatif.MADE).unlink()
    assert "was not made by schedlab whatif" in _refused(capsys, tmp_path, EXAMPLE, *FEW)


def test_whatif__a_failure_half_way_leaves_what_was_there(capsys, tmp_path, monkeypatch):
    out = tmp_path / "out"
    assert _run(capsys, EXAMPLE, *FEW, "--out", out)[0] == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    def full(*args):
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr("schedlab.figures.save_figure", full)
    status, _, err = _run(capsys, EXAMPLE, *FEW, "--quota", "10ms", "--out", out)
    assert status == 2 and "No space left" in err and err.count("\n") == 1
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert not list(tmp_path.glob(".*"))


def test_whatif__snapshot_without_a_trace(capsys, tmp_path):
    folder = tmp_path / "snap"
    shutil.copytree(EXAMPLE, folder)
    (folder / "trace.txt.gz").unlink()
    assert "name a demand model" in _refused(capsys, tmp_path, folder, *FEW)
    out = tmp_path / "out"
    status, shown, _ = _run(capsys, folder, *FEW, "--demand", "periodic", "--duration", "500ms", "--out", out)
    assert status == 0 and "NOT RECORDED, assumed: a periodic demand" in shown
    for path in (out / "figures").glob("*.svg"):
        assert "NOT RECORDED" in path.read_text()
    for path in (out / "tables").glob("*.csv"):
        table = pd.read_csv(path)
        assert not len(table) or table["demand"].str.contains("NOT RECORDED").all()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"\0\1\2", "binary"),
        (b"PERFILE2xxxx", "perf record"),
        (b"hello\nworld\n", ""),
        (b"\x1f\x8b\x08 no gzip", ""),
        (b"{", ""),
    ],
    ids=["empty", "zeros", "perf-data", "text", "gzip", "json"],
)
def test_whatif__bad_file(capsys, tmp_path, content, reason):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    err = _refused(capsys, tmp_path, path, *FEW, "--tasks", "web*")
    assert "bad.txt" in err and reason in err


@pytest.fixture(scope="module")
def long_line(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.txt"
    with open(path, "wb") as file:
        for _ in range(200):
            file.write(b"x" * (1 << 20))
    yield path
    path.unlink()


@pytest.mark.parametrize("command", ["whatif", "trace", "rtapp"])
def test_every_command__one_line_of_200_mb(capsys, tmp_path, long_line, command):
    more = (*FEW, "--tasks", "web*", "--out", str(tmp_path / "out")) if command == "whatif" else ()
    with pytest.raises(SystemExit) as ended:
        main([command, str(long_line), *more])
    shown = capsys.readouterr()
    assert ended.value.code == 2 and shown.out == "" and shown.err.count("\n") == 1 and "long.txt" in shown.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((EXAMPLE, "--group", "/service/wbe"), "did you mean '/service/web'"),
        ((EXAMPLE, *FEW, "--quota", "150"), "quota='150'"),
        ((EXAMPLE, *FEW, "--seeds", "0"), "seeds=0: at least 1"),
        ((EXAMPLE, *FEW, "--format", "xml"), "format='xml': one of table, csv, json"),
        ((EXAMPLE, *FEW, "--arrivals", "never"), "arrivals='never': one of"),
        ((EXAMPLE, *FEW, "--resolution", "1"), "resolution='1'"),
        ((EXAMPLE,), "--group"),
        (("nowhere", *FEW, "--tasks", "x"), "nowhere"),
        ((EXAMPLE, *FEW, "--qutoa", "5ms"), "quota"),
        ((EXAMPLE / "trace.txt.gz", *FEW), "name them (tasks)"),
        ((EXAMPLE / "trace.txt.gz", *FEW, "--tasks", "web*", "--cpu-stat", "nowhere"), "nowhere"),
    ],
)
def test_whatif__refused_in_one_line(capsys, tmp_path, arguments, told):
    assert told in _refused(capsys, tmp_path, *arguments)


def test_whatif__hostile_names_are_data(capsys, tmp_path):
    """A group named like markup, a formula and mathematics: files and figures show it, and nothing more."""
    folder, name = tmp_path / "=cmd|'x'!A0<script>$\\foo$", "=1+1<b>&$x_$"
    shutil.copytree(EXAMPLE, folder)
    for top in ("cpu", "cpuacct"):
        (folder / f"sys/fs/cgroup/{top}/service/web").rename(folder / f"sys/fs/cgroup/{top}/service/{name}")
    out = tmp_path / "out"
    status, _, err = _run(capsys, folder, "--group", f"/service/{name}", "--seeds", "1", "--no-search", "--out", out)
    assert (status, err) == (0, "")
    for path in (out / "figures").glob("*.svg"):
        ElementTree.parse(path)
        assert "<script>" not in path.read_text()
    for path in (out / "tables").glob("*.csv"):
        cells = [cell for row in pd.read_csv(path).itertuples(index=False) for cell in row if isinstance(cell, str)]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "-"))]


def test_whatif__csv_of_tasks_that_is_not_there(capsys, tmp_path):
    trace = EXAMPLE / "trace.txt.gz"
    err = _refused(capsys, tmp_path, trace, "--group", "/a", "--tasks", "no.csv")
    assert err == "schedlab: tasks='no.csv': no such file\n"


def test_whatif__snapshot_without_groups(capsys, tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "bare")
    shutil.rmtree(next((tmp_path / "bare").rglob("cgroup/cpu/service")))
    err = _refused(capsys, tmp_path, tmp_path / "bare", "--group", "/service/web")
    assert "has no group but the root" in err


def test_whatif__lines_of_progress_are_rare(capsys, monkeypatch):
    lines = cli_whatif._Lines()
    lines(1)
    monkeypatch.setattr(cli_whatif, "EVERY_S", 0.0)
    lines(2)
    assert capsys.readouterr().err == "2 runs\n"
