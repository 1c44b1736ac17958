"""Laws of core scheduling that the plain reference keeps after every event (fact sheet on core scheduling, G)."""

import dataclasses
import sys
from pathlib import Path

from hypothesis import given, settings

sys.path.insert(0, str(Path(__file__).parent))

from core_strategies import core_scenarios

from schedlab.kernel import Costs
from schedlab.reference import Model

MS = 1_000_000


def states(scenario, kernel, until=15 * MS):
    """Yield the model after every event."""
    model = Model(scenario.machine, kernel, scenario.workload, scenario.seed)
    while (time_ns := model.queue.next_time()) is not None and time_ns < min(scenario.duration_ns, until):
        model.run(time_ns + 1)
        yield model


def free_cores(model):
    """Cores of which no CPU is held: who is held may run on beside another cookie, or what was picked for it waits."""
    cores = {cpu.sibling.core: None for cpu in model.cpus}
    return [core for core in cores if all(cpu.off_until + 1 < model.now or not cpu.off_until for cpu in core.cpus)]


@settings(max_examples=20)
@given(core_scenarios())
def test_g1_g5__siblings_run_one_cookie_and_idle_only_without(scenario):
    kernel = scenario.kernel.with_(costs=Costs())
    for model in states(scenario, kernel):
        for core in free_cores(model):
            for cpu in core.cpus:
                if cpu.curr is not None:
                    assert cpu.curr.cookie == core.cookie
                elif core.cookie:
                    fits = [t for t in cpu.sibling.cookied if t.cookie == core.cookie]
                    assert all(t.group.cfs_rqs[cpu.number].throttle_count for t in fits)


@settings(max_examples=20)
@given(core_scenarios())
def test_g4_g7__count_and_charges(scenario):
    """With core-pick-on-drain the count is that of CPUs that idle with something queued; what they idle is charged."""
    patches = scenario.kernel.patches | {"core-pick-on-drain"}
    kernel = dataclasses.replace(scenario.kernel, patches=patches, costs=Costs())
    for model in states(scenario, kernel):
        for core in free_cores(model):
            forced = [cpu for cpu in core.cpus if cpu.sibling.forced_since is not None]
            assert len(forced) == core.fi_count < max(2, len(core.cpus))
            assert all(cpu.curr is None and cpu.root.h_nr_queued for cpu in forced)
            assert not forced or core.fi_occupation


@settings(max_examples=20)
@given(core_scenarios())
def test_g8__lists_of_cookies(scenario):
    """In its CPU's list is who is queued or in limbo, has a cookie and is not delayed; in the order of cookies."""
    patches = scenario.kernel.patches - {"cookie-not-enqueued"}
    for model in states(scenario, dataclasses.replace(scenario.kernel, patches=patches)):
        for task in model.tasks:
            is_queued = (task.entity.on_rq or task.throttled) and not task.entity.sched_delayed
            lists = [cpu.number for cpu in model.cpus if task in cpu.sibling.cookied]
            assert lists == ([task.cpu] if is_queued and task.cookie else [])
        for cpu in model.cpus:
            order = [task.cookie for task in cpu.sibling.cookied]
            assert order == sorted(order)
