"""The kernel that a running system reports: its version and its list of scheduler features."""

from . import _check
from .kernel import Kernel

#: Features that the engine has as a switch, by the Kernel's field.
SWITCHES = {"HRTICK": "hrtick", "DELAY_DEQUEUE": "delayed_dequeue", "PREEMPT_SHORT": "preempt_short"}
#: What the engine always does, as the kernels do by default: off (or on) is refused, because it would be another model.
ALWAYS_ON = {
    "PLACE_LAG", "PLACE_DEADLINE_INITIAL", "PLACE_REL_DEADLINE", "RUN_TO_PARITY", "WAKEUP_PREEMPTION", "DELAY_ZERO",
    "GENTLE_FAIR_SLEEPERS", "START_DEBIT",
}  # fmt: skip
ALWAYS_OFF = {"NEXT_BUDDY", "DOUBLE_TICK"}


def kernel_from(version: str, features, *, nr_cpus: int, base_slice_ns: int | None = None, **tunables) -> Kernel:
    """Return the Kernel with the features that a system lists in /sys/kernel/debug/sched/features.

    Parameters
    ----------
    version : str
        As of ``uname -r``, such as "6.18.15+deb13-amd64".
    features : str or sequence of str
        Names, those that are off with ``NO_`` before them. Features of balancing, of other classes and of utilisation
        are not modelled and not looked at.
    nr_cpus : int
        CPUs online, by which the kernel scales its slice.
    base_slice_ns : int, optional
        As reported (base_slice_ns), that is scaled.
    **tunables
        Further fields of Kernel: hz, cgroup, ...

    Raises
    ------
    ValueError
        For a feature that is not as the engine has it.

    Examples
    --------
    >>> kernel_from("7.3.4", ["HRTICK", "PLACE_LAG"], nr_cpus=4, base_slice_ns=2_100_000).hrtick
    True
    """
    names = features.split() if isinstance(features, str) else list(features)
    is_on = {name.removeprefix("NO_"): not name.startswith("NO_") for name in names}
    for name in sorted(is_on):
        if name in ALWAYS_ON and not is_on[name]:
            raise _check.wrong("features", f"NO_{name}", "the engine always has it on")
        if name in ALWAYS_OFF and is_on[name]:
            raise _check.wrong("features", name, "the engine always has it off")
    switches = {field: is_on[name] for name, field in SWITCHES.items() if name in is_on}
    kernel = Kernel.version(version, **switches | tunables)
    if base_slice_ns is None or kernel.policy == "cfs":
        return kernel
    return kernel.with_(base_slice_ns=round(base_slice_ns / kernel.scaling_factor(nr_cpus)))
