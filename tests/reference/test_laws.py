"""Laws that the plain reference keeps in every state, on random scenarios (fact sheet G1, G12, G13, G15, G16)."""

import sys
from pathlib import Path

from hypothesis import given, settings

sys.path.insert(0, str(Path(__file__).parent))

from strategies import new_scenarios, scenarios

from schedlab.reference import Model, ReferenceRun
from schedlab.workload import SetGroup


@settings(max_examples=40)
@given(scenarios())
def test_laws__after_every_event(scenario):
    model = Model(scenario.machine, scenario.kernel, scenario.workload, scenario.seed)
    until = min(scenario.duration_ns, 60_000_000)
    while (time_ns := model.queue.next_time()) is not None and time_ns < until:
        model.run(time_ns + 1)
        check_groups(model)
        check_cpus(model)


@settings(max_examples=60)
@given(new_scenarios())
def test_laws__per_task_throttling(scenario):
    model = Model(scenario.machine, scenario.kernel, scenario.workload, scenario.seed)
    until = min(scenario.duration_ns, 60_000_000)
    while (time_ns := model.queue.next_time()) is not None and time_ns < until:
        model.run(time_ns + 1)
        check_groups(model)
        check_limbo(model)
        check_cpus(model)


def check_limbo(model):
    """G13: a task in limbo is in one list, that of its own queue, and off all others; nothing else is in a list."""
    for task in model.tasks:
        lists = [q for group in model.groups for q in group.cfs_rqs if task in q.limbo]
        assert lists == ([task.entity.cfs_rq] if task.throttled else [])
        assert not (task.throttled and task.entity.on_rq)
    if not model.kernel.has("zero-runtime-at-write"):
        assert all(q.throttle_count for group in model.groups for q in group.cfs_rqs if q.limbo)


def check_groups(model):
    for group in model.groups[1:]:
        # G1: every ns that came into the pool was used, dropped, or is still there
        assert ReferenceRun(model).balance(group.path) == 0
        for q in group.cfs_rqs:
            assert q.throttle_count == throttled_above(group, q.cpu)  # G12
            if q.throttled:
                assert group.bandwidth.period_active  # G16


def throttled_above(group, cpu):
    """How many queues of the group and its ancestors are throttled on that CPU."""
    own = int(group.cfs_rqs[cpu].throttled)
    return own + (throttled_above(group.parent, cpu) if group.parent else 0)


def check_cpus(model):
    # before 7.2 a task that is moved out of a throttled group does not wake an idle CPU
    moves = any(isinstance(event, SetGroup) for event in model.workload.events)
    for cpu in model.cpus:
        # G15: no CPU idles beside its own runnable tasks, unless a resched interrupt is on its way
        if cpu.curr is None and not model.kernel.costs.ipi_ns and not (moves and not model.kernel.lag_rules_7_2):
            assert cpu.root.h_nr_runnable == 0
        if cpu.curr is not None:
            assert cpu.curr.entity.cfs_rq.curr is cpu.curr.entity
            assert cpu.active
