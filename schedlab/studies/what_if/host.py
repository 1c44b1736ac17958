"""A host as it was: a recording or a snapshot as Machine, Kernel and Workload, with what its cpu.stat said."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from ... import _check, steps
from ...io import cpustat, read_trace, snapshot
from ...io.accounting import account
from ...io.idle_switches import with_idle_switches
from ...io.trace_workload import workload_from_trace
from ...kernel import Kernel
from ...machine import Machine
from ...units import to_ns
from ...workload import Group, Workload
from .question import Limit, parse_limit
from .seen import seen_latencies

#: Counters of cpu.stat that are held against the model.
COUNTERS = ("nr_periods", "nr_throttled", "throttled_usec", "usage_usec")
DEMANDS = {
    "constant": "a constant demand (a share of each ms) that gives the measured usage",
    "periodic": "a periodic demand (in one go, each {period:g} ms) that gives the measured usage",
}
#: Label of the tasks outside the group.
_OTHERS = "others"


@dataclass(frozen=True)
class Host:
    """What is simulated, and what it is held against.

    Attributes
    ----------
    name : str
        Of the file or folder.
    group : str
        The group that is asked about.
    machine, kernel, workload : Machine, Kernel, Workload
        As the host was. Each task's label is its group; those outside the group share one.
    duration_ns : int
    demand : str
        Where the demand is from: the recording, or the model that was named. Stands on every table and figure.
    demand_known : bool
        Whether it was recorded.
    measured : dict of str to int
        What cpu.stat counted for the group, as far as it is known.
    measured_ns : int
        Time between the two readings of cpu.stat.
    seen_ns : dict of str to numpy.ndarray
        Latencies in the recording, ns: "wakeup" (from wake-up to running) and "completion" (to the next sleep).
    notes : tuple of str
    """

    name: str
    group: str
    machine: Machine
    kernel: Kernel
    workload: Workload
    duration_ns: int
    demand: str
    demand_known: bool
    measured: dict[str, int]
    measured_ns: int
    seen_ns: dict
    notes: tuple[str, ...] = ()

    @property
    def now(self) -> Limit:
        """The group's limit as it was."""
        group = self.workload.group_of[self.group]
        return Limit(group.quota_us, group.period_us, group.burst_us)

    @property
    def default_phase(self) -> str:
        """How this kernel's period timers lie."""
        return "aligned" if self.kernel.timer_phase == "aligned" else "random"

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the group and of those in it."""
        return tuple(label for label in self.workload.labels if _inside(label, self.group))


def load(
    source,
    group: str,
    *,
    demand: str | None = None,
    demand_period="100ms",
    duration="10s",
    arrivals: str = "recorded",
    kernel: str | None = None,
    tasks: str | None = None,
    was: str | None = None,
    cpu_stat: str | None = None,
) -> Host:
    """Return a host from a snapshot's folder or a trace's file.

    Parameters
    ----------
    source : str or Path
    group : str
        Path of a group, such as "/kubepods/x".
    demand : {"constant", "periodic"}, optional
        For a snapshot without a trace: how its usage came about. A snapshot with one, or a trace, tells it.
    demand_period, duration : int or str
        Of the demand model.
    arrivals : {"recorded", "relative"}
        Whether what no modelled task wakes comes when it came, or as long after the last sleep began as it did.
    kernel : str, optional
        A version in place of the snapshot's; a trace alone does not tell its kernel.
    tasks : str, optional
        For a trace alone: which tasks the group holds, as patterns of names ("web*,db?") or a CSV of pid,group.
    was : str, optional
        For a trace alone: the limit at that time, as "quota/period/burst".
    cpu_stat : str, optional
        For a trace alone: the group's cpu.stat at its end, or "before,after".

    Raises
    ------
    ValueError
        In one line, naming what is wrong.
    """
    source = Path(source)
    if group == "/":
        raise _check.wrong("group", group, "the root group has no limit")
    if source.is_dir():
        for field, value in (("tasks", tasks), ("was", was), ("cpu_stat", cpu_stat)):
            if value is not None:
                raise _check.wrong(field, value, "a snapshot tells it; for a trace alone")
        snap = snapshot.read(source)
        return _of_snapshot(source, snap, group, demand, demand_period, duration, arrivals, kernel)
    trace = read_trace(source)
    if demand is not None:
        raise _check.wrong("demand", demand, "a trace tells the demand; for a snapshot without one")
    return _of_trace(source, trace, group, arrivals, kernel, tasks, was, cpu_stat)


def _of_snapshot(source, snap, group, demand, demand_period, duration, arrivals, kernel):
    paths = [one.path for one in snap.groups]
    if not paths:
        raise _check.wrong("group", group, f"{source} has no group but the root")
    _check.choice("group", group, paths)
    tunables = {"cgroup": snap.cgroup} | ({"hz": snap.hz} if snap.hz else {})
    slice_us = snap.bandwidth_slice_us
    tunables |= {"cfs_bandwidth_slice_us": slice_us} if slice_us else {}
    notes = list(snap.notes)
    found_kernel = _kernel(kernel or snap.release, tunables, notes)
    table = snap.cpu_stat()
    known = table.loc[group].dropna() if group in table.index else {}
    measured = {name: int(known[name]) for name in COUNTERS if name in known}
    common = dict(kernel=found_kernel, measured=measured, measured_ns=round(snap.seconds * 1e9))
    if demand is not None:
        period_ns = to_ns(demand_period)
        work = snap.workload(demand, period_ns)
        said = DEMANDS[demand].format(period=period_ns / 1e6)
        work = work.replace(tasks=tuple(map(_with_samples, work.tasks)))
        more = dict(demand=f"NOT RECORDED, assumed: {said}", demand_known=False, seen_ns={}, notes=notes)
        return _host(source, group, snap.machine, work, to_ns(duration), **more, **common)
    if snap.trace_path is None:
        raise ValueError(
            f"{source}: a snapshot without a trace does not tell when CPU time was used: name a demand model "
            "(constant or periodic), or record one (schedlab snapshot --trace)"
        )
    trace = read_trace(snap.trace_path)
    return _recorded(source, trace, group, snap, snap.groups, snap.machine, arrivals, notes, **common)


def _of_trace(source, trace, group, arrivals, kernel, tasks, was, cpu_stat):
    if tasks is None:
        raise ValueError(
            f"{source}: a trace does not tell which tasks a group holds: name them (tasks), or use a snapshot with it"
        )
    if tasks.endswith(".csv") and not Path(tasks).is_file():
        raise _check.wrong("tasks", tasks, "no such file")
    groups = tasks if Path(tasks).is_file() else {pattern.strip(): group for pattern in tasks.split(",")}
    limit = parse_limit(was) if was else Limit(None, 100_000)
    notes = []
    if kernel is None:
        notes.append("the trace does not tell its kernel: 6.12 is taken")
    if was is None:
        notes.append("the trace does not tell the group's limit: none is taken for the time of the recording")
    limits = (Group(group, quota_us=limit.quota_us, period_us=limit.period_us, burst_us=limit.burst_us),)
    machine = Machine.uniform(1 + int(trace.events["cpu"].max()))
    measured = _difference(cpu_stat) if cpu_stat else {}
    start, end = trace.window
    common = dict(kernel=_kernel(kernel or "6.12", {}, notes), measured=measured, measured_ns=end - start)
    return _recorded(source, trace, group, groups, limits, machine, arrivals, notes, **common)


def _recorded(source, trace, group, groups, limits, machine, arrivals, notes, **common):
    """A host whose demand is a recording's."""
    trace = with_idle_switches(trace)
    start, end = trace.window
    if end <= start:
        raise ValueError(f"{source}: the buffers of its CPUs share no time")
    work = workload_from_trace(trace, groups, limits=_with_parents(limits, group), arrivals=arrivals, samples=True)
    told = account(trace, groups)
    mine = {task.pid for task in told.tasks.itertuples() if _inside(task.group, group) and task.kind == "fair"}
    if not any(_inside(task.group, group) for task in work.tasks):
        raise ValueError(f"{source}: no task of {_shown(group)} ran in the recording")
    notes += [*_remarks(trace), *told.notes, *_nothing_costs(machine)]
    if arrivals == "relative":
        notes.append("arrivals=relative: sleeps last as long as recorded, so faster work comes back sooner")
    seconds = (end - start) / 1e9
    more = dict(demand=f"as recorded in {_shown(source.name)} ({seconds:.2f} s)", demand_known=True, notes=notes)
    seen = seen_latencies(trace.spans(), mine)
    return _host(source, group, _free_siblings(machine), work, end - start, seen_ns=seen, **more, **common)


