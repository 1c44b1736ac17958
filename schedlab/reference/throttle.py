"""Throttling: who stops whom when a group's runtime on a CPU is used up, and who is let go when.

Up to v6.17 the whole queue leaves the CPU; from v6.18 on it is only marked, and limbo.py stops its tasks one by one.
"""

from . import averages, bandwidth, force_idle, limbo
from .events import Source
from .resched import resched_curr
from .state import CfsRq, Flag, GroupRecord, path_up


def throttle(m, q: CfsRq) -> bool:
    """Throttle the group on this CPU unless the pool still has a ns for it; cf. throttle_cfs_rq().

    With throttle-at-account, where a task runs, it asks for a slice; and it is the CPU's task that has to leave,
    whoever is being picked.
    """
    b = q.group.bandwidth
    runs = m.throttles_at_account and q.curr is not None and q.curr.on_rq
    if bandwidth.assign(m, q, m.bandwidth_slice if runs else 1):
        return False
    if m.kernel.has("lifo-throttle-list"):
        b.throttled_list.insert(0, q)
    else:
        b.throttled_list.append(q)
    for group in q.group.subtree():
        throttle_down(m, group.cfs_rqs[q.cpu])
    if not m.per_task:
        dequeue_throttled(m, q)
        force_idle.queue_shrank(m, m.cpus[q.cpu])
        averages.cpu_changed(m, m.cpus[q.cpu])
    q.throttled = True
    m.log("throttle", q.cpu, q.group.index, 0)
    if m.per_task:
        if runs:
            limbo.setup_work(m, m.cpus[q.cpu].curr)
    elif q.nr_queued or m.kernel.policy == "cfs":
        # before 6.6 the clock of an empty queue runs too
        q.throttled_clock = m.now
    return True


def throttle_down(m, q: CfsRq):
    """One more throttled group on the way to the root; cf. tg_throttle_down()."""
    if q.throttle_count == 0 and m.per_task:
        limbo.warn_unless_empty(m, q)
    elif q.throttle_count == 0 and q.nr_queued:
        q.throttled_clock_self = m.now
    q.throttle_count += 1


def start_clocks(m, q: CfsRq):
    """The first entity on a throttled queue starts the clocks that an empty queue does not run (whole queue)."""
    if m.per_task:
        return
    if q.throttled and q.throttled_clock is None:
        q.throttled_clock = m.now
    if q.throttle_count and q.throttled_clock_self is None:
        q.throttled_clock_self = m.now


def dequeue_throttled(m, q: CfsRq):
    """Dequeue the group's entity, and those of ancestors that thereby become empty; cf. throttle_cfs_rq().

    An entity that is not queued ends the walk: an ancestor is throttled or being dequeued.
    """
    for se in path_up(q.entity):
        if not se.on_rq:
            return
        flags = Flag.SLEEP | Flag.SPECIAL
        if se.sched_delayed:
            flags |= Flag.DELAYED
        m.policy.dequeue_entity(m, se.cfs_rq, se, flags)
        if se.cfs_rq.nr_queued:
            return


def unthrottle(m, q: CfsRq):
    """Let the group run on this CPU again; cf. unthrottle_cfs_rq().

    There is no check for preemption: only an idle CPU is asked to reschedule. With per-task throttling a queue that
    has no runtime stays throttled, and listed.
    """
    if m.per_task and not has_runtime(m, q):
        return
    b = q.group.bandwidth
    q.throttled = False
    m.log("unthrottle", q.cpu, q.group.index, 0)
    if q.throttled_clock is not None:
        b.throttled_time += m.now - q.throttled_clock
        q.throttled_clock = None
    b.throttled_list.remove(q)
    for group in reversed(q.group.subtree()):
        unthrottle_up(m, group.cfs_rqs[q.cpu])
    if not m.per_task:
        if not q.nr_queued:
            return
        enqueue_unthrottled(m, q)
    cpu = m.cpus[q.cpu]
    averages.cpu_changed(m, cpu)
    if cpu.curr is None and cpu.root.nr_queued:
        resched_curr(m, q.cpu)


