"""What holds between operations (fact sheet I, 8 to 15); a kernel that breaks one of them has a bug."""

import numpy as np

from .rebuild import DEF_ROOT, MAX_BW, SERVER_BW
from .topology import levels_of


def violations(state) -> list[str]:
    """Return one line for each invariant that a `State` violates, with its number; none in a sound kernel.

    Domains are not looked at: see `domain_violations`.
    """
    found = [*_root_domains(state), *_groups(state), *_servers(state), *_thresholds(state)]
    return found


def _first(cpus) -> str:
    return f"CPU {int(np.flatnonzero(cpus)[0])}"


def _root_domains(state):
    for mask in state.masks:
        domains = {int(state.rd_of[cpu]) for cpu in mask}
        if len(domains) != 1 or DEF_ROOT in domains:
            yield f"invariant 10: CPUs {mask} have the root domains {sorted(domains)}, not one of their own"
    in_masks = np.zeros(state.online.size, dtype=bool)
    in_masks[[cpu for mask in state.masks for cpu in mask]] = True
    if (stray := ~in_masks & (state.rd_of != DEF_ROOT)).any():
        yield f"invariant 10: {_first(stray)} has no domains but is not in def_root_domain"
    if (wrong := state.rq_online != state.active).any():
        yield f"invariant 10: rq->online of {_first(wrong)} is not whether it is active"
    if (wrong := state.online != state.active).any():
        yield f"invariant 10: {_first(wrong)} is online but not active, or the other way round"


def _groups(state):
    if not state.groups:
        return
    limited = np.array([quota is not None for quota in state.quota_us.values()])
    stale = (state.runtime_enabled != limited) & state.online[:, None]
    if stale.any():
        cpu, group = np.argwhere(stale)[0].tolist()
        has = "a quota" if limited[group] else "no quota"
        value = int(state.runtime_enabled[cpu, group])
        yield f"invariant 11: {state.groups[group]} has {has}, but runtime_enabled on CPU {cpu} is {value}"
    if not np.array_equal(state.contribution.sum(axis=0), state.tg_load):
        yield "invariant 12: contributions to tg->load_avg do not add up to it"
    if state.contribution[~state.online].any():
        yield "invariant 12: a CPU that is offline contributes to tg->load_avg"
    if state.throttled[~state.online].any() or (state.throttled & ~state.runtime_enabled).any():
        yield "invariant 13: a group is throttled on a CPU that is offline or has no runtime to enforce"


def _servers(state):
    if not (state.mechanisms.dl_in_accounting or state.mechanisms.dl_linear):
        return
    for rd, total in state.total_bw.items():
        span = state.rd_of == rd
        nr_active = int((span & state.active).sum())
        if total != SERVER_BW * nr_active:
            yield f"invariant 14: total_bw of root domain {rd} is {total}, not that of {nr_active} servers"
        share = MAX_BW - nr_active * (SERVER_BW // nr_active) if nr_active else MAX_BW
        if (state.extra_bw[span & state.active] != share).any() or (
            state.extra_bw[span & ~state.active] != MAX_BW
        ).any():
            yield f"invariant 14: extra_bw in root domain {rd} is not {share}"


def _thresholds(state):
    nr_online = int(state.online.sum())
    if (state.thresholds.of_cpu[state.online] != state.thresholds.values(nr_online)).any():
        yield f"invariant 15: a threshold is not that of {nr_online} CPUs"


def domain_violations(state) -> list[str]:
    """Return one line for each rule about domains (invariant 9) that a `State` violates."""
    found = []
    levels = levels_of(state.machine)
    domains = state.domains()
    for cpu, own in domains.items():
        for below, above in zip(own, own[1:]):
            if not set(below.span) <= set(above.span):
                found.append(f"invariant 9: {below.level} of CPU {cpu} is not within {above.level}")
        for level, domain in enumerate(own):
            found += _domain(state, cpu, domain, bool(levels.overlap[level]))
            others = (domains[other][level].span for other in domain.span if len(domains[other]) > level)
            if not levels.overlap[level] and any(span != domain.span for span in others):
                found.append(f"invariant 9: {domain.level} of CPU {cpu} overlaps another that is not equal")
    return found


def _domain(state, cpu, domain, overlap):
    name = f"{domain.level} of CPU {cpu}"
    members = [c for group in domain.groups for c in group.span]
    if set(members) != set(domain.span):
        yield f"invariant 9: the groups of {name} do not cover its span"
    if not overlap and len(members) > len(domain.span):
        yield f"invariant 9: groups of {name} overlap"
    if cpu not in domain.groups[0].span:
        yield f"invariant 9: the first group of {name} is not the CPU's own"
    for group in domain.groups:
        cores = len({state.machine.core_of[c] for c in group.span})
        if group.weight != len(group.span) or group.cores != cores or group.balance_cpu not in group.span:
            yield f"invariant 9: weight, cores or balance CPU of a group of {name} is wrong"
