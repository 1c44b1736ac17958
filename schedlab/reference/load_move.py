"""Load balancing, the moving: which tasks may go, how many do, and what happens when none can.

cf. sched_balance_rq(), can_migrate_task(), detach_tasks(), active_load_balance_cpu_stop(), v6.18
"""

from . import averages, placement, schedule
from .domains import Domain
from .idleness import core_cookie_matches, counts_as_idle, others_are_idle
from .load_search import Attempt, Move, Occasion, find_source
from .resched import resched_curr
from .state import CpuRecord, TaskRecord
from .virtual_time import is_eligible

#: sysctl_sched_migration_cost, in ns
MIGRATION_COST = 500_000
#: sysctl_sched_nr_migrate
NR_MIGRATE = 32
#: in ms
MAX_PINNED_INTERVAL = 512


def balance(m, cpu: CpuRecord, domain: Domain, occasion: Occasion) -> tuple[int, bool]:
    """Balance one domain of a CPU. Returns how many tasks moved, and whether wider domains are to be balanced too."""
    attempt = Attempt(domain, cpu, occasion, {c for c in domain.span if m.cpus[c].active})
    while True:
        if not should_balance(m, attempt):
            in_balance(attempt)
            return 0, False
        source = find_source(m, attempt)
        if source is None:
            in_balance(attempt)
            return 0, True
        attempt.source, attempt.all_pinned = source, True
        moved = 0
        if source.root.h_nr_queued > 1:
            moved = take(m, attempt)
            if domain.parent is not None and attempt.some_pinned and attempt.imbalance > 0:
                domain.parent.groups[0].imbalanced = True
            if attempt.all_pinned:
                attempt.cpus.discard(source.number)
                if attempt.cpus - set(domain.groups[0].cpus):
                    continue
                domain.nr_failed = 0
                lengthen_interval(attempt)
                return 0, True
        if moved:
            domain.nr_failed = 0
            domain.interval = domain.weight
        else:
            nothing_moved(m, attempt, cpu)
        return moved, True


def should_balance(m, attempt: Attempt) -> bool:
    """Whether it is this CPU that balances for its group; cf. should_we_balance().

    It is the first idle one, of wholly idle cores if there are any, or else the group's first.
    """
    target, group = attempt.target, attempt.domain.groups[0]
    if target.number not in attempt.cpus:
        return False
    if attempt.occasion is Occasion.NEWLY_IDLE:
        return not target.root.h_nr_queued
    idle = [m.cpus[c] for c in group.cpus if c in attempt.cpus and counts_as_idle(m, m.cpus[c])]
    best = [cpu for cpu in idle if attempt.domain.is_core or others_are_idle(m, cpu)]
    chosen = (best or idle or [m.cpus[group.cpus[0]]])[0]
    return chosen is target


# ---- the moving ------------------------------------------------------------------------------------------------------


def take(m, attempt: Attempt) -> int:
    """Move tasks from the source, also to another CPU of the group where affinities ask for it. Returns how many."""
    most = min(NR_MIGRATE, attempt.source.root.h_nr_queued)
    attempt.tried = 0
    moved = detach(m, attempt, most)
    while attempt.new_target is not None and attempt.imbalance > 0:
        attempt.cpus.discard(attempt.target.number)
        attempt.target, attempt.new_target = attempt.new_target, None
        attempt.tried = 0
        moved += detach(m, attempt, most)
    return moved


def detach(m, attempt: Attempt, most: int) -> int:
    """Move tasks from the tail of the source's list until the imbalance is gone; cf. detach_tasks(), attach_tasks()."""
    source, moved = attempt.source, 0
    if source.root.h_nr_queued <= 1:
        attempt.all_pinned = False
        return 0
    while source.tasks and attempt.imbalance > 0:
        if attempt.is_idle and source.root.h_nr_queued <= 1:
            break
        attempt.tried += 1
        if attempt.tried > most:
            break
        task = source.tasks[-1]
        if not (may_go(m, attempt, task) and is_not_too_much(m, attempt, task)):
            source.tasks.remove(task)
            source.tasks.insert(0, task)
            continue
        placement.move_queued(m, task, attempt.target.number)
        schedule.after_enqueue(m, task)
        moved += 1
        if attempt.occasion is Occasion.NEWLY_IDLE:
            break
    return moved


