"""Bandwidth control: the pool of a group, what its CPUs take from it and give back, and writes of cpu.max."""

from . import throttle
from .events import Source
from .resched import resched_curr
from .state import Bandwidth, CfsRq, GroupRecord

MS = 1_000_000

# Fact sheet B1.
MIN_CFS_RQ_RUNTIME = 1 * MS
SLACK_PERIOD = 5 * MS
MIN_BANDWIDTH_EXPIRATION = 2 * MS


def forward(expiry: int, now: int, period: int) -> tuple[int, int]:
    """Return (overruns, next expiry) of a timer; cf. hrtimer_forward()."""
    if now < expiry:
        return 0, expiry
    overruns = (now - expiry) // period + 1
    return overruns, expiry + overruns * period


# ---- what a CPU takes, uses and gives back ---------------------------------------------------------------------------


def start_period_timer(m, group: GroupRecord):
    """Start the period timer on this CPU unless it runs; cf. start_cfs_bandwidth()."""
    b = group.bandwidth
    if b.period_active:
        return
    b.period_active = True
    if b.expiry is None:
        # as a timer that has kept its phase since long before: the first phase + k * period after now
        b.expiry = m.now + b.period - (m.now - b.phase) % b.period
    else:
        _, b.expiry = forward(b.expiry, m.now, b.period)
    b.period_cpu = m.this_cpu
    m.queue.set(Source.PERIOD, group.index, b.expiry)


def assign(m, q: CfsRq, target: int) -> bool:
    """Fill the queue's local runtime up to `target` from the pool; cf. __assign_cfs_rq_runtime().

    Returns whether it has runtime now.
    """
    b = q.group.bandwidth
    want = target - q.runtime_remaining
    if b.quota is None:
        grant = want
    else:
        start_period_timer(m, q.group)
        grant = min(b.runtime, want) if b.runtime > 0 else 0
        if grant:
            b.runtime -= grant
            b.idle = False
    q.runtime_remaining += grant
    q.runtime_epoch = b.epoch
    return q.runtime_remaining > 0


def account(m, q: CfsRq, delta: int) -> bool:
    """Charge `delta` ns to the queue; cf. account_cfs_rq_runtime(), v6.1 to v7.2.

    Throttling itself is left to the next `__schedule`, but for throttle-at-account. Returns whether the queue is
    throttled for want of runtime.
    """
    if not q.runtime_enabled:
        return False
    b = q.group.bandwidth
    q.runtime_remaining -= delta
    b.charged += delta
    if m.kernel.has("expire-local-slices"):
        expire_local(q, b)
    if q.runtime_remaining > 0:
        return False
    if q.throttled:
        return True
    if m.throttles_at_account:
        return throttle.throttle(m, q)
    if not assign(m, q, m.bandwidth_slice) and q.curr is not None:
        resched_curr(m, q.cpu)
    return False


def expire_local(q: CfsRq, b: Bandwidth):
    """Drop local runtime that is left from an earlier period; cf. expire_cfs_rq_runtime(), v4.18 to v5.3.

    There the local deadline also moves by a tick with each charge to allow for clock drift, which an ideal clock does
    not need.
    """
    if q.runtime_epoch != b.epoch and q.runtime_remaining > 0:
        b.dropped += q.runtime_remaining
        q.runtime_remaining = 0


def check_runtime(m, q: CfsRq) -> bool:
    """Throttle the queue when its runtime is used up; cf. check_cfs_rq_runtime(). Returns whether it is throttled."""
    if not q.runtime_enabled or q.runtime_remaining > 0:
        return False
    return q.throttled or throttle.throttle(m, q)


def check_enqueue_throttle(m, q: CfsRq):
    """Get runtime for a queue whose first entity was just enqueued, or throttle it; cf. check_enqueue_throttle()."""
    if not q.runtime_enabled or q.curr is not None or q.throttled:
        return
    account(m, q, 0)
    if q.runtime_remaining <= 0 and not m.throttles_at_account:
        throttle.throttle(m, q)


def return_runtime(m, q: CfsRq):
    """Give what exceeds 1 ms back to the pool when the queue has become empty; cf. return_cfs_rq_runtime().

    With expire-local-slices what is left of an earlier period is lost.
    """
    if not q.runtime_enabled or q.nr_queued:
        return
    slack = q.runtime_remaining - MIN_CFS_RQ_RUNTIME
    if slack <= 0:
        return
    b = q.group.bandwidth
    if m.kernel.has("expire-local-slices") and q.runtime_epoch != b.epoch:
        b.dropped += slack
    elif b.quota is not None:
        b.runtime += slack
        if b.runtime > m.bandwidth_slice and b.throttled_list:
            start_slack_timer(m, q.group)
    q.runtime_remaining -= slack


# ---- the slack timer -------------------------------------------------------------------------------------------------


def refresh_within(m, b: Bandwidth, min_expire: int) -> bool:
    """Whether the period refresh runs or is due within that time; cf. runtime_refresh_within()."""
    return b.in_callback or b.expiry - m.now < min_expire


