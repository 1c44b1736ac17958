"""A hypervisor's host: virtual CPUs as threads, guests that compute or measure latency, and a VMM thread each.

`noise` says how much of a guest's hwlat windows its virtual CPUs did not run: what a guest perceives as noise.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np

from .. import _check
from ..durations import exponential
from ..events import SetAffinity
from ..machine import Machine
from ..steps import repeat, run, sleep, spin, wait, wake
from ..units import to_ns
from ..workload import Group, Task, Workload

STRESS, HWLAT = "stress", "hwlat"


@dataclass(frozen=True)
class Hwlat:
    """The tracer hwlat in a guest (trace_hwlat.c): it spins for `width` of each `window` and looks for gaps.

    Parameters
    ----------
    width, window : int or str
    threshold : int or str
        Gaps longer than this count (strictly, as whole us do in the kernel).
    mode : {"per-cpu", "round-robin"}
        A tracer on each virtual CPU, or one that moves on to the next with each window.
    start_gap : int or str or None
        By how much the windows of a guest's virtual CPUs lie apart, per-cpu; None spreads them over the window. A real
        tracer starts its threads one right after the other, and they drift apart.

    Examples
    --------
    >>> Hwlat().window_ns
    300000000
    """

    width: int | str = "100ms"
    window: int | str = "300ms"
    threshold: int | str = "100us"
    mode: str = "per-cpu"
    start_gap: int | str | None = None

    def __post_init__(self):
        _check.choice("mode", self.mode, ("per-cpu", "round-robin"))
        if not 0 < self.width_ns < self.window_ns:
            raise _check.wrong("width", self.width, f"above 0 and below the window of {self.window}")

    @property
    def width_ns(self) -> int:
        """Width in ns."""
        return to_ns(self.width)

    @property
    def window_ns(self) -> int:
        """Window in ns."""
        return to_ns(self.window)

    @property
    def threshold_ns(self) -> int:
        """Threshold in ns."""
        return to_ns(self.threshold)

    def gap_ns(self, vcpus: int) -> int:
        """Return how far apart the windows of `vcpus` virtual CPUs start, ns."""
        if self.mode == "round-robin":
            return 0
        return self.window_ns // vcpus if self.start_gap is None else to_ns(self.start_gap)


def hypervisor(
    vms: int = 8,
    vcpus: int = 8,
    *,
    hwlat_vms: int = 1,
    hwlat: Hwlat | None = None,
    core_scheduling: str = "vm",
    vmm_period: int | str | None = "10ms",
    vmm_burst: int | str = "200us",
    vmm_cookie: str = "vm",
    cgroups: bool = False,
    weight: int = 100,
    packed_on: Machine | None = None,
    release: int | str = "1ms",
) -> Workload:
    """Return guests on a host: the last `hwlat_vms` run the tracer hwlat, the others ``stress-ng --cpu 0``.

    Parameters
    ----------
    vms, vcpus : int
        Guests, and virtual CPUs of each (a thread of the host each).
    hwlat_vms : int
        How many of the guests measure, 0 to vms.
    hwlat : Hwlat, optional
    core_scheduling : {"vm", "vcpu", "off"}
        A cookie a guest, a cookie a virtual CPU, or none.
    vmm_period, vmm_burst : int or str, or None
        The VMM thread of each guest works for exponential bursts of that mean, about once a period (exponential
        pauses). A period of None leaves it out.
    vmm_cookie : {"vm", "own", "none"}
        Its cookie: its guest's, one of its own, or 0.
    cgroups : bool
        Whether each guest is in a cgroup of its own, of that `weight`.
    weight : int
    packed_on : Machine, optional
        Start with the virtual CPUs packed on that machine's cores, guest by guest, until `release`, when all may run
        anywhere. Without it they start where the kernel's fork puts them.
    release : int or str

    Examples
    --------
    >>> work = hypervisor(2, 4, core_scheduling="vm")
    >>> [(task.name, task.cookie) for task in work.tasks][3:6]
    [('vm0-vcpu3', 1), ('vm0-vmm', 1), ('vm1-vcpu0', 2)]
    """
    vms, vcpus = _check.whole("vms", vms, 1), _check.whole("vcpus", vcpus, 1)
    hwlat_vms = _check.whole("hwlat_vms", hwlat_vms, 0, vms)
    _check.choice("core_scheduling", core_scheduling, ("vm", "vcpu", "off"))
    _check.choice("vmm_cookie", vmm_cookie, ("vm", "own", "none"))
    tracer = hwlat or Hwlat()
    groups, tasks = [], []
    for vm in range(vms):
        path = f"/vm{vm}" if cgroups else "/"
        if cgroups:
            groups.append(Group(path, weight=weight))
        measures = vm >= vms - hwlat_vms
        for k in range(vcpus):
            program = _tracer(tracer, vm, k, vcpus) if measures else repeat(None, run("1s"))
            label = f"vm{vm}-{HWLAT if measures else STRESS}"
            start = k * tracer.gap_ns(vcpus) if measures else 0
            cookie = {"vm": vm + 1, "vcpu": vm * vcpus + k + 1, "off": 0}[core_scheduling]
            name = f"vm{vm}-vcpu{k}"
            tasks.append(Task(name, program, group=path, cookie=cookie, start_ns=start, label=label))
        if vmm_period is not None:
            cookie = {"vm": vm + 1, "own": vms * vcpus + vm + 1, "none": 0}[vmm_cookie]
            cookie = 0 if core_scheduling == "off" else cookie
            tasks.append(
                Task(f"vm{vm}-vmm", _vmm(vmm_period, vmm_burst), group=path, cookie=cookie, label=f"vm{vm}-vmm")
            )
    events = ()
    if packed_on is not None:
        tasks, events = _packed(tasks, packed_on, release)
    return Workload(tuple(groups), tuple(tasks), events, name=f"{vms} VMs x {vcpus} vCPUs, {core_scheduling}")


def _packed(tasks, machine, release):
    """Pin the virtual CPUs to the CPUs in the order of cores (over and over where they are more), until `release`."""
    order = [c for core in machine.cores for c in core]
    everywhere = tuple(range(machine.nr_cpus))
    pinned, events, n = [], [], 0
    for task in tasks:
        if task.label.endswith(("-" + STRESS, "-" + HWLAT)):
            events.append(SetAffinity(release, task.name, everywhere))
            task = dataclasses.replace(task, cpus=order[n % len(order)])
            n += 1
        pinned.append(task)
    return pinned, tuple(events)


def _vmm(period, burst):
    pause = to_ns(period) - to_ns(burst)
    if pause <= 0:
        raise _check.wrong("vmm_burst", burst, f"below the period of {period}")
    return repeat(None, sleep(exponential(pause)), run(exponential(burst)))


def _tracer(tracer, vm, k, vcpus):
    pause = sleep(tracer.window_ns - tracer.width_ns)
    if tracer.mode == "per-cpu":
        return repeat(None, spin(tracer.width_ns), pause)
    mine, after = f"vm{vm}-hwlat{k}", f"vm{vm}-hwlat{(k + 1) % vcpus}"
    loop = repeat(None, wait(mine), spin(tracer.width_ns), pause, wake(after, keep=1))
    return (wake(mine, keep=1), loop) if k == 0 else loop


def windows(run, hwlat: Hwlat | None = None):
    """Return one row a window of the tracer that ended within a run.

    Parameters
    ----------
    run : Run
        Of a `hypervisor`, with ``log=("switch", "wake", "start", "block")`` (or all).
    hwlat : Hwlat, optional
        What the workload was made with.

    Returns
    -------
    pandas.DataFrame
        task; start_ns; max_ns and sum_ns, the longest gap above the threshold and all of them together (a gap that
        ends after the width counts whole); count.
    """
    return windows_and_gaps(run, hwlat)[0]


def windows_and_gaps(run, hwlat: Hwlat | None = None):
    """Return the windows of the tracer, and each gap in them.

    Parameters
    ----------
    run, hwlat
        As for `windows`.

    Returns
    -------
    windows : pandas.DataFrame
        See `windows`.
    gaps : pandas.DataFrame
        window (row of `windows`), gap_ns, record (position in ``run.log`` of the switch away from the task).
    """
    import pandas as pd

    tracer = hwlat or Hwlat()
    for kind in ("switch", "block"):
        run._need_log("windows", kind)
    log = run.log
    switches = np.flatnonzero(log["kind"] == run.kinds.index("switch"))
    blocks = log[log["kind"] == run.kinds.index("block")]
    rows, parts = [], []
    for number, task in enumerate(run.workload.tasks):
        if not task.label.endswith(f"-{HWLAT}"):
            continue
        spans = _spans_of(log[switches], number)
        for start, lengths, away in _windows_of(*spans, blocks["time"][blocks["a"] == number], tracer):
            parts.append((np.full(len(lengths), len(rows)), lengths, switches[away]))
            rows.append((task.name, int(start), int(lengths.max(initial=0)), int(lengths.sum()), len(lengths)))
    table = pd.DataFrame(rows, columns=["task", "start_ns", "max_ns", "sum_ns", "count"])
    columns = [np.concatenate([part[k] for part in parts] or [np.zeros(0, int)]) for k in range(3)]
    return table, pd.DataFrame(dict(zip(("window", "gap_ns", "record"), columns)))


def _spans_of(switches, number):
    """When a task ran: starts, ends, and the switches away from it. By CPU: a move in mid-run has no order in time."""
    mine = np.flatnonzero((switches["a"] == number) | (switches["b"] == number))
    mine = mine[np.argsort(switches["cpu"][mine], kind="stable")]
    ended = (switches["b"][mine[:-1]] == number) & (switches["cpu"][mine[1:]] == switches["cpu"][mine[:-1]])
    into, away = mine[:-1][ended], mine[1:][ended]
    starts, ends = switches["time"][into], switches["time"][away]
    order = np.lexsort((ends, starts))
    return starts[order], ends[order], away[order]


def _windows_of(starts, ends, away, blocks, tracer):
    """A window begins where the task is switched in after it blocked, and ends where it blocks the next time.

    A task that is switched in after its width has passed blocks in the same instant: that belongs to the window before.
    One that is switched in and out in one instant has not looked at the clock.
    """
    begin = -1
    for stop in blocks:
        first, last = np.searchsorted(starts, (begin, stop), side="right")
        begin = stop
        if first == last or stop - starts[first] < tracer.width_ns:
            continue
        ran = first + np.flatnonzero(ends[first:last] > starts[first:last])
        lengths = np.append(starts[ran[1:]], stop)[: len(ran)] - ends[ran]
        long = lengths > tracer.threshold_ns
        yield starts[first], lengths[long], away[ran[long]]


def noise(run, hwlat: Hwlat | None = None, table=None) -> dict[str, float]:
    """Return how noisy a host is for the guests that measure, in percent of the time sampled.

    Breaches are scaled by window / width, as the tracer looks at a part of the time only.

    Parameters
    ----------
    run : Run
    hwlat : Hwlat, optional
        As for `windows`.
    table : pandas.DataFrame, optional
        From `windows`, where it is there already.

    Returns
    -------
    dict
        n_max: 100 x sum over windows of the longest gap / (time x threads) x window / width: what the tracer's records
        tell. n_sum: the same of all gaps. breached: percent of windows with a gap. gaps_per_s: gaps a second sampled.
        windows: their number.
    """
    tracer = hwlat or Hwlat()
    table = windows(run, tracer) if table is None else table
    threads = sum(task.label.endswith(f"-{HWLAT}") for task in run.workload.tasks)
    threads = max(1, threads if tracer.mode == "per-cpu" else threads and len({t.split("-")[0] for t in table["task"]}))
    scale = 100 * tracer.window_ns / tracer.width_ns / (run.duration_ns * threads)
    sampled_s = len(table) * tracer.width_ns / 1e9
    return {
        "n_max": float(table["max_ns"].sum() * scale),
        "n_sum": float(table["sum_ns"].sum() * scale),
        "breached": 100 * float((table["count"] > 0).mean()) if len(table) else 0.0,
        "gaps_per_s": float(table["count"].sum() / sampled_s) if len(table) else 0.0,
        "windows": len(table),
    }


def stress_throughput(run) -> float:
    """Return how many CPUs' worth of work the guests that compute got (CPU time over time)."""
    mine = [task.label.endswith(f"-{STRESS}") for task in run.workload.tasks]
    return float(run.task_table["exec_ns"][np.array(mine)].sum() / run.duration_ns)


__all__ = ["Hwlat", "hypervisor", "noise", "stress_throughput", "windows", "windows_and_gaps"]
