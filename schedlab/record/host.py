"""Record this machine: cgroups with quotas, the C program in them, cpu.stat and, where tracefs is mounted, a trace."""

import errno
import os
import platform
import subprocess
import tempfile
import time
from pathlib import Path

from . import form, ftrace
from .tools import Missing, build, check_out, compiler

TRACEFS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
FEATURES = Path("/sys/kernel/debug/sched/features")
NAME = "schedlab"
#: Longest wait for killed tasks to leave their group, s.
LEAVE_S = 5.0
Q25 = (25_000, 100_000, 0)
#: Groups (path: quota, period, burst in us) and programs (delay in s, group, options of ``sl``) of each scenario.
SCENARIOS = {
    "i_1thr_pin": ({"A": Q25}, [(0, "A", "busy -N slA -n 1 -t 3 -c 0")]),
    "i_1thr": ({"A": Q25}, [(0, "A", "busy -N slA -n 1 -t 3")]),
    "ii_4thr_pin": ({"A": Q25}, [(0, "A", "busy -N slA -n 4 -t 3 -c 0,1")]),
    "iii_2grp_pin": (
        {"A": Q25, "B": Q25},
        [(0, "A", "busy -N slA -n 1 -t 3 -c 0"), (0.037, "B", "busy -N slB -n 1 -t 3 -c 0")],
    ),
    "iv_per10_40_q20": ({"A": (20_000, 100_000, 0)}, [(0, "A", "per -N slA -w 10000 -p 40000 -t 4 -c 0")]),
    "iv_per10_50_q20_2thr": ({"A": (20_000, 100_000, 0)}, [(0, "A", "per -N slA -n 2 -w 4000 -p 50000 -t 4 -c 0,1")]),
    "v_burst0": ({"A": (20_000, 100_000, 0)}, [(0, "A", "per -N slA -w 8000 -p 50000 -r 7 -t 5 -c 0")]),
    "v_burst20": ({"A": (20_000, 100_000, 20_000)}, [(0, "A", "per -N slA -w 8000 -p 50000 -r 7 -t 5 -c 0")]),
    "vi_nest3": (
        {"L1": (60_000, 100_000, 0), "L1/L2": (40_000, 100_000, 0), "L1/L2/L3": Q25},
        [(0, "L1/L2/L3", "busy -N slL3 -n 2 -t 3 -c 0,1")],
    ),
}


class Cgroups:
    """The cpu controller of this machine, v1 or v2: groups below one of our own, removed at the end."""

    def __init__(self):
        v1 = Path("/sys/fs/cgroup/cpu")
        self.version = "v1" if (v1 / "cpu.shares").exists() else "v2"
        self.top = (v1 if self.version == "v1" else Path("/sys/fs/cgroup")) / NAME

    def make(self, path: str, quota_us: int, period_us: int, burst_us: int) -> None:
        """Make a group with its limit; the period's timer begins here."""
        folder = self.top / path
        folder.mkdir(parents=True, exist_ok=True)
        if self.version == "v1":
            (folder / "cpu.cfs_period_us").write_text(str(period_us))
            (folder / "cpu.cfs_quota_us").write_text(str(quota_us))
            (folder / "cpu.cfs_burst_us").write_text(str(burst_us))
            return
        for above in [self.top.parent, self.top, *list(folder.relative_to(self.top).parents)[::-1]]:
            target = above if above.is_absolute() else self.top / above
            (target / "cgroup.subtree_control").write_text("+cpu")
        (folder / "cpu.max").write_text(f"{quota_us} {period_us}")
        (folder / "cpu.max.burst").write_text(str(burst_us))

    def weigh(self) -> None:
        """Give our groups the largest weight, so that other load hardly disturbs them."""
        self.top.mkdir(exist_ok=True)
        name, value = ("cpu.shares", "262144") if self.version == "v1" else ("cpu.weight", "10000")
        if self.version == "v2":
            (self.top.parent / "cgroup.subtree_control").write_text("+cpu")
        (self.top / name).write_text(value)

    def stat(self, path: str) -> dict[str, int]:
        """Counters of a group in v2's names, us."""
        rows = dict(line.split() for line in (self.top / path / "cpu.stat").read_text().splitlines())
        if self.version == "v1":
            rows["throttled_usec"] = int(rows.pop("throttled_time", 0)) // 1000
            rows["burst_usec"] = int(rows.pop("burst_time", 0)) // 1000
        names = ("usage_usec", "nr_periods", "nr_throttled", "throttled_usec", "nr_bursts", "burst_usec")
        return {name.replace("usec", "us"): int(rows[name]) for name in names if name in rows}

    def remove(self) -> None:
        """Remove our groups, innermost first; tasks that were killed take a moment to leave them."""
        for folder, _, _ in os.walk(self.top, topdown=False):
            until = time.monotonic() + LEAVE_S
            while True:
                try:
                    os.rmdir(folder)
                    break
                except OSError as problem:
                    if problem.errno != errno.EBUSY or time.monotonic() > until:
                        raise
                    time.sleep(0.01)


def missing() -> list[str]:
    """Return what is missing to record this machine, one sentence each; empty when all is there."""
    said = []
    if os.geteuid() != 0:
        said.append("not root: cgroups and tracefs need it")
    if compiler() is None:
        said.append("no C compiler (Debian: gcc)")
    if not Cgroups().top.parent.joinpath("cgroup.procs").exists():
        said.append("no cgroup file system with the cpu controller at /sys/fs/cgroup")
    return said


