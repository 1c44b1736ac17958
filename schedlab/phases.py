"""Phases of the period timers: where in the period each limited cgroup's timer fires."""

import numpy as np

from . import _check
from .cgroup import DEFAULT_PERIOD_US
from .units import NS_PER_US

# The kernel draws the phase when the cgroup is made, before any limit is written: below the default period of 100 ms,
# whatever period is configured later (fact sheet C1).
DEFAULT_PERIOD_NS = DEFAULT_PERIOD_US * NS_PER_US

# Spawn keys are (number, purpose): 0 and 1 are a task's durations, 3 the lateness of a group's timer (lowering.py).
_PHASE = 2

# golden ratio - 1, in units of 2**-64
_GOLDEN = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1


def phase_ns(kernel, seed: int, group_index: int, nr: int) -> int:
    """Return the phase of a limited group's period timer under the kernel's rule.

    Parameters
    ----------
    kernel : Kernel
        Its `timer_phase` is the rule: aligned (0), random, staggered (even spacing) or golden (low discrepancy).
    seed : int
        Seed of the run, not negative; only random looks at it.
    group_index : int
        Number of the group among the limited ones in order of creation, from 0.
    nr : int
        How many limited groups there are.

    Returns
    -------
    int
        Nanoseconds in [0, 100 ms): the timer fires at phase + k * period.

    Examples
    --------
    >>> from schedlab.kernel import Kernel
    >>> phase_ns(Kernel.version("6.1").with_patch("staggered"), 0, 1, 4)
    25000000
    """
    nr = _check.whole("nr", nr, 1)
    group_index = _check.whole("group_index", group_index, 0, nr - 1)
    rule = kernel.timer_phase
    if rule == "random":
        bits = np.random.SeedSequence(seed, spawn_key=(group_index, _PHASE)).generate_state(1, np.uint64)
        return int(bits[0]) * DEFAULT_PERIOD_NS >> 64
    if rule == "staggered":
        return group_index * DEFAULT_PERIOD_NS // nr
    if rule == "golden":
        return (group_index * _GOLDEN & _WORD) * DEFAULT_PERIOD_NS >> 64
    return 0


def group_phases(kernel, workload, seed: int) -> tuple[int, ...]:
    """Return the phase of every group of a workload in ns, in the order of its group numbers (the root's is 0).

    A group counts as limited when it has a quota at the start or an event writes one. A `phase_us` of its own
    overrides the kernel's rule, and the group keeps its place in the count.

    Examples
    --------
    >>> from schedlab.kernel import Kernel
    >>> from schedlab.workload import Group, Workload
    >>> pair = Workload(groups=(Group("/a", quota_us=20_000), Group("/b", quota_us=20_000, phase_us=7_000)))
    >>> group_phases(Kernel.version("6.1"), pair, seed=0)
    (0, 0, 7000000)
    """
    written = {event.group for event in workload.cpu_max_events if event.quota_us is not None}
    limited = [group for group in workload.groups if group.quota_us is not None or group.path in written]
    phases = {group.path: phase_ns(kernel, seed, index, len(limited)) for index, group in enumerate(limited)}
    for group in workload.groups:
        if group.phase_us is not None:
            phases[group.path] = round(group.phase_us * NS_PER_US)
    return tuple(phases.get(path, 0) for path in workload.group_paths)
