"""Random small scenarios, and a walk through one that stops after every event."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

import schedlab as sl
from schedlab.simulate import Simulation

MS = 1_000_000
EEVDF = ("6.6", "6.12")
ALL_RELEASES = ("6.1", "6.3", *EEVDF)
LEGACY = ("expire-local-slices", "slack-timer-pushed-back", "lifo-throttle-list")
FOREVER = sl.repeat(None, sl.run("1000s"))


@dataclass(frozen=True)
class Scenario:
    """What a Simulation takes."""

    machine: sl.Machine
    kernel: sl.Kernel
    workload: sl.Workload
    seed: int = 0
    until_ns: int = 120 * MS

    def walk(self, log=()):
        """Yield a Probe at time 0, then after every event."""
        sim = Simulation(self.machine, self.kernel, self.workload, seed=self.seed, log=log)
        probe = Probe(sim)
        yield probe
        while not sim.advance(self.until_ns, 1):
            yield probe

    def run(self, log=False):
        """The Run of the whole scenario."""
        return sl.simulate(self.machine, self.kernel, self.workload, self.until_ns, seed=self.seed, log=log)


@dataclass
class Probe:
    """Views of the engine's state, of which those of cfs_rqs have the shape (groups, CPUs)."""

    sim: Simulation
    nr_cpus: int = field(init=False)
    nr_tasks: int = field(init=False)

    def __post_init__(self):
        self.nr_cpus, self.nr_tasks = self.sim.machine.nr_cpus, len(self.sim.workload.tasks)
        self.state = self.sim.state
        self.sys_now = self.state["sys_now"]
        for name in ("runtime_remaining", "throttled", "throttle_count", "nr", "h_nr", "runtime_enabled"):
            setattr(self, name, self.state[f"rq_{name}"].reshape(-1, self.nr_cpus))
        self.curr = self.state["cpu_curr"]
        self.limited = [g for g, path in enumerate(self.sim.workload.group_paths) if self._has_quota(path)]

    def _has_quota(self, path):
        group = self.sim.workload.group_of.get(path)
        return group is not None and group.quota_us is not None

    @property
    def now(self) -> int:
        """Simulated ns."""
        return int(self.sys_now[0])

    def group(self, name):
        """Views of a field of all groups."""
        return self.state[f"tg_{name}"]

    def drain(self) -> np.ndarray:
        """The log records since the last call."""
        records, self.sim._log = self.sim._log, []
        self.sim._log_size = 0
        return np.concatenate(records) if records else self.state.arrays["log"][:0]


# ---- parts -----------------------------------------------------------------------------------------------------------


@st.composite
def kernels(draw, releases=ALL_RELEASES, *, costs=True, patches=()):
    hz = draw(st.sampled_from((1000, 1000, 250, 100)))
    tunables = {"tick_offset_us": draw(st.sampled_from((0, 0, 1, 500))), "skew_tick": draw(st.booleans())}
    tunables["cfs_bandwidth_slice_us"] = draw(st.sampled_from((5000, 5000, 2500, 1000)))
    if costs and draw(st.booleans()):
        ipi_ns, switch_ns = draw(st.sampled_from((0, 3000))), draw(st.sampled_from((0, 1500)))
        tunables["costs"] = sl.Costs(context_switch_ns=switch_ns, ipi_ns=ipi_ns)
    kernel = sl.Kernel.version(draw(st.sampled_from(releases)), hz=hz, **tunables)
    return kernel.with_patch(*(patch for patch in patches if draw(st.booleans())))