def record(out: Path, scenarios=(), repeat: int = 0) -> list[dict]:
    """Run scenarios on this machine and write their recordings.

    Parameters
    ----------
    out : pathlib.Path
        File for the recordings (.jsonl.gz).
    scenarios : sequence of str
        Names of SCENARIOS; all without one.
    repeat : int
        Number that the names end with (".r0").

    Raises
    ------
    Missing
        When something is, naming it, or the file cannot be written.
    """
    problems = missing()
    if problems:
        raise Missing("; ".join(problems))
    check_out(out)
    cgroups, trace = Cgroups(), Trace.find()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        program = build("sl", Path(folder))
        try:
            for name in scenarios or SCENARIOS:
                cgroups.weigh()
                found.append(_one(cgroups, trace, program, name, repeat))
                cgroups.remove()
        finally:
            if cgroups.top.exists():
                cgroups.remove()
            if trace:
                trace.remove()
    form.write(out, found)
    return found


def _one(cgroups, trace, program, name, repeat):
    limits, programs = SCENARIOS[name]
    for path, limit in limits.items():
        cgroups.make(path, *limit)
    if trace:
        trace.start()
    steal = _steal()
    outs = _run(cgroups, program, programs)
    measured = {f"/{path}": cgroups.stat(path) for path in limits}
    events = trace.stop() if trace else []
    groups = [
        dict(zip(("path", "quota_us", "period_us", "burst_us"), (f"/{p}", *limit))) for p, limit in limits.items()
    ]
    specs = [form.program(options, out, f"/{group}") for (_, group, options), out in zip(programs, outs)]
    more = {
        "charged": True,
        "loadavg": os.getloadavg()[0],
        "steal_ticks": _steal() - steal,
        "how": "schedlab record host",
    }
    args = f"host/{name}.r{repeat}", f"{name}: {programs[0][2]}", _kernel(cgroups), _machine()
    return form.quota_recording(*args, groups, specs, measured, events, clock="CLOCK_MONOTONIC", **more)


def _run(cgroups, program, programs) -> list[str]:
    """Run the programs to their ends and return what they printed; none outlives an interrupt."""
    running = []
    try:
        for delay_s, group, options in programs:
            time.sleep(delay_s)
            command = [str(program), *options.split(), "-g", str(cgroups.top / group / "cgroup.procs")]
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return [each.communicate()[0] for each in running]
    finally:
        for each in running:
            if each.poll() is None:
                each.kill()
                each.wait()


def _steal() -> int:
    return int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])


def _kernel(cgroups):
    features = FEATURES.read_text().split() if FEATURES.exists() else None
    slice_of = FEATURES.with_name("base_slice_ns")
    return {
        "version": platform.release(),
        "build": platform.version(),
        "hz": _hz(),
        "features": features,
        "base_slice_ns": int(slice_of.read_text()) if slice_of.exists() else None,
        "cgroup": cgroups.version,
    }


def _hz() -> int:
    """CONFIG_HZ from /boot or /proc/config.gz, 250 where neither is there."""
    import gzip

    for path, opened in ((Path(f"/boot/config-{platform.release()}"), open), (Path("/proc/config.gz"), gzip.open)):
        if path.exists():
            with opened(path, "rt") as file:
                return next((int(line[10:]) for line in file if line.startswith("CONFIG_HZ=")), 250)
    return 250


def _machine():
    cpus = os.cpu_count() or 1
    sets = []
    for cpu in range(cpus):
        path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        text = path.read_text().strip() if path.exists() else str(cpu)
        if text not in sets:
            sets.append(text)
    from .._topology import parse_cpu_list

    return {"cpus": cpus, "siblings": [list(parse_cpu_list(text)) for text in sets], "is": "this machine"}


class Trace:
    """An ftrace instance of our own: switches and charges of the program, and expiries of the period timer."""

    def __init__(self, top: Path):
        self.folder = top / "instances" / NAME

    @classmethod
    def find(cls) -> "Trace | None":
        """The instance where tracefs is mounted and may be written, else None."""
        top = next((path for path in TRACEFS if (path / "instances").is_dir()), None)
        if top is None:
            return None
        found = cls(top)
        try:
            found.folder.mkdir(exist_ok=True)
        except OSError:
            return None
        return found

    def start(self) -> None:
        """Clear the buffer and trace on the monotonic clock."""
        settings = {
            "tracing_on": "0",
            "trace_clock": "mono",
            "buffer_size_kb": "4096",
            "events/sched/sched_switch/filter": 'prev_comm ~ "sl*" || next_comm ~ "sl*"',
            "events/sched/sched_stat_runtime/filter": 'comm ~ "sl*"',
            "events/sched/sched_switch/enable": "1",
            "events/sched/sched_stat_runtime/enable": "1",
            "events/timer/hrtimer_expire_entry/enable": "1",
            "trace": "",
            "tracing_on ": "1",
        }
        for name, value in settings.items():
            (self.folder / name.strip()).write_text(value)

    def stop(self) -> list:
        """Stop, and return the events."""
        (self.folder / "tracing_on").write_text("0")
        return list(ftrace.lines((self.folder / "trace").read_text()))

    def remove(self) -> None:
        """Remove the instance."""
        (self.folder / "tracing_on").write_text("0")
        (self.folder / "events" / "enable").write_text("0")
        self.folder.rmdir()
