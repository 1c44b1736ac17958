"""hackbench: senders and receivers that pass small messages through pipes or socket pairs without a pause.

The program of rt-tests and of ``perf bench sched messaging`` (fact sheet E1), and the tree of limited groups in which
the per-task throttle was tested with it (D5).
"""

from .. import _check
from ..cgroup import DEFAULT_PERIOD_US
from ..channels import Channel, Read, Write, read, write
from ..steps import Repeat, barrier, repeat
from ..steps import run as user_work
from ..workload import Group, Task, Workload
from ._groups import place, prefixed

#: CPU time of one write or read in ns. ASSUMED, within the fact sheet's ranges: 0.3 to 0.5 us for pipes (from 0.83 us
#: of CPU for a message written and read in the published runs, D5), 1 to 2 us for sockets.
COST_NS = {"pipe": 400, "socket": 1_500}
#: CPU time of a task from its fork until it is ready. ASSUMED: the order of magnitude of a fork's page faults.
START_NS = 100_000
#: cpu.max of the published tree in us, a level each; every group has two children.
NESTED_QUOTAS_US = (3_200_000, 1_600_000, 800_000)


def hackbench(
    *,
    groups: int = 10,
    fds: int = 20,
    loops: int | None = 100,
    datasize: int = 100,
    pipe: bool = False,
    thread: bool = False,
    cost_write=None,
    cost_read=None,
    cost_start=START_NS,
    coarsen: int = 1,
    group: str | Group = "/",
    start=0,
    name: str = "hackbench",
) -> Workload:
    """Return hackbench in one group: `groups` times `fds` receivers, each with a channel, and `fds` senders.

    All tasks wait for each other, then every sender writes one message to each receiver of its group, `loops` times. A
    receiver ends when it has read all that is for it.

    Parameters
    ----------
    groups, fds, loops, datasize : int
        -g, -f, -l and -s (bytes). ``loops=None``: for ever.
    pipe : bool
        -p: pipes in place of socket pairs.
    thread : bool
        -T: threads in place of processes. The model makes no difference between them but for the tasks' names.
    cost_write, cost_read : int, str or Duration, optional
        CPU time of a system call; `COST_NS` by default.
    cost_start : int, str or Duration
        CPU time of a task before it is ready. At 0 no task is there when the next is forked, so that all are put on one
        core, and stay about there: only a CPU that goes idle pulls tasks.
    coarsen : int
        One step stands for so many messages: a sender writes them to one receiver in a row, at so many times the cost.
    group : str or Group
    start : int or str
        When the tasks are forked.
    name : str
        Prefix of the tasks' names, after the group.

    Returns
    -------
    Workload
        Labels: `name` followed by "-sender" and "-receiver".

    Examples
    --------
    >>> job = hackbench(groups=2, fds=3, loops=5, pipe=True, group="/a")
    >>> len(job.tasks), len(job.channels), messages(job)
    (12, 6, 90)
    >>> job.labels
    ('a:hackbench-receiver', 'a:hackbench-sender')
    """
    groups = _check.whole("groups", groups, 1)
    fds = _check.whole("fds", fds, 1)
    coarsen = _check.whole("coarsen", coarsen, 1)
    if loops is not None:
        loops = _check.whole("loops", loops, 1)
    kind = "pipe" if pipe else "socket"
    cost_write = COST_NS[kind] if cost_write is None else cost_write
    cost_read = COST_NS[kind] if cost_read is None else cost_read
    path, cgroups = place(group)
    label = prefixed(path, name)
    begin = (barrier(f"{label}:start", 2 * groups * fds),)
    if cost_start != 0:
        begin = (user_work(cost_start), *begin)
    short = "t" if thread else "p"
    channels, tasks = [], []
    for g in range(groups):
        mine = [Channel(f"{label}-g{g}-c{k}", kind, datasize) for k in range(fds)]
        channels += mine

        def to_all(n, mine=mine):
            return tuple(write(channel.name, cost_write, n) for channel in mine)

        programs = [(*begin, *_rounds(loops, fds, coarsen, lambda n, c=c: (read(c.name, cost_read, n),))) for c in mine]
        programs += [(*begin, *_rounds(loops, 1, coarsen, to_all))] * fds
        for k, program in enumerate(programs):
            role = "receiver" if k < fds else "sender"
            task = f"{label}-g{g}-{role[0]}{short}{k % fds}"
            tasks.append(Task(task, program, group=path, label=f"{label}-{role}", start_ns=start))
    return Workload(cgroups, tuple(tasks), name=label, channels=tuple(channels))


def _rounds(loops, each, coarsen, steps):
    """`loops` times `each` messages in steps of `coarsen`; the rest in one smaller step."""
    if loops is None:
        return (repeat(None, *steps(coarsen)),)
    full, rest = divmod(loops * each, coarsen)
    return ((repeat(full, *steps(coarsen)),) if full else ()) + (steps(rest) if rest else ())


