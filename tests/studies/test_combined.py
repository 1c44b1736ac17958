"""All patches at once: which are switched, when CPUs go and come, and how effects are read off runs."""

import numpy as np
import pandas as pd
import pytest

from schedlab.events import HoldCpu, SetCpuOnline
from schedlab.patches import PATCHES
from schedlab.studies import combined as study
from schedlab.studies.combined import follow, host
from schedlab.studies.combined.factors import NOT_SAID
from schedlab.studies.combined.runs import DURATION_NS
from schedlab.studies.throttling_unification.statistics import mean_interval


def synthetic(effect, seeds=4, noise=0.0):
    """Runs of all cells whose responses are effect(on), with noise of zero mean over the seeds."""
    rows = []
    for cell in study.factorial():
        for seed in range(seeds):
            off = noise * (2 * (seed % 2) - 1)
            found = {response.column: effect(cell.on) + off for response in study.RESPONSES}
            rows.append(
                {"cell": cell.name, "label": "", "design": True}
                | {name: name in cell.on for name in study.FACTORS}
                | {"seed": seed}
                | found
            )
    return pd.DataFrame(rows)


def test_factors__all_switched_on_one_row_and_alone():
    base = study.base_kernel()
    assert not base.patches & set().union(*study.FACTORS.values())
    cells = study.factorial()
    assert len({cell.kernel for cell in cells}) == 64
    assert cells[0].kernel == base and cells[-1].on == study.ALL
    assert base.timer_phase == "aligned" and base.throttle_model == "queue" and base.core_scheduling
    everything = cells[-1].kernel
    assert everything.timer_phase == "random" and everything.throttle_model == "accounting"


def test_patches__none_is_forgotten():
    table = study.df_patches()
    assert list(table["patch"]) == list(PATCHES) and NOT_SAID not in set(table["what"])
    assert table["here"].value_counts()["factor"] == sum(len(patches) for patches in study.FACTORS.values())


def test_others__each_alone_and_with_all():
    kernels = {cell.label: [c.kernel for c in study.others() if c.label == cell.label] for cell in study.others()}
    for label, (alone, both) in kernels.items():
        assert alone != both and study.base_kernel() not in (alone, both), label


def test_workload__is_a_host_of_1000_groups_and_three_kinds_of_cookies():
    work = study.workload()
    assert len(work.groups) == 1000 and work.core_scheduling
    cookies = {task.label: {work.cookie_of(t) for t in work.tasks if t.label == task.label} for task in work.tasks}
    assert cookies["front"] == {0} and not cookies["batch"] & cookies["vm"]


def test_steps__one_after_the_other_and_faster_with_each_series():
    took = {}
    for on in ((), ("walks",), ("large",), ("walks", "large")):
        kernel = study.Cell(frozenset(on)).kernel
        steps = follow.steps(kernel, 3)
        assert all(a.end_ns <= b.begin_ns for a, b in zip(steps, steps[1:]))
        assert all(step.begin_ns <= step.active_ns <= step.end_ns for step in steps)
        took[on] = follow.ramps_ns(kernel, 3)
    assert took["walks", "large"] < took["walks",] < took[()] and took["walks", "large"] < took["large",] < took[()]


def test_events__holds_of_the_executing_cpu_are_what_is_counted():
    """Calls, dl_clear_root_domain() and the rendezvous hold CPU 0, each for its length; explicit calls hold another."""
    kernel = study.base_kernel()
    events = follow.events(kernel, 0, DURATION_NS)
    own = sum(event.duration_ns for event in events if isinstance(event, HoldCpu) and event.cpu == 0)
    done = [step.operation for step in follow.steps(kernel, 0) if step.active_ns < DURATION_NS]
    assert own == sum(sum(one.calls_ns) + one.dl_ns + one.rendezvous_ns for one in done)
    elsewhere = sum(one.explicit_ns + (len(one.online) - 1) * one.rendezvous_ns for one in done)
    assert follow.irq_off(kernel, 0, DURATION_NS)["total_ns"] == own + elsewhere
    assert sum(isinstance(event, SetCpuOnline) for event in events) == len(done)


def test_events__the_rendezvous_holds_all_that_are_online():
    kernel = study.Cell(frozenset({"walks"})).kernel
    first = next(step for step in follow.steps(kernel, 0) if step.operation.comes)
    at = first.active_ns - first.operation.rendezvous_ns
    held = {e.cpu for e in follow.events(kernel, 0, DURATION_NS) if isinstance(e, HoldCpu) and e.at_ns == at}
    assert held == set(range(host.CPUS)) - set(follow.LEAVING)


def test_interval__of_three_by_hand():
    """Mean 2, sd 1, t(0.975, 2) = 4.303: 2 -+ 4.303 / sqrt(3)."""
    mean, low, high = mean_interval([1.0, 2.0, 3.0])
    assert (mean, low, high) == pytest.approx((2.0, 2 - 2.4843, 2 + 2.4843), abs=1e-3)


def test_effects__of_a_sum_and_a_product():
    """y = 10 + 3 push + 2 walks + 4 push walks: main effects 3 + 2 and 2 + 2, one interaction of 4."""

    def effect(on):
        push, walks = "push" in on, "walks" in on
        return 10 + 3 * push + 2 * walks + 4 * push * walks

    runs = synthetic(effect, noise=0.5)
    main = study.df_effects(runs).query("response == 'watts'").set_index("factor")
    assert main.loc["push", "effect"] == pytest.approx(5) and main.loc["walks", "effect"] == pytest.approx(4)
    assert not main.drop(["push", "walks"])["nonzero"].any() and main.loc["push", "percent"] == pytest.approx(50)
    pairs = study.df_interactions(runs).query("response == 'watts'")
    (found,) = pairs[pairs["nonzero"]].itertuples()
    assert (found.first, found.second) == ("push", "walks") and found.interaction == pytest.approx(4)
    assert (found.first_without, found.first_with, found.second_without, found.second_with) == (3, 7, 2, 6)
    steps = study.df_steps(runs).query("response == 'watts'").set_index(["step", "factor"])["difference"]
    assert steps["alone", "push"] == pytest.approx(3) and steps["last", "push"] == pytest.approx(7)
    assert steps["together", ""] == pytest.approx(9) and steps["sum of alone", ""] == pytest.approx(5)


def test_effects__half_of_the_factorial_gives_the_same():
    rng = np.random.default_rng(1)
    one = dict(zip(study.FACTORS, rng.normal(size=6)))
    runs = synthetic(lambda on: 5 + sum(one[name] for name in on) + ("push" in on) * ("LB-c" in on))
    half = runs.assign(design=runs[list(study.FACTORS)].sum(axis=1) % 2 == 0)
    for table, value in ((study.df_effects, "effect"), (study.df_interactions, "interaction")):
        assert np.allclose(table(runs)[value], table(half)[value])


@pytest.mark.parametrize(("quick", "cells"), [(False, 64 + 16), (True, 32 + 12)])
def test_scope__base_all_alone_and_left_out_are_always_run(quick, cells):
    scope = study.Scope.of(seeds=8, quick=quick)
    assert len(scope.cells) == len(set(scope.cells)) == cells
    on = {cell.on for cell in scope.cells if not cell.label}
    assert {frozenset(), study.ALL} <= on
    assert all({frozenset({name}), study.ALL - {name}} <= on for name in study.FACTORS)


def test_scope__refuses_in_one_line():
    with pytest.raises(ValueError, match=r"seeds=1: at least 2"):
        study.Scope.of(seeds=1)
