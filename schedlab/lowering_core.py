"""What lowering does for core scheduling and balancing: switches, cookies, scheduling domains, table of decay."""

from __future__ import annotations

import numpy as np

from .engine.core_sched import NO_PICK
from .engine.pelt import FRACTION
from .machine import levels_of

#: Switches of the engine and the patch that sets each.
_PATCH_SWITCHES = {
    "core_sorted": "core-tree-sorted",
    "pick_on_drain": "core-pick-on-drain",
    "no_snapshot": "no-forceidle-snapshot",
    "no_fi_tick": "no-forceidle-tick",
    "unlisted": "cookie-not-enqueued",
    "push": "force-idle-push",
    "push_recheck": "push-recheck",
    "push_skip_pick": "push-skip-core-pick",
    "push_skip_delayed": "push-skip-delayed",
    "push_quality": "push-by-quality",
    "wake_cookie": "wake-cookie-check",
    "lb_fi_source": "lb-force-idle-source",
    "lb_fi_dest": "lb-force-idle-destination",
    "lb_no_split": "lb-keep-cookies-together",
    "no_steal": "no-force-idle-steal",
    "no_active": "lb-no-active-balance",
}

#: 2**(-k/1024) in units of 2**-20; made once, as it costs more than a small simulation.
_DECAY = np.array([round(2**20 * 2 ** (-k / 1024)) for k in range(1024)])


def domain_lengths(machine, nr_tasks) -> dict[str, int]:
    """Lengths of the records of domains."""
    nr_cpus, nr_levels = machine.nr_cpus, max(1, len(levels_of(machine)))
    return {
        "dom": nr_levels * nr_cpus,
        "span": nr_levels * nr_cpus,
        "level": nr_levels,
        "sg": 3,
        "pelt": nr_cpus,
        "decay": 1024,
        "waker": nr_tasks + nr_cpus,
    }


def fill_core(state, machine, kernel, workload):
    """Fill the records of core scheduling and balancing."""
    sys, cpu, tasks = state.arrays["sys"], state.arrays["cpu"], state.arrays["task"]
    nr_tasks = len(workload.tasks)
    sys["core_sched"] = workload.core_scheduling
    sys["balance_kernel"] = kernel.balance == "kernel"
    sys["fi_min"] = workload.core_scheduling and kernel.forceidle_snapshot == "min"
    # zero_vruntime of 6.18.y and 6.19 moves with the tree, that of 6.12.y and 7.2 is the v0 of the sums
    moves_with_tree = kernel.forceidle_snapshot == "zero" and kernel.vprot and not kernel.lag_rules_7_2
    sys["fi_tree"] = workload.core_scheduling and moves_with_tree
    sys["core_newidle"] = kernel.core_newidle
    for switch, patch in _PATCH_SWITCHES.items():
        sys[switch] = kernel.has(patch)
    sys["nr_online"] = machine.nr_cpus
    cpu["push_to"] = -1
    cpu["core_pick"], cpu["core_head"], cpu["core_sched_seq"] = NO_PICK, -1, -1
    cpu["lb_seen"] = cpu["lb_skip"] = 0
    members = [c for core in machine.cores for c in core]
    state["pos_in_core"][members] = np.arange(machine.nr_cpus)
    for t, task in enumerate(workload.tasks):
        tasks["cookie"][t] = workload.cookie_of(task)
        tasks["load"][t] = int(state["se_weight"][t]) << FRACTION
    tasks["core_next"] = tasks["core_prev"] = -1
    state["waker_last"][:] = -1
    state["decay_factor"][:] = _DECAY
    assert nr_tasks + machine.nr_cpus == len(state["waker_last"])
    _fill_domains(state, machine)


def _fill_domains(state, machine):
    nr_cpus, levels = machine.nr_cpus, levels_of(machine)
    state["sys_nr_domains"][0] = len(levels)
    for k, level in enumerate(levels):
        row = state.arrays["level"][k]
        row["pct"], row["tries"] = (110, 0) if level.name == "SMT" else (117, 2 if level.name == "NUMA" else 1)
        row["numa"] = level.name == "NUMA"
        row["smt"], row["shares_llc"] = level.name == "SMT", level.name in ("SMT", "MC")
        row["prefer_sibling"] = k > 0 and levels[k - 1].name != "NUMA"
        at = k * nr_cpus
        for span in level.spans:
            for n, c in enumerate(span):
                dom = state.arrays["dom"][k * nr_cpus + c]
                dom["first"], dom["nr"], dom["pos"], dom["interval"] = at, len(span), at + n, len(span)
            state["span_cpu"][at : at + len(span)] = span
            at += len(span)
