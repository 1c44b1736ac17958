"""Core scheduling on random workloads while CPUs go offline and come back, or are held with interrupts off."""

import numpy as np
from hypothesis import given, settings
from random_cores import check_accounting, check_lists, check_siblings, disturbed

from schedlab.simulate import Simulation


def check_offline(probe):
    """Nothing runs on a CPU that is offline, and nothing is queued there, also for the core's pick."""
    state = probe.state
    gone = state["cpu_active"] == 0
    assert (probe.curr[gone] < 0).all() and (state["cpu_forced"][gone] == 0).all()
    assert (state["rq_h_nr"].reshape(-1, probe.nr_cpus)[:, gone] == 0).all()
    assert (state["cpu_core_head"][gone] < 0).all() and (state["cpu_tasks_tail"][gone] < 0).all()
    for k, core in enumerate(probe.sim.machine.cores):
        first, nr = state["core_first"][k], state["core_nr"][k]
        assert state["map_core_cpu"][first : first + nr].tolist() == [c for c in core if not gone[c]]


@settings(max_examples=60)
@given(disturbed(offline=True, held=False))
def test_hotplug__siblings_and_lists(scenario):
    """G1, G2, G5 and G8 hold, of the siblings that are online."""
    for probe in scenario.walk():
        check_offline(probe)
        check_siblings(probe)
        check_lists(probe)


@settings(max_examples=40)
@given(disturbed(offline=True, held=False))
def test_hotplug__accounting(scenario):
    """G7 holds."""
    check_books(scenario)


@settings(max_examples=40)
@given(disturbed(offline=True, held=True))
def test_hold__accounting(scenario):
    """G7 holds, also where a sibling of the CPU that goes is held and picks later."""
    check_books(scenario)


def check_books(scenario):
    sim = Simulation(scenario.machine, scenario.kernel, scenario.workload, seed=scenario.seed)
    sim.advance(scenario.until_ns)
    check_accounting(sim)


@settings(max_examples=60)
@given(disturbed(offline=True, held=True))
def test_hold__siblings_and_lists(scenario):
    """A held CPU does not switch (its task may be taken from it); cores without one keep G1, G2 and G5.

    Its moment of release counts as held: whoever else has an event at that time may come first.
    """
    last = None
    for probe in scenario.walk():
        state = probe.state
        held = state["cpu_held_until"] >= probe.now
        check_offline(probe)
        check_lists(probe)
        check_siblings(probe, skip=set(np.flatnonzero(held)))
        inside = state["cpu_held_until"] > probe.now
        if last is not None:
            still = inside & last[0]
            assert (state["cpu_nr_schedules"][still] == last[1][still]).all()
            assert ((probe.curr == last[2]) | (probe.curr < 0))[still].all()
        last = inside.copy(), state["cpu_nr_schedules"].copy(), probe.curr.copy()
