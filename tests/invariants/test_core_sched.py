"""Core scheduling on random workloads: invariants of siblings, cookies, steals and pushes after every event."""

import numpy as np
from hypothesis import given, settings
from random_cores import (
    NO_PICK,
    check_accounting,
    check_lists,
    check_siblings,
    cores,
    may_run,
    plain,
    queued,
    scenarios,
)

from schedlab.engine.record import KINDS
from schedlab.simulate import Simulation


@settings(max_examples=40)
@given(scenarios())
def test_g1_g2_g5_g6__siblings(scenario):
    """Siblings run tasks of the core's cookie alone; none idles that has a task of it, unless the cookie is 0."""
    for probe in scenario.walk():
        check_siblings(probe)


@settings(max_examples=40)
@given(scenarios(patches=["core-pick-on-drain"]))
def test_g4__count_of_forced_idle(scenario):
    """The count is the number of siblings that picked idle with something queued, and somebody runs beside them."""
    for probe in scenario.walk():
        state = probe.state
        for k, core in enumerate(cores(probe)):
            forced = int(state["cpu_forced"][core].sum())
            assert forced == state["core_fi_count"][k] <= len(core) - 1
            assert forced == sum(probe.curr[c] < 0 and state["rq_h_nr"][c] > 0 for c in core)
            assert forced == 0 or state["core_fi_occupation"][k] >= 1


@settings(max_examples=40)
@given(scenarios())
def test_g8__lists_of_tasks(scenario):
    """A task is in one place: running, queued on one CPU, or blocked; and in the list of cookies where it belongs."""
    for probe in scenario.walk():
        check_lists(probe)


@settings(max_examples=40)
@given(scenarios())
def test_g7__accounting(scenario):
    """What tasks are charged is the integral of the count, within the rounding; a CPU is busy, forced idle or idle."""
    sim = Simulation(scenario.machine, scenario.kernel, scenario.workload, seed=scenario.seed)
    sim.advance(scenario.until_ns)
    check_accounting(sim)


class Replay:
    """Who runs and who is forced idle, from the log."""

    def __init__(self, probe):
        self.running = [-1] * probe.nr_cpus
        self.forced: dict[int, int] = {}
        self.kinds = dict(enumerate(KINDS))

    def note(self, record):
        kind, cpu = self.kinds[int(record["kind"])], int(record["cpu"])
        if kind == "switch":
            self.running[cpu] = int(record["b"])
        elif kind == "forced_idle":
            self.forced.pop(cpu, None)
            if record["a"]:
                self.forced[cpu] = int(record["b"])
        return kind


@settings(max_examples=60)
@given(scenarios())
def test_g10_g11__steals_and_pushes(scenario):
    """A steal fits the core that was forced idle, a push leaves such a CPU for an idle one of another core.

    Neither moves a running task; affinity holds; one a callback.
    """
    core_of = scenario.machine.core_of
    for probe in scenario.walk(log=("steal", "push", "switch", "forced_idle")):
        if probe.now == 0 and not hasattr(probe, "replay"):
            probe.replay = Replay(probe)
        replay = probe.replay
        for record in probe.drain():
            kind = replay.note(record)
            if kind not in ("steal", "push"):
                continue
            task, dst, src = int(record["a"]), int(record["cpu"]), int(record["b"])
            assert may_run(probe, task, dst) and dst != src
            assert replay.running[dst] < 0 and task not in replay.running
            if kind == "steal":
                assert dst in replay.forced and probe.state["task_cookie"][task] != 0
            else:
                assert core_of[dst] != core_of[src]
                assert src in replay.forced and replay.running[src] < 0 and dst not in replay.forced
        moved = probe.state["cpu_nr_steals"] + probe.state["cpu_nr_pushes"]
        assert (moved <= probe.state["cpu_nr_core_balances"]).all()
        if "force-idle-push" not in scenario.kernel.patches:
            assert (probe.state["cpu_nr_pushes"] == 0).all()


