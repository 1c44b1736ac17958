"""sweep() and reports on two Dask workers of this machine: the same bytes as in threads, also when one is killed."""

import functools
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from sweeps import GRID, SEARCH, Once, dask_processes, die, digest, plain, scenario

import schedlab as sl
from schedlab import provenance
from schedlab._pool import Failed
from schedlab.report import Refused, report
from schedlab.sweep import Plan

distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
NOTEBOOKS = Path(__file__).parents[1] / "notebooks"

quiet = functools.partial(sl.sweep, progress=False)


@pytest.fixture(scope="module")
def address():
    """Two worker processes of one thread each, on the loopback alone; one that dies is started anew."""
    # compiled once and for all here, not by two workers at a time
    quiet(scenario())
    options = dict(n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0")
    dask = pytest.importorskip("dask")
    with pytest.MonkeyPatch.context() as patch, dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        patch.setenv("PYTHONPATH", SEARCH)
        with distributed.LocalCluster(**options, silence_logs=50) as cluster:
            yield cluster.scheduler_address


@pytest.fixture(scope="module")
def serial():
    return quiet(scenario, GRID, seeds=10, workers=1, reduce=plain)


def test_cluster__same_bytes_as_serially_and_in_threads(address, serial):
    assert digest(quiet(scenario, GRID, seeds=10, workers=4, reduce=plain)) == digest(serial)
    assert digest(quiet(scenario, GRID, seeds=10, scheduler=address, reduce=plain)) == digest(serial)
    here = quiet(scenario, GRID)
    assert digest(quiet(scenario, GRID, scheduler=address)) == digest(here)


def test_cluster__same_bytes_with_a_worker_killed_in_the_middle(address, serial, tmp_path):
    """The point that kills its worker runs again on the other, once."""
    flag = tmp_path / "flag"
    grid = GRID | {"quota_us": [2_000, 5_000]}
    table = quiet(scenario, grid, seeds=10, scheduler=address, reduce=Once(4, flag, die), store=None)
    assert flag.exists()
    assert digest(table) == digest(serial)


def test_cluster__worker_killed_from_outside(address, serial):
    killed = []

    def kill(done, total, found):
        if done == 10:
            with distributed.Client(address, set_as_default=False) as client:
                pid = next(iter(client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    table = sl.sweep(scenario, GRID, seeds=10, scheduler=address, reduce=plain, progress=kill)
    assert len(killed) == 1 and digest(table) == digest(serial)


def test_cluster__resumes_what_threads_began(address, serial, tmp_path):
    def interrupt(done, total, found):
        if done == 15:
            raise KeyboardInterrupt

    for scheduler in (None, address):
        with pytest.raises(KeyboardInterrupt):
            sl.sweep(
                *(scenario, GRID), seeds=10, reduce=plain, store=tmp_path / str(bool(scheduler)), progress=interrupt,
                scheduler=scheduler,
            )  # fmt: skip
    told = []
    for name, scheduler in (("False", address), ("True", None)):
        table = sl.sweep(
            *(scenario, GRID), seeds=10, reduce=plain, store=tmp_path / name, scheduler=scheduler,
            progress=lambda *call: told.append(call),
        )  # fmt: skip
        assert digest(table) == digest(serial)
    assert min(found for _, _, found in told) >= 15


def test_cluster__interrupt_ends_running_points_on_the_workers(address):
    def interrupt(done, total, found):
        if done:
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sl.sweep(scenario, {"duration": ["10ms", "8000s"]}, scheduler=address, reduce=plain, progress=interrupt)
    # the workers are free again
    quiet(scenario, GRID, scheduler=address, reduce=plain)
    assert time.monotonic() - began < 30


def test_cluster__a_client_that_is_there_is_used_and_stays(address, serial):
    with distributed.Client(address, set_as_default=False) as client:
        assert digest(quiet(scenario, GRID, seeds=10, scheduler=client, reduce=plain)) == digest(serial)
        assert client.submit(int, "7").result() == 7


@pytest.mark.slow
def test_cluster__scheduler_that_goes_is_told_and_what_was_finished_kept(tmp_path):
    """The scheduler is killed at the fifth point."""
    with dask_processes(tmp_path, nr_workers=1) as (where, scheduler):

        def kill(done, total, found):
            if done == 5:
                scheduler.kill()

        store = tmp_path / "store"
        with pytest.raises(Failed, match="lost; what was finished by then is kept"):
            sl.sweep(scenario, GRID, seeds=30, scheduler=where, reduce=plain, store=store, progress=kill)
    assert 5 <= Plan(scenario, GRID, seeds=30, reduce=plain, store=store).found < 120


def test_cluster__functions_of_a_notebook_travel(address):
    threshold = 3
    table = quiet(scenario, GRID, scheduler=address, reduce=lambda run: run.nr_events > threshold)
    assert table["value"].all()


def test_cluster__point_that_cannot_run_is_named(address):
    with pytest.raises(Failed, match="hz=250 seed=0: ZeroDivisionError: division by zero"):
        quiet(scenario, {"hz": [250]}, scheduler=address, reduce=lambda run: 1 / 0)


def test_cluster__point_that_kills_every_worker_is_named(address):
    with pytest.raises(Failed, match="hz=250 seed=0: each worker that began it died"):
        quiet(scenario, {"hz": [250]}, scheduler=address, reduce=lambda run: die())


def test_cluster__workers_of_other_code_are_refused(address, monkeypatch):
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    monkeypatch.setattr(provenance, "code_digest", lambda: "0" * 64)
    with pytest.raises(ValueError, match="worker tcp://127.0.0.1:.* has other code of schedlab") as caught:
        quiet(scenario, GRID, scheduler=address)
    assert "\n" not in str(caught.value)


def test_cluster__nobody_there_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr("schedlab._pool.cluster.CONNECT_S", 1)
    with pytest.raises(ValueError, match="scheduler='tcp://127.0.0.1:9': no Dask scheduler answers there") as caught:
        quiet(scenario(), scheduler="tcp://127.0.0.1:9")
    assert "\n" not in str(caught.value)
    with pytest.raises(Refused, match="no Dask scheduler answers"):
        report(["tiny"], notebooks=NOTEBOOKS, out=tmp_path / "out", scheduler="nonsense://x")
    assert not (tmp_path / "out").exists()


def test_cluster__without_dask_says_what_has_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"pip install 'schedlab\[cluster\]'"):
        quiet(scenario(), scheduler="tcp://127.0.0.1:9")


def test_command_line__on_the_cluster_the_same_bytes(address, tmp_path, capsys):
    from test_sweep_cli import FILE, _run

    toml = tmp_path / "burst.toml"
    toml.write_text(FILE)
    here = _run(capsys, toml)
    there = _run(capsys, toml, "--scheduler", address, "--store", tmp_path / "there")
    assert here[:2] == there[:2] and here[0] == 0 and "0 of them" in there[2]


# ------------------------------------------------------------------ reports


def _tree(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_report__on_the_cluster_the_same_bytes_as_here(address, tmp_path):
    cells, options = [], {"notebooks": NOTEBOOKS, "on_cell": lambda *call: cells.append(call)}
    (here,) = report(["tiny"], out=tmp_path / "here", **options)
    cells.clear()
    there, failed = report((), out=tmp_path / "there", scheduler=address, **options)
    mine, theirs = _tree(tmp_path / "here" / "tiny"), _tree(tmp_path / "there" / "tiny")
    assert (here.state, there.state, failed.state) == ("done", "done", "failed")
    assert mine.keys() == theirs.keys() and "report.html" in theirs
    assert {name for name in mine if mine[name] != theirs[name]} <= {"manifest.json"}  # its seconds
    assert str(tmp_path / "there" / "fails.failed.ipynb") in failed.message
    assert {path.name for path in (tmp_path / "there").iterdir()} == {"tiny", "index.html", "fails.failed.ipynb"}
    assert ("tiny", 5, 5) in cells
    (again,) = report(["tiny"], out=tmp_path / "there", resume=True, scheduler=address, **options)
    assert again.state == "current"
