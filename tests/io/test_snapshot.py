import gzip
import os
import shutil
from pathlib import Path

import pytest
from traces import switch

import schedlab as sl
from schedlab.io import ftrace, snapshot, snapshot_trace


def _host(root, version="v2"):
    """Files of a made-up host of 2 cores of 2 threads; CPU 3 is offline."""
    files = {
        "proc/sys/kernel/osrelease": "6.12.1-test\n",
        "proc/version": "Linux version 6.12.1-test\n",
        "boot/config-6.12.1-test": "CONFIG_X=y\nCONFIG_HZ=250\n",
        "proc/schedstat": "version 17\n",
        "proc/stat": "cpu 1 2 3\n",
        "sys/devices/system/cpu/online": "0-2\n",
        "sys/devices/system/cpu/possible": "0-3\n",
        "sys/devices/system/node/node0/cpulist": "0-2\n",
        "proc/7/task/7/stat": "7 (odd) name (x)) S 1 7 7 0 -1 0 " + "0 " * 8 + "20 0 " + "0 " * 21 + "0 0\n",
        "proc/7/task/7/status": "Cpus_allowed_list:\t0-2\n",
    }
    for cpu, core in ((0, "0,2"), (1, "1,3"), (2, "0,2")):
        files[f"sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list"] = f"{core}\n"
        files[f"sys/devices/system/cpu/cpu{cpu}/cache/index3/level"] = "3\n"
        files[f"sys/devices/system/cpu/cpu{cpu}/cache/index3/shared_cpu_list"] = "0-2\n"
    if version == "v2":
        files["proc/mounts"] = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
        base, stat = "sys/fs/cgroup", "usage_usec 1000000\nnr_periods 10\nnr_throttled 3\nthrottled_usec 7\n"
        files |= {
            f"{base}/cpu.stat": "usage_usec 3000000\n",
            f"{base}/pods/cpu.stat": stat,
            f"{base}/pods/x/cpu.stat": stat,
        }
        files |= {f"{base}/pods/cpu.max": "max 100000\n", f"{base}/pods/x/cpu.max": "20000 50000\n"}
        files |= {f"{base}/pods/x/cpu.max.burst": "1000\n", f"{base}/pods/x/cpu.weight": "50\n"}
        files |= {f"{base}/pods/x/cgroup.threads": "7\n9\n"}
    else:
        files["proc/mounts"] = (
            "c /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\nc /sys/fs/cgroup/cpuacct cgroup rw,cpuacct 0 0\n"
        )
        base = "sys/fs/cgroup/cpu/pods"
        files |= {
            f"{base}/cpu.cfs_quota_us": "20000\n",
            f"{base}/cpu.cfs_period_us": "50000\n",
            f"{base}/cpu.shares": "512\n",
        }
        files |= {f"{base}/cpu.stat": "nr_periods 10\nnr_throttled 3\nthrottled_time 7000\n", f"{base}/tasks": "7\n"}
        files |= {f"sys/fs/cgroup/cpuacct/{g}cpuacct.usage": "5000000000\n" for g in ("", "pods/")}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def _later(root, texts):
    """Return what stands in for time.sleep: it changes some files."""

    def sleep(seconds):
        for name, text in texts.items():
            (root / name).write_text(text)

    return sleep


