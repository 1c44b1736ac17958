"""The state of a machine's CPUs between operations, and the operations that change it.

An operation first checks everything that it can refuse, so that a refused one changes nothing. What it does then
follows sched_cpu_activate() and sched_cpu_deactivate() of 7.3 step by step; rebuild.py has the domains.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import numpy as np

from .. import _check
from ..kernel import Kernel
from ..machine import Machine
from . import rebuild
from .grace import GracePeriods, Pace
from .mechanisms import Mechanisms
from .operations import Isolate, Member, Offline, Online, Operation, Partition, SetQuota
from .topology import build_domains
from .vmstat import Thresholds
from .work import Work

ROOT = "/"


class State:
    """CPUs, partitions, root domains, groups, deadline bandwidth, thresholds and locks of a running machine.

    Parameters
    ----------
    machine : Machine
    kernel : Kernel
    groups : int or iterable of str
        How many task groups there are, the root group among them; or the names of groups beside it, whose quota,
        runtime_enabled and load are then modelled one by one.
    rt_groups : int
        Task groups of the rt class: 0 unless RT_GROUP_SCHED is on.
    pace : Pace, optional
        How operations follow each other. Default: seconds apart.

    Attributes
    ----------
    online, active : (CPUs,) bool
    rq_online : (CPUs,) bool
        rq->online.
    rd_of : (CPUs,) int64
        Number of each CPU's root domain; 0 is def_root_domain.
    masks : list of tuple of int
        The cpu_map of each set of sched domains.
    partitions : dict
        ``"root"`` or ``"isolated"`` by the partition's CPUs.
    quota_us : dict
        Of each named group; None without a limit.
    runtime_enabled, throttled : (CPUs, named groups) bool
    contribution, load : (CPUs, named groups) int64
        cfs_rq->tg_load_avg_contrib, and the load that it stands for.
    tg_load : (named groups,) int64
        tg->load_avg.
    runtime_valid : (CPUs,) bool
        The flag of `skip-runtime-resync-while-valid`.
    extra_bw : (CPUs,) int64
        rq->dl.extra_bw.
    total_bw : dict
        dl_bw.total_bw by root domain.
    """

    def __init__(self, machine: Machine, kernel: Kernel, groups=1, rt_groups: int = 0, pace: Pace | None = None):
        self.machine, self.kernel = machine, kernel
        self.mechanisms = Mechanisms.of(kernel)
        names, self.nr_groups = _group_names(groups)
        self.rt_groups = _check.whole("rt_groups", rt_groups, 0)
        nr_cpus = machine.nr_cpus
        self.online, self.active, self.rq_online, self.runtime_valid = np.ones((4, nr_cpus), dtype=bool)
        self.rd_of = np.ones(nr_cpus, dtype=np.int64)
        self.last_rd = 1
        self.masks: list[tuple[int, ...]] = [tuple(range(nr_cpus))]
        self.partitions: dict[tuple[int, ...], str] = {}
        self.quota_us: dict[str, int | None] = dict.fromkeys(names)
        self.runtime_enabled, self.throttled = np.zeros((2, nr_cpus, len(names)), dtype=bool)
        # any loads will do: what matters is that contributions come and go with their CPU
        self.load = np.fromfunction(lambda c, g: 1 + (7 * c + 3 * g) % 11, (nr_cpus, len(names)), dtype=np.int64)
        self.contribution = self.load.copy()
        self.tg_load = self.load.sum(axis=0)
        self.extra_bw = np.full(nr_cpus, rebuild.MAX_BW, dtype=np.int64)
        self.total_bw: dict[int, int] = {}
        self.thresholds = Thresholds(machine)
        self.grace = GracePeriods(pace or Pace.isolated(), self.mechanisms.skip_node_lock)
        rebuild.account_servers(self, Work())

    def copy(self) -> State:
        """Return a state of its own that is equal to this one."""
        return copy.deepcopy(self, {id(self.machine): self.machine, id(self.kernel): self.kernel})

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups that are modelled one by one."""
        return tuple(self.quota_us)

    def domains(self) -> dict:
        """Return the sched domains of each CPU that has some, as `topology.build_domains` does."""
        found = {}
        for mask in self.masks:
            found |= build_domains(self.machine, mask, self.mechanisms.cache_capacity)
        return found

    # ---- operations ------------------------------------------------------------------------------------------------

    def apply(self, operation: Operation, legacy_two_pass: bool = False) -> Work:
        """Carry out an operation and return the work that it took.

        Parameters
        ----------
        operation : Offline, Online, Partition, Isolate, Member or SetQuota
        legacy_two_pass : bool
            Hotplug goes through the partitioner twice, first with one domain over all CPUs (3.9 to about 6.9).

        Raises
        ------
        ValueError
            For what is impossible; nothing has changed then.
        """
        check(self, operation)
        work = Work()
        if isinstance(operation, Offline):
            self._offline(operation.cpu, work, legacy_two_pass)
        elif isinstance(operation, Online):
            self._online(operation.cpu, work, legacy_two_pass)
        elif isinstance(operation, SetQuota):
            self._set_quota(operation)
        else:
            self._switch(operation, work)
        self._update_load()
        return work

    def throttle(self, group: str, cpu: int) -> bool:
        """Throttle a group on a CPU, and return whether that was possible: it needs a quota that is enabled there."""
        place = self._place(group)
        if self.online[cpu] and self.runtime_enabled[cpu, place]:
            self.throttled[cpu, place] = True
        return bool(self.throttled[cpu, place])

    def _offline(self, cpu, work, two_pass):
        work.add("grace_periods", self.grace.offline())
        self.active[cpu] = False
        rebuild.set_rq_offline(self, cpu, work)
        self._rebuild(work, two_pass)
        work.add("rendezvous", 1)
        work.add("rendezvous_cpus", np.count_nonzero(self.online))
        self.online[cpu] = False
        nr_online = np.count_nonzero(self.online)
        work.add("cmci_cpus", nr_online if self.mechanisms.cmci_everywhere else 1)
        work.add("avoidable_cmci", nr_online if self.mechanisms.cmci_everywhere else 0)
        work.other_cpus = int(nr_online)
        shares = self._shares_cache(cpu)
        work.add("wbinvd_offline", self.mechanisms.wbinvd_offline or not shares)
        work.add("avoidable_wbinvd_offline", self.mechanisms.wbinvd_offline and shares)
        self._refresh_thresholds(cpu, work)

    def _online(self, cpu, work, two_pass):
        work.add("grace_periods", self.grace.online())
        work.other_cpus = np.count_nonzero(self.online)
        work.add("wbinvd_online", self.mechanisms.wbinvd_online)
        work.add("mtrr_rendezvous", self.mechanisms.mtrr_rendezvous)
        work.add("mtrr_cpus", work.other_cpus if self.mechanisms.mtrr_rendezvous else 0)
        self.online[cpu] = True
        self._refresh_thresholds(cpu, work)
        self.active[cpu] = True
        if self.mechanisms.hotplug_only:
            rebuild.set_rq_online(self, cpu, work)
        self._rebuild(work, two_pass)
        if not self.mechanisms.hotplug_only:
            rebuild.set_rq_online(self, cpu, work)

    def _switch(self, operation, work):
        kind = {Partition: "root", Isolate: "isolated", Member: None}[type(operation)]
        if self.partitions.get(operation.cpus) == kind:
            return
        if kind is None:
            del self.partitions[operation.cpus]
        else:
            self.partitions[operation.cpus] = kind
        rebuild.partition_sched_domains(self, self.wanted_masks(), work)

    def _set_quota(self, operation):
        place = self._place(operation.group)
        self.quota_us[operation.group] = operation.quota_us
        # cf. tg_set_cfs_bandwidth(): online CPUs alone
        self.runtime_enabled[self.online, place] = operation.quota_us is not None
        self.throttled[self.online, place] = False

    def _rebuild(self, work, two_pass):
        if two_pass:
            rebuild.partition_sched_domains(self, [tuple(np.flatnonzero(self.active).tolist())], work)
        rebuild.partition_sched_domains(self, self.wanted_masks(), work)

    def wanted_masks(self) -> list[tuple[int, ...]]:
        """Return the cpu_maps that cpuset asks for now, cf. generate_sched_domains(); one without CPUs drops out."""
        outside = self.active.copy()
        for cpus in self.partitions:
            outside[list(cpus)] = False
        top = tuple(np.flatnonzero(outside).tolist())
        roots = [cpus for cpus, kind in self.partitions.items() if kind == "root"]
        masks = [top, *(tuple(c for c in cpus if self.active[c]) for cpus in roots)]
        return [mask for mask in masks if mask]

    def _shares_cache(self, cpu: int) -> bool:
        here = np.array(self.machine.llc_of) == self.machine.llc_of[cpu]
        same_package = np.array(self.machine.package_of) == self.machine.package_of[cpu]
        return bool((self.online & here & same_package).any())

    def _refresh_thresholds(self, cpu, work):
        changed = self.thresholds.refresh(self.online)
        nr_online = np.count_nonzero(self.online)
        work.add("vmstat_writes", changed.sum())
        touches = nr_online * self.thresholds.touches_a_cpu
        work.add("vmstat_touches", changed.sum() if self.mechanisms.changed_thresholds else touches)
        work.add("avoidable_vmstat", 0 if self.mechanisms.changed_thresholds else nr_online)

    def _update_load(self):
        """Let each online CPU's contributions follow its load again, cf. update_tg_load_avg()."""
        if self.contribution.size:
            new = np.where(self.online[:, None], self.load, self.contribution)
            self.tg_load += (new - self.contribution).sum(axis=0)
            self.contribution = new

    def _place(self, group: str) -> int:
        if group not in self.quota_us:
            known = ", ".join(self.quota_us) or "none is named"
            raise _check.wrong("group", group, f"no such task group; known: {known}")
        return self.groups.index(group)


