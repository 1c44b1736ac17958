"""The review of the series, modelled: the boolean in place of the flag, and what is wrong with its naive form."""

import pandas as pd

from ...hotplug import Offline, Online, SetQuota, State, hotplug
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