@st.composite
def limits(draw, path):
    """A group whose quota is now and then too small for what is in it."""
    period_us = draw(st.sampled_from((10_000, 20_000, 50_000)))
    quota_us = draw(st.sampled_from((1000, 2000, 5000, 7000, 12_345, 20_000)))
    burst_us = draw(st.sampled_from((0, 0, quota_us // 2, quota_us)))
    phase_us = draw(st.sampled_from((0, 0, None, 3333)))
    return sl.Group(path, draw(weights), quota_us=quota_us, period_us=period_us, burst_us=burst_us, phase_us=phase_us)


weights = st.sampled_from((100, 100, 30, 1000))


@st.composite
def groups(draw):
    """One to three groups, up to three deep, of which at least one is limited."""
    paths = []
    for name in "abc"[: draw(st.sampled_from((1, 2, 3, 3)))]:
        paths.append(draw(st.sampled_from([*paths[-1:], *paths, ""])) + f"/{name}")
    free = draw(st.sampled_from((None, None, *range(1, len(paths)))))
    return [sl.Group(path, draw(weights)) if k == free else draw(limits(path)) for k, path in enumerate(paths)]


# odd times keep events apart, round ones make them coincide
works = st.one_of(st.integers(150_000, 15 * MS), st.sampled_from((MS, 4 * MS, 10 * MS)))


@st.composite
def programs(draw, nr_cpus):
    """A task that runs for ever, or that works and then sleeps, yields or moves, over and over."""
    if draw(st.booleans()):
        return FOREVER
    steps = [draw(st.sampled_from((sl.run, sl.run, sl.kernel)))(draw(works))]
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(("sleep", "sleep", "sleep", "run", "yield", "move")))
        if kind == "sleep":
            steps.append(sl.sleep(draw(works)))
        elif kind == "run":
            steps.append(sl.run(draw(works)))
        elif kind == "yield":
            steps.append(sl.yield_())
        else:
            steps.append(sl.affinity(draw(cpu_sets(nr_cpus))))
    return sl.repeat(None, *steps)


@st.composite
def cpu_sets(draw, nr_cpus):
    return tuple(draw(st.sets(st.integers(0, nr_cpus - 1), min_size=1)))


@st.composite
def tasks(draw, paths, nr_cpus):
    """A few tasks in random groups."""
    made = []
    for k in range(draw(st.integers(2, 8))):
        cpus = draw(cpu_sets(nr_cpus)) if draw(st.booleans()) else None
        group, start = draw(st.sampled_from(paths)), draw(st.sampled_from((0, 0, MS, 7_654_321)))
        nice = draw(st.sampled_from((0, 0, 5, -5)))
        made.append(sl.Task(f"t{k}", draw(programs(nr_cpus)), group=group, nice=nice, cpus=cpus, start_ns=start))
    return made


@st.composite
def scenarios(draw, releases=ALL_RELEASES, *, patches=(), writes=False, costs=True):
    """Any of the above together; with `writes` cpu.max is written on the way."""
    nr_cpus = draw(st.sampled_from((1, 2, 3, 4, 4)))
    smt = draw(st.sampled_from((1, 2))) if nr_cpus % 2 == 0 else 1
    machine = sl.Machine.uniform(nr_cpus, smt, smt_throughput=(1.0, 1.3)[:smt])
    made = draw(groups())
    paths = [group.path for group in made]
    events = []
    for _ in range(draw(st.integers(1, 3)) if writes else 0):
        quota_us = draw(st.sampled_from((None, 1000, 9000, 40_000)))
        events.append(sl.SetCpuMax(draw(st.integers(0, 100 * MS)), draw(st.sampled_from(paths)), quota_us, burst_us=0))
    work = sl.Workload(made, draw(tasks([*paths, *paths, "/"], nr_cpus)), events)
    return Scenario(machine, draw(kernels(releases, costs=costs, patches=patches)), work, draw(st.integers(0, 9)))


@st.composite
def donors(draw):
    """A hog that is throttled while tasks on other CPUs, about to sleep, hold slices of which they give most back."""
    nr_donors, slice_ms = draw(st.integers(3, 6)), draw(st.sampled_from((5, 4)))
    quota_us = slice_ms * 1000 * (nr_donors + 1) + draw(st.integers(0, 900))
    period_us = draw(st.sampled_from((30_000, 50_000)))
    # they donate 5 to 7 ms after the start: long before a refill, or about as near as 7 ms and 2 ms
    phase_us = draw(st.sampled_from((0, 0, 0, 9000, 11_000, 13_000, 14_500)))
    group = sl.Group("/g", quota_us=quota_us, period_us=period_us, phase_us=phase_us)
    made = [sl.Task("hog", FOREVER, group="/g", cpus=0)]
    for cpu in range(1, nr_donors + 1):
        work, wake = draw(st.integers(1_300_000, 2_500_000)), draw(st.integers(3_200_000, 3_900_000))
        program = sl.repeat(None, sl.timer(period_us * 1000), sl.run(work))
        made.append(sl.Task(f"donor{cpu}", program, group="/g", cpus=cpu, start_ns=wake))
    kernel = draw(kernels()).with_(hz=1000, cfs_bandwidth_slice_us=slice_ms * 1000)
    return Scenario(sl.Machine.uniform(nr_donors + 1), kernel, sl.Workload([group], made), until_ns=200 * MS)
