"""What the benchmark runs: four workloads and a pair that shows how the cost of an event grows with the machine."""

import random
from dataclasses import dataclass

import schedlab as sl
from schedlab.workloads import hackbench

#: (a): number of tasks by period in ms, 4,490 jobs a simulated second in all.
TASKS_BY_PERIOD_MS = {1: 1, 2: 2, 5: 4, 10: 6, 20: 11, 50: 14, 100: 26}
#: (a): total utilisation, in millionths of a CPU.
UTILISATION_PPM = 7_200_000
SEED = 20

#: (b), (c): mean run, and the mean sleep at which about 90 % of a machine's CPUs are busy. Threads that share a core
#: each do 0.625 of their work alone, and a task also waits for its CPU: the sleep was found by trial.
RUN_US = 1_000
SLEEP_US = 11_800
TASKS_PER_CPU = 8
TASKS_PER_GROUP = 16


@dataclass(frozen=True)
class Scenario:
    """One run of the engine.

    Attributes
    ----------
    key, title : str
    machine, kernel, workload : Machine, Kernel, Workload
    warm_up_s, seconds : float
        Simulated time before the clock starts, and what is measured.
    stop_on_exit : bool
        The run ends with its last task, before `seconds` are over.
    """

    key: str
    title: str
    machine: sl.Machine
    kernel: sl.Kernel
    workload: sl.Workload
    seconds: float
    warm_up_s: float = 0.0
    stop_on_exit: bool = False


def periodic_tasks(seed: int = SEED) -> list[tuple[int, int]]:
    """Return (period, work) of each task of (a), in ns.

    The utilisations are the gaps between sorted whole numbers drawn from 0 to the total: the distribution of UUniFast
    (uniform over all sets of that total) without its powers of floats. A set with a task above 1 is drawn again.
    """
    periods = [ms * 1_000_000 for ms, n in TASKS_BY_PERIOD_MS.items() for _ in range(n)]
    draw = random.Random(seed)
    while True:
        cuts = sorted(draw.randrange(UTILISATION_PPM) for _ in range(len(periods) - 1))
        shares = [high - low for low, high in zip([0, *cuts], [*cuts, UTILISATION_PPM], strict=True)]
        if 0 < min(shares) and max(shares) <= 1_000_000:
            draw.shuffle(periods)
            return [(period, share * period // 1_000_000) for period, share in zip(periods, shares, strict=True)]


def _periodic() -> Scenario:
    tasks = tuple(
        sl.Task(f"p{k}", sl.repeat(None, sl.timer(period), sl.mark(), sl.run(work), sl.sample()), label="job")
        for k, (period, work) in enumerate(periodic_tasks())
    )
    return Scenario(
        "a", "8 CPUs, 64 periodic tasks, U = 7.2",
        sl.Machine.uniform(8), sl.Kernel.version("6.12"), sl.Workload(tasks=tasks, name="periodic"), seconds=10,
    )  # fmt: skip


def bursts(nr_cpus: int, name: str, sleep_us: int = SLEEP_US) -> sl.Workload:
    """Return 8 tasks a CPU that run 1 ms and sleep; half of them in groups of 16, half of the groups limited.

    A group's 16 tasks use about two CPUs in the mean; its quota of six binds rarely, but is charged at every event.
    """
    nr_tasks = TASKS_PER_CPU * nr_cpus
    nr_groups = nr_tasks // 2 // TASKS_PER_GROUP
    groups = tuple(sl.Group(f"/g{g}", quota_us=None if g % 2 else 600_000) for g in range(nr_groups))
    program = sl.repeat(None, sl.run(sl.exponential(f"{RUN_US}us")), sl.sleep(sl.exponential(f"{sleep_us}us")))
    tasks = tuple(
        # even tasks in the root, odd ones dealt out to the groups; the first 10 ms spread the starts
        sl.Task(
            f"t{t}",
            program,
            group=f"/g{t // 2 % nr_groups}" if t % 2 else "/",
            start_ns=t * 10_000_000 // nr_tasks,
            label="burst",
        )
        for t in range(nr_tasks)
    )
    return sl.Workload(groups=groups, tasks=tasks, name=name)


def _bursts(key: str, machine: sl.Machine, seconds: float) -> Scenario:
    work = bursts(machine.nr_cpus, "bursts")
    nr_groups = len(work.groups)
    title = f"{machine.nr_cpus} CPUs, {len(work.tasks)} tasks, {nr_groups} groups, bursts of 1 ms"
    return Scenario(key, title, machine, sl.Kernel.version("6.12"), work, seconds, warm_up_s=0.2)


def sixteen_cpus() -> sl.Machine:
    """Return one last-level cache of epyc-2x128-smt2: 8 cores of 2 threads."""
    big = sl.Machine.load("epyc-2x128-smt2")
    return sl.Machine.uniform(16, smt=2).replace(smt_throughput=big.smt_throughput)


def _stress_ng() -> Scenario:
    work = sl.workloads.stress_ng.in_groups(2, quota_us=1_600_000)
    return Scenario(
        "d", "stress-ng --cpu 32 in two groups, 64 CPUs",
        sl.Machine.load("power-8core-smt8"), sl.Kernel.version("6.1"), work, seconds=120, stop_on_exit=True,
    )  # fmt: skip


def _hackbench(key: str, coarsen: int, seconds: float) -> Scenario:
    """hackbench in four leaves of a tree of limited groups, 160 tasks on 512 CPUs; a step is `coarsen` messages."""
    machine, work = sl.Machine.load("epyc-2x128-smt2"), hackbench.nested_hackbench(groups=1, coarsen=coarsen)
    title = f"512 CPUs, hackbench three levels deep, {coarsen} a step"
    return Scenario(key, title, machine, sl.Kernel.version("7.2"), work, seconds)


def scenarios() -> list[Scenario]:
    """Return (a) to (f), and (s): the load of (b) and (c) on 16 CPUs."""
    return [
        _periodic(),
        _bursts("b", sl.Machine.load("hypervisor-64cpu-smt2"), seconds=4),
        _bursts("c", sl.Machine.load("epyc-2x128-smt2"), seconds=1),
        _stress_ng(),
        _hackbench("e", coarsen=20, seconds=1),
        _hackbench("f", coarsen=1, seconds=0.5),
        _bursts("s", sixteen_cpus(), seconds=10),
    ]
