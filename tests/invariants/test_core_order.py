"""Core scheduling on random workloads: whose turn it is, what a late interrupt lets through, who counts as idle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cores import RELEASES, cores, kernels, scenarios, tasks
from random_scenarios import FOREVER, MS, Scenario

import schedlab as sl
from schedlab.engine.record import KINDS


def own_pick(state, cpu):
    """The EEVDF pick of a flat queue without a running task: the earliest deadline of those at or before V."""
    on = [t for t in range(len(state["task_cpu"]) - 1) if state["se_on_rq"][t] and state["task_cpu"][t] == cpu]
    weight, vruntime = state["se_weight"][on], state["se_vruntime"][on]
    total, load = int((vruntime * weight).sum()), int(weight.sum())
    eligible = [t for t in on if int(state["se_vruntime"][t]) * load <= total]
    return min((int(state["se_deadline"][t]), t) for t in eligible)


@settings(max_examples=80)
@given(scenarios(flat=True, patches=[]))
def test_g3__who_runs_beside_a_forced_idle_cpu_comes_first(scenario):
    """After a pick, what a CPU that stays forced idle would run does not beat the highest that runs beside it.

    Each against its own queue's reference; at a tie the calling CPU's. (A queue with a running task is left out: its
    protection is gone by the time that one can look, and so is a pick whose best has been replaced by the search.)
    """
    last = None
    for probe in scenario.walk():
        state = probe.state
        picks = state["cpu_nr_core_picks"].copy()
        if last is not None and (state["se_delayed"][: probe.nr_tasks] == 0).all():
            for k, core in enumerate(cores(probe)):
                made = picks[core] - last[0][core]
                forced = [c for c in core if state["cpu_forced"][c] and last[1][c] < 0 and last[2][c]]
                fresh = state["core_pick_seq"][k] == state["core_task_seq"][k]
                running = [int(probe.curr[c]) for c in core if probe.curr[c] >= 0]
                if made.sum() != 1 or not fresh or not forced or len(running) != 1:
                    continue
                (best,) = running
                for cpu in forced:
                    deadline, other = own_pick(state, cpu)
                    ahead = state["se_vruntime"][[best, other]] - state["rq_fi_snapshot"][state["se_rq"][[best, other]]]
                    assert ahead[0] <= ahead[1]
                    if ahead[0] == ahead[1]:  # from the caller on, the first
                        caller = int(np.flatnonzero(made)[0])
                        rank = {int(c): (i - caller) % len(core) for i, c in enumerate(core)}
                        assert rank[int(state["task_cpu"][best])] < rank[int(cpu)]
        last = picks, probe.curr.copy(), state["cpu_forced"].copy() != 0


@st.composite
def late(draw):
    """Scenarios whose interrupts take 1 to 50 us, and the time they take."""
    scenario, ipi_ns = draw(scenarios(flat=True)), draw(st.sampled_from((1_000, 5_000, 50_000)))
    kernel = scenario.kernel.with_(costs=sl.Costs(ipi_ns=ipi_ns))
    work = scenario.workload.replace(events=())
    return Scenario(scenario.machine, kernel, work, scenario.seed, scenario.until_ns), ipi_ns


@settings(max_examples=60)
@given(late())
def test_g1_g2__with_late_interrupts(drawn):
    """Siblings run different cookies only until the interrupt of the last pick arrives; what waits fits the core.

    (Who is interrupted may pick anew, and win: then it is the first one's turn to be interrupted.)
    """
    scenario, ipi_ns = drawn
    picked, picks_then = {}, {}
    for probe in scenario.walk():
        state, cookie = probe.state, probe.state["task_cookie"]
        for k, core in enumerate(cores(probe)):
            picks = int(state["cpu_nr_core_picks"][core].sum())
            if picks != picks_then.get(k, 0):
                picked[k], picks_then[k] = probe.now, picks
            running = {int(cookie[probe.curr[c]]) for c in core if probe.curr[c] >= 0}
            assert len(running) < 2 or probe.now - picked[k] <= ipi_ns
            if state["core_pick_seq"][k] == state["core_task_seq"][k]:
                waiting = [int(t) for t in state["cpu_core_pick"][core] if t >= 0]
                assert {int(cookie[t]) for t in waiting} <= {int(state["core_cookie"][k])}


@settings(max_examples=100)
@given(scenarios(balances=("kernel",)))
def test_g20__forced_idle_is_not_idle(scenario):
    """A wake-up, a push or an active balance puts nothing on a CPU that is forced idle, but a task on its last CPU.

    (The plain placement of balance="simple" takes one for idle that has only delayed tasks queued.)
    """
    kinds = ("wake", "push", "active_balance", "forced_idle")
    forced, where = set(), {}
    for probe in scenario.walk(log=kinds):
        state = probe.state
        for record in probe.drain():
            kind, cpu, task = KINDS[int(record["kind"])], int(record["cpu"]), int(record["a"])
            if kind == "forced_idle":
                (forced.add if task else forced.discard)(cpu)
            elif kind == "wake":
                assert cpu not in forced or cpu == where[task] or scenario.workload.tasks[task].cpus
            else:
                assert cpu not in forced or "lb-force-idle-destination" in scenario.kernel.patches
        where = {t: int(c) for t, c in enumerate(state["task_cpu"][: probe.nr_tasks])}
        assert forced == set(np.flatnonzero(state["cpu_forced"]))
        assert (state["rq_h_nr"][: probe.nr_cpus][state["cpu_forced"] != 0] > 0).all()


@st.composite
def spreadable(draw):
    """As many tasks of one cookie, or none, as CPUs or fewer, all on one CPU until they may run anywhere."""
    nr_cpus, smt = draw(st.sampled_from(((4, 1), (4, 2), (8, 2), (8, 4))))
    machine = sl.Machine.uniform(nr_cpus, smt, nr_llcs=draw(st.sampled_from((1, 2))))
    cookie, nr = draw(st.sampled_from((0, 1))), draw(st.integers(2, nr_cpus))
    kernel = draw(kernels([], RELEASES, ("kernel",)))
    work = [sl.Task(f"t{k}", FOREVER, cookie=cookie, cpus=draw(st.integers(0, 1))) for k in range(nr)]
    free = [sl.SetAffinity(draw(st.integers(1, 20 * MS)), task.name, tuple(range(nr_cpus))) for task in work]
    return Scenario(machine, kernel, sl.Workload(tasks=work, events=free), 0, 900 * MS)


@settings(max_examples=60)
@given(spreadable())
def test_g13__no_cpu_stays_idle_while_tasks_wait(scenario):
    """The kernel's balancing: everybody runs within a few of the longest intervals (pinned: 512 ms at most)."""
    run = scenario.run(log=("switch",))
    late = run.spans()[lambda table: table["end_ns"] == scenario.until_ns]
    assert set(late["task"]) == {task.name for task in scenario.workload.tasks}


@settings(max_examples=30)
@given(tasks(8), st.sampled_from(RELEASES), st.sampled_from(("simple", "kernel")))
def test_g16__cookies_that_never_meet(drawn, release, balance):
    """Tasks pinned so that no core has two cookies: nobody is forced idle, whoever balances."""
    made = [sl.Task(t.name, t.program, cookie=1 + k % 4, cpus=2 * (k % 4) + k // 4 % 2) for k, t in enumerate(drawn)]
    kernel = sl.Kernel.version(release, balance=balance)
    run = sl.simulate(sl.Machine.uniform(8, 2), kernel, sl.Workload(tasks=made), 40 * MS)
    assert run.core_table["nr_forced_idle"].sum() == 0