def test_v2__there_and_back(tmp_path):
    root, folder = tmp_path / "root", tmp_path / "snap"
    _host(root)
    texts = {
        "sys/fs/cgroup/cpu.stat": "usage_usec 8000000\n",
        "sys/fs/cgroup/pods/cpu.stat": "usage_usec 3000000\nnr_periods 60\nnr_throttled 13\nthrottled_usec 107\n",
        "sys/fs/cgroup/pods/x/cpu.stat": "usage_usec 2500000\nnr_periods 60\nnr_throttled 13\nthrottled_usec 107\n",
    }
    missing = snapshot.write(folder, seconds=2, root=root, sleep=_later(root, texts))
    snap = snapshot.read(folder)
    assert (snap.release, snap.hz, snap.cgroup, snap.seconds) == ("6.12.1-test", 250, "v2", 2.0)
    assert snap.machine.cores == ((0, 2), (1,)) and snap.machine.llcs == ((0, 1, 2),) and snap.cpu_numbers == (0, 1, 2)
    assert snap.groups == (sl.Group("/pods"), sl.Group("/pods/x", 50, 20_000, 50_000, 1_000))
    assert snap.threads == {7: "/pods/x", 9: "/pods/x"}
    assert snap.tasks[7]["name"] == "odd) name (x)" and snap.tasks[7]["nice"] == 0 and not snap.tasks[7]["kernel"]
    assert snap.missing == missing and "/proc/sys/kernel/sched_cfs_bandwidth_slice_us" in missing
    stat = snap.cpu_stat()
    assert stat.loc["/pods/x", "nr_throttled"] == 10 and stat.loc["/pods/x", "throttled_usec"] == 100
    assert stat["own_cpus"].tolist() == [1.5, 0.25, 0.75]


def test_workload__needs_a_demand_model(tmp_path):
    _host(tmp_path / "root")
    texts = {"sys/fs/cgroup/pods/x/cpu.stat": "usage_usec 4000000\n"}
    snapshot.write(tmp_path / "snap", seconds=2, root=tmp_path / "root", sleep=_later(tmp_path / "root", texts))
    snap = snapshot.read(tmp_path / "snap")
    with pytest.raises(ValueError, match="demand=None: .*constant or periodic"):
        snap.workload()
    work = snap.workload("periodic", "100ms")
    assert [task.group for task in work.tasks] == ["/pods/x"] * 2 and "periodic demand" in work.name
    assert work.tasks[0].program[0].steps[0].duration.low_ns == 75_000_000
    assert len(snap.workload("constant").tasks) == 2


def test_v1__there_and_back(tmp_path):
    root = tmp_path / "root"
    _host(root, "v1")
    texts = {f"sys/fs/cgroup/cpuacct/{g}cpuacct.usage": "7000000000\n" for g in ("", "pods/")}
    snapshot.write(tmp_path / "snap", seconds=4, root=root, sleep=_later(root, texts))
    snap = snapshot.read(tmp_path / "snap")
    assert snap.cgroup == "v1" and snap.groups == (sl.Group("/pods", 50, 20_000, 50_000),)
    assert snap.threads == {7: "/pods"} and snap.stat["/pods"]["throttled_usec"] == 7
    assert snap.cpu_stat().loc["/pods", "cpus"] == 0.5


def test_write__of_this_host(tmp_path):
    snapshot.write(tmp_path / "snap", seconds=0)
    snap = snapshot.read(tmp_path / "snap")
    assert snap.machine.nr_cpus >= 1 and snap.release and snap.tasks


def test_write__trace_without_tracefs(tmp_path):
    _host(tmp_path / "root")
    with pytest.raises(ValueError, match="tracefs"):
        snapshot.write(tmp_path / "snap", seconds=0, trace=True, root=tmp_path / "root")
    assert [path.name for path in tmp_path.iterdir()] == ["root"]


@pytest.fixture
def tracefs(tmp_path, monkeypatch):
    """A host with a made-up tracefs: an instance gets its files, and can be removed."""
    instances = tmp_path / "root/sys/kernel/tracing/instances"
    instances.mkdir(parents=True)
    _host(tmp_path / "root")

    def make(folder):
        for event in snapshot_trace._EVENTS:
            (folder / "events" / event).mkdir(parents=True)
        (folder / "trace").write_text(switch(1.0, 0, 0, 7, "R") + switch(1.5, 0, 7, 0))

    monkeypatch.setattr(snapshot_trace, "make_instance", make)
    monkeypatch.setattr(snapshot_trace.Path, "rmdir", shutil.rmtree)
    return instances