def has_runtime(m, q: CfsRq) -> bool:
    """Whether a throttled queue may be let go; what still runs counts with update-curr-before-unthrottle."""
    if m.kernel.has("update-curr-before-unthrottle"):
        m.policy.update_curr(m, q)
    return not q.runtime_enabled or q.runtime_remaining > 0 or m.kernel.has("zero-runtime-at-write")


def unthrottle_up(m, q: CfsRq):
    """One throttled group fewer on the way to the root; cf. tg_unthrottle_up()."""
    if m.kernel.has("update-curr-before-unthrottle"):
        m.policy.update_curr(m, q)
    q.throttle_count -= 1
    if q.throttle_count:
        return
    if q.throttled_clock_self is not None:
        q.throttled_clock_self_time += m.now - q.throttled_clock_self
        q.throttled_clock_self = None
    if m.per_task:
        limbo.release(m, q)


def enqueue_unthrottled(m, q: CfsRq):
    """Enqueue the group's entity, and those of ancestors that were empty, up to one that is throttled."""
    for se in path_up(q.entity):
        if se.sched_delayed:
            m.policy.dequeue_entity(m, se.cfs_rq, se, Flag.SLEEP | Flag.DELAYED)
        elif se.on_rq:
            return
        m.policy.enqueue_entity(m, se.cfs_rq, se, Flag.WAKEUP)
        if se.cfs_rq.throttled:
            return


# ---- distribution ----------------------------------------------------------------------------------------------------


def distribute(m, group: GroupRecord) -> bool:
    """Hand the pool to the throttled queues in the order of the list; cf. distribute_cfs_runtime().

    Each gets its debt and 1 ns. Returns whether some are still throttled for want of runtime.
    """
    if not m.kernel.async_unthrottle:
        return distribute_inline(m, group)
    serves_own_list = m.kernel.has("local-csd-unthrottle")
    b = group.bandwidth
    still_throttled = drains = False
    remaining = 1
    local = []
    for q in list(b.throttled_list):
        if remaining == 0:
            still_throttled = True
            break
        csd_list = m.cpus[q.cpu].csd_list
        if not q.throttled or q in csd_list:
            continue
        if m.kernel.has("update-curr-before-unthrottle"):
            m.policy.update_curr(m, q)
        remaining = grant(b, q)
        if q.runtime_remaining <= 0:
            still_throttled = True
            if serves_own_list:
                break
        elif q.cpu != m.this_cpu:
            unthrottle_async(m, q)
        elif serves_own_list:
            # a request that is under way serves this one too
            drains = not csd_list
            csd_list.append(q)
        else:
            local.append(q)
    for q in local:
        if q.throttled:
            unthrottle(m, q)
    if drains:
        serve_requests(m, m.this_cpu)
    return still_throttled


def distribute_inline(m, group: GroupRecord) -> bool:
    """The same before v6.3: every queue is let go within the walk, whatever its CPU."""
    b = group.bandwidth
    for q in list(b.throttled_list):
        grant(b, q)
        if q.runtime_remaining > 0:
            unthrottle(m, q)
        if b.runtime == 0:
            break
    return bool(b.throttled_list)


def grant(b, q: CfsRq) -> int:
    """Move the queue's debt and 1 ns from the pool to it, as far as the pool goes; returns what the pool has left."""
    runtime = min(b.runtime, 1 - q.runtime_remaining)
    b.runtime -= runtime
    q.runtime_remaining += runtime
    q.runtime_epoch = b.epoch
    return b.runtime


def unthrottle_async(m, q: CfsRq):
    """Ask the queue's CPU to let it go; cf. unthrottle_cfs_rq_async(). One request is under way at a time."""
    csd_list = m.cpus[q.cpu].csd_list
    if not csd_list:
        m.queue.set(Source.CSD, q.cpu, m.now + m.kernel.costs.ipi_ns)
    csd_list.append(q)


def serve_requests(m, cpu: int):
    """Let go all queues that this CPU was asked to; cf. __cfsb_csd_unthrottle()."""
    m.this_cpu = cpu
    csd_list = m.cpus[cpu].csd_list
    while csd_list:
        q = csd_list.pop(0)
        if q.throttled:
            unthrottle(m, q)
