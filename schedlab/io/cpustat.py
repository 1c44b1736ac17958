"""cpu.stat with the kernel's spelling: read (both versions of cgroups) and written from a Run."""

from pathlib import Path

from .. import _check
from .source import BadFile, read_text

_V1_NS = {"throttled_time": "throttled_usec", "burst_time": "burst_usec"}
_LIMITED = ("nr_periods", "nr_throttled", "throttled_usec", "nr_bursts", "burst_usec")


def parse(text: str, path: str = "cpu.stat") -> dict[str, int]:
    """Return the numbers of a cpu.stat by name, those of cgroup v1 in the names and units of v2.

    Raises
    ------
    ValueError
        Naming the line that is no name and number.

    Examples
    --------
    >>> parse("nr_periods 3\\nnr_throttled 1\\nthrottled_time 5000\\n")["throttled_usec"]
    5
    """
    stat = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2 or not fields[1].isascii() or not fields[1].isdecimal() or len(fields[1]) > 20:
            raise BadFile(path, f"a name and a number are needed, not {line[:40]!r}", number)
        name, value = fields[0], int(fields[1])
        if name in _V1_NS:
            name, value = _V1_NS[name], value // 1000
        stat[name] = value
    return stat


def read(path) -> dict[str, int]:
    """Return the numbers of a cpu.stat file; see `parse`."""
    return parse(read_text(path, 1 << 20), str(path))


def text_of(row, kernel, root: bool = False) -> str:
    """Return the text of one group's cpu.stat as that kernel writes it.

    Parameters
    ----------
    row : mapping
        A row of `Run.cpu_stat`.
    kernel : Kernel
        cgroup v1 has the bandwidth counters alone, with times in ns.
    root : bool
        The root group has no limit and so no counters of it.
    """
    counters = {name: int(row[name]) for name in _LIMITED}
    if kernel.cgroup == "v1":
        counters["throttled_time"] = counters.pop("throttled_usec") * 1000
        counters["burst_time"] = counters.pop("burst_usec") * 1000
        order = ("nr_periods", "nr_throttled", "throttled_time", "nr_bursts", "burst_time")
        return "".join(f"{name} {counters[name]}\n" for name in order)
    times = {name: int(row[name]) for name in ("usage_usec", "user_usec", "system_usec")}
    return "".join(f"{name} {value}\n" for name, value in (times if root else times | counters).items())


def write(run, folder) -> Path:
    """Write cpu.stat (and cpu.stat.local, from 6.6 on) of every group of a run, a folder a group as in cgroupfs.

    Returns
    -------
    Path
        The folder. Times in a v1 file are whole us, since the model's table is.
    """
    folder = Path(folder)
    for path, row in run.cpu_stat().iterrows():
        parts = [part for part in path.split("/") if part]
        if any(part in (".", "..") or "\0" in part for part in parts):
            raise _check.wrong("path", path, "a group of that name is no folder")
        group = folder.joinpath(*parts)
        group.mkdir(parents=True, exist_ok=True)
        (group / "cpu.stat").write_text(text_of(row, run.kernel, root=path == "/"), encoding="utf-8")
        local = row["local_throttled_usec"]
        if path != "/" and run.kernel.cgroup != "v1" and local == local:
            (group / "cpu.stat.local").write_text(f"throttled_usec {int(local)}\n", encoding="utf-8")
    return folder
