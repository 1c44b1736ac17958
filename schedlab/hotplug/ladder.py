"""The ladder of the series for large systems, taken apart into what each patch removed.

The mail gives seconds of a whole ramp after each patch, by direction for some patches and in sum for others. Two ways
to read it: differences of neighbouring steps, which reproduce the totals and carry the noise of two cells each; and
least squares over all cells at once, where the counts say how a patch's share splits between the directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from .. import _check
from ..machine import Machine
from ..patches_hotplug import LARGE_SYSTEMS
from .costs import UNITS
from .published_tables import base_kernel, read_published
from .ramp import Ramp, ramp

_S = 1e9
_DIRECTIONS = ("offline", "online")


@dataclass(frozen=True)
class LadderFit:
    """What each patch took off a machine's ramp, and what a unit of the work that it takes away costs.

    Attributes
    ----------
    machine : str
    method : {"differences", "cells"}
    removed_s : dict of float
        By patch, seconds of the whole ramp; 0 for patches that the mail says do not affect the machine.
    driven : dict of dict
        By patch and direction, how often the work that it takes away is done in the ramp without it.
    rest_s : dict of float
        What is left after all patches, by direction.
    grace_s : float
        What normal grace periods cost in place of expedited ones.
    """

    machine: str
    method: str
    removed_s: dict
    driven: dict
    rest_s: dict
    grace_s: float

    @property
    def driver(self) -> dict[str, int]:
        """Work that each patch takes away, over the whole ramp."""
        return {patch: sum(numbers.values()) for patch, numbers in self.driven.items()}

    @property
    def unit_ns(self) -> dict[str, float]:
        """Cost of a unit of each patch's work in ns."""
        return {patch: self.removed_s[patch] * _S / self.driver[patch] for patch in LARGE_SYSTEMS}

    def seconds(self, after_patch: int, column: str) -> float:
        """Return the seconds that the fit gives for one cell: ``"offline"``, ``"online"`` or ``"total"``."""
        _check.choice("column", column, (*_DIRECTIONS, "total"))
        left = LARGE_SYSTEMS[after_patch:]
        return sum(
            self.rest_s[direction] + sum(self.removed_s[p] * self.driven[p][direction] / self.driver[p] for p in left)
            for direction in (_DIRECTIONS if column == "total" else (column,))
        )

    def cells(self) -> list[tuple[int, str, float, float]]:
        """Return (after patch, column, published s, seconds of the fit) of every published cell."""
        return [(k, column, s, self.seconds(k, column)) for k, column, s in _published_cells(self.machine)]


def _published_cells(machine: str) -> list[tuple[int, str, float]]:
    rows = [r for r in read_published("hotplug_ladder") if r["machine"] == machine]
    if not rows:
        known = ", ".join(sorted({r["machine"] for r in read_published("hotplug_ladder")}))
        raise _check.wrong("machine", machine, f"one of {known}")
    columns = (*_DIRECTIONS, "total")
    return [(int(r["after_patch"]), c, float(r[f"{c}_s"])) for r in rows for c in columns if r[f"{c}_s"]]


@lru_cache(maxsize=8)
def base_ramp(machine: str | Machine) -> Ramp:
    """Return the ramp of the mail on one machine without any of the patches."""
    machine = Machine.load(machine) if isinstance(machine, str) else machine
    return ramp(machine, base_kernel().with_(rcu_expedited=True))


def fit_ladder(
    machine: str, done: Ramp | None = None, method: Literal["differences", "cells"] = "differences"
) -> LadderFit:
    """Take hotplug_ladder.csv apart into what each patch removed.

    Parameters
    ----------
    machine : {"xeon_6985p_c", "epyc_9b45"}
    done : Ramp, optional
        The ramp whose work it was, where the topology is to be another than that of data/machines.
    method : {"differences", "cells"}
        differences: of neighbouring steps, in the direction that the mail names, as many parameters as numbers;
        cells: least squares of the relative errors of every published cell.
    """
    _check.choice("method", method, ("differences", "cells"))
    cells = {(after, column): seconds for after, column, seconds in _published_cells(machine)}
    done = done or base_ramp(machine)
    driven = {p: {d: done.total(count, d) for d in _DIRECTIONS} for p, count in UNITS.items()}
    facts = {r["quantity"]: float(r["value"]) for r in read_published("hotplug_facts") if r["machine"] == machine}
    grace = facts["total_all_patches_no_rcu_expedited"] - cells[8, "total"]
    columns = ("online", "offline", "offline", "online", *["total"] * 4)
    removed = {}
    for number, (patch, column) in enumerate(zip(LARGE_SYSTEMS, columns, strict=True), 1):
        both = [cells.get((k, column)) for k in (number - 1, number)]
        # the mail: patches 1 to 3 do not affect the AMD machine, and no row stands between them
        removed[patch] = both[0] - both[1] if all(both) else 0.0
    rest = {direction: cells[8, direction] for direction in _DIRECTIONS}
    if method == "cells":
        affecting = [patch for patch in LARGE_SYSTEMS if removed[patch]]
        found = _least_squares(cells, affecting, driven)
        removed |= dict(zip(affecting, found))
        rest = dict(zip(_DIRECTIONS, found[len(affecting) :]))
    return LadderFit(machine, method, removed, driven, rest, grace)


def _least_squares(cells, affecting, driven) -> list[float]:
    """Return what each patch removed and what is left in each direction, from all cells."""
    rows = []
    for after, column in cells:
        directions = _DIRECTIONS if column == "total" else (column,)
        row = []
        for patch in affecting:
            share = sum(driven[patch][d] for d in directions) / sum(driven[patch].values())
            row.append(share if LARGE_SYSTEMS.index(patch) >= after else 0.0)
        rows.append(row + [float(d in directions) for d in _DIRECTIONS])
    published = np.array(list(cells.values()))
    weighted = np.array(rows) / published[:, None]
    return np.linalg.lstsq(weighted, np.ones(len(published)), rcond=None)[0].tolist()
