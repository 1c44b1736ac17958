"""The patches that a Kernel can carry: each is a switch that the engine reads in one place."""

from dataclasses import dataclass
from typing import Literal

from . import _check, patches_core, patches_hotplug


@dataclass(frozen=True)
class Patch:
    """A change to the kernel that can be switched on or off.

    Attributes
    ----------
    name : str
        As in ``Kernel.with_patch(name)``.
    kind : {"mainline", "posted", "variant", "own", "legacy"}
        mainline: merged into Linux; posted: in a mail, not merged; variant: what a review proposed in its place; own:
        proposed by nobody, made for comparison; legacy: how an old kernel behaved.
    title : str
        What it does, in a line.
    origin : str
        The commit or mail it is from.
    merged : str or None
        First release that has it; for a legacy behaviour None.
    needs, excludes : frozenset of str
        Patches that it cannot be without, and cannot be with.
    """

    name: str
    kind: Literal["mainline", "posted", "variant", "own", "legacy"]
    title: str
    origin: str
    merged: str | None = None
    needs: frozenset[str] = frozenset()
    excludes: frozenset[str] = frozenset()


_PHASES = frozenset({"interleave-timers", "staggered", "golden"})

#: Patches 2 to 5 of "Allow account_cfs_rq_runtime() to throttle current hierarchy", v2 (patch 1 changes no behaviour).
THROTTLE_SERIES = frozenset(
    {"local-csd-unthrottle", "update-curr-before-unthrottle", "limbo-local-list", "throttle-at-account"}
)
_PER_TASK = frozenset({"per-task-throttle"})

_ALL = (
    Patch(
        "interleave-timers",
        "mainline",
        "the period timer of a cgroup gets a random phase when the cgroup is created",
        "commit 41abdba93747, Shrikanth Hegde, February 2023",
        merged="6.4",
        excludes=_PHASES - {"interleave-timers"},
    ),
    Patch(
        "staggered",
        "own",
        "the period timers get evenly spaced phases in order of creation",
        "proposed by nobody; for comparison",
        excludes=_PHASES - {"staggered"},
    ),
    Patch(
        "golden",
        "own",
        "the k-th limited cgroup gets a phase of k times the golden ratio of the period",
        "proposed by nobody; for comparison",
        excludes=_PHASES - {"golden"},
    ),
    Patch(
        "expire-local-slices",
        "legacy",
        "a CPU's unspent slice of quota expires at the end of the period",
        "undone by commit de53fd7aedb1 (5.4)",
    ),
    Patch(
        "slack-timer-pushed-back",
        "legacy",
        "each donation of unspent quota starts the slack timer again",
        "undone by commit 66567fcbaeca (5.3)",
    ),
    Patch(
        "lifo-throttle-list",
        "legacy",
        "a CPU that is throttled joins the head of the list, so that early ones starve",
        "commit c06f04c70489, undone by baa9be4ffb55 and e98fa02c4f2e",
    ),
    Patch(
        "per-task-throttle",
        "mainline",
        "a group out of quota is only marked; each of its tasks leaves the CPU at its return to user space",
        "commits e1fad12dcb66, eb962f251fbb, 5b726e9bf954, Aaron Lu and Valentin Schneider, August 2025",
        merged="6.18",
    ),
    Patch(
        "local-csd-unthrottle",
        "mainline",
        "Use throttled_csd_list for local unthrottle: the CPU's own queues are served as by the interrupt, in one go",
        "commit 253edcf5436c, K Prateek Nayak, June 2026 (2/5)",
        merged="7.2",
        needs=_PER_TASK,
    ),
    Patch(
        "update-curr-before-unthrottle",
        "mainline",
        "Call update_curr() before unthrottling the hierarchy: the debt of what still runs counts in the grant",
        "commit 28ad5427682b, K Prateek Nayak, June 2026 (3/5)",
        merged="7.2",
        needs=_PER_TASK,
    ),
    Patch(
        "limbo-local-list",
        "mainline",
        "Move the throttled tasks to a local list in tg_unthrottle_up(): stop when the group is throttled again",
        "commit 102a28344a60, K Prateek Nayak, June 2026 (4/5)",
        merged="7.2",
        needs=_PER_TASK,
    ),
    Patch(
        "throttle-at-account",
        "mainline",
        "Unify cfs_rq throttling via account_cfs_rq_runtime(): throttle when the runtime is charged, not at the pick",
        "commit f666241e6bd5, Peter Zijlstra, June 2026 (5/5)",
        merged="7.2",
        needs=_PER_TASK,
    ),
    Patch(
        "unthrottle-offline-only",
        "mainline",
        "a rebuild of the domains unthrottles on CPUs that go offline, not on every CPU",
        "commit af98d8a36a96, Vishal Chourasia, December 2024",
        merged="6.14",
    ),
    Patch(
        "zero-runtime-at-write",
        "legacy",
        "a write of cpu.max leaves local runtimes at 0, and unthrottling does not look at them",
        "undone by commit 956dfda6a708 (6.18-rc5), Aaron Lu, October 2025",
        needs=_PER_TASK,
    ),
    Patch(
        "period-scaling-147-128",
        "legacy",
        "a period too short for its timer grows by 147/128, which loses precision, in place of doubling",
        "commit 2e8e19226398 (5.1), undone by 4929a4e6faa0 (5.4)",
    ),
)

#: Every patch by name.
PATCHES: dict[str, Patch] = {
    patch.name: patch for patch in (*_ALL, *(Patch(**row) for row in (*patches_hotplug.ROWS, *patches_core.ROWS)))
}

#: Those that change the kernel's balancing, and so need ``Kernel.balance="kernel"``.
BALANCE_PATCHES = frozenset(name for name in PATCHES if name.startswith("lb-")) | {"wake-cookie-check"}


def check_patches(names: frozenset[str]) -> None:
    """Raise ValueError unless the patches are known, have what they need and do not exclude each other.

    Examples
    --------
    >>> check_patches(frozenset({"golden"}))
    """
    for name in sorted(names, key=str):
        _check.choice("patch", name, PATCHES)
    for name in sorted(names):
        patch = PATCHES[name]
        for needed in sorted(patch.needs - names):
            raise _check.wrong("patch", name, f"needs {needed!r}: add .with_patch({needed!r}) first")
        for other in sorted(patch.excludes & names):
            raise _check.wrong("patch", name, f"excludes {other!r}: use .without_patch({other!r}) first")
