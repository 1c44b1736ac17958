"""Which patches are switched, on which kernel, and what becomes of every other patch of the package."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import pandas as pd

from ...kernel import Costs, Kernel
from ...patches import PATCHES, THROTTLE_SERIES
from ...patches_hotplug import (
    EXPEDITE,
    FUSE_DYING,
    FUSE_REBUILD,
    HOTPLUG_ONLY,
    HOTPLUG_ONLY_NAIVE,
    LARGE_SYSTEMS,
    REBUILD_OF_6_18,
    SKIP_NODE_LOCK,
    SKIP_OFFLINE_WALKS,
    SKIP_VALID_RESYNC,
)
from ..throttling_unification.scenario import CONTEXT_SWITCH_NS
from ..throttling_unification.unthrottle import price_ns

#: The row on which all of them can be switched: it has core scheduling, EEVDF and the per-task throttle.
RELEASE = "6.18"
PER_TASK = "per-task-throttle"
#: The factors by name: patches that are on or off together.
FACTORS: dict[str, tuple[str, ...]] = {
    "interleave": ("interleave-timers",),
    "throttle": (PER_TASK, *sorted(THROTTLE_SERIES)),
    "push": ("force-idle-push",),
    "LB-c": ("lb-keep-cookies-together",),
    "walks": (SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC),
    "large": LARGE_SYSTEMS,
}
MEANING = {
    "interleave": "period timers at random phases (6.4)",
    "throttle": "per-task throttling (6.18) and its four follow-ups (7.2), in place of throttling whole queues",
    "push": "push tasks on force idle (posted)",
    "LB-c": "balancing keeps siblings of one cookie together (a reading of a series whose text was not found)",
    "walks": "hotplug series A: no group walks for CPUs that stay (posted)",
    "large": "hotplug series B: eight patches for large systems (posted)",
}
ALL = frozenset(FACTORS)
#: In every kernel of the study beyond its row: the patch of wake-ups that the push was measured on.
ALWAYS = ("wake-cookie-check",)


@dataclass(frozen=True)
class Cell:
    """A kernel of the study: which factors are on, and what is added or taken away beside them.

    Attributes
    ----------
    on : frozenset of str
        Names of FACTORS.
    plus, minus : tuple of str
        Patches on top, and patches taken away.
    label : str
        What it is called beside the factorial; "" for a cell of it.
    """

    on: frozenset[str]
    plus: tuple[str, ...] = ()
    minus: tuple[str, ...] = ()
    label: str = ""

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        patches = base_kernel().patches.union(*(FACTORS[name] for name in self.on)) - set(self.minus) | set(self.plus)
        kernel = base_kernel()
        return kernel.without_patch(*kernel.patches).with_patch(*patches)

    @property
    def name(self) -> str:
        """The factors that are on, in order."""
        return " + ".join(name for name in FACTORS if name in self.on) or "none"


@lru_cache(maxsize=1)
def base_kernel() -> Kernel:
    """Return the kernel with every factor off.

    Prices are those of the throttling study; grace periods are expedited, as where series B was measured.
    """
    price = round(price_ns())
    costs = Costs(context_switch_ns=CONTEXT_SWITCH_NS, distribute_ns=price, walk_ns=price, enqueue_ns=price)
    kernel = Kernel.version(RELEASE, balance="kernel", rcu_expedited=True, costs=costs)
    switched = kernel.patches.intersection(*(set().union(*FACTORS.values()),))
    return kernel.without_patch(*switched).with_patch(*ALWAYS)


def factorial() -> list[Cell]:
    """Return the 64 cells of the full factorial: base first, all together last."""
    names = list(FACTORS)
    return [
        Cell(frozenset(name for name, level in zip(names, levels) if level))
        for levels in product((0, 1), repeat=len(names))
    ]


#: Other patches, one at a time: (label, factors that make way, patches on top, patches taken away).
_OTHERS = (
    ("staggered timers in place of random ones", "interleave", ("staggered",), ()),
    ("per-task throttle without the follow-ups", "throttle", (PER_TASK,), ()),
    ("LB-a: balancing takes from forced-idle CPUs", "", ("lb-force-idle-source",), ()),
    ("LB-b: balancing takes forced-idle CPUs for idle", "", ("lb-force-idle-destination",), ()),
    ("push with the points of its review", "push", ("force-idle-push", "push-skip-core-pick", "push-skip-delayed"), ()),
    ("walks V2 (from the review) in place of series A", "walks", (HOTPLUG_ONLY,), ()),
    ("no cookie check at wake-ups", "", (), ("wake-cookie-check",)),
    ("a rebuild unthrottles every CPU (to 6.13)", "", (), ("unthrottle-offline-only",)),
)


def others() -> list[Cell]:
    """Return the kernels with one other patch, alone and with all factors on."""
    cells = []
    for label, place, plus, minus in _OTHERS:
        for on in (frozenset(), ALL):
            cells.append(Cell(on - {place}, plus, minus, label))
    return cells


#: Stands for a reason that is missing: a test finds it.
NOT_SAID = "not looked at here"
_IN_PLACE = {"golden": "timers at golden-ratio phases stand in the place of random ones", FUSE_REBUILD: "stands in the "
             "place of series A", FUSE_DYING: "changes the dying CPU's own walks alone, which hold nobody for longer",
             HOTPLUG_ONLY_NAIVE: "stands in the place of series A, and is broken"}  # fmt: skip
_LEFT_OUT = _IN_PLACE | {
    "lb-no-active-balance": "takes a mechanism away, for comparison",
    "no-force-idle-steal": "takes a mechanism away, for comparison",
    EXPEDITE: "grace periods are expedited in all kernels here",
    SKIP_NODE_LOCK: "saves a grace period, and these are expedited here",
    "push-recheck": "cannot differ in the model: no time passes between the test and the locks",
    "push-by-quality": "proposed by nobody; another way to push",
    "core-tree-sorted": "about more than two tasks of one cookie on a CPU; left to the study of core scheduling",
    "core-pick-on-drain": "about a count of forced-idle CPUs; left to the study of core scheduling",
}


def df_patches() -> pd.DataFrame:
    """Return what the study does with each patch of the package.

    Returns
    -------
    pandas.DataFrame
        patch, kind, here ("factor", "always", "one at a time", "old" or "left out"), what (the factor, or why).
    """
    tried = {patch: label for label, _, plus, minus in _OTHERS for patch in (*plus, *minus)}
    rows = []
    for name, patch in PATCHES.items():
        factor = next((f for f, patches in FACTORS.items() if name in patches), None)
        if factor:
            here, what = "factor", factor
        elif name in tried:
            here, what = "one at a time", tried[name]
        elif name in REBUILD_OF_6_18:
            here, what = "always", f"{RELEASE} has it"
        elif patch.kind == "legacy":
            here, what = "old", "how an old kernel behaved"
        else:
            here, what = "left out", _LEFT_OUT.get(name, NOT_SAID)
        rows.append({"patch": name, "kind": patch.kind, "here": here, "what": what})
    return pd.DataFrame(rows)
