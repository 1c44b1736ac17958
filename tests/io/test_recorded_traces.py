"""Every trace of data/recordings is read without an error."""

import pytest

from schedlab._resources import data_path
from schedlab.io import ftrace, read_trace
from schedlab.io.idle_switches import with_idle_switches

TRACES = sorted(data_path("recordings", "traces").rglob("*.gz"))
FOLDERS = sorted({path.parent for path in TRACES})
#: What the reader may say of them: nothing that it could not read.
KNOWN = ("switch missing", "conflict", "switch from idle missing")


def _check(path):
    trace = read_trace(path)
    assert len(trace.events) > 50, path
    if (trace.events["event"] == "sched_switch").any():
        spans = with_idle_switches(trace).spans()
        assert (spans["end_ns"] > spans["start_ns"]).all()
    assert not [kind for kind in trace.report.found if not kind.startswith(KNOWN)], (path, trace.report)
    return trace


def test_traces__are_all_there():
    assert len(TRACES) == 79 and sum(path.stat().st_size for path in TRACES) < 2_000_000


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_traces__the_smallest_of_each_folder_and_there_and_back(folder, tmp_path):
    path = min((path for path in TRACES if path.parent == folder), key=lambda path: path.stat().st_size)
    trace = _check(path)
    ftrace.write(trace, tmp_path / "again.txt.gz")
    assert ftrace.read(tmp_path / "again.txt.gz").events.equals(trace.events)


@pytest.mark.slow
def test_traces__each_is_read():
    assert sum(len(_check(path).events) for path in TRACES) == 192_429
