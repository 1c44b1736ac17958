"""CPU hotplug and sched-domain rebuilds: what they make the kernel do, counted exactly, and what that costs.

`hotplug` predicts one operation, `ramp` all CPUs off and on again, `State` keeps what lies between operations. The
sub-modules: ``topology`` (domains), ``counts`` (compiled), ``rebuild`` and ``state`` (the kernel's steps), ``grace``
(grace periods), ``vmstat``, ``invariants``, ``costs``, ``fit`` and ``heldout`` (unit costs from published numbers).
"""

from .costs import CostTable
from .grace import Pace
from .operations import Isolate, Member, Offline, Online, Partition, SetQuota, parse_operation
from .predict import Prediction, hotplug
from .ramp import Ramp, ramp
from .running import as_events
from .state import State
from .work import COUNTS, Work

__all__ = [
    "COUNTS",
    "CostTable",
    "Isolate",
    "Member",
    "Offline",
    "Online",
    "Pace",
    "Partition",
    "Prediction",
    "Ramp",
    "SetQuota",
    "State",
    "Work",
    "as_events",
    "hotplug",
    "parse_operation",
    "ramp",
]
