"""The scenario of the study: which machine, which kernels, and how many boots."""

from dataclasses import dataclass

from ... import _check
from ...kernel import Costs, Kernel
from ...machine import Machine
from ...patches import THROTTLE_SERIES

#: A switch costs 1 to 2 us (fact sheet E1); the middle is taken for all runs of hackbench.
CONTEXT_SWITCH_NS = 1_500
#: The kernels of the hackbench runs, in the order of tables and figures.
TIP, SERIES, OLD = "tip", "tip + series", "6.18"
#: The three throttle models, by release.
MODELS = ("6.12", "6.18", "7.2")
#: What the published runs were made on; for another scenario their numbers are context only.
PUBLISHED = dict(machine="epyc-2x128-smt2", groups=1)
#: Fewest boots and periods that the difference of means is judged with.
ENOUGH_BOOTS, ENOUGH_PERIODS = 20, 10
#: A quick run has at most these.
QUICK_BOOTS, QUICK_PERIODS = 3, 1


def models() -> dict[str, Kernel]:
    """Return the three throttle models, each by its release and as that release ships (HRTICK is on in 7.2 alone)."""
    return {release: Kernel.version(release) for release in MODELS}


def tip(kernel: Kernel) -> Kernel:
    """Return a kernel of 7.2 without the series: what the mail calls tip."""
    return kernel.without_patch(*THROTTLE_SERIES)


@dataclass(frozen=True)
class Scenario:
    """What the study simulates.

    Parameters
    ----------
    machine : Machine
        Of the hackbench runs; the other sections say what they run on.
    groups : int
        hackbench -g of the runs that are compared with the published ones.
    more_groups : tuple of int
        Further -g, with fewer boots.
    boots : int
        Seeds: each draws new phases for the timers of all groups.
    periods : int
        Periods measured in a run, after one that is not counted.
    coarsen : int
        Messages that one step of a hackbench task stands for.
    seed : int
        First seed.
    quick : bool
        Fewer boots, periods, and points of each sweep.
    """

    machine: Machine
    groups: int
    more_groups: tuple[int, ...]
    boots: int
    periods: int
    coarsen: int
    seed: int
    quick: bool

    @classmethod
    def of(
        cls,
        *,
        machine: str = "epyc-2x128-smt2",
        groups: int = 1,
        more_groups=(2, 4, 8),
        boots: int = 20,
        periods: int = 10,
        coarsen: int = 20,
        seed: int = 0,
        quick: bool = False,
    ) -> "Scenario":
        """Return the scenario of the notebook's parameters.

        Raises
        ------
        ValueError
            Naming the parameter, its value and the rule.

        Examples
        --------
        >>> Scenario.of(boots=30, quick=True).nr_boots
        3
        """
        return cls(
            machine=Machine.load(machine),
            groups=_check.whole("groups", groups, 1),
            more_groups=tuple(dict.fromkeys(_check.whole("more_groups", n, 1) for n in more_groups)),
            boots=_check.whole("boots", boots, 2, None, "a spread needs two"),
            periods=_check.whole("periods", periods, 1),
            coarsen=_check.whole("coarsen", coarsen, 1),
            seed=_check.whole("seed", seed, 0),
            quick=quick,
        )

    @property
    def nr_boots(self) -> int:
        """How many boots each kernel has."""
        return min(self.boots, QUICK_BOOTS) if self.quick else self.boots

    @property
    def nr_periods(self) -> int:
        """How many periods of each boot are measured."""
        return min(self.periods, QUICK_PERIODS) if self.quick else self.periods

    @property
    def kernels(self) -> dict[str, Kernel]:
        """The kernels of the hackbench runs by name: 7.2 without the series, 7.2, and 6.18."""
        costs = Costs(context_switch_ns=CONTEXT_SWITCH_NS)
        new = Kernel.version("7.2", costs=costs)
        return {TIP: tip(new), SERIES: new, OLD: Kernel.version("6.18", costs=costs)}

    @property
    def is_published(self) -> bool:
        """Whether this is the test of the mail, as far as the mail says."""
        return dict(machine=self.machine.name, groups=self.groups) == PUBLISHED

    @property
    def is_enough(self) -> bool:
        """Whether there are as many boots and periods as the difference of means is judged with."""
        return self.nr_boots >= ENOUGH_BOOTS and self.nr_periods >= ENOUGH_PERIODS
