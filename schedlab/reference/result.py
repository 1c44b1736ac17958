"""What a run of the reference leaves."""

from ..units import NS_PER_US
from .force_idle import open_charge, payers

SIDES = ("writer", "reader")
CORE_COUNTS = (
    "nr_forced_idle",
    "nr_core_picks",
    "nr_fast_picks",
    "nr_core_balances",
    "nr_steals",
    "nr_pushes",
    "nr_scanned",
    "nr_locked",
)


class ReferenceRun:
    """The event log, counters and times of a run.

    Attributes
    ----------
    model : Model
        The state at the end, for tests that look inside.
    """

    def __init__(self, model):
        self.model = model

    @property
    def events(self) -> list[tuple[int, str, int, int, int]]:
        """The log: (time_ns, kind, cpu, a, b), in the order in which things happened."""
        return self.model.events

    def cpu_stat(self) -> dict[str, dict]:
        """Return the counters of cpu.stat by group path; times in us, rounded down."""
        return {group.path: self._stat_of(group) for group in self.model.groups}

    def _stat_of(self, group) -> dict:
        b = group.bandwidth
        below = group.subtree()
        user, system = sum(g.user_ns for g in below), sum(g.kernel_ns for g in below)
        return {
            "usage_usec": (user + system) // NS_PER_US,
            "user_usec": user // NS_PER_US,
            "system_usec": system // NS_PER_US,
            "nr_periods": b.nr_periods,
            "nr_throttled": b.nr_throttled,
            "throttled_usec": b.throttled_time // NS_PER_US,
            "nr_bursts": b.nr_burst,
            "burst_usec": b.burst_time // NS_PER_US,
            "local_throttled_usec": sum(q.throttled_clock_self_time for q in group.cfs_rqs) // NS_PER_US,
            "limited": b.quota is not None,
        }

    def tasks(self) -> list[dict]:
        """Return what each task did; times in ns, end_ns -1 while it is still there."""
        return [
            {
                "name": task.spec.name,
                "group": task.group.path,
                "start_ns": task.spec.start_ns,
                "end_ns": task.end_ns,
                "exec_ns": task.user_ns + task.kernel_ns,
                "user_ns": task.user_ns,
                "kernel_ns": task.kernel_ns,
                "wait_ns": task.wait_ns,
                "nr_switches": task.nr_switches,
                "nr_wakeups": task.nr_wakeups,
                "nr_migrations": task.nr_migrations,
                "nr_samples": len(task.samples),
            }
            for task in self.model.tasks
        ]

    def channels(self) -> list[dict]:
        """Return the counters of each channel."""
        names = ["written", "read"] + [f"{side}_{what}" for what in ("blocks", "wakes", "spurious") for side in SIDES]
        return [
            {"channel": c.spec.name} | {name: c.counters.get(name, 0) for name in names}
            for c in self.model.channels.values()
        ]

    def cpus(self) -> list[dict]:
        """Return by CPU how often `__schedule` and throttle work ran, and how often a limbo list was not empty."""
        return [
            {"nr_schedules": cpu.nr_schedules, "nr_works": cpu.nr_works, "nr_warnings": cpu.nr_warnings}
            for cpu in self.model.cpus
        ]

    def forced_idle(self) -> list[dict]:
        """Return by CPU what core scheduling did there, as `Run.forced_idle`; nothing without core scheduling."""
        rows = []
        for sibling in (cpu.sibling for cpu in self.model.cpus if cpu.sibling):
            is_open = sibling.forced_since is not None
            ns = sibling.forced_ns + (self.model.now - sibling.forced_since if is_open else 0)
            rows.append({"forced_idle_ns": ns} | {name: sibling.counts[name] for name in CORE_COUNTS})
        return rows

    def cookies(self) -> list[dict]:
        """Return by task its cookie and how long siblings idled on its account, as `Run.cookies`."""
        charges = {task: task.forceidle_ns for task in self.model.tasks}
        cores = {cpu.sibling.core: None for cpu in self.model.cpus if cpu.sibling}
        for core in cores:
            for task in payers(core):
                charges[task] += open_charge(self.model, core)
        return [{"cookie": task.cookie, "forceidle_ns": ns} for task, ns in charges.items()]

    def balance(self, path: str) -> int:
        """Return what the conservation law G1 leaves unexplained for a group, in ns: 0 when every ns is accounted for.

        Everything that ever entered the pool was charged, dropped, or is still in the pool or on a CPU.
        """
        group = next(g for g in self.model.groups if g.path == path)
        b = group.bandwidth
        left = b.runtime + sum(q.runtime_remaining for q in group.cfs_rqs)
        return b.refilled - b.dropped - b.charged - left
