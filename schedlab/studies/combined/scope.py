"""How much the study runs: the parameters of the notebook, and what a quick run leaves out of them."""

from __future__ import annotations

from dataclasses import dataclass

from ... import _check
from .factors import ALL, Cell, factorial, others

#: A quick run has at most so many seeds, and half of the factorial.
QUICK_SEEDS = 3
#: A spread needs two.
FEWEST_SEEDS = 2


@dataclass(frozen=True)
class Scope:
    """Which kernels are run with which seeds.

    Attributes
    ----------
    seeds : int
        Runs of each kernel.
    seed : int
        First seed.
    quick : bool
        Whether something was left out.
    """

    seeds: int
    seed: int = 0
    quick: bool = False

    @classmethod
    def of(cls, *, seeds: int = 6, seed: int = 0, quick: bool = False) -> Scope:
        """Return the scope of the notebook's parameters.

        Raises
        ------
        ValueError
            Naming the parameter, its value and the rule.

        Examples
        --------
        >>> Scope.of(seeds=8, quick=True).seeds
        3
        """
        seeds = _check.whole("seeds", seeds, FEWEST_SEEDS, None, "an interval needs two")
        return cls(min(seeds, QUICK_SEEDS) if quick else seeds, _check.whole("seed", seed, 0), quick)

    @property
    def design(self) -> list[Cell]:
        """The cells from which effects are estimated: all 64, in a quick run the 32 with an even number of factors.

        Half of them is a design of resolution VI: main effects and pairwise interactions are told apart from each
        other, and are mixed with interactions of four and more factors alone.
        """
        return [cell for cell in factorial() if not self.quick or len(cell.on) % 2 == 0]

    @property
    def cells(self) -> list[Cell]:
        """All cells that are run: the design, each factor alone and each left out, and the other patches."""
        if not self.quick:
            return self.design + others()
        steps = [cell for cell in factorial() if len(cell.on) in (1, len(ALL) - 1)]
        return self.design + steps

    @property
    def all_seeds(self) -> range:
        """The seeds."""
        return range(self.seed, self.seed + self.seeds)
