"""The review of the series, modelled: the boolean in place of the flag, and what is wrong with its naive form."""

from itertools import product

import pandas as pd

from ...hotplug import Offline, Online, Partition, SetQuota, State, hotplug
from ...hotplug.published_tables import base_kernel
from ...machine import Machine
from .series_a import LEVELS

GROUP = "/sandbox"
#: The shortest sequences that the naive form does not survive.
TRACES = {
    "quota while offline": (Offline(3), SetQuota(GROUP, 50_000), Online(3)),
    "quota before": (SetQuota(GROUP, 50_000), Offline(3), Online(3)),
}


def df_review() -> pd.DataFrame:
    """Return each level through the two traces, step by step.

    Columns: kernel, trace, step, operation, quota (whether the group has one), runtime_enabled (on CPU 3), online (CPU
    3), violation ("" where every invariant holds).
    """
    machine, rows = Machine.uniform(4), []
    for level, patches in LEVELS.items():
        kernel = base_kernel().with_patch(*patches)
        for trace, steps in TRACES.items():
            state = State(machine, kernel, groups=(GROUP,))
            for number, step in enumerate(steps, 1):
                done = hotplug(machine, kernel, step, state=state)
                state = done.state
                quota, enabled = state.quota_us[GROUP] is not None, bool(state.runtime_enabled[3, 0])
                said = "; ".join(done.violations)
                rows.append((level, trace, number, str(step), quota, enabled, bool(state.online[3]), said))
    columns = ["kernel", "trace", "step", "operation", "quota", "runtime_enabled", "online", "violation"]
    return pd.DataFrame(rows, columns=columns)


#: What an exhaustive search draws from: everything that touches a group's quota or CPU 3.
STEPS = (Offline(3), Online(3), SetQuota(GROUP, 50_000), SetQuota(GROUP, None), Partition((2, 3)))


def df_shortest_traces(longest: int = 3) -> pd.DataFrame:
    """Return which sequences of STEPS break an invariant at their last step, at each level.

    Every sequence of up to `longest` steps that the model allows is tried, with the group's quota set or not set
    before it.

    Columns: kernel, begins_with_quota, steps (number of operations), tried, broken, first_broken ("" where none is).
    """
    machine, rows = Machine.uniform(4), []
    for level, patches in LEVELS.items():
        kernel = base_kernel().with_patch(*patches)
        for begins in (False, True):
            begin = State(machine, kernel, groups=(GROUP,))
            if begins:
                begin.apply(SetQuota(GROUP, 50_000))
            reached = {(): begin}
            for length in range(1, longest + 1):
                reached, broken = _one_step_more(machine, kernel, reached)
                first = ", ".join(_short(step) for step in broken[0]) if broken else ""
                rows.append((level, begins, length, len(reached) + len(broken), len(broken), first))
    columns = ["kernel", "begins_with_quota", "steps", "tried", "broken", "first_broken"]
    return pd.DataFrame(rows, columns=columns)


def _one_step_more(machine, kernel, reached):
    """Return (sequences that are sound, with their states; those that are broken), each one step longer."""
    sound, broken = {}, []
    for (before, state), step in product(reached.items(), STEPS):
        try:
            done = hotplug(machine, kernel, step, state=state)
        except ValueError:  # an impossible step, such as online of a CPU that is online
            continue
        if done.violations:
            broken.append((*before, step))
        else:
            sound[*before, step] = done.state
    return sound, broken


def _short(step) -> str:
    """Return an operation as one would say it."""
    if isinstance(step, SetQuota):
        return "no quota" if step.quota_us is None else "set quota"
    cpus = step.cpus if isinstance(step, Partition) else (step.cpu,)
    return f"{type(step).__name__.lower()} {'-'.join(map(str, cpus))}"
