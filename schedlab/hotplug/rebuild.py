"""A rebuild of sched domains: detach, build, attach, deadline bandwidth; and what a run queue does going on or off.

cf. partition_sched_domains_locked(), cpu_attach_domain(), rq_attach_root(), set_rq_offline(), set_rq_online() and
dl_rebuild_rd_accounting() of 7.3. CPUs of a mask are attached in ascending order; what an attach does to one CPU does
not depend on the others, so a mask is done as arrays.
"""

import numpy as np

from .counts import COUNTED, count_build
from .topology import levels_of
from .work import Work

DEF_ROOT = 0
#: to_ratio() of the fair server's 50 ms in 1 s, and of a whole CPU (sched_rt_runtime_us = sched_rt_period_us).
SERVER_BW, MAX_BW = (50 << 20) // 1000, 1 << 20
_WORD = 64


def partition_sched_domains(state, masks: list[tuple[int, ...]], work: Work) -> None:
    """Replace the masks that differ, and account the deadline servers anew."""
    work.add("rebuilds", 1)
    before = state.masks
    for mask in before:
        if mask not in masks:
            _attach(state, np.array(mask), DEF_ROOT, work)
    for mask in masks:
        if mask not in before:
            _count_build(state, mask, work)
            state.last_rd += 1
            _attach(state, np.array(mask), state.last_rd, work)
    state.masks = list(masks)
    account_servers(state, work)


