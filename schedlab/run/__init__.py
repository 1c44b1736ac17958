"""Run: what a simulation leaves, as tables in the kernel's words with the units in the columns' names."""

from __future__ import annotations

import hashlib
import html
import pathlib
from dataclasses import dataclass, field

import numpy as np

from .collect import CHANNEL_COUNTERS

#: Percentiles of `Run.latencies`.
PERCENTILES = (50, 75, 90, 95, 99, 99.5, 99.9)
#: Fields that are tables of numbers.
TABLES = (
    "groups", "task_table", "hists", "buckets", "log", "cpu_table", "throttle_table", "channel_table",
    "core_table", "cookie_table",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Run:
    """The result of one simulation.

    Attributes
    ----------
    machine, kernel, workload : Machine, Kernel, Workload
    seed : int
    duration_ns : int
        Simulated time: the duration asked for, or until the last task exited.
    nr_events : int
        Events: popped entries of the event queue.
    kinds : tuple of str
        Names of the kinds of events, by number in `log`.
    log_kinds : tuple of str
        Kinds of events that were logged.
    log_lost : int
        Log records that were lost because the log was full; 0 means that it is whole.
    limbo_warnings, limbo_warned_at : int
        How often a group was throttled anew while tasks of it were in limbo, and when first (ns).
    """

    machine: object
    kernel: object
    workload: object
    seed: int
    duration_ns: int
    nr_events: int
    core_busy_ns: int
    thread_busy_ns: int
    kinds: tuple[str, ...]
    log_kinds: tuple[str, ...]
    log_lost: int
    groups: np.ndarray = field(repr=False)
    task_table: np.ndarray = field(repr=False)
    hists: np.ndarray = field(repr=False)
    buckets: np.ndarray = field(repr=False)
    bucket_edges: np.ndarray = field(repr=False)
    log: np.ndarray | None = field(repr=False)
    cpu_table: np.ndarray = field(repr=False)
    throttle_table: np.ndarray = field(repr=False)
    limbo_warnings: int = 0
    limbo_warned_at: int = 0
    channel_table: np.ndarray | None = field(default=None, repr=False)
    core_table: np.ndarray | None = field(default=None, repr=False)
    cookie_table: np.ndarray | None = field(default=None, repr=False)

    # ---- tables ------------------------------------------------------------------------------------------------------

    def cpu_stat(self):
        """Return the cpu.stat of every cgroup, with the kernel's names and meanings.

        Returns
        -------
        pandas.DataFrame
            Index: the group's path. Columns: usage_usec, user_usec, system_usec (CPU time of the subtree);
            nr_periods (period boundaries counted while the timer was active); nr_throttled (those at which a CPU's
            queue was throttled: periods, neither events nor CPUs); throttled_usec (summed over CPUs, so that it
            can exceed wall time; closed intervals only); nr_bursts, burst_usec; local_throttled_usec
            (cpu.stat.local: own or an ancestor's throttling; missing before 6.6, which does not count it); limited
            (whether the group has a quota); throttled_percent (nr_throttled / nr_periods; missing where the group is
            not limited).
        """
        import pandas as pd

        table = pd.DataFrame({name: self.groups[name] for name in self.groups.dtype.names})
        times = [name for name in table.columns if name.endswith("_ns")]
        for name in times:
            table[name] //= 1000
        table = table.rename(columns={name: name[:-3] + "_usec" for name in times})
        table["limited"] = table["limited"].astype(bool)
        if self.kernel.policy == "cfs":  # cpu.stat.local came with 6.6
            table["local_throttled_usec"] = float("nan")
        share = 100.0 * table["nr_throttled"] / table["nr_periods"].clip(lower=1)
        table["throttled_percent"] = share.where(table["limited"])
        table.index = pd.Index(self.workload.group_paths, name="group")
        return table

    def throttling(self) -> dict[str, str]:
        """Return one sentence for each cgroup: how often it was throttled, or that it has no limit.

        Examples
        --------
        >>> import schedlab as sl
        >>> work = sl.Workload((sl.Group("/free"),), (sl.Task("t", sl.run("1ms"), group="/free"),))
        >>> sl.simulate(sl.Machine.uniform(1), sl.Kernel.version("6.12"), work, "10ms").throttling()["/free"]
        'not limited'
        """
        said = {}
        for path, row in self.cpu_stat().iterrows():
            if path == "/":
                continue
            if not row["limited"]:
                said[path] = "not limited"
                continue
            said[path] = (
                f"throttled in {row['nr_throttled']} of {row['nr_periods']} periods "
                f"({row['throttled_percent']:.0f} %), "
                f"{row['throttled_usec'] / 1000:.1f} ms summed over CPUs"
            )
        return said

    def tasks(self):
        """Return one row a task.

        Returns
        -------
        pandas.DataFrame
            name, group, start_ns, end_ns (-1: still there), exec_ns (CPU time), user_ns, kernel_ns, wait_ns (runnable
            but not running, throttled time included), nr_switches, nr_wakeups, nr_migrations, nr_samples.
        """
        import pandas as pd

        table = pd.DataFrame({name: self.task_table[name] for name in self.task_table.dtype.names})
        table.insert(0, "group", [task.group for task in self.workload.tasks])
        table.insert(0, "name", [task.name for task in self.workload.tasks])
        return table

    def channels(self):
        """Return one row a channel.

        Returns
        -------
        pandas.DataFrame
            channel, kind, capacity (messages); written, read (messages so far, the rest is in it); writer_blocks,
            reader_blocks (how often one went to sleep on it); writer_wakes, reader_wakes (wake-ups by the other side
            or passed on by their own); writer_spurious, reader_spurious (those after which the woken slept again at
            once).
        """
        import pandas as pd

        nouns = self.workload.channels
        head = {name: [getattr(channel, name) for channel in nouns] for name in ("name", "kind", "capacity")}
        table = pd.DataFrame(head).rename(columns={"name": "channel"})
        for name in CHANNEL_COUNTERS:
            table[name] = np.zeros(0, np.int64) if self.channel_table is None else self.channel_table[name]
        return table

    def latencies(self):
        """Return latencies of each label: from wake-up to running, and what sample() steps recorded.

        Returns
        -------
        pandas.DataFrame
            label, kind ("wakeup" or "sample"), count, mean_us, p50_us to p99.9_us (middle of a histogram's bucket, at
            most 1.6 % wide, so that the last ones may be a little above max_us), max_us. Kinds without a value are left
            out.
        """
        import pandas as pd

        rows = []
        for k, label in enumerate(self.workload.labels):
            for kind, name in enumerate(("wakeup", "sample")):
                hist = self.hists[2 * k + kind]
                if hist["count"] == 0:
                    continue
                row = {"label": label, "kind": name, "count": int(hist["count"])}
                row["mean_us"] = hist["sum"] / hist["count"] / 1000
                for percentile in PERCENTILES:
                    row[f"p{percentile}_us"] = self.percentile_ns(label, percentile, name) / 1000
                row["max_us"] = hist["max"] / 1000
                rows.append(row)
        columns = ["label", "kind", "count", "mean_us", *(f"p{p}_us" for p in PERCENTILES), "max_us"]
        return pd.DataFrame(rows, columns=columns)

    def percentile_ns(self, labels, percentile: float, kind: str = "sample") -> float:
        """Return a percentile of one label's latencies, or of several labels' together, in ns.

        Parameters
        ----------
        labels : str, sequence of str or None
            None: all labels.
        percentile : float
            0 to 100.
        kind : {"sample", "wakeup"}

        Returns
        -------
        float
            Middle of the bucket that holds it; nan without values.
        """
        offset = ("wakeup", "sample").index(kind)
        if labels is None:
            counts = self.hists["count"][offset : 2 * len(self.workload.labels) : 2]
            return self._percentile_of(self.buckets[2 * np.flatnonzero(counts) + offset].sum(axis=0), percentile)
        labels = (labels,) if isinstance(labels, str) else tuple(labels)
        return self._percentile_of(
            sum(self.buckets[2 * self.workload.labels.index(label) + offset] for label in labels), percentile
        )

    def _percentile_of(self, counts, percentile) -> float:
        total = int(counts.sum())
        if total == 0:
            return float("nan")
        rank = max(1, -(-total * percentile // 100))
        bucket = int(np.searchsorted(np.cumsum(counts), rank))
        return float(self.bucket_edges[bucket] + self.bucket_edges[bucket + 1] - 1) / 2

    def cpus(self):
        """Return one row a CPU: what scheduling and throttling did there.

        Returns
        -------
        pandas.DataFrame
            nr_schedules (calls of __schedule), nr_switches, nr_works (throttle works that stopped a task); nr_served
            (throttled queues that distributions looked at), nr_walked (groups that throttles and unthrottles walked
            over), nr_requeued (levels on which they queued or dequeued entities); nr_irqoff, irqoff_ns and
            irqoff_max_ns (sections with interrupts off, at the prices of the kernel's `Costs`; 0 without prices).
        """
        import pandas as pd

        return pd.DataFrame({name: self.cpu_table[name] for name in self.cpu_table.dtype.names})

    def forced_idle(self):
        """Return one row a CPU: what core scheduling and balancing did there; without either there is no table.

        Returns
        -------
        pandas.DataFrame
            forced_idle_ns (idle by the core's pick though something was queued), nr_forced_idle; nr_core_picks (picks
            for the whole core) and nr_fast_picks (a sibling's pick carried out); nr_core_balances (attempts to steal
            and push), nr_steals (tasks that came), nr_pushes (tasks that went), nr_scanned (CPUs looked at for that),
            nr_locked (idle CPUs whose queue a push locked); nr_active_balances (tasks that came by active balancing).
        """
        import pandas as pd

        self._need_cores()
        return pd.DataFrame({name: self.core_table[name] for name in self.core_table.dtype.names})

    def cookies(self):
        """Return one row a task: its cookie at the end, and how long siblings were idle on its account.

        Returns
        -------
        pandas.DataFrame
            task, cookie, forceidle_ns (cf. core_forceidle_sum of schedstats, charged to whom the sibling was idle for).
        """
        import pandas as pd

        if self.cookie_table is None:
            raise ValueError("no task of this run has a cookie: Task(cookie=...)")
        columns = {name: self.cookie_table[name] for name in self.cookie_table.dtype.names}
        return pd.DataFrame({"task": [task.name for task in self.workload.tasks], **columns})

    def _need_cores(self):
        if self.core_table is None:
            raise ValueError('no core scheduling in this run: Task(cookie=...), or Kernel balance="kernel"')

    def throttles(self):
        """Return one row a group: what its throttles cost.

        Returns
        -------
        pandas.DataFrame
            Index: the group's path. nr_throttles (queues throttled, not periods), nr_rethrottled (those whose last
            unthrottle was of no use: nothing more was granted in between), nr_works (tasks stopped at their return to
            user space), overrun_ns (CPU time used beyond the quota by the time of the first grant after a throttle,
            sum), overrun_max_ns (most that was owed at any grant).
        """
        import pandas as pd

        table = pd.DataFrame({name: self.throttle_table[name] for name in self.throttle_table.dtype.names})
        table.index = pd.Index(self.workload.group_paths, name="group")
        return table

    def throttle_percentile_ns(self, percentile: float, kind: str = "overrun") -> float:
        """Return a percentile over all throttles, in ns.

        Parameters
        ----------
        percentile : float
        kind : {"detection", "overrun"}
            CPU time used beyond the quota when the throttle is noticed, or by the time of the next grant.
        """
        row = len(self.hists) - 2 + ("detection", "overrun").index(kind)
        return self._percentile_of(self.buckets[row], percentile)

    def violations(self) -> list[str]:
        """Return the invariants that the run broke, one sentence each; patches without their preparation do."""
        if self.limbo_warnings == 0:
            return []
        return [
            f"G13: {self.limbo_warnings} times a group was throttled anew while tasks of it were in limbo, first at "
            f"{self.limbo_warned_at} ns"
        ]

    def events(self):
        """Return the event log: time_ns, kind, cpu, a, b.

        Meaning of a and b by kind: switch (previous task, next task; -1 is idle), wake, start, block, exit (task),
        migrate (task, CPU left), throttle and unthrottle (group number), period (group number, pool in ns after
        the refill), slack (group number, pool), sample (task, value in ns), work (task that is to leave at its return
        to user space), limbo (task that left, group number), warn (group number), online (1 or 0), schedule (task that
        runs when __schedule is called), tick (task that runs). Numbers are positions in ``workload.tasks`` and
        ``workload.group_paths``. "schedule" and "tick" are logged only when asked for by name.
        """
        import pandas as pd

        log = self._need_log("events()")
        kind = pd.Categorical.from_codes(log["kind"], self.kinds)
        return pd.DataFrame({"time_ns": log["time"], "kind": kind, "cpu": log["cpu"], "a": log["a"], "b": log["b"]})

    def switches(self):
        """Return the context switches: time_ns, cpu, prev, next (names of tasks; "idle" for none)."""
        import pandas as pd

        log = self._need_log("switches()", "switch")
        log = log[log["kind"] == self.kinds.index("switch")]
        names = np.array([*(task.name for task in self.workload.tasks), "idle"], dtype=object)  # -1 is the last
        return pd.DataFrame(
            {"time_ns": log["time"], "cpu": log["cpu"], "prev": names[log["a"]], "next": names[log["b"]]}
        )

    def spans(self):
        """Return what each CPU ran and when, from the log of switches; idle time is left out.

        Returns
        -------
        pandas.DataFrame
            cpu, start_ns, end_ns, task, group: one row from a switch to a task until the next switch on that CPU, in
            order of CPU and time. What still runs at the end of the run (or of a log that was cut) ends there. A
            task that moves to another group while it runs (`SetGroup`) begins another row.
        """
        from ..timeline import spans

        self._need_log("spans()", "switch")
        return spans(self)

    def throttled_spans(self):
        """Return when each group was throttled on each CPU, from the log.

        Returns
        -------
        pandas.DataFrame
            cpu, group (the one whose own limit it is, not those below it), start_ns, end_ns, closed (False: still
            throttled at the end of the run or of a log that was cut, where it ends), in order of CPU and time. From
            6.6 on throttled_usec of cpu.stat counts only while a task waits in the group, so it can be less.
        """
        from ..timeline import throttled_spans

        for kind in ("throttle", "unthrottle"):
            self._need_log("throttled_spans()", kind)
        return throttled_spans(self)

    @property
    def log_until_ns(self) -> int:
        """Up to when the log tells all, ns: the end of the run, or the last record of a log that was cut."""
        from ..timeline import known_until_ns

        return known_until_ns(self)

    def diff(self, other):
        """Return where and by how much another run differs; see `schedlab.diff`."""
        from ..diff import diff

        return diff(self, other)

    def _need_log(self, what, kind=None):
        if self.log is None or (kind is not None and kind not in self.log_kinds):
            raise ValueError(f"log={self.log_kinds!r}: {what} needs simulate(..., log=True)")
        if self.log_lost:
            import warnings

            warnings.warn(f"{self.log_lost} log records were lost: raise log_limit or log fewer kinds", stacklevel=3)
        return self.log

    def power(self) -> dict[str, float]:
        """Return energy and mean power over the run, from the machine's watts.

        Returns
        -------
        dict
            seconds, energy_j, mean_w, busy_core_s, busy_thread_s; energy and power are nan without watts.
        """
        seconds = self.duration_ns / 1e9
        core_s, thread_s = self.core_busy_ns / 1e9, self.thread_busy_ns / 1e9
        watts = self.machine.watts
        energy = float("nan")
        if watts is not None:
            energy = watts.idle_w * seconds + watts.core_w * core_s + watts.thread_w * thread_s
        return {
            "seconds": seconds,
            "energy_j": energy,
            "mean_w": energy / seconds if seconds else float("nan"),
            "busy_core_s": core_s,
            "busy_thread_s": thread_s,
        }

    # ---- identity, saving --------------------------------------------------------------------------------------------

    def digest(self) -> str:
        """Return the SHA-256 of everything that was computed: equal runs have equal digests on every machine."""
        digest = hashlib.sha256()
        numbers = (self.seed, self.duration_ns, self.nr_events, self.core_busy_ns, self.thread_busy_ns, self.log_lost)
        digest.update(np.array(numbers, "<i8").tobytes())
        for name in TABLES:
            array = getattr(self, name)
            if array is not None:
                digest.update(name.encode())
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def save(self, folder) -> pathlib.Path:
        """Write the run into a folder: run.json and one parquet file a table. Returns the folder."""
        from .files import save

        return save(self, folder)

    @classmethod
    def load(cls, folder) -> Run:
        """Read a run that `save` wrote.

        Raises
        ------
        ValueError
            When the folder holds no run, or one that was changed.
        """
        from .files import load

        return load(folder)

    # ---- showing -----------------------------------------------------------------------------------------------------

    def __repr__(self):
        return (
            f"<Run {self.workload.name or 'workload'} on {self.machine.name}, kernel {self.kernel.asked}, "
            f"{self.duration_ns / 1e9:g} s, seed {self.seed}, {self.nr_events} events>"
        )

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{html.escape(path)}</td><td>{html.escape(text)}</td></tr>"
            for path, text in self.throttling().items()
        )
        return f"<p>{html.escape(repr(self)[1:-1])}</p><table>{rows}</table>"
