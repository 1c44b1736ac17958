"""What the tests of hotplug share."""

import numpy as np
import pytest


def _snapshot(state):
    """Return all that a State holds as one text, so that states can be compared."""
    parts = []
    for name, value in sorted(vars(state).items()):
        if name in ("machine", "kernel", "mechanisms"):
            continue
        if name == "thresholds":
            value = value.of_cpu
        parts.append(f"{name}: {value.tolist() if isinstance(value, np.ndarray) else value}")
    return "\n".join(parts)


@pytest.fixture(scope="session")
def snapshot():
    return _snapshot