def _count_build(state, mask, work):
    levels, mechanisms = levels_of(state.machine), state.mechanisms
    cpu_map = np.zeros(state.machine.nr_cpus, dtype=bool)
    cpu_map[list(mask)] = True
    built = np.zeros(len(COUNTED), dtype=np.int64)
    arrays = (levels.overlap, levels.class_of, levels.first, levels.last, levels.cpus, levels.core_of)
    count_build(*arrays, cpu_map, built)
    found = dict(zip(COUNTED, built.tolist()))
    capacity = found["capacity_cores"] + found["balance_iterations"]
    work.add("avoidable_capacity", 0 if mechanisms.cache_capacity else capacity)
    work.add("avoidable_scans", 0 if mechanisms.skip_scans else found["span_scan"])
    if mechanisms.cache_capacity:
        # each group is counted once; a NUMA group is looked up by its balance CPU, found at its first CPU
        found["capacity_cores"] = found["distinct_cores"]
        found["balance_iterations"] = found["distinct_balance_iterations"]
    if mechanisms.skip_scans:
        found["span_scan"] = found["capacity_groups"]  # one step a group in place of one a CPU
    nr_cpus, nr_levels = len(mask), len(levels.names)
    plain = np.count_nonzero(~levels.overlap)
    found["span_checks"] = nr_cpus * plain if mechanisms.linear_span_check else found["later_pairs"]
    found["capacity_words"] = found["capacity_cores"] * -(-state.machine.nr_cpus // _WORD)
    found["allocations"] = (3 * nr_levels + 1) * nr_cpus
    found["percpu_allocations"] = 0 if mechanisms.skip_scans else 3 * nr_levels + 2
    for name in work.counts.keys() & found.keys():
        work.add(name, found[name])


def _attach(state, cpus: np.ndarray, rd: int, work: Work) -> None:
    """Call rq_attach_root() for CPUs of one mask, in ascending order."""
    mechanisms = state.mechanisms
    goes_off, goes_on = state.rq_online[cpus], state.active[cpus]
    work.add("rq_attach_root", cpus.size)
    nr_off, nr_on = np.count_nonzero(goes_off), np.count_nonzero(goes_on)
    work.add("rq_offline", nr_off)
    work.add("rq_online", nr_on)
    work.add("rt_group_visits", (nr_off + nr_on) * state.rt_groups)
    off = clear = unthrottle = resync = fused = np.zeros(cpus.size, dtype=bool)
    if not mechanisms.hotplug_only and not mechanisms.naive:
        # a CPU that is put offline here is an active one: the one that goes down was put offline before the rebuild
        off = goes_off & (not mechanisms.skip_offline_walks)
        clear = off & mechanisms.clear_walk
        unthrottle = off & mechanisms.unthrottle_active
        state.runtime_valid[cpus[unthrottle]] = False
        resync = goes_on & ~(state.runtime_valid[cpus] & mechanisms.skip_valid_resync)
    if mechanisms.fuse_rebuild:
        fused = clear & resync
        clear, resync = clear & ~fused, resync & ~fused
    walks = dict(clear=clear, unthrottle=unthrottle, resync=resync, fused=fused)
    work.walk(state.nr_groups, **{kind: np.count_nonzero(which) for kind, which in walks.items()})
    worst = np.add.reduce(tuple(walks.values()), dtype=np.int64).argmax()
    here = *(int(which[worst]) for which in walks.values()), 0
    none = np.zeros(cpus.size, dtype=bool)  # the dying CPU's own walk is no part of a rebuild
    work.attach_calls.append((cpus, np.column_stack((*walks.values(), none))))
    work.attach_walks = max(work.attach_walks, here, key=sum)
    _unthrottle(state, cpus[unthrottle])
    _clear(state, cpus[clear | fused])
    _resync(state, cpus[resync | fused])
    if mechanisms.dl_servers:
        work.add("dl_server_attach", 2 * cpus.size)  # the fair server's, and the ext server's, which is not attached
        already = np.count_nonzero(state.active & (state.rd_of == rd))
        # the k-th CPU that comes on finds k servers more than `already`; one that does not finds those before it
        updates = already * cpus.size + int(np.cumsum(goes_on).sum())
        work.add("dl_updates", 0 if mechanisms.dl_linear else updates)
        work.add("avoidable_dl", 0 if mechanisms.dl_linear else updates)
    state.rd_of[cpus] = rd
    state.rq_online[cpus] = goes_on


def set_rq_offline(state, cpu: int, work: Work) -> None:
    """Put the run queue of a CPU that goes down offline, cf. sched_set_rq_offline()."""
    if not state.rq_online[cpu]:
        return
    mechanisms = state.mechanisms
    work.add("rq_offline", 1)
    work.add("rt_group_visits", state.rt_groups)
    if mechanisms.fuse_dying and mechanisms.clear_walk:
        work.walk(state.nr_groups, fused_dying=1)
        work.hotplug_walks = (0, 0, 0, 0, 1)
    else:
        work.walk(state.nr_groups, unthrottle=1, clear=int(mechanisms.clear_walk))
        work.hotplug_walks = (int(mechanisms.clear_walk), 1, 0, 0, 0)
    one = np.array([cpu])
    state.runtime_valid[cpu] = False
    _unthrottle(state, one)
    if mechanisms.clear_walk:
        _clear(state, one)
    state.rq_online[cpu] = False


def set_rq_online(state, cpu: int, work: Work) -> None:
    """Put the run queue of a CPU that came up online, unless the rebuild did, cf. sched_set_rq_online()."""
    if state.rq_online[cpu]:
        return
    work.add("rq_online", 1)
    work.add("rt_group_visits", state.rt_groups)
    if not (state.mechanisms.skip_valid_resync and state.runtime_valid[cpu]):
        work.walk(state.nr_groups, resync=1)
        work.hotplug_walks = (0, 0, 1, 0, 0)
        _resync(state, np.array([cpu]))
    state.rq_online[cpu] = True


def _unthrottle(state, cpus):
    if cpus.size and state.throttled.size:
        state.runtime_enabled[cpus] = False
        state.throttled[cpus] = False


def _clear(state, cpus):
    if cpus.size and state.contribution.size:
        state.tg_load -= state.contribution[cpus].sum(axis=0)
        state.contribution[cpus] = 0


def _resync(state, cpus):
    state.runtime_valid[cpus] = True
    if cpus.size and state.runtime_enabled.size:
        state.runtime_enabled[cpus] = np.array([quota is not None for quota in state.quota_us.values()])


def account_servers(state, work: Work) -> None:
    """Account the bandwidth of the deadline servers of each root domain anew, cf. dl_rebuild_rd_accounting()."""
    mechanisms = state.mechanisms
    if not mechanisms.dl_servers:
        return
    state.total_bw = {}
    for rd in np.unique(state.rd_of).tolist():
        span = state.rd_of == rd
        members = span & state.active
        nr_active = np.count_nonzero(members)
        work.add("dl_clear", 1)
        state.total_bw[rd] = 0
        if not (mechanisms.dl_in_accounting or mechanisms.dl_linear):
            continue  # 6.12 forgets the servers here
        state.extra_bw[span] = MAX_BW
        state.total_bw[rd] = SERVER_BW * nr_active
        if nr_active:
            # each server takes its share of each active CPU: the sum of the truncated shares, not the truncated sum
            state.extra_bw[members] -= nr_active * (SERVER_BW // nr_active)
        updates = 2 * nr_active if mechanisms.dl_linear else nr_active**2
        work.add("dl_updates", updates)
        work.add("avoidable_dl", 0 if mechanisms.dl_linear else updates)
        work.dl_clear_updates = max(work.dl_clear_updates, updates)