def may_go(m, attempt: Attempt, task: TaskRecord) -> bool:
    """Whether the task may go from the source to the target; cf. can_migrate_task()."""
    target, domain = attempt.target, attempt.domain
    if task.entity.sched_delayed and attempt.move is not Move.LOAD:
        return False
    there = task.group.cfs_rqs[target.number]
    if there.throttle_count:
        return False
    if not domain.nr_failed and there.nr_queued and not is_worth_it(m, task):
        return False
    if target.number not in task.allowed:
        note_pinned(m, attempt, task)
        return False
    attempt.all_pinned = False
    if attempt.active:
        return True
    if attempt.source.curr is task:
        return False
    return domain.nr_failed > domain.cache_nice_tries or not is_hot(m, attempt, task)


def is_worth_it(m, task: TaskRecord) -> bool:
    """Whether the task may run next where it is; one that is ahead of its time would wait elsewhere too (EEVDF)."""
    return m.kernel.policy == "cfs" or is_eligible(task.entity.cfs_rq, task.entity)


def note_pinned(m, attempt: Attempt, task: TaskRecord):
    """A task may not go to the target: perhaps it may go to another CPU of the group."""
    attempt.some_pinned = True
    if attempt.occasion is Occasion.NEWLY_IDLE or attempt.new_target is not None or attempt.active:
        return
    others = [c for c in attempt.domain.groups[0].cpus if c in attempt.cpus and c in task.allowed]
    if others:
        attempt.new_target = m.cpus[others[0]]


def is_hot(m, attempt: Attempt, task: TaskRecord) -> bool:
    """Whether the task has left something in the source's cache; cf. task_hot(). Siblings share theirs."""
    if attempt.domain.is_core:
        return False
    if attempt.target.root.h_nr_queued and task.entity.cfs_rq.next is task.entity:
        return True
    if not core_cookie_matches(m, attempt.target, task):
        return True
    return m.now - task.entity.exec_start < MIGRATION_COST


def is_not_too_much(m, attempt: Attempt, task: TaskRecord) -> bool:
    """Whether the task is within the imbalance, which then shrinks; after failures more is."""
    amount = 1
    if attempt.move is not Move.TASK:
        amount = averages.task_util(m, task) if attempt.move is Move.UTIL else max(averages.task_h_load(m, task), 1)
        if amount >> attempt.domain.nr_failed > attempt.imbalance:
            return False
    attempt.imbalance -= amount
    return True


# ---- afterwards ------------------------------------------------------------------------------------------------------


def in_balance(attempt: Attempt):
    """The domain is in balance, or another CPU sees to it: it is looked at less often."""
    domain = attempt.domain
    if domain.parent is not None and not attempt.all_pinned:
        domain.parent.groups[0].imbalanced = False
    domain.nr_failed = 0
    lengthen_interval(attempt)


def lengthen_interval(attempt: Attempt):
    """Double the domain's interval up to twice its weight, or further where all tasks are pinned."""
    domain = attempt.domain
    if attempt.occasion is Occasion.NEWLY_IDLE:
        return
    if domain.interval < 2 * domain.weight or (attempt.all_pinned and domain.interval < MAX_PINNED_INTERVAL):
        domain.interval *= 2


def nothing_moved(m, attempt: Attempt, cpu: CpuRecord):
    """Nothing could be moved: after too many failures the source's stopper is asked to; cf. need_active_balance()."""
    domain, source = attempt.domain, attempt.source
    if attempt.occasion is not Occasion.NEWLY_IDLE:
        domain.nr_failed += 1
    asks = attempt.move is Move.TASK and domain.nr_failed > domain.cache_nice_tries + 2
    if asks and not m.kernel.has("lb-no-active-balance"):
        if source.curr is None or cpu.number not in source.curr.allowed:
            lengthen_interval(attempt)
            return
        if all(source is not other for other, _ in m.balance.active):
            m.balance.active.append((source, cpu))
    domain.interval = domain.weight


def run_stoppers(m):
    """The stoppers that were asked move a task each, by CPU; cf. active_load_balance_cpu_stop(). It takes no time.

    The kernel leaves what the move is counted in at 0, which is load: a delayed task may go too.
    """
    asked, m.balance.active = m.balance.active, []
    for source, target in sorted(asked, key=lambda pair: pair[0].number):
        domain = next(d for d in target.balance.domains if source.number in d.span)
        attempt = Attempt(domain, target, Occasion.IDLE, set(domain.span), source, active=True)
        task = next((task for task in reversed(source.tasks) if may_go(m, attempt, task)), None)
        if task is None:
            continue
        domain.nr_failed = 0
        m.log("active_balance", target.number, task.index, source.number)
        here, m.this_cpu = m.this_cpu, source.number
        if source.curr is task:
            placement.take_off(m, source, task)
            placement.move_queued(m, task, target.number)
            task.waits_since = m.now
        else:
            placement.move_queued(m, task, target.number)
            resched_curr(m, source.number)
        schedule.after_enqueue(m, task)
        m.this_cpu = here
