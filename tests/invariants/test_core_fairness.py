"""Who runs how long on a core with several cookies: no CPU is favoured, and nobody starves."""

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cores import RELEASES
from random_scenarios import FOREVER, MS

import schedlab as sl
from schedlab.reference.state import NICE_WEIGHTS


@dataclass(frozen=True)
class Core:
    """Tasks that always run, pinned to the CPUs of one core (CPUs 0 and 1 of `machine`)."""

    machine: sl.Machine
    kernel: sl.Kernel
    tasks: tuple
    until_ns: int = 600 * MS

    @property
    def slice_ns(self):
        return self.kernel.base_slice_ns * self.kernel.scaling_factor(self.machine.nr_cpus)

    def spans(self):
        """(task's number, from, to) of each stretch on a CPU."""
        work = sl.Workload(tasks=self.tasks)
        table = sl.simulate(self.machine, self.kernel, work, self.until_ns, log=("switch",)).spans()
        number = {task.name: k for k, task in enumerate(self.tasks)}
        return np.array([(number[r.task], r.start_ns, r.end_ns) for r in table.itertuples()])


@st.composite
def on_a_core(draw, nr_tasks, cookies, nices=(0,), releases=RELEASES):
    nr_cpus = draw(st.sampled_from((2, 4, 8)))
    kernel = sl.Kernel.version(
        draw(st.sampled_from(releases)),
        hz=draw(st.sampled_from((250, 1000))),
        skew_tick=draw(st.booleans()),
        tick_offset_us=draw(st.sampled_from((0, 1, 777))),
    )
    if draw(st.booleans()):
        kernel = kernel.with_patch("core-tree-sorted")
    made = []
    for k in range(draw(nr_tasks)):
        cpu, start = k if k < 2 else draw(st.integers(0, 1)), draw(st.sampled_from((0, 0, MS, 5_432_101)))
        nice, cookie = draw(st.sampled_from(nices)), cookies(draw, k)
        made.append(sl.Task(f"t{k}", FOREVER, cookie=cookie, cpus=cpu, start_ns=start, nice=nice))
    return Core(sl.Machine.uniform(nr_cpus, 2), kernel, tuple(made))


def served(spans, task, times):
    """How long a task has run at each of some times, ns."""
    mine = spans[spans[:, 0] == task]
    return np.clip(times[:, None] - mine[None, :, 1], 0, mine[None, :, 2] - mine[None, :, 1]).sum(axis=1)


def other_cookie(draw, k):
    """The first task's is 0 or 1, the second's 2 or 3."""
    return 2 * k + draw(st.integers(0, 1))


@settings(max_examples=60)
@given(on_a_core(st.just(2), other_cookie, nices=(0, 0, 3, -3, 5)))
def test_g14__fair_between_siblings(core):
    """Two cookies, one task each, one a sibling: by weight, at every moment since both can run.

    The bound is the sheet's for the difference of two equal tasks: 2 * (half a slice + 2 ticks) + a slice.
    """
    spans, begin = core.spans(), max(task.start_ns for task in core.tasks)
    weights = np.array([NICE_WEIGHTS[task.nice + 20] for task in core.tasks], float)
    times = np.unique(spans[:, 1:])
    times = np.concatenate([[begin], times[times > begin]])
    got = np.array([served(spans, k, times) for k in range(2)], float)
    got -= got[:, :1]
    # (of equal tasks, the difference)
    apart = np.abs(got[0] * weights[1] - got[1] * weights[0]) / weights.mean()
    assert apart.max() <= 2 * (core.slice_ns / 2 + 2 * core.kernel.tick_ns) + core.slice_ns
    assert got.sum(axis=0).max() == times[-1] - begin


@settings(max_examples=100)
@given(on_a_core(st.integers(2, 7), lambda draw, k: draw(st.integers(0, 3)), releases=("6.12", "7.2")))
def test_g15__nobody_starves(core):
    """Flat and of equal weight, n tasks on a core: each runs at least once in n * (slice + 2 ticks) + slice.

    The sheet has a slice and a tick: a turn takes a tick more where both have run equally long, and in 6.12 a slice,
    as the reference that it is measured by is up to a request old (3 slices in all were seen). With the references of
    v6.18 and 6.19 a task may starve: tests/cases/test_core_scheduling.py.
    """
    spans, n = core.spans(), len(core.tasks)
    slices = 2 if core.kernel.release == "6.12" else 1
    longest = n * (slices * core.slice_ns + 2 * core.kernel.tick_ns) + core.slice_ns
    for k, task in enumerate(core.tasks):
        mine = spans[spans[:, 0] == k]
        begins = np.concatenate([mine[:, 1], [core.until_ns]])
        ends = np.concatenate([[task.start_ns], mine[:, 2]])
        assert (begins - ends).max() <= longest
