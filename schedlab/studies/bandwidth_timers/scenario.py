"""The scenario of the study: which machine, kernel and limits, and how many runs."""

from dataclasses import dataclass, replace

from ... import _check
from ...kernel import Kernel
from ...machine import Machine
from ...units import NS_PER_US

#: How the period timers of the groups lie to each other, and the patch that makes them so.
PHASES = {"aligned": None, "random": "interleave-timers", "staggered": "staggered", "golden": "golden"}
#: What the published runs were made with (commit 41abdba93747); for another scenario their numbers are context only.
PUBLISHED = dict(
    machine="power-8core-smt8", release="6.1", quota_us=1_600_000, period_us=100_000, workers=32, cpu_ops=50_000
)  # fmt: skip
#: Seeds of a quick run, at most.
QUICK_REPLICATES = 16


@dataclass(frozen=True)
class Scenario:
    """What the study simulates.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
        Without any rule for the timers' phases: `kernel_with` puts one on.
    quota_us, period_us : int
        cpu.max of each group.
    workers, cpu_ops : int
        ``stress-ng --cpu=workers --cpu-ops=cpu_ops`` in each group.
    replicates : int
        Seeds for the random phases.
    phases : tuple of str
        Rules to compare, from PHASES; aligned, the baseline, is always among them.
    schbench_groups : tuple of int
        Worker threads of each message thread of schbench, ``-t``.
    seed : int
        First seed.
    quick : bool
        Fewer seeds, phases of the tick and cells of the map.
    """

    machine: Machine
    kernel: Kernel
    quota_us: int
    period_us: int
    workers: int
    cpu_ops: int
    replicates: int
    phases: tuple[str, ...]
    schbench_groups: tuple[int, ...]
    seed: int
    quick: bool

    @classmethod
    def of(
        cls,
        *,
        machine: str = "power-8core-smt8",
        kernel: str = "6.1",
        quota_us: int = 1_600_000,
        period_us: int = 100_000,
        workers: int = 32,
        cpu_ops: int = 50_000,
        replicates: int = 200,
        phases=tuple(PHASES),
        schbench_groups=(16, 32, 64),
        seed: int = 0,
        quick: bool = False,
    ) -> "Scenario":
        """Return the scenario of the notebook's parameters.

        Parameters
        ----------
        machine, kernel : str
            Names for `Machine.load` and `Kernel.version`. The other parameters are those of the class.

        Raises
        ------
        ValueError
            Naming the parameter, its value and the rule.

        Examples
        --------
        >>> Scenario.of(replicates=50).phases
        ('aligned', 'random', 'staggered', 'golden')
        """
        for phase in phases:
            _check.choice("phases", phase, PHASES)
        if not set(phases) - {"aligned"}:
            raise _check.wrong("phases", list(phases), "at least one rule to compare with aligned timers")
        plain = Kernel.version(kernel)
        plain = plain.without_patch(*(plain.patches & {patch for patch in PHASES.values() if patch}))
        return cls(
            machine=Machine.load(machine),
            kernel=plain,
            quota_us=_check.whole("quota_us", quota_us, 1000),
            period_us=_check.whole("period_us", period_us, 1000),
            workers=_check.whole("workers", workers, 1),
            cpu_ops=_check.whole("cpu_ops", cpu_ops, 1),
            replicates=_check.whole("replicates", replicates, 1),
            phases=tuple(phase for phase in PHASES if phase in ("aligned", *phases)),
            schbench_groups=tuple(dict.fromkeys(_check.whole("schbench_groups", n, 1) for n in schbench_groups)),
            seed=_check.whole("seed", seed, 0),
            quick=quick,
        )

    def kernel_with(self, phase: str) -> Kernel:
        """Return the kernel with one of the rules of PHASES."""
        return self.kernel if PHASES[phase] is None else self.kernel.with_patch(PHASES[phase])

    @property
    def seeds(self) -> int:
        """How many seeds of random phases are run."""
        return min(self.replicates, QUICK_REPLICATES) if self.quick else self.replicates

    def kernels(self, phase: str, count: int) -> list[Kernel]:
        """Return the kernel with a rule of PHASES and its tick at `count` phases, evenly spaced over a tick.

        On 6.1 the tick's phase is set at boot and is nobody's choice. It decides how evenly CPUs share a quota (they
        ask for more at ticks), so whatever has fixed timer phases is averaged over it.
        """
        tick_us = self.kernel.tick_ns // NS_PER_US
        return [self.kernel_with(phase).with_(tick_offset_us=k * tick_us // count) for k in range(count)]

    @property
    def is_published(self) -> bool:
        """Whether this is the scenario of the published runs."""
        this = dict(machine=self.machine.name, release=self.kernel.release)
        this |= {name: getattr(self, name) for name in ("quota_us", "period_us", "workers", "cpu_ops")}
        return this == PUBLISHED

    @property
    def window_share(self) -> float:
        """Share of the time that the quota lets a group's workers run, at most 1."""
        return min(1.0, self.quota_us / (self.period_us * min(self.workers, self.machine.nr_cpus)))

    def at_full_utilisation(self) -> "Scenario":
        """Return the scenario with a quota that lets every worker run all the time."""
        return replace(self, quota_us=self.period_us * min(self.workers, self.machine.nr_cpus))

    @property
    def period_ms(self) -> float:
        """Period in ms."""
        return self.period_us / 1000
