"""Whatever a file holds, a reader gives a result or one line with the file's name."""

import ast
import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from traces import switch, wakeup

import schedlab
from schedlab.io import cpustat, ftrace, perf, read_trace, rtapp, snapshot

READERS = {"ftrace": ftrace.read, "perf": perf.read, "any": read_trace, "rtapp": rtapp.read, "cpustat": cpustat.read}
FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
PIECES = [
    switch(1, 0, 0, 7, "R"),
    wakeup(2, 1, 7),
    switch(3, 0, 7, 0),
    "CPU:1 [LOST 9 EVENTS]\n",
    "##### CPU 1 buffer started ####\n",
    "# entries-in-buffer/entries-written: 1/2   #P:2\n",
    "\t-> x\n",
    "sl 1/2 [000] 1.000001: sched:sched_switch: a:1 [2] S ==> b:3 [4]\n",
    '{"tasks": {"a": {"loop": 1, "run": 5, ',
    '"sleep": 5}}}',
    "nr_periods 5\n",
    "sched_switch: prev_comm=",
    "999999999999999999",
]


def _told(read, path):
    """Return the error of reading a file; it is one line with the file's name."""
    with pytest.raises(ValueError) as told:
        read(path)
    text = str(told.value)
    assert "\n" not in text and path.name in text and len(text) < 400
    return text


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"\x00\x01binary" * 100, "binary"),
        (b"PERFILE2" + b"x" * 100, "perf"),
        (b"hello\nworld\n", ""),
        (gzip.compress(b"", mtime=0), "empty"),
        (b"\x1f\x8b\x08garbage that is no gzip at all", ""),
        (b"\x28\xb5\x2f\xfdgarbage that is no zstd at all", ""),
    ],
    ids=["nothing", "zeros", "perf-data", "text", "empty-gzip", "broken-gzip", "broken-zstd"],
)
def test_read__bad_content(tmp_path, reader, content, reason):
    path = tmp_path / "file.txt"
    path.write_bytes(content)
    told = _told(READERS[reader], path)
    assert reason in told or reader in ("rtapp", "cpustat")


@pytest.mark.parametrize("reader", READERS)
def test_read__missing_file_and_folder(tmp_path, reader):
    _told(READERS[reader], tmp_path / "none.txt")
    _told(READERS[reader], tmp_path)


@pytest.fixture(scope="module")
def long_line(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.txt"
    with open(path, "wb") as file:
        for _ in range(200):
            file.write(b"x" * (1 << 20))
    yield path
    path.unlink()


@pytest.mark.parametrize("reader", READERS)
def test_read__one_line_of_200_mb(long_line, reader):
    told = _told(READERS[reader], long_line)
    assert ":1:" in told or "more than" in told


def test_read__no_event_that_is_needed(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text(wakeup(1, 0, 7))
    assert "no sched_switch in it (1 lines: 1 sched_wakeup)" in _told(ftrace.read, path)


def test_read__place_of_the_first_bad_line(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("# comment\n\nwhat is this\n")
    assert "t.txt:3:" in _told(ftrace.read, path)


def test_error__file_names_are_shown_on_one_line(tmp_path):
    with pytest.raises(ValueError) as told:
        ftrace.read(tmp_path / "a\nb")
    assert "\n" not in str(told.value)


@FUZZ
@given(data=st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=30)), max_size=12), cut=st.integers(0, 40))
def test_fuzz__text(tmp_path, data, cut):
    text = "".join(data).encode("utf-8", "surrogatepass")
    path = tmp_path / "fuzz.txt"
    path.write_bytes(text[: len(text) - cut] if cut else text)
    for read in READERS.values():
        try:
            found = read(path)
        except ValueError as error:
            assert "\n" not in str(error) and "fuzz.txt" in str(error)
            continue
        if hasattr(found, "spans") and (found.events["event"] == "sched_switch").any():
            found.spans()
            ftrace.write(found, tmp_path / "again.txt")
            again = ftrace.read(tmp_path / "again.txt")
            assert again.events.equals(found.events)


@FUZZ
@given(data=st.binary(max_size=200))
def test_fuzz__bytes(tmp_path, data):
    path = tmp_path / "fuzz.txt"
    path.write_bytes(data)
    for read in READERS.values():
        try:
            read(path)
        except ValueError as error:
            assert "\n" not in str(error) and "fuzz.txt" in str(error)


@FUZZ
@given(data=st.text(max_size=60))
def test_fuzz__snapshot(tmp_path, data):
    for name in ("about.txt", "tasks.tsv", "sys/fs/cgroup/a/cpu.max"):
        folder = tmp_path / name.replace("/", "_")
        for other, text in SNAPSHOT.items():
            (folder / other).parent.mkdir(parents=True, exist_ok=True)
            (folder / other).write_text(text)
        snapshot.read(folder)
        (folder / name).write_bytes(data.encode("utf-8", "surrogatepass"))
        try:
            snapshot.read(folder)
        except ValueError as error:
            assert "\n" not in str(error) and folder.name in str(error)


SNAPSHOT = {
    "about.txt": "schedlab_snapshot=1\nrelease=6.12\nhz=250\ncgroup=v2\ncgroup_mount=/sys/fs/cgroup\nseconds=1\n",
    "tasks.tsv": "tid\n",
    "sys/fs/cgroup/a/cpu.max": "max 100000\n",
    "sys/devices/system/cpu/cpu0/topology/core_cpus_list": "0\n",
}


def test_package__loads_no_pickle():
    """What is read is text, JSON, TOML, CSV or parquet: nothing that runs code when it is loaded."""
    top = Path(schedlab.__file__).parent
    for path in top.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {"pickle", "dill", "joblib", "shelve", "marshal"} & {name.split(".")[0] for name in names}, path
            assert not (isinstance(node, ast.Attribute) and node.attr in ("read_pickle", "load_pickle")), path
            assert not (isinstance(node, ast.keyword) and node.arg == "allow_pickle"), path
