"""Kernel: which Linux it is, with which patches and tunables."""

import dataclasses
import re
from dataclasses import dataclass
from typing import Literal

from . import _check
from ._html import html_table
from .patches import BALANCE_PATCHES, PATCHES, THROTTLE_SERIES, check_patches
from .patches_hotplug import REBUILD_OF_6_18
from .units import NS_PER_MS, NS_PER_S

HZ_CHOICES = (100, 250, 300, 1000)


@dataclass(frozen=True)
class Costs:
    """What the kernel's own work costs, in ns of CPU time. All 0 by default: the ideal machine.

    context_switch_ns, ipi_ns, tick_ns and period_timer_ns are for each of these; distribute_ns for each throttled
    cfs_rq that a distribution visits, walk_ns for each group that a throttle or unthrottle walks over, enqueue_ns for
    each level on which it queues or dequeues an entity. The last three are spent with interrupts off.

    Examples
    --------
    >>> Costs(context_switch_ns=1500).context_switch_ns
    1500
    """

    context_switch_ns: int = 0
    ipi_ns: int = 0
    tick_ns: int = 0
    period_timer_ns: int = 0
    distribute_ns: int = 0
    walk_ns: int = 0
    enqueue_ns: int = 0

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = _check.whole(field.name, getattr(self, field.name), 0, NS_PER_S, "1 s")
            object.__setattr__(self, field.name, value)


