"""Snapshot: a folder that `schedlab snapshot` wrote, as a Machine, groups and what they used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .. import _check, steps
from ..machine import Machine
from ..units import NS_PER_US
from ..workload import Group, Task, Workload
from . import cpustat
from .kubernetes import weight_of_shares
from .snapshot_write import ABOUT, AFTER, FORMAT, MISSING, TASKS, TRACE
from .snapshot_write import write as write
from .source import BadFile, read_text
from .sysfs import machine_of


@dataclass(frozen=True)
class Snapshot:
    """A host at one time.

    Attributes
    ----------
    folder : Path
    release : str
        Of the kernel.
    hz : int or None
    cgroup : {"v1", "v2"}
    seconds : float
        Between the two readings of cpu.stat.
    machine : Machine
    cpu_numbers : tuple of int
        The host's number of each CPU of the machine (offline CPUs are left out).
    groups : tuple of Group
    stat, stat_after : dict of str to dict
        cpu.stat of each group, both times, in the names and units of v2.
    threads : dict of int to str
        Group of each thread.
    tasks : dict of int to dict
        tgid, kernel, policy, nice, cpus and name of each thread.
    missing : dict of str to str
        Files that could not be read on the host, and why.
    notes : tuple of str
        What was changed to fit the model.
    """

    folder: Path
    release: str
    hz: int | None
    cgroup: str
    seconds: float
    machine: Machine
    cpu_numbers: tuple[int, ...]
    groups: tuple[Group, ...]
    stat: dict
    stat_after: dict
    threads: dict[int, str]
    tasks: dict[int, dict]
    missing: dict[str, str]
    notes: tuple[str, ...]

    @property
    def trace_path(self) -> Path | None:
        """The recording of the same time, if there is one: trace.txt, or compressed trace.txt.gz or trace.txt.zst."""
        paths = (self.folder / (TRACE + ending) for ending in ("", ".gz", ".zst"))
        return next((path for path in paths if path.is_file()), None)

    @property
    def bandwidth_slice_us(self) -> int | None:
        """sched_cfs_bandwidth_slice_us, where it could be read."""
        return _number(self.folder / "proc/sys/kernel/sched_cfs_bandwidth_slice_us")

    def cpu_stat(self):
        """Return what each group did between the two readings.

        Returns
        -------
        pandas.DataFrame
            Index: the group's path. The counters of cpu.stat; cpus (usage in CPUs); own_cpus (without its children's).
        """
        import pandas as pd

        rows = {}
        for path, after in self.stat_after.items():
            before = self.stat.get(path, {})
            rows[path] = {name: value - before[name] for name, value in after.items() if name in before}
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "group"
        if "usage_usec" in table and self.seconds > 0:
            table["cpus"] = table["usage_usec"] / 1e6 / self.seconds
            children = table["cpus"].groupby([path.rpartition("/")[0] or "/" for path in table.index]).sum()
            if "/" in table.index:
                children = children.copy()
                children["/"] = children.get("/", 0) - table.loc["/", "cpus"]
            table["own_cpus"] = (table["cpus"] - children.reindex(table.index).fillna(0)).clip(lower=0)
        return table

    def workload(self, demand: str | None = None, period="100ms") -> Workload:
        """Return the groups with tasks that use what was measured.

        Parameters
        ----------
        demand : {"constant", "periodic"}
            How the measured usage came about, which a snapshot does not tell: evenly (each ms), or in one go at the
            beginning of each `period`, spread over the fewest tasks that can do it.
        period : int or str

        Raises
        ------
        ValueError
            Without a demand model: a snapshot alone does not say when the CPU time was used.
        """
        if demand is None:
            raise ValueError(
                "demand=None: a snapshot does not tell when CPU time was used: constant or periodic? or use a trace"
            )
        _check.choice("demand", demand, ("constant", "periodic"))
        period_ns = 1_000_000 if demand == "constant" else steps.timer(period).period_ns
        table = self.cpu_stat()
        if "own_cpus" not in table:
            raise ValueError(
                f"{self.folder}: the usage of the groups is not in it (cpu.stat or cpuacct.usage, read twice)"
            )
        tasks = []
        for path, cpus in table["own_cpus"].items():
            nr = -(-round(cpus * period_ns) // period_ns)
            for k in range(nr):
                work_ns = round(cpus * period_ns / nr)
                if work_ns >= NS_PER_US:
                    program = steps.repeat(None, steps.run(work_ns), steps.timer(period_ns, offset=period_ns))
                    tasks.append(Task(f"{path}#{k}", program, group=path, label=path))
        return Workload(self.groups, tuple(tasks), name=f"{self.folder.name}, {demand} demand")


def read(folder) -> Snapshot:
    """Return the snapshot in a folder.

    Raises
    ------
    ValueError
        One line that names the file and the reason.

    Examples
    --------
    >>> read("host1").machine  # doctest: +SKIP
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise BadFile(folder, "no folder of that name; `schedlab snapshot` makes one")
    about = _about(folder)
    notes: list[str] = []
    machine, numbers = machine_of(folder, notes)
    top = folder / about["cgroup_mount"].lstrip("/")
    paths = _paths(top)
    groups = tuple(_group(top, path, about["cgroup"], notes) for path in paths if path != "/")
    acct = top if about["cgroup"] == "v2" else _acct(folder, top)
    tasks = _tasks(folder / TASKS)
    return Snapshot(
        folder=folder,
        release=about["release"],
        hz=int(about["hz"]) if about["hz"].isdecimal() else None,
        cgroup=about["cgroup"],
        seconds=float(about["seconds"]),
        machine=machine,
        cpu_numbers=numbers,
        groups=groups,
        stat={path: _stat(top, acct, path, "") for path in paths},
        stat_after={path: _stat(top, acct, path, AFTER) for path in paths},
        threads=_threads(top, paths, about["cgroup"]),
        tasks=tasks,
        missing=_missing(folder),
        notes=tuple(notes),
    )


