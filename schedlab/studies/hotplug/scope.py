"""How far the study's sweeps go: the parameters of the notebook, and what a quick run leaves out of them."""

from dataclasses import dataclass

from ... import _check


@dataclass(frozen=True)
class Scope:
    """What the sweeps cover. The published cases do not depend on it.

    Attributes
    ----------
    cgroups : tuple of int
        Numbers of cgroups on the guest; the root group comes on top.
    cpus : tuple of int
        Sizes of guests.
    sizes : tuple of int
        Sizes of servers of the shape of the two published ones.
    ramp_groups : tuple of int
        Task groups, the root group among them, of ramps on the 480-CPU server.
    quick : bool
        Whether something was left out.
    """

    cgroups: tuple[int, ...]
    cpus: tuple[int, ...]
    sizes: tuple[int, ...]
    ramp_groups: tuple[int, ...]
    quick: bool = False

    @classmethod
    def of(cls, *, cgroups, cpus, sizes, ramp_groups, quick: bool = False) -> "Scope":
        """Return the scope of the notebook's parameters; a quick one has the ends and the middle of each sweep.

        Raises
        ------
        ValueError
            Naming the parameter, its value and the rule.

        Examples
        --------
        >>> Scope.of(cgroups=[0, 4000], cpus=[8, 64], sizes=[64, 128], ramp_groups=[1, 4001]).cpus
        (8, 64)
        """
        found = {
            "cgroups": _numbers("cgroups", cgroups, 0),
            "cpus": _numbers("cpus", cpus, 8, powers=True),
            "sizes": _numbers("sizes", sizes, 64, powers=True),
            "ramp_groups": _numbers("ramp_groups", ramp_groups, 1),
        }
        if quick:
            small = found["sizes"][:2]  # the largest servers take most of the time
            found = {name: _thinned(numbers) for name, numbers in found.items()} | {"sizes": small}
            found["ramp_groups"] = found["ramp_groups"][:: len(found["ramp_groups"]) - 1]  # the ends
        return cls(**found, quick=quick)


def _numbers(name, values, low, powers=False):
    """Return the values in order, at least two of them."""
    numbers = tuple(sorted({_check.whole(name, value, low) for value in values}))
    if len(numbers) < 2:
        raise _check.wrong(name, list(values), "at least two different values")
    if powers and any(n & (n - 1) for n in numbers):
        raise _check.wrong(name, list(values), "powers of two, which divide into nodes and caches")
    return numbers


def _thinned(numbers):
    return tuple(sorted({numbers[0], numbers[len(numbers) // 2], numbers[-1]}))