def start_slack_timer(m, group: GroupRecord):
    """Arm a redistribution in 5 ms; cf. start_cfs_slack_bandwidth().

    Before 66567fcbaeca (patch slack-timer-pushed-back) each donation pushed a pending one back.
    """
    b = group.bandwidth
    if refresh_within(m, b, SLACK_PERIOD + MIN_BANDWIDTH_EXPIRATION):
        return
    if b.slack_started and not m.kernel.has("slack-timer-pushed-back"):
        return
    b.slack_started = True
    b.slack_cpu = m.this_cpu
    m.queue.set(Source.SLACK, group.index, m.now + SLACK_PERIOD)


def run_slack_timer(m, group: GroupRecord):
    """Hand the pool to throttled queues; cf. do_sched_cfs_slack_timer()."""
    b = group.bandwidth
    m.this_cpu = b.slack_cpu
    b.slack_started = False
    if refresh_within(m, b, MIN_BANDWIDTH_EXPIRATION):
        return
    if b.quota is not None and b.runtime > m.bandwidth_slice:
        m.log("slack", -1, group.index, b.runtime)
        throttle.distribute(m, group)


# ---- the period timer ------------------------------------------------------------------------------------------------


def run_period_timer(m, group: GroupRecord):
    """The period timer's callback with its guard against a period that is too short; cf. sched_cfs_period_timer().

    Each round of the loop takes `period_timer_ns`, so the guard acts when that exceeds the period.
    """
    b = group.bandwidth
    m.this_cpu = b.period_cpu
    cost = m.kernel.costs.period_timer_ns
    clock, rounds, idle = m.now, 0, False
    b.in_callback = True
    while True:
        overruns, b.expiry = forward(b.expiry, clock, b.period)
        if not overruns:
            break
        m.hold(m.this_cpu, cost)
        idle = refresh(m, group, overruns)
        clock += cost
        rounds += 1
        if rounds > 3:
            rounds = 0
            scale(m, b)
    b.in_callback = False
    if idle:
        b.period_active = False
    else:
        m.queue.set(Source.PERIOD, group.index, b.expiry)


def scale(m, b: Bandwidth):
    """Lengthen a period that is too short: twice, or (patch period-scaling-147-128) 147/128 times as long."""
    second = 1000 * MS
    if m.kernel.has("period-scaling-147-128"):
        new = min(b.period * 147 // 128, second)
        if b.quota is not None:
            b.quota = b.quota * new // b.period
        b.burst = b.burst * new // b.period
        b.period = new
    elif 2 * b.period < second:
        b.period *= 2
        b.quota = None if b.quota is None else 2 * b.quota
        b.burst *= 2


def refill(b: Bandwidth):
    """Put the quota into the pool and count a burst; cf. __refill_cfs_bandwidth_runtime()."""
    if b.quota is None:
        return
    b.runtime += b.quota
    b.refilled += b.quota
    used_over = b.runtime_snap - b.runtime
    if used_over > 0:
        b.burst_time += used_over
        b.nr_burst += 1
    excess = max(0, b.runtime - (b.quota + b.burst))
    b.runtime -= excess
    b.dropped += excess
    b.runtime_snap = b.runtime
    b.epoch += 1


def refresh(m, group: GroupRecord, overruns: int) -> bool:
    """Begin a new period; cf. do_sched_cfs_period_timer(). Returns whether the timer may stop."""
    b = group.bandwidth
    if b.quota is None:
        return True
    throttled = bool(b.throttled_list)
    b.nr_periods += overruns
    refill(b)
    m.log("period", -1, group.index, b.runtime)
    if b.idle and not throttled:
        return True
    if not throttled:
        b.idle = True
        return False
    b.nr_throttled += overruns
    while throttled and b.runtime > 0:
        throttled = throttle.distribute(m, group)
    b.idle = False
    return False


# ---- cpu.max ---------------------------------------------------------------------------------------------------------


def write_limit(m, group: GroupRecord, quota: int | None, period: int, burst: int):
    """A write of cpu.max: refill at once and forget all debts; cf. tg_set_cfs_bandwidth(), v6.1 to v7.2.

    On every CPU that is online the local runtime becomes 0, with per-task throttling 1 ns (956dfda6a708), and a
    throttled queue is let go.
    """
    fresh = 1 if m.per_task and not m.kernel.has("zero-runtime-at-write") else 0
    b = group.bandwidth
    b.period, b.quota, b.burst = period, quota, burst
    refill(b)
    if quota is not None:
        start_period_timer(m, group)
    for q in group.cfs_rqs:
        if not m.cpus[q.cpu].active:
            continue
        q.runtime_enabled = quota is not None
        set_runtime(q, fresh)
        if q.throttled:
            throttle.unthrottle(m, q)


def set_runtime(q: CfsRq, ns: int):
    """Set the local runtime, whatever it was: what is above that is lost, what is below appears."""
    b = q.group.bandwidth
    b.dropped += q.runtime_remaining - ns
    q.runtime_remaining = ns
    q.runtime_epoch = b.epoch


def write_first_limit(m, group: GroupRecord, quota: int | None, period: int, burst: int, phase: int):
    """The limit that a group has from the start, and the phase that its timer keeps."""
    group.bandwidth.phase = phase
    if quota is not None:
        write_limit(m, group, quota, period, burst)
