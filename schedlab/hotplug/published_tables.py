"""What the fits need: the published tables as plain rows, and the kernel that both series were posted on."""

import csv

from .. import _resources
from ..kernel import Kernel
from ..patches_hotplug import REBUILD_OF_7_3


def base_kernel() -> Kernel:
    """Return a kernel that rebuilds domains as 7.3 does, on which both series are posted."""
    return Kernel.version("6.12", hz=1000).with_patch(*REBUILD_OF_7_3)


def read_published(name: str) -> list[dict[str, str]]:
    """Return the rows of one table of data/published as texts."""
    with open(_resources.data_path("published", f"{name}.csv"), encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