@dataclass(frozen=True)
class Kernel:
    """A row of mechanisms (the release), patches on top, and tunables. Made by `Kernel.version`.

    Attributes
    ----------
    release : {"6.1", "6.3", "6.4", "6.6", "6.12", "6.18", "6.19", "7.2", "7.3"}
        The row whose mechanisms it has.
    asked : str
        The version that was asked for.
    policy : {"cfs", "eevdf"}
    patches : frozenset of str
        Names from PATCHES.
    hz : {100, 250, 300, 1000}
        CONFIG_HZ.
    async_unthrottle, delayed_dequeue, preempt_short : bool
        Mechanisms of the row: unthrottling by a request to each CPU (6.3), and delayed dequeue and preemption by
        tasks with a shorter slice (6.12).
    vprot : bool
        The running entity's protection ends at a virtual time of its own, the shortest slice queued (6.17), in place
        of its deadline.
    lag_rules_7_2 : bool
        7.2's rules of lag (limit by the longest slice queued; a delayed entity loses none), of reweighting (the
        request and its protection are scaled around V) and of wake-up preemption (no preemption by a fork, or by an
        entity that was delayed).
    lazy_resched : bool
        The end of a slice and a wake-up that preempts wait for the running task's return to user space, or for the
        next tick (PREEMPT_LAZY; read in v7.2 resched_curr_lazy(), sched_tick()). False is full preemption.
    pipe_wake_on_free : bool
        A reader of a full pipe wakes a writer only when it frees a page (6.18, 7.2; read in fs/pipe.c of both); 6.12
        and before wake one at every read of a full pipe.
    forceidle_snapshot : {"min", "zero"}
        Reference of virtual time between siblings under core scheduling: the least vruntime, never going back (6.18),
        or the average V (6.19; later kernels of 6.12.y and 6.18.y) when it was last worked out, which is at other
        occasions in 6.18.y and 6.19 than in 6.12.y and 7.2. The first can starve a task: docs/model.md.
    core_newidle : bool
        Under core scheduling a CPU that runs empty balances before its pick; lost in 6.19.
    balance : {"simple", "kernel"}
        Placement and balancing: the plain rules of docs/model.md, or the kernel's (6.18: wake_affine, idle siblings,
        new-idle, periodic and NOHZ idle balancing).
    base_slice_ns : int
        EEVDF's normalised slice; the scheduler uses it times `scaling_factor`. 0.75 ms in 6.6, 0.70 ms in 6.12.y.
    latency_ns, min_granularity_ns, wakeup_granularity_ns : int
        CFS's normalised 6, 0.75 and 1 ms, scaled likewise.
    tunable_scaling : {"log", "none", "linear"}
    cfs_bandwidth_slice_us : int
        How much quota a CPU fetches from its group's pool at a time, at least 1 us.
    hrtick : bool
        Ends slices by a timer of their own (HRTICK feature; on from 7.2, which can rearm it cheaply).
    tick_offset_us : int
        Time of the first tick of CPU 0, less than a tick.
    skew_tick : bool
        CPU c ticks c / (2 * CPUs) of a tick later, so that not all CPUs tick at once.
    timer_late_probability, timer_late_us : float
        Chance that a period timer fires late, and by how many us.
    wake_late_us : float
        By how many us every sleep timer fires late (timer slack).
    rcu_expedited : bool
        Grace periods that hotplug waits for are expedited (/sys/kernel/rcu_expedited).
    cgroup : {"v2", "v1"}
        v1 refuses a child whose share of CPU is above its parent's.
    costs : Costs

    Examples
    --------
    >>> kernel = Kernel.version("6.1", hz=1000).with_patch("interleave-timers")
    >>> kernel.has("interleave-timers"), kernel.timer_phase, kernel.tick_ns
    (True, 'random', 1000000)
    """

    release: str
    asked: str
    policy: Literal["cfs", "eevdf"]
    hz: int = 250
    patches: frozenset[str] = frozenset()
    async_unthrottle: bool = False
    delayed_dequeue: bool = False
    preempt_short: bool = False
    vprot: bool = False
    lag_rules_7_2: bool = False
    lazy_resched: bool = False
    pipe_wake_on_free: bool = False
    forceidle_snapshot: Literal["min", "zero"] = "zero"
    core_newidle: bool = True
    balance: Literal["simple", "kernel"] = "simple"
    base_slice_ns: int = 750_000
    latency_ns: int = 6_000_000
    min_granularity_ns: int = 750_000
    wakeup_granularity_ns: int = 1_000_000
    tunable_scaling: Literal["log", "none", "linear"] = "log"
    cfs_bandwidth_slice_us: int = 5_000
    hrtick: bool = False
    tick_offset_us: int = 0
    skew_tick: bool = False
    timer_late_probability: float = 0.0
    timer_late_us: float = 0.0
    wake_late_us: float = 0.0
    rcu_expedited: bool = False
    cgroup: Literal["v2", "v1"] = "v2"
    costs: Costs = Costs()

    def __post_init__(self):
        _check.choice("release", self.release, ROWS)
        _check.choice("policy", self.policy, ("cfs", "eevdf"))
        _check.choice("hz", self.hz, HZ_CHOICES)
        _check.choice("tunable_scaling", self.tunable_scaling, ("log", "none", "linear"))
        _check.choice("cgroup", self.cgroup, ("v2", "v1"))
        _check.choice("forceidle_snapshot", self.forceidle_snapshot, ("min", "zero"))
        _check.choice("balance", self.balance, ("simple", "kernel"))
        if isinstance(self.patches, str):
            raise _check.wrong("patches", self.patches, "a set of names, or use .with_patch(name)")
        object.__setattr__(self, "patches", frozenset(self.patches))
        check_patches(self.patches)
        for patch in sorted(self.patches & BALANCE_PATCHES) if self.balance == "simple" else ():
            raise _check.wrong("patch", patch, 'changes the kernel\'s balancing: use balance="kernel"')
        if not isinstance(self.costs, Costs):
            raise _check.wrong("costs", self.costs, "a Costs, such as Costs(context_switch_ns=1500)")
        for field in ("base_slice_ns", "latency_ns", "min_granularity_ns", "wakeup_granularity_ns"):
            self._set(field, _check.whole(field, getattr(self, field), 1, NS_PER_S, "1 s"))
        self._set("cfs_bandwidth_slice_us", _check.whole("cfs_bandwidth_slice_us", self.cfs_bandwidth_slice_us, 1))
        last = (self.tick_ns - 1) // 1000
        self._set("tick_offset_us", _check.whole("tick_offset_us", self.tick_offset_us, 0, last, "less than a tick"))
        self._set("timer_late_probability", _check.real("timer_late_probability", self.timer_late_probability, 0, 1))
        for field in ("timer_late_us", "wake_late_us"):
            self._set(field, _check.real(field, getattr(self, field), 0, 1e6, "1 s"))
        for field in _SWITCHES:
            if not isinstance(getattr(self, field), bool):
                raise _check.wrong(field, getattr(self, field), "True or False")
        for field in ("delayed_dequeue", "preempt_short", "vprot", "lag_rules_7_2"):
            if self.policy == "cfs" and getattr(self, field):
                raise _check.wrong(field, True, "only EEVDF has it (6.12 and later)")
        if "per-task-throttle" in self.patches and not (self.delayed_dequeue and self.async_unthrottle):
            raise _check.wrong("patch", "per-task-throttle", "applies to 6.12 and later")

    def _set(self, field, value):
        object.__setattr__(self, field, value)

    @classmethod
    def version(cls, version: str, **tunables) -> "Kernel":
        """Return the kernel of that version, with other tunables where given.

        Parameters
        ----------
        version : str
            Such as "6.1", "6.12", "v6.8" or "6.2-rc6". 6.1 to 6.12, 6.18, 6.19, 7.2 and 7.3 are modelled: each takes
            the row whose mechanisms it shares, and `note` says which.
        **tunables
            Fields of Kernel: hz, base_slice_ns, cfs_bandwidth_slice_us, hrtick, costs, cgroup, ...

        Raises
        ------
        ValueError
            For a version that is not modelled, an unknown tunable, or one that the version does not have.

        Examples
        --------
        >>> Kernel.version("6.8").note
        '6.8 takes the row 6.6, whose mechanisms it shares'
        """
        release = _row_of(version)
        fields = {field: value for field, value in ROWS[release].items() if field not in ("major", "minors")}
        return cls(release=release, asked=version, **fields).with_(**tunables)

    @classmethod
    def from_features(cls, version: str, features, *, nr_cpus: int, base_slice_ns: int | None = None, **tunables):
        """Return the kernel that a running system reports; see `schedlab.features.kernel_from`.

        Examples
        --------
        >>> Kernel.from_features("7.2.13", "PLACE_LAG NO_HRTICK", nr_cpus=2, base_slice_ns=1_400_000).base_slice_ns
        700000
        """
        from .features import kernel_from

        return kernel_from(version, features, nr_cpus=nr_cpus, base_slice_ns=base_slice_ns, **tunables)

    def with_(self, **tunables) -> "Kernel":
        """Return a copy with other tunables, validated anew.

        Examples
        --------
        >>> Kernel.version("6.6").with_(hz=100).tick_ns
        10000000
        """
        for field in tunables:
            _check.choice("tunable", field, TUNABLES)
            if field in _POLICY_OF and _POLICY_OF[field] != self.policy:
                theirs = ", ".join(f for f, p in _POLICY_OF.items() if p == self.policy)
                rule = f"{self.release} is {self.policy.upper()}, which has {theirs} in its place"
                raise _check.wrong(field, tunables[field], rule)
        return dataclasses.replace(self, **tunables)

    def with_patch(self, *names: str) -> "Kernel":
        """Return the kernel with further patches from PATCHES on top.

        Raises
        ------
        ValueError
            For an unknown patch, one without what it needs, or one that excludes another.

        Examples
        --------
        >>> Kernel.version("6.1").with_patch("staggered").timer_phase
        'staggered'
        """
        return dataclasses.replace(self, patches=self.patches | set(names))

    def without_patch(self, *names: str) -> "Kernel":
        """Return the kernel with patches taken away, those of its own release included.

        Examples
        --------
        >>> Kernel.version("6.6").without_patch("interleave-timers").timer_phase
        'aligned'
        """
        for name in names:
            _check.choice("patch", name, PATCHES)
            if name not in self.patches:
                have = ", ".join(sorted(self.patches)) or "none"
                raise _check.wrong("patch", name, f"this kernel does not have it (it has: {have})")
        return dataclasses.replace(self, patches=self.patches - set(names))

    def has(self, name: str) -> bool:
        """Return whether the kernel carries the patch."""
        _check.choice("patch", name, PATCHES)
        return name in self.patches

    @property
    def timer_phase(self) -> Literal["aligned", "random", "staggered", "golden"]:
        """How the period timers of the cgroups lie to each other."""
        for patch, phase in (("interleave-timers", "random"), ("staggered", "staggered"), ("golden", "golden")):
            if patch in self.patches:
                return phase
        return "aligned"

    @property
    def throttle_model(self) -> Literal["queue", "task", "accounting"]:
        """Who stops a group that used up its quota, and when.

        queue: the whole cfs_rq, at the pick (to 6.17). task: each task at its return to user space, told by the pick
        (6.18). accounting: each task likewise, told when the runtime is charged (7.2).
        """
        if "per-task-throttle" not in self.patches:
            return "queue"
        return "accounting" if "throttle-at-account" in self.patches else "task"

    @property
    def tick_ns(self) -> int:
        """Time between two ticks of a CPU in ns, rounded as the kernel's TICK_NSEC is."""
        return (NS_PER_S + self.hz // 2) // self.hz

    @property
    def custom_slice(self) -> bool:
        """Whether a task may ask for a slice of its own (6.12)."""
        return self.preempt_short

    @property
    def core_scheduling(self) -> bool:
        """Whether core scheduling is modelled for it (6.12 and later)."""
        return self.preempt_short

    @property
    def note(self) -> str:
        """Which row the asked version takes and what the row leaves out; nothing where there is nothing to say."""
        takes = (
            ""
            if self.asked == self.release
            else f"{self.asked} takes the row {self.release}, whose mechanisms it shares"
        )
        return "; ".join(filter(None, (takes, _LEFT_OUT.get(self.release))))

    def scaling_factor(self, nr_cpus: int) -> int:
        """Return by how much slices and granularities grow on a machine of `nr_cpus` CPUs (fact sheet A2).

        Examples
        --------
        >>> [Kernel.version("6.1").scaling_factor(n) for n in (1, 2, 4, 8, 64)]
        [1, 2, 3, 4, 4]
        """
        cpus = min(_check.whole("nr_cpus", nr_cpus, 1), 8)
        return {"log": cpus.bit_length(), "linear": cpus, "none": 1}[self.tunable_scaling]

    def _repr_html_(self) -> str:
        slices = [("base slice", f"{self.base_slice_ns / NS_PER_MS:g} ms")]
        if self.policy == "cfs":
            names = ("latency_ns", "min_granularity_ns", "wakeup_granularity_ns")
            values = " / ".join(f"{getattr(self, name) / NS_PER_MS:g}" for name in names)
            slices = [("latency / min / wakeup granularity", f"{values} ms")]
        mechanisms = [f for f in _SWITCHES if f != "skew_tick" and getattr(self, f)]
        rows = [
            ("policy", f"{self.policy.upper()}, HZ {self.hz}, cgroup {self.cgroup}"),
            ("patches", ", ".join(sorted(self.patches)) or "none"),
            ("mechanisms", ", ".join(mechanisms) or "none of the newer ones"),
            ("timer phase", self.timer_phase),
            ("throttles", _THROTTLES[self.throttle_model]),
            *slices,
            ("bandwidth slice", f"{self.cfs_bandwidth_slice_us / 1000:g} ms"),
        ]
        changed = {f: getattr(self, f) for f in _SHOWN if getattr(self, f) != _DEFAULTS[f]}
        rows += [("tunables", ", ".join(f"{k}={v}" for k, v in changed.items()))] if changed else []
        rows += [("note", self.note)] if self.note else []
        return html_table(f"Kernel {self.asked}", rows)


# The rows of mechanisms (fact sheet, section 0), and the versions that share each.
_RANDOM_PHASE = {"patches": frozenset({"interleave-timers"})}
_ASYNC = {"async_unthrottle": True}
_6_12 = {"delayed_dequeue": True, "preempt_short": True, "base_slice_ns": 700_000}
_6_18 = {
    "vprot": True,
    "lazy_resched": True,
    "pipe_wake_on_free": True,
    "forceidle_snapshot": "min",
    "patches": frozenset({"interleave-timers", "per-task-throttle"}) | REBUILD_OF_6_18,
}
_6_19 = {"forceidle_snapshot": "zero", "core_newidle": False}
_7_2 = {
    "lag_rules_7_2": True,
    "hrtick": True,
    "patches": _6_18["patches"] | THROTTLE_SERIES,
}
ROWS: dict[str, dict] = {
    "6.1": {"minors": (1, 2), "policy": "cfs"},
    "6.3": {"minors": (3,), "policy": "cfs", **_ASYNC},
    "6.4": {"minors": (4, 5), "policy": "cfs", **_ASYNC, **_RANDOM_PHASE},
    "6.6": {"minors": (6, 7, 8, 9, 10, 11), "policy": "eevdf", **_ASYNC, **_RANDOM_PHASE},
    # 6.12.y: the stable series has the base slice of 0.70 ms that mainline got in 6.15
    "6.12": {"minors": (12,), "policy": "eevdf", **_ASYNC, **_RANDOM_PHASE, **_6_12},
    "6.18": {"minors": (18,), "policy": "eevdf", **_ASYNC, **_6_12, **_6_18},
    # as 6.18 but for what core scheduling does (fact sheet on core scheduling, A.10)
    "6.19": {"minors": (19,), "policy": "eevdf", **_ASYNC, **_6_12, **_6_18, **_6_19},
    "7.2": {"major": 7, "minors": (2,), "policy": "eevdf", **_ASYNC, **_6_12, **_6_18, **_6_19, **_7_2},
    # 7.2's mechanisms; `note` says what of 7.3 is missing
    "7.3": {"major": 7, "minors": (3,), "policy": "eevdf", **_ASYNC, **_6_12, **_6_18, **_6_19, **_7_2},
}
#: What a row leaves out of the release it is named after.
_LEFT_OUT = {
    "7.3": "this row is 7.2 with HRTICK: 7.3's flat tree and group weights are not modelled, and nothing is claimed "
    "for nested quotas (7.3.4 does not have 7.2's hole there: measured)",
}

TUNABLES = tuple(f.name for f in dataclasses.fields(Kernel) if f.name not in ("release", "asked", "policy", "patches"))
_SWITCHES = (
    "async_unthrottle",
    "delayed_dequeue",
    "preempt_short",
    "vprot",
    "lag_rules_7_2",
    "lazy_resched",
    "pipe_wake_on_free",
    "core_newidle",
    "hrtick",
    "skew_tick",
    "rcu_expedited",
)
_THROTTLES = {
    "queue": "the whole queue, at the pick",
    "task": "each task at its return to user space, told at the pick",
    "accounting": "each task at its return to user space, told at the charge",
}
_POLICY_OF = {
    "base_slice_ns": "eevdf",
    "latency_ns": "cfs",
    "min_granularity_ns": "cfs",
    "wakeup_granularity_ns": "cfs",
}
_DEFAULTS = {f.name: f.default for f in dataclasses.fields(Kernel)}
_SHOWN = (
    "balance",
    "tunable_scaling",
    "tick_offset_us",
    "skew_tick",
    "timer_late_probability",
    "timer_late_us",
    "wake_late_us",
    "rcu_expedited",
    "costs",
)


def _row_of(version: str) -> str:
    match = re.fullmatch(r"v?(\d+)\.(\d+)([.-].*)?", str(version).strip())
    if not match or not isinstance(version, str):
        raise _check.wrong("version", version, 'a text such as "6.1" or "6.12"')
    major, minor = int(match[1]), int(match[2])
    for name, row in ROWS.items():
        if major == row.get("major", 6) and minor in row["minors"]:
            return name
    known = ", ".join(ROWS)
    if (major, minor) > (7, 3):
        rule = f"after 7.3 nothing is modelled; known rows: {known}"
        raise _check.wrong("version", version, rule)
    if (major, minor) > (6, 12):
        raise _check.wrong("version", version, f"not modelled, it has no row of its own; known rows: {known}")
    raise _check.wrong("version", version, f"before 6.1 is not modelled; known rows: {known}")
