"""The scenario of the study: host, guests and kernels, and how many runs of which length."""

from dataclasses import dataclass

from ... import _check
from ...kernel import Kernel
from ...machine import Machine
from ...workload import Workload
from ...workloads.hypervisor import Hwlat, hypervisor

PUSH, KEEP = "force-idle-push", "lb-keep-cookies-together"
#: The kernels that are compared, and the patches of each on top of `BASE`. LB-a, LB-b and LB-c are three readings of
#: the force-idle-aware balancing, whose text was not found: none is sold as that patch.
VARIANTS = {
    "baseline": (),
    "push": (PUSH,),
    "lb_a": ("lb-force-idle-source",),
    "lb_b": ("lb-force-idle-destination",),
    "lb_c": (KEEP,),
    "push+lb_a": (PUSH, "lb-force-idle-source"),
    "push+lb_b": (PUSH, "lb-force-idle-destination"),
    "push+lb_c": (PUSH, KEEP),
    "push by quality": (PUSH, "push-by-quality"),
}
#: Those that the comparison rests on; the others have at most so many runs.
MAIN, OTHER_RUNS = ("baseline", "push", "lb_c", "push+lb_c"), 10
#: In all variants: the author measured with this patch in the baseline too.
BASE = ("wake-cookie-check",)
#: The posted set-up, as far as it is told; for another one the posted numbers are context only.
PUBLISHED = dict(machine="hypervisor-64cpu-smt2", release="6.18", vms=8, vcpus=8)
#: Mean burst of a VMM thread, us: the one number that is fitted, to the baseline's noise (see `df_burst`).
FITTED_BURST_US = 250
#: Fewer runs or seconds than these prove nothing either way.
ENOUGH_RUNS, ENOUGH_SECONDS = 8, 30
#: What a quick run makes of the runs and their length, s.
QUICK_RUNS, QUICK_SECONDS = 2, 8


@dataclass(frozen=True)
class Scenario:
    """What the study simulates.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
        The baseline: the kernel's own balancing, and `BASE`.
    vms, vcpus : int
        Guests, the last of which measures, and virtual CPUs of each.
    vmm_period_us, vmm_burst_us : int
        The VMM thread of each guest works for a mean burst about once a period.
    runs, seconds : int
        Runs (seeds) of each variant, and their length.
    factorial_runs, factorial_seconds : int
        The same for each cell of the factorial.
    sizes : tuple of int
        CPUs of the machines on which the cost of a push is counted.
    seed : int
        First seed.
    quick : bool
    """

    machine: Machine
    kernel: Kernel
    vms: int
    vcpus: int
    vmm_period_us: int
    vmm_burst_us: int
    runs: int
    seconds: int
    factorial_runs: int
    factorial_seconds: int
    sizes: tuple[int, ...]
    seed: int
    quick: bool

    @classmethod
    def of(
        cls,
        *,
        machine: str = "hypervisor-64cpu-smt2",
        kernel: str = "6.18",
        vms: int = 8,
        vcpus: int = 8,
        hz: int = 250,
        vmm_period_us: int = 10_000,
        vmm_burst_us: int = FITTED_BURST_US,
        runs: int = 20,
        seconds: int = 60,
        factorial_runs: int = 5,
        factorial_seconds: int = 60,
        sizes=(16, 32, 64, 128, 256, 512),
        seed: int = 0,
        quick: bool = False,
    ) -> "Scenario":
        """Return the scenario of the notebook's parameters.

        Parameters
        ----------
        machine, kernel : str
            Names for `Machine.load` and `Kernel.version`. The other parameters are those of the class.
        hz : int

        Raises
        ------
        ValueError
            Naming the parameter, its value and the rule.

        Examples
        --------
        >>> scenario = Scenario.of()
        >>> scenario.is_published, sorted(scenario.kernel_with("push").patches - scenario.kernel.patches)
        (True, ['force-idle-push'])
        """
        found = {
            name: _check.whole(name, value, low)
            for name, value, low in (
                ("vms", vms, 2), ("vcpus", vcpus, 1), ("vmm_period_us", vmm_period_us, 2),
                ("vmm_burst_us", vmm_burst_us, 1), ("runs", runs, 2), ("seconds", seconds, 1),
                ("factorial_runs", factorial_runs, 2), ("factorial_seconds", factorial_seconds, 1), ("seed", seed, 0),
            )
        }  # fmt: skip
        if vmm_burst_us >= vmm_period_us:
            raise _check.wrong("vmm_burst_us", vmm_burst_us, f"below the period of {vmm_period_us} us")
        sizes = tuple(sorted({_check.whole("sizes", size, 16) for size in sizes}))
        for size in sizes:
            if size & (size - 1):
                raise _check.wrong("sizes", size, "a power of two")
        if quick:
            found["runs"], found["factorial_runs"] = (min(found[n], QUICK_RUNS) for n in ("runs", "factorial_runs"))
            for name in ("seconds", "factorial_seconds"):
                found[name] = min(found[name], QUICK_SECONDS)
            sizes = sizes[:3]  # the largest take most of the time
        plain = Kernel.version(kernel, hz=hz, balance="kernel")
        host = Machine.load(machine)
        if host.threads_per_core < 2:
            raise _check.wrong("machine", machine, "with SMT: core scheduling is about siblings")
        return cls(machine=host, kernel=plain.with_patch(*BASE), sizes=sizes, quick=quick, **found)

    def kernel_with(self, variant: str) -> Kernel:
        """Return the kernel of one of VARIANTS."""
        _check.choice("variant", variant, VARIANTS)
        return self.kernel.with_patch(*VARIANTS[variant])

    def workload(self, *, machine: Machine | None = None, start_gap=None, packed: bool = True, **options) -> Workload:
        """Return the guests; `options` are those of `hypervisor`, in place of the scenario's.

        Parameters
        ----------
        machine : Machine, optional
            Another host than the scenario's, on which the guests start packed.
        start_gap : int or str or None
            See `Hwlat`: by default the windows of the guest's virtual CPUs are spread evenly.
        packed : bool
            Start with the guests packed core by core; False: where the kernel's fork puts them.
        """
        here = dict(
            vms=self.vms,
            vcpus=self.vcpus,
            vmm_period=f"{self.vmm_period_us}us",
            vmm_burst=f"{self.vmm_burst_us}us",
            hwlat=Hwlat(start_gap=start_gap),
            packed_on=(machine or self.machine) if packed else None,
        )
        return hypervisor(**here | options)

    def runs_of(self, variant: str) -> int:
        """Return how many runs a variant gets: all for `MAIN`, at most OTHER_RUNS for the rest."""
        return self.runs if variant in MAIN else min(self.runs, OTHER_RUNS)

    @property
    def is_published(self) -> bool:
        """Whether this is the posted set-up, as far as it is told."""
        this = dict(machine=self.machine.name, release=self.kernel.release, vms=self.vms, vcpus=self.vcpus)
        return this == PUBLISHED

    @property
    def is_enough(self) -> bool:
        """Whether there are runs enough, and long enough, to be judged."""
        return self.runs >= ENOUGH_RUNS and self.seconds >= ENOUGH_SECONDS