@settings(max_examples=40)
@given(scenarios(patches=["force-idle-push"]))
def test_g12_g13__push_makes_progress(scenario):
    """After a callback in vain no idle core is left that a task of the forced-idle CPU may use.

    (G13 with push: what is left over is left for as long as one callback.)
    """
    last = None
    for probe in scenario.walk():
        state = probe.state
        now = {name: state[f"cpu_{name}"].copy() for name in ("nr_core_balances", "nr_steals", "nr_pushes")}
        if last is not None and (now["nr_steals"] == last["nr_steals"]).all():
            in_vain = (now["nr_core_balances"] > last["nr_core_balances"]) & (now["nr_pushes"] == last["nr_pushes"])
            idle = (probe.curr < 0) & (state["rq_h_nr"][: probe.nr_cpus] == 0)
            free = [c for core in cores(probe) if idle[core].all() for c in core]
            for c in np.flatnonzero(in_vain & (state["cpu_forced"] != 0)):
                for t in queued(state, c):
                    group = int(state["task_group"][t]) * probe.nr_cpus
                    assert not [f for f in free if may_run(probe, t, f) and not state["rq_throttle_count"][group + f]]
        last = now


@settings(max_examples=40)
@given(scenarios())
def test_g9__sequence_numbers(scenario):
    """Numbers of a core's changes grow, with each of its picks and with each task that comes or goes.

    A pick waits only for a CPU that is to reschedule, or is void.
    """
    last = None
    for probe in scenario.walk():
        state, n = probe.state, probe.nr_tasks
        core_of = state["cpu_core"]
        seq = state["core_task_seq"].copy()
        where = np.where(
            (state["se_on_rq"][:n] != 0) & (state["se_delayed"][:n] == 0), core_of[state["task_cpu"][:n]], -1
        )
        picks = np.bincount(core_of, weights=state["cpu_nr_core_picks"], minlength=len(seq))
        waiting = state["cpu_core_pick"] != NO_PICK
        void = state["core_task_seq"][core_of] != state["core_pick_seq"][core_of]
        assert (~waiting | void | (state["cpu_need_resched"] != 0)).all()
        if last is not None:
            assert (seq - last[0] >= picks - last[1]).all()
            for t in np.flatnonzero((where != last[2]) & (state["task_throttled"][:n] == 0) & last[3]):
                for k in {int(where[t]), int(last[2][t])} - {-1}:
                    assert seq[k] > last[0][k]
        last = seq, picks, where, state["task_throttled"][:n] == 0


@settings(max_examples=40)
@given(scenarios())
def test_g19__snapshot_stays_in_an_episode(scenario):
    """During one episode of force idle a queue's reference of virtual time does not change."""
    last = None
    for probe in scenario.walk():
        state = probe.state
        core_of = state["cpu_core"][state["rq_cpu"]]
        seq, count = state["core_fi_seq"][core_of], state["core_fi_count"][core_of]
        now = (seq.copy(), (state["rq_fi_seq"] == seq) & (count > 0), state["rq_fi_snapshot"].copy())
        if last is not None:
            same = (last[0] == now[0]) & last[1] & now[1]
            assert (last[2][same] == now[2][same]).all()
        last = now


@settings(max_examples=30)
@given(plain(0, pinned=True))
def test_g16__without_cookies_nothing_changes(scenario):
    """Core scheduling that is on, but without a cookie, gives the schedule of core scheduling that is off.

    Pinned: where tasks can be pulled, 6.18 differs in one thing. A CPU whose last task leaves a delayed dequeue behind
    has something queued before the pick, so that core scheduling, which balances there, does not.
    """
    kinds = ("switch", "wake", "block", "migrate", "start")
    logs = []
    for on in (0, 1):
        sim = Simulation(scenario.machine, scenario.kernel, scenario.workload, seed=scenario.seed, log=kinds)
        sim.state["sys_core_sched"][0] = on
        sim.state["sys_core_newidle"][0] = 1
        sim.advance(scenario.until_ns)
        logs.append(sim.result().log)
    assert (logs[0] == logs[1]).all()


@settings(max_examples=30)
@given(plain(5))
def test_g16__one_cookie_never_forces_idle(scenario):
    """With one cookie for all nobody is forced idle."""
    run = scenario.run()
    assert run.core_table["nr_forced_idle"].sum() == 0
    assert run.cookie_table["forceidle_ns"].sum() == 0
