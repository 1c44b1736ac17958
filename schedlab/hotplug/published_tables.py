"""What the fits need: the published tables as plain rows, and the kernel that both series were posted on."""

import csv

from .. import _resources
from ..kernel import Kernel


def base_kernel() -> Kernel:
    """Return 7.2: where hotplug and rebuilds are concerned what both series were posted on."""
    return Kernel.version("7.2", hz=1000)


def read_published(name: str) -> list[dict[str, str]]:
    """Return the rows of one table of data/published as texts."""
    with open(_resources.data_path("published", f"{name}.csv"), encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
