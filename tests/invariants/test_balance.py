"""The kernel's balancing on random workloads: no task gets lost or goes where it may not, and no CPU stays idle."""

import math
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cores import RELEASES
from random_scenarios import FOREVER, MS, Scenario, scenarios

import schedlab as sl
from schedlab.engine.record import KINDS

ANY_CPU = -1


def listed(state, nr_cpus):
    """The tasks in each CPU's list, in its order."""
    lists = []
    for cpu in range(nr_cpus):
        task, found = int(state["cpu_tasks_head"][cpu]), []
        while task >= 0:
            found.append(task)
            task = int(state["task_link_next"][task])
        lists.append(found)
    return lists


def may_run(state, task, cpu):
    """Whether a task's affinity holds a CPU."""
    mask, words = int(state["task_mask"][task]), int(state["sys_mask_words"][0])
    return mask == ANY_CPU or bool(int(state["word_bits"][mask * words + (cpu >> 5)]) >> (cpu & 31) & 1)


@settings(max_examples=60)
@given(scenarios(("6.1", "6.12", "6.18", "7.2"), writes=True))
def test_balance__tasks_are_conserved_and_stay_where_they_may_run(scenario):
    """After each event a queued task is in the list of its CPU, once, and was moved only where its affinity allows."""
    scenario = Scenario(scenario.machine, scenario.kernel.with_(balance="kernel"), scenario.workload, scenario.seed)
    for probe in scenario.walk(log=("migrate", "active_balance")):
        state, nr_tasks = probe.state, probe.nr_tasks
        lists = listed(state, probe.nr_cpus)
        on_rq = {t for t in range(nr_tasks) if state["se_on_rq"][t]}
        assert Counter(t for tasks in lists for t in tasks) == Counter(on_rq)
        assert all(state["task_cpu"][t] == cpu for cpu, tasks in enumerate(lists) for t in tasks)
        last = {int(r["a"]): int(r["cpu"]) for r in probe.drain() if KINDS[int(r["kind"])] == "migrate"}
        assert all(may_run(state, task, cpu) for task, cpu in last.items())
        assert not np.any(state["cpu_push_to"] >= 0)


@st.composite
def crowds(draw):
    """Hogs on one CPU of a flat machine until they may run anywhere, at a time before its second balance."""
    nr_cpus = draw(st.sampled_from((2, 3, 4, 8)))
    kernel = sl.Kernel.version(draw(st.sampled_from(("6.6", *RELEASES))), hz=draw(st.sampled_from((100, 250, 1000))))
    kernel = kernel.with_(balance="kernel", skew_tick=draw(st.booleans()))
    cpu, free_ns = draw(st.integers(0, nr_cpus - 1)), draw(st.integers(1, 3 * MS))
    nice = draw(st.sampled_from((0, 0, 19, -20)))
    hogs = [sl.Task(f"t{k}", FOREVER, cpus=cpu, nice=nice) for k in range(draw(st.integers(2, nr_cpus + 2)))]
    free = [sl.SetAffinity(free_ns, task.name, tuple(range(nr_cpus))) for task in hogs]
    # a CPU that was crowded a moment ago looks busier than one with more tasks, and hides it, until that one's averages
    # have caught up: running for 94 ms is being busy (1023 * (1 - 2^(-94/33.6)) * 117 > 1024 * 100)
    tick, longest = kernel.tick_ns, 2 * nr_cpus * MS
    until_ns = free_ns + 94 * MS + (2 * math.ceil(longest / tick) + 2) * tick
    return Scenario(sl.Machine.uniform(nr_cpus), kernel, sl.Workload(tasks=hogs, events=free), 0, until_ns)


@settings(max_examples=60)
@given(crowds())
def test_balance__no_cpu_of_a_flat_machine_stays_idle_beside_tasks_that_wait(scenario):
    """Once averages have caught up, and two of the longest intervals more, every CPU or every task runs."""
    *_, probe = scenario.walk()
    nr_running = int((probe.curr[: probe.nr_cpus] >= 0).sum())
    assert nr_running == min(probe.nr_tasks, probe.nr_cpus)