def test_write__trace_of_the_time_between_the_readings(tmp_path, tracefs):
    """Tracing is on before the first reading of cpu.stat and off after the second; the instance is gone."""
    stat = tmp_path / "root/sys/fs/cgroup/pods/x/cpu.stat"
    seen = []

    def sleep(seconds):
        (instance,) = tracefs.iterdir()
        on = {path.parent.name for path in instance.rglob("enable") if path.read_text() == "1"}
        seen.append(((instance / "tracing_on").read_text(), (instance / "trace_clock").read_text(), on))
        stat.write_text("usage_usec 1500000\n")

    snapshot.write(tmp_path / "snap", seconds=1, trace=True, root=tmp_path / "root", sleep=sleep)
    snap = snapshot.read(tmp_path / "snap")
    assert seen[0][:2] == ("1", "mono") and {"sched_switch", "sched_waking", "sched_process_fork"} <= seen[0][2]
    assert snap.trace_path.name == "trace.txt" and len(ftrace.read(snap.trace_path).switches()) == 2
    assert snap.cpu_stat().loc["/pods/x", "usage_usec"] == 500_000 and not list(tracefs.iterdir())


def test_write__trace_that_is_refused_leaves_nothing(tmp_path, tracefs, monkeypatch):
    def make(folder):
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(snapshot_trace, "make_instance", make)
    with pytest.raises(ValueError, match="trace=True: Permission denied at .*root is needed"):
        snapshot.write(tmp_path / "snap", seconds=0, trace=True, root=tmp_path / "root")
    assert [path.name for path in tmp_path.iterdir()] == ["root"] and not list(tracefs.iterdir())


def test_write__stopped_half_way_leaves_nothing(tmp_path, tracefs):
    def sleep(seconds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        snapshot.write(tmp_path / "snap", seconds=9, trace=True, root=tmp_path / "root", sleep=sleep)
    assert [path.name for path in tmp_path.iterdir()] == ["root"] and not list(tracefs.iterdir())


REAL = Path("/sys/kernel/tracing/instances")


@pytest.mark.skipif(not os.access(REAL, os.W_OK), reason="no tracefs that may be written")
def test_write__real_trace_of_this_host(tmp_path):
    snapshot.write(tmp_path / "snap", seconds=0.2, trace=True)
    snap = snapshot.read(tmp_path / "snap")
    trace = ftrace.read(snap.trace_path)
    start, end = trace.window
    assert len(trace.switches()) > 5 and end - start < 20_000_000_000
    assert not [path for path in REAL.iterdir() if path.name == f"schedlab-{os.getpid()}"]


def test_read__compressed_trace_and_bandwidth_slice(tmp_path):
    _host(tmp_path / "root")
    (tmp_path / "root/proc/sys/kernel/sched_cfs_bandwidth_slice_us").write_text("5000\n")
    snapshot.write(tmp_path / "snap", seconds=0, root=tmp_path / "root")
    (tmp_path / "snap/trace.txt.gz").write_bytes(gzip.compress(switch(1, 0, 0, 7, "R").encode()))
    snap = snapshot.read(tmp_path / "snap")
    assert snap.trace_path.name == "trace.txt.gz" and snap.bandwidth_slice_us == 5000


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("about.txt", "x\n", "about.txt:1: key=value"),
        ("about.txt", "schedlab_snapshot=9\n", "schedlab_snapshot=1 is needed"),
        ("sys/fs/cgroup/pods/x/cpu.max", "x 5\n", "cpu.max:1:"),
        ("sys/fs/cgroup/pods/x/cpu.max", "5 100000\n", "quota_us=5"),
        ("sys/fs/cgroup/pods/x/cpu.stat", "nr_periods x\n", "cpu.stat:1: a name and a number"),
        ("sys/fs/cgroup/pods/x/cgroup.threads", "seven\n", "a thread's number"),
        ("tasks.tsv", "tid\nseven\n", "tasks.tsv:2:"),
        ("sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0-\n", "core_cpus_list"),
    ],
)
def test_read__names_the_bad_file(tmp_path, name, text, told):
    _host(tmp_path / "root")
    snapshot.write(tmp_path / "snap", seconds=0, root=tmp_path / "root")
    (tmp_path / "snap" / name).write_text(text)
    with pytest.raises(ValueError) as error:
        snapshot.read(tmp_path / "snap")
    assert told in str(error.value) and "\n" not in str(error.value)