def _group_names(groups) -> tuple[tuple[str, ...], int]:
    if isinstance(groups, str):
        raise _check.wrong("groups", groups, "how many, or a sequence of names")
    if not isinstance(groups, Iterable):
        return (), _check.whole("groups", groups, 1, None, "the root group is one of them")
    names = tuple(_check.text("groups", name) for name in groups)
    if len(set(names)) < len(names) or ROOT in names:
        raise _check.wrong("groups", names, f"each name once, without the root group {ROOT!r}")
    return names, len(names) + 1


def check(state: State, operation: Operation) -> None:
    """Raise ValueError when the operation is impossible in this state."""
    machine = state.machine
    if isinstance(operation, SetQuota):
        state._place(operation.group)
        return
    if not isinstance(operation, Offline | Online | Partition | Isolate | Member):
        raise _check.wrong("operation", operation, "an Offline, Online, Partition, Isolate, Member or SetQuota")
    cpus = (operation.cpu,) if isinstance(operation, Offline | Online) else operation.cpus
    for cpu in cpus:
        _check.whole("cpu", cpu, 0, machine.nr_cpus - 1, f"{machine.name} has {machine.nr_cpus} CPUs")
    if isinstance(operation, Offline):
        _check_offline(state, operation.cpu)
    elif isinstance(operation, Online):
        if state.online[operation.cpu]:
            raise _check.wrong("cpu", operation.cpu, "it is online already")
    elif isinstance(operation, Member):
        if operation.cpus not in state.partitions:
            raise _check.wrong("cpus", operation.cpus, "no partition has exactly these CPUs")
    else:
        _check_partition(state, operation.cpus)


def _check_offline(state, cpu):
    if not state.online[cpu]:
        raise _check.wrong("cpu", cpu, "it is offline already")
    if cpu in state.machine.not_hotplugged:
        raise _check.wrong("cpu", cpu, f"{state.machine.name} cannot take it offline")
    if np.count_nonzero(state.online) == 1:
        raise _check.wrong("cpu", cpu, "the last CPU online stays")
    of_partitions = {c for cpus in state.partitions for c in cpus}
    left = [c for c in np.flatnonzero(state.online) if c != cpu and c not in of_partitions]
    if not left:
        raise _check.wrong("cpu", cpu, "the last CPU outside of partitions stays")


def _check_partition(state, cpus):
    if not any(state.online[cpu] for cpu in cpus):
        raise _check.wrong("cpus", cpus, "a partition has at least one CPU online")
    for other in state.partitions:
        if other != cpus and set(other) & set(cpus):
            raise _check.wrong("cpus", cpus, f"overlaps the partition of CPUs {other}")
    taken = {c for other in state.partitions for c in other} | set(cpus)
    if taken >= set(np.flatnonzero(state.online).tolist()):
        raise _check.wrong("cpus", cpus, "at least one CPU online stays outside of partitions")