def nested_hackbench(
    *,
    groups: int = 1,
    quotas_us: tuple[int | None, ...] = NESTED_QUOTAS_US,
    period_us: int = DEFAULT_PERIOD_US,
    fanout: int = 2,
    loops: int | None = None,
    pipe: bool = True,
    thread: bool = True,
    **options,
) -> Workload:
    """Return a tree of limited groups with one hackbench in each leaf, all at once.

    The defaults are the published test: /CG0 with 32 CPUs, CG00 and CG01 with 16, four leaves with 8 each, hackbench
    with pipes and threads.

    Parameters
    ----------
    groups : int
        -g of each hackbench: 1, 2, 4 and 8 were used.
    quotas_us : tuple of (int or None)
        cpu.max of the groups of each level, the outermost first; its length is the depth. None: no limit.
    period_us : int
    fanout : int
        Children of each group, 1 to 10.
    loops : int or None
        None runs for ever: count messages in a given time (`us_per_message`) in place of timing a number of them.
    pipe, thread, **options
        As for `hackbench`.

    Examples
    --------
    >>> job = nested_hackbench(groups=1)
    >>> job.group_paths[:4], len(job.tasks)
    (('/', '/CG0', '/CG0/CG00', '/CG0/CG00/CG000'), 160)
    """
    fanout = _check.whole("fanout", fanout, 1, 10)
    quotas_us = tuple(quotas_us)
    if not quotas_us:
        raise _check.wrong("quotas_us", quotas_us, "one a level, at least one")
    if "group" in options:
        raise _check.wrong("group", options["group"], "the leaves are the groups; use hackbench() for a single one")
    levels = [[Group("/CG0", quota_us=quotas_us[0], period_us=period_us)]]
    for quota_us in quotas_us[1:]:
        paths = [f"{g.path}/{g.path.rpartition('/')[2]}{k}" for g in levels[-1] for k in range(fanout)]
        levels.append([Group(path, quota_us=quota_us, period_us=period_us) for path in paths])
    jobs = [
        hackbench(groups=groups, loops=loops, pipe=pipe, thread=thread, group=leaf.path, **options)
        for leaf in levels[-1]
    ]
    return Workload(
        groups=tuple(group for level in levels for group in level),
        tasks=tuple(task for job in jobs for task in job.tasks),
        channels=tuple(channel for job in jobs for channel in job.channels),
        name=f"hackbench -g {groups} in {len(jobs)} nested groups",
    )


def messages(workload: Workload) -> int | None:
    """Return how many messages the workload writes in all, None when it never ends.

    Examples
    --------
    >>> messages(hackbench()), messages(nested_hackbench())
    (40000, None)
    """
    counted: dict[tuple, int | None] = {}
    total = 0
    for task in workload.tasks:
        if task.program not in counted:
            counted[task.program] = _writes(task.program)
        if counted[task.program] is None:
            return None
        total += counted[task.program]
    return total


def _writes(steps) -> int | None:
    total = 0
    for step in steps:
        if isinstance(step, Write):
            total += step.n
        elif isinstance(step, Repeat):
            inside = _writes(step.steps)
            if inside is None or (step.times is None and (inside or _reads(step.steps))):
                return None
            total += inside * (step.times or 0)
    return total


def _reads(steps) -> bool:
    return any(isinstance(step, Read) or (isinstance(step, Repeat) and _reads(step.steps)) for step in steps)


def us_per_message(run, kind: str = "cpu") -> float:
    """Return how long a message took, over all that were read in the run.

    Parameters
    ----------
    run : Run
    kind : {"cpu", "wall"}
        cpu: system time of all tasks a message; wall: simulated time a message, which falls with the CPUs that work.

    Returns
    -------
    float
        In us; nan when no message was read. To the end of the last task, or of the run while one is still there.

    Examples
    --------
    >>> import schedlab as sl
    >>> job = hackbench(groups=1, fds=2, loops=50, pipe=True, cost_write=300, cost_read=500, cost_start=0)
    >>> run = sl.simulate(sl.Machine.uniform(1), sl.Kernel.version("6.12"), job, "1s", stop="exit")
    >>> us_per_message(run), us_per_message(run, "wall")
    (0.8, 0.8)
    """
    _check.choice("kind", kind, ("cpu", "wall"))
    read_ = int(run.channels()["read"].sum())
    if read_ == 0:
        return float("nan")
    if kind == "cpu":
        return float(run.tasks()["kernel_ns"].sum()) / read_ / 1000
    ends = run.tasks()["end_ns"]
    return float(run.duration_ns if (ends < 0).any() else ends.max()) / read_ / 1000
