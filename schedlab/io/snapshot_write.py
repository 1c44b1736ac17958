"""`schedlab snapshot`: what a host says about its CPUs, cgroups and tasks, copied into a folder of plain text files."""

from __future__ import annotations

import itertools
import os
import platform
import shutil
import time
from pathlib import Path

from .snapshot_trace import Recorder

#: Layout of the folder: the files of the host under their own paths, and these at its top.
ABOUT, MISSING, TASKS, TRACE = "about.txt", "missing.txt", "tasks.tsv", "trace.txt"
FORMAT = "1"
#: Suffix of what was read a second time.
AFTER = ".after"
_V2 = ("cpu.max", "cpu.max.burst", "cpu.weight", "cpu.idle", "cpu.stat", "cpu.stat.local", "cgroup.threads")
_V1 = ("cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.cfs_burst_us", "cpu.shares", "cpu.stat", "tasks")
_TWICE = ("cpu.stat", "cpu.stat.local", "cpuacct.usage", "cpuacct.usage_all")
_TOPOLOGY = ("thread_siblings_list", "core_cpus_list", "core_id", "physical_package_id", "cluster_cpus_list")
_LARGEST, _PIECE = 1 << 24, 1 << 16


class Writer:
    """Copies files from a host (whose root can be another folder) and notes those that cannot be read."""

    def __init__(self, folder, root="/"):
        self.folder, self.root = Path(folder), Path(root)
        self.missing: dict[str, str] = {}

    def text(self, path: str) -> str | None:
        """Return a file's text, or None with a note why not."""
        try:
            # in pieces: files of /proc/sys refuse a large buffer (ENOMEM)
            with open(self.root / path.lstrip("/"), "rb", buffering=0) as file:
                pieces = iter(lambda: file.read(_PIECE), b"")
                data = b"".join(itertools.islice(pieces, _LARGEST // _PIECE))
            return data.decode("utf-8", "backslashreplace")
        except OSError as error:
            self.missing[path] = (error.strerror or "cannot be read").lower()
            return None

    def copy(self, path: str, suffix: str = "") -> bool:
        """Copy a file to the same place in the folder."""
        text = self.text(path)
        if text is not None:
            self.put(path.lstrip("/") + suffix, text)
        return text is not None

    def put(self, name: str, text: str) -> None:
        """Write a file of the folder."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def write(folder, *, seconds: float = 10.0, trace: bool = False, root="/", sleep=time.sleep) -> dict[str, str]:
    """Write a snapshot of this host.

    Parameters
    ----------
    folder : str or Path
        A new or empty folder.
    seconds : float
        Time between the two readings of cpu.stat and schedstat, 0 or more.
    trace : bool
        Whether to record the scheduler's events of that time with ftrace, in an instance of its own (needs root).
        The recording begins before the first reading and ends after the second.
    root : str or Path
        Where the host's /proc and /sys are.
    sleep : function
        Waits that long.

    Returns
    -------
    dict of str to str
        Files that could not be read, and why.

    Raises
    ------
    ValueError
        When the folder holds something, seconds are not sensible, or there is no tracing to be had.
    """
    from .. import _check

    seconds = _check.real("seconds", seconds, 0, 3600, "an hour")
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"folder={str(folder)!r}: it is there and not empty; name a new one")
    folder = folder.resolve()
    part = folder.with_name(f".{folder.name}.{os.getpid()}")
    recorder = Recorder(Path(root)) if trace else None
    try:
        missing = _write(Writer(part, root), seconds, recorder, sleep)
        os.replace(part, folder)  # it is empty, if it is there
    finally:
        shutil.rmtree(part, ignore_errors=True)
        if recorder is not None:
            recorder.remove()
    return missing


def _write(out, seconds, recorder, sleep) -> dict[str, str]:
    version, mounts = _cgroup_mounts(out)
    _topology(out)
    groups = _groups(out, version, mounts)
    _tasks(out, groups)
    if recorder is not None:
        recorder.start()
    before = time.monotonic()
    _again(out, groups, "")
    sleep(seconds)
    took = time.monotonic() - before
    _again(out, groups, AFTER)
    if recorder is not None:
        recorder.stop()
        recorder.save(out.folder / TRACE)
    _about(out, version, mounts, took if out.root == Path("/") else seconds)
    out.put(MISSING, "".join(f"{path}: {reason}\n" for path, reason in sorted(out.missing.items())))
    return out.missing


def _cgroup_mounts(out) -> tuple[str, list[str]]:
    """Version of the cpu controller and where it (and cpuacct) is mounted."""
    mounts = []
    for line in (out.text("/proc/mounts") or "").splitlines():
        fields = line.split()
        if len(fields) >= 4 and fields[2] in ("cgroup", "cgroup2"):
            mounts.append((fields[2], fields[1].encode().decode("unicode_escape"), fields[3].split(",")))
    v1 = [where for kind, where, options in mounts if kind == "cgroup" and "cpu" in options]
    acct = [where for kind, where, options in mounts if kind == "cgroup" and "cpuacct" in options]
    if v1:
        return "v1", [v1[0], *(where for where in acct if where != v1[0])]
    v2 = [where for kind, where, _ in mounts if kind == "cgroup2"]
    if not v2:
        out.missing["cgroup"] = "no cgroup file system with the cpu controller is mounted"
    return "v2", v2[:1]


def _topology(out):
    cpus = "/sys/devices/system/cpu"
    out.copy(f"{cpus}/online")
    out.copy(f"{cpus}/possible")
    out.copy("/proc/version")
    out.copy("/proc/sys/kernel/sched_cfs_bandwidth_slice_us")
    base = out.root / cpus.lstrip("/")
    found = sorted(path.name for path in base.glob("cpu[0-9]*")) if base.is_dir() else []
    for cpu in found:
        if not (base / cpu / "topology").is_dir():
            continue  # offline
        for name in _TOPOLOGY:
            if (base / cpu / "topology" / name).exists():
                out.copy(f"{cpus}/{cpu}/topology/{name}")
        for index in sorted((base / cpu / "cache").glob("index[0-9]*")):
            for name in ("level", "type", "shared_cpu_list"):
                out.copy(f"{cpus}/{cpu}/cache/{index.name}/{name}")
    nodes = out.root / "sys/devices/system/node"
    for node in sorted(nodes.glob("node[0-9]*")) if nodes.is_dir() else []:
        out.copy(f"/sys/devices/system/node/{node.name}/cpulist")
        out.copy(f"/sys/devices/system/node/{node.name}/distance")


def _groups(out, version, mounts) -> list[tuple[str, str]]:
    """Copy each group's files; return (mount, path) of each."""
    groups = []
    for mount in mounts:
        top = out.root / mount.lstrip("/")
        for where, names, files in os.walk(top):
            names.sort()
            inside = "/" + str(Path(where).relative_to(top)) if Path(where) != top else "/"
            groups.append((mount, inside))
            for name in _V2 if version == "v2" else _V1:
                if name in files:
                    out.copy(f"{mount}{inside.rstrip('/')}/{name}")
    return groups


def _again(out, groups, suffix):
    for mount, inside in groups:
        for name in _TWICE:
            path = f"{mount}{inside.rstrip('/')}/{name}"
            if (out.root / path.lstrip("/")).exists():
                out.copy(path, suffix)
    out.copy("/proc/schedstat", suffix)
    out.copy("/proc/stat", suffix)


def _tasks(out, groups):
    """One row a thread that some group lists: tid, tgid, kernel thread, policy, nice, allowed CPUs, name."""
    rows = ["tid\ttgid\tkernel\tpolicy\tnice\tcpus\tname\n"]
    proc = out.root / "proc"
    for path in sorted(proc.glob("[0-9]*/task/[0-9]*"), key=lambda p: int(p.name)):
        try:
            stat = (path / "stat").read_bytes().decode("utf-8", "backslashreplace")
            status = (path / "status").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it has gone
        name, _, rest = stat[stat.find("(") + 1 :].rpartition(")")
        fields = rest.split()
        cpus = next((line.split()[1] for line in status.splitlines() if line.startswith("Cpus_allowed_list:")), "")
        kernel = int(int(fields[6]) & 0x00200000 != 0)  # PF_KTHREAD
        name = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
        rows.append(f"{path.name}\t{path.parts[-3]}\t{kernel}\t{fields[38]}\t{fields[16]}\t{cpus}\t{name}\n")
    out.put(TASKS, "".join(rows))


def _about(out, version, mounts, seconds):
    release = out.text("/proc/sys/kernel/osrelease")
    lines = {"schedlab_snapshot": FORMAT, "release": (release or platform.release()).strip(), "cgroup": version}
    lines |= {"cgroup_mount": mounts[0] if mounts else "", "seconds": f"{seconds:.6f}"}
    lines["hz"] = _hz(out, lines["release"])
    out.put(ABOUT, "".join(f"{key}={value}\n" for key, value in lines.items()))


def _hz(out, release) -> str:
    """CONFIG_HZ from the kernel's configuration where it can be read."""
    import gzip
    import re

    for path in (f"/boot/config-{release}", f"/lib/modules/{release}/config"):
        text = out.text(path)
        found = text and re.search(r"^CONFIG_HZ=(\d+)$", text, re.M)
        if found:
            return found[1]
    try:
        text = gzip.decompress((out.root / "proc/config.gz").read_bytes()).decode()
        found = re.search(r"^CONFIG_HZ=(\d+)$", text, re.M)
        if found:
            return found[1]
    except (OSError, EOFError, ValueError) as error:
        out.missing["/proc/config.gz"] = (getattr(error, "strerror", None) or "not gzip").lower()
    return ""
