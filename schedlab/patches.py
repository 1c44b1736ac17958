"""The patches that a Kernel can carry: each is a switch that the engine reads in one place."""

from dataclasses import dataclass
from typing import Literal

from . import _check


@dataclass(frozen=True)
class Patch:
    """A change to the kernel that can be switched on or off.

    Attributes
    ----------
    name : str
        As in ``Kernel.with_patch(name)``.
    kind : {"mainline", "own", "legacy"}
        mainline: merged into Linux; own: proposed by nobody, made for comparison; legacy: how an old kernel behaved.
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
    kind: Literal["mainline", "own", "legacy"]
    title: str
    origin: str
    merged: str | None = None
    needs: frozenset[str] = frozenset()
    excludes: frozenset[str] = frozenset()


_PHASES = frozenset({"interleave-timers", "staggered", "golden"})

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
        "period-scaling-147-128",
        "legacy",
        "a period too short for its timer grows by 147/128, which loses precision, in place of doubling",
        "commit 2e8e19226398 (5.1), undone by 4929a4e6faa0 (5.4)",
    ),
)

#: Every patch by name.
PATCHES: dict[str, Patch] = {patch.name: patch for patch in _ALL}


def check_patches(names: frozenset[str]) -> None:
    """Raise ValueError unless the patches are known, have what they need and do not exclude each other.

    Examples
    --------
    >>> check_patches(frozenset({"golden"}))
    """
    for name in sorted(names):
        _check.choice("patch", name, PATCHES)
    for name in sorted(names):
        patch = PATCHES[name]
        for needed in sorted(patch.needs - names):
            raise _check.wrong("patch", name, f"needs {needed!r}: add .with_patch({needed!r}) first")
        for other in sorted(patch.excludes & names):
            raise _check.wrong("patch", name, f"excludes {other!r}: use .without_patch({other!r}) first")
