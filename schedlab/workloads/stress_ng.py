"""stress-ng --cpu: N worker processes that compute until each has done its share of the operations."""

from fractions import Fraction

from .. import _check
from ..cgroup import DEFAULT_PERIOD_US
from ..steps import repeat, run
from ..units import NS_PER_S
from ..workload import Group, Task, Workload
from ._groups import place, prefixed

# Operations a second of a worker at speed 1. CALIBRATED on the published runs of one cgroup (fact sheet C4): 32
# workers of ceil(50000/32) = 1563 operations each, of which the quota lets them run one half, four to a core, where a
# thread of power-8core-smt8 has 0.45 of its speed alone. The job takes 27.6 s. With even shares of the quota all
# workers would end together; but CPUs fetch quota in 5 ms pieces at 4 ms ticks, shares differ and the last worker
# decides. At 26.9 s of even shares it ends after 27.9 s when ticks fall on period boundaries, and after 27.3 s
# on the mean over the (unknown) phase of the tick: on either side of the published number.
# `schedlab.studies.bandwidth_timers.df_calibration` redoes it.
EVEN_SHARE_S = 26.9
OPS_PER_SECOND = 1563 / (EVEN_SHARE_S * 0.5 * 0.45)


def stress_ng(
    *,
    cpu: int = 32,
    cpu_ops: int | None = 50_000,
    group: str | Group = "/",
    ops_per_second: float = OPS_PER_SECOND,
    name: str = "stress-ng-cpu",
) -> Workload:
    """Return ``stress-ng --cpu=<cpu> --cpu-ops=<cpu_ops>`` in one group.

    Parameters
    ----------
    cpu : int
        Number of workers.
    cpu_ops : int or None
        Operations of all workers together; each does ceil(cpu_ops / cpu), as the tool does. 0 or None: for ever.
    group : str or Group
    ops_per_second : float
        Operations a second of one worker at speed 1 (alone on its core). The default is calibrated on the published
        run of one cgroup.
    name : str
        Prefix of the tasks' names.

    Returns
    -------
    Workload
        The job ends when its slowest worker does.

    Examples
    --------
    >>> job = stress_ng(cpu=4, cpu_ops=1000, group="/a", ops_per_second=250)
    >>> len(job.tasks), job.tasks[0].program[0].duration.low_ns
    (4, 1000000000)
    """
    cpu = _check.whole("cpu", cpu, 1)
    path, groups = place(group)
    if not cpu_ops:
        program = repeat(None, run(NS_PER_S))
    else:
        ops = -(-_check.whole("cpu_ops", cpu_ops, 1) // cpu)
        program = run(work_ns(ops, ops_per_second))
    label = prefixed(path, name)
    tasks = tuple(Task(f"{label}-{i}", program, group=path, label=label) for i in range(cpu))
    return Workload(groups=groups, tasks=tasks, name=label)


def work_ns(ops: int, ops_per_second: float = OPS_PER_SECOND) -> int:
    """Return the work of one worker in ns at speed 1, at least 1.

    Examples
    --------
    >>> work_ns(1563)
    6052500000
    """
    rate = _check.real("ops_per_second", ops_per_second)
    if rate <= 0:
        raise _check.wrong("ops_per_second", ops_per_second, "above 0")
    return max(1, round(Fraction(ops * NS_PER_S) / Fraction(rate)))


def in_groups(
    n_groups: int,
    quota_us: int | None,
    period_us: int = DEFAULT_PERIOD_US,
    phases_us: tuple[float | None, ...] | None = None,
    *,
    burst_us: int = 0,
    cpu: int = 32,
    cpu_ops: int | None = 50_000,
    ops_per_second: float = OPS_PER_SECOND,
) -> Workload:
    """Return the same stress-ng job in each of `n_groups` groups "/cg1", "/cg2", ... with one limit for all.

    Parameters
    ----------
    n_groups : int
    quota_us, period_us, burst_us : int
        The limit of each group.
    phases_us : tuple of float, optional
        Phase of each group's period timer, in place of the kernel's rule (None inside: the rule for that one).
    cpu, cpu_ops, ops_per_second
        As in `stress_ng`, for each group.

    Examples
    --------
    >>> pair = in_groups(2, quota_us=1_600_000, phases_us=(0, 30_000))
    >>> pair.group_paths, len(pair.tasks), pair.tasks[32].name
    (('/', '/cg1', '/cg2'), 64, 'cg2:stress-ng-cpu-0')
    """
    n_groups = _check.whole("n_groups", n_groups, 1)
    phases = (None,) * n_groups if phases_us is None else tuple(phases_us)
    if len(phases) != n_groups:
        raise _check.wrong("phases_us", phases_us, f"one a group: {n_groups}, not {len(phases)}")
    jobs = []
    for k, phase_us in enumerate(phases, start=1):
        group = Group(f"/cg{k}", quota_us=quota_us, period_us=period_us, burst_us=burst_us, phase_us=phase_us)
        jobs.append(stress_ng(cpu=cpu, cpu_ops=cpu_ops, group=group, ops_per_second=ops_per_second))
    return Workload(
        groups=tuple(group for job in jobs for group in job.groups),
        tasks=tuple(task for job in jobs for task in job.tasks),
        name=f"stress-ng --cpu={cpu} --cpu-ops={cpu_ops or 0} in {n_groups} groups",
    )