def _about(folder) -> dict[str, str]:
    path = folder / ABOUT
    about = {}
    for number, line in enumerate(read_text(path, 1 << 16).splitlines(), 1):
        key, equals, value = line.partition("=")
        if not equals:
            raise BadFile(path, f"key=value is needed, not {line[:40]!r}", number)
        about[key] = value
    if about.get("schedlab_snapshot") != FORMAT:
        raise BadFile(path, f"schedlab_snapshot={FORMAT} is needed; no snapshot, or of another version")
    for key in ("release", "hz", "cgroup", "cgroup_mount", "seconds"):
        if key not in about:
            raise BadFile(path, f"{key}= is missing")
    if about["cgroup"] not in ("v1", "v2"):
        raise BadFile(path, f"cgroup={about['cgroup'][:20]}: v1 or v2")
    if ".." in about["cgroup_mount"].split("/"):
        raise BadFile(path, "cgroup_mount leaves the folder")
    try:
        seconds = float(about["seconds"])
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e6:
        raise BadFile(path, f"seconds={about['seconds'][:20]}: a number from 0 on is needed")
    return about


def _paths(top) -> list[str]:
    """Paths of the groups: the folders in which a group's files are, parents included."""
    if not top.is_dir():
        return ["/"]
    return ["/", *("/" + str(path.relative_to(top)) for path in sorted(top.rglob("*")) if path.is_dir())]


def _number(path: Path) -> int | None:
    if not path.is_file():
        return None
    text = read_text(path, 1 << 10).strip()
    if not (text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 20):
        raise BadFile(path, f"a number is needed, not {text[:20]!r}", 1)
    return int(text)


def _group(top, path, version, notes) -> Group:
    folder = top / path[1:]
    if version == "v2":
        quota, period, file = _cpu_max(folder / "cpu.max")
        burst, weight = _number(folder / "cpu.max.burst"), _number(folder / "cpu.weight")
    else:
        file = folder / "cpu.cfs_quota_us"
        quota, period = _number(file), _number(folder / "cpu.cfs_period_us")
        quota = None if quota is not None and quota < 0 else quota
        burst, shares = _number(folder / "cpu.cfs_burst_us"), _number(folder / "cpu.shares")
        weight = None if shares is None else weight_of_shares(max(1, shares))
    if weight == 0:
        notes.append(f"{path}: cpu.idle is not modelled; it gets weight 1")
    try:
        return Group(
            path,
            weight=100 if weight is None else max(1, weight),
            quota_us=quota,
            period_us=period or 100_000,
            burst_us=burst or 0,
        )
    except ValueError as error:
        raise BadFile(file, str(error), 1) from None


def _cpu_max(file) -> tuple[int | None, int | None, Path]:
    if not file.is_file():
        return None, None, file
    fields = read_text(file, 1 << 10).split()
    good = len(fields) == 2 and all(f.isascii() and f.isdecimal() and len(f) < 20 for f in fields[1:])
    if not good or not (fields[0] == "max" or (fields[0].isascii() and fields[0].isdecimal() and len(fields[0]) < 20)):
        raise BadFile(file, 'a quota or "max" and a period are needed, such as "20000 100000"', 1)
    return (None if fields[0] == "max" else int(fields[0])), int(fields[1]), file


def _acct(folder, top) -> Path:
    """Where cpuacct is: with the cpu controller or beside it."""
    if any(top.glob("cpuacct.usage*")):
        return top
    return next((path.parent for path in sorted(folder.glob("sys/fs/cgroup/*/cpuacct.usage"))), top)


def _stat(top, acct, path, suffix) -> dict[str, int]:
    file = top / path[1:] / f"cpu.stat{suffix}"
    stat = cpustat.read(file) if file.is_file() else {}
    usage = _number(acct / path[1:] / f"cpuacct.usage{suffix}")
    if usage is not None and "usage_usec" not in stat:
        stat["usage_usec"] = usage // 1000
    return stat


def _threads(top, paths, version) -> dict[int, str]:
    name = "cgroup.threads" if version == "v2" else "tasks"
    threads = {}
    for path in paths:
        file = top / path[1:] / name
        if not file.is_file() or not file.stat().st_size:
            continue
        for number, line in enumerate(read_text(file).split(), 1):
            if not (line.isascii() and line.isdecimal() and len(line) < 10):
                raise BadFile(file, f"a thread's number is needed, not {line[:20]!r}", number)
            threads[int(line)] = path
    return threads


def _tasks(path) -> dict[int, dict]:
    if not path.is_file():
        return {}
    tasks = {}
    for number, line in enumerate(read_text(path).split("\n")[1:], 2):
        if not line:
            continue
        fields = line.split("\t", 6)
        if len(fields) != 7 or not all(
            f.removeprefix("-").isdecimal() and f.isascii() and len(f) < 10 for f in fields[:5]
        ):
            raise BadFile(path, "tid, tgid, kernel, policy, nice, cpus and name are needed, between tabs", number)
        tid, tgid, kernel, policy, nice = map(int, fields[:5])
        tasks[tid] = {
            "tgid": tgid,
            "kernel": bool(kernel),
            "policy": policy,
            "nice": nice,
            "cpus": fields[5],
            "name": fields[6],
        }
    return tasks


def _missing(folder) -> dict[str, str]:
    path = folder / MISSING
    if not path.is_file() or not path.stat().st_size:
        return {}
    pairs = (line.rpartition(": ") for line in read_text(path).splitlines())
    return {name: reason for name, _, reason in pairs if name}
