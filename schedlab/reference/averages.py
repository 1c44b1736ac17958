"""Decayed averages that the kernel's balancing goes by: a CPU's load, running time and runnable tasks, a task's load.

Time counts in whole quanta; what holds at the end of a quantum stands for all of it (docs/model.md).
"""

from dataclasses import dataclass

from .state import CpuRecord, TaskRecord, path_up

QUANTUM_NS = 1 << 15
#: quanta in a half-life of 2^25 ns
HALF_LIFE = 1 << 10
#: averages are kept in these parts of a unit, factors in these parts of 1
UNIT = 1 << 16
ONE = 1 << 20
CAPACITY = 1024


@dataclass(eq=False)
class Average:
    """A value (in 1/65536) on its way to `target`, as of the quantum `stamp`."""

    value: int = 0
    target: int = 0
    stamp: int = 0

    def advance(self, now: int):
        """Bring the value up to the last whole quantum."""
        stamp = now // QUANTUM_NS
        halvings, rest = divmod(stamp - self.stamp, HALF_LIFE)
        if halvings or rest:
            factor = round(ONE * 2 ** (-rest / HALF_LIFE)) >> min(halvings, 40)
            self.value = self.target + (self.value - self.target) * factor // ONE
            self.stamp = stamp

    def set_target(self, now: int, target: int):
        """From the present quantum on the value goes to another target."""
        self.advance(now)
        self.target = target * UNIT

    def read(self, now: int) -> int:
        """Return the value, in whole units."""
        self.advance(now)
        return self.value // UNIT


@dataclass(eq=False)
class CpuAverages:
    """The averages of a CPU: weights queued at its root, whether it runs something, how many tasks are runnable."""

    load: Average
    util: Average
    runnable: Average


def cpu_changed(m, cpu: CpuRecord):
    """Something was queued on the CPU, left it, or was switched: its averages have other targets."""
    if cpu.balance is None:
        return
    m.balance.overloaded |= cpu.root.h_nr_queued >= 2
    averages = cpu.balance.averages
    averages.load.set_target(m.now, cpu.root.load)
    averages.util.set_target(m.now, CAPACITY if cpu.curr is not None else 0)
    averages.runnable.set_target(m.now, CAPACITY * cpu.root.h_nr_runnable)


def task_changed(m, task: TaskRecord):
    """A task was queued or left; one that is delayed is still queued."""
    if task.balance is None:
        return
    task.balance.load.set_target(m.now, task.entity.weight if task.entity.on_rq else 0)


def cpu_load(m, cpu: CpuRecord) -> int:
    """Return the CPU's load, a weight; cf. cpu_load()."""
    return cpu.balance.averages.load.read(m.now)


def cpu_util(m, cpu: CpuRecord) -> int:
    """Return how much of the CPU was used, of 1024; cf. cpu_util_cfs()."""
    return min(cpu.balance.averages.util.read(m.now), CAPACITY)


def cpu_runnable(m, cpu: CpuRecord) -> int:
    """Return how many tasks were runnable, times 1024; cf. cpu_runnable()."""
    return cpu.balance.averages.runnable.read(m.now)


def cpu_util_boosted(m, cpu: CpuRecord) -> int:
    """Return how much of the CPU was wanted, of 1024; cf. cpu_util_cfs_boost()."""
    return min(max(cpu_util(m, cpu), cpu_runnable(m, cpu)), CAPACITY)


def task_h_load(m, task: TaskRecord) -> int:
    """Return the part of its CPU's load that is a queued task's; cf. task_h_load().

    Of its group's entities it has what it has of the weights queued beside it now.
    """
    load = task.balance.load.read(m.now)
    for se in path_up(task.entity)[1:]:
        load = load * se.weight // max(1, se.my_q.load)
    return load


def task_util(m, task: TaskRecord) -> int:
    """Return a task's part of what its CPU is used: an equal one; in place of task_util_est()."""
    cpu = m.cpus[task.cpu]
    return cpu_util(m, cpu) // max(1, cpu.root.h_nr_runnable)


def bring_load(m, task: TaskRecord, source: CpuRecord, target: CpuRecord):
    """A task changes its CPU and takes its load along; cf. migrate_se_pelt_lag(), attach_entity_load_avg()."""
    load = task.balance.load
    load.advance(m.now)
    there, here = source.balance.averages.load, target.balance.averages.load
    there.advance(m.now)
    there.value -= min(load.value, there.value)
    here.advance(m.now)
    here.value += load.value


def bring_first_load(m, task: TaskRecord, cpu: CpuRecord):
    """A new task brings its whole weight; cf. init_entity_runnable_average(), post_init_entity_util_avg()."""
    task.balance.load = Average(task.entity.weight * UNIT, 0, m.now // QUANTUM_NS)
    average = cpu.balance.averages.load
    average.advance(m.now)
    average.value += task.balance.load.value