def _host(source, group, machine, work, duration_ns, *, notes, **fields) -> Host:
    labels = [task.group if _inside(task.group, group) else _OTHERS for task in work.tasks]
    tasks = tuple(dataclasses.replace(task, label=label) for task, label in zip(work.tasks, labels))
    work = work.replace(tasks=tasks)
    work.check(fields["kernel"])
    if group not in labels and not any(_inside(label, group) for label in labels):
        raise ValueError(f"{source}: no task of {_shown(group)} used CPU time")
    notes = tuple(dict.fromkeys(map(_shown, notes)))
    fields |= {"machine": machine, "workload": work, "duration_ns": duration_ns, "notes": notes}
    return Host(name=_shown(source.name), group=group, **fields)


def _kernel(version, tunables, notes) -> Kernel:
    try:
        kernel = Kernel.version(version, **tunables)
    except ValueError as error:
        raise ValueError(f"{error}; name one that is (kernel)") from None
    notes += [f"kernel: {kernel.note}"] if kernel.note else []
    return kernel


def _with_samples(task):
    """A task of a demand model that records when each piece is done."""
    ((work, timer),) = (loop.steps for loop in task.program)
    program = (steps.mark(), steps.repeat(None, work, steps.sample(), timer))
    return dataclasses.replace(task, program=program)


def _free_siblings(machine) -> Machine:
    """Running time was recorded with siblings busy or not, so that they cost nothing more in a replay."""
    ladder = tuple(float(k + 1) for k in range(len(machine.smt_throughput)))
    return dataclasses.replace(machine, smt_throughput=ladder)


def _remarks(trace):
    """What the reader left out or doubts, but for fields that it does not know."""
    for kind, (count, place, _) in trace.report.found.items():
        if not kind.startswith("unknown field"):
            yield f"trace: {count} x {kind}, first at {place}"
    yield from trace.report.notes


def _nothing_costs(machine):
    if len(machine.smt_throughput) > 1:
        yield "running times are as recorded: that siblings of a core slow each other is in them already"


def _with_parents(limits, group):
    """Limits, with the group's own where a trace alone names none."""
    there = {one.path for one in limits}
    return (*limits, *(() if group in there else (Group(group),)))


def _difference(cpu_stat: str) -> dict[str, int]:
    parts = [cpustat.read(part.strip()) for part in cpu_stat.split(",")]
    if len(parts) > 2:
        raise _check.wrong("cpu_stat", cpu_stat, "a file, or before,after")
    before = parts[0] if len(parts) == 2 else {}
    return {name: value - before.get(name, 0) for name, value in parts[-1].items() if name in COUNTERS}


def _inside(path: str, group: str) -> bool:
    return path == group or path.startswith(f"{group}/")


def _shown(text) -> str:
    """Return a text without what breaks a line or a terminal."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in str(text))
