"""What a run leaves behind: an event log of bounded size (drained between calls) and histograms.

Histograms are log-linear: exact below 128 ns, above that 64 buckets an octave (a bucket is at most 1.6 % wide).
"""

from __future__ import annotations

import numpy as np

from schedlab._jit import internal

(
    SWITCH, WAKE, BLOCK, EXIT, START, MIGRATE, THROTTLE, UNTHROTTLE, PERIOD, SLACK, SAMPLE, WORK, LIMBO, WARN, ONLINE,
    SCHEDULE, TICK, FORCED_IDLE, STEAL, PUSH, COOKIE, ACTIVE_BALANCE,
) = range(22)  # fmt: skip
KINDS = (
    "switch", "wake", "block", "exit", "start", "migrate", "throttle", "unthrottle", "period", "slack", "sample",
    "work", "limbo", "warn", "online", "schedule", "tick", "forced_idle", "steal", "push", "cookie",
    "active_balance",
)  # fmt: skip
#: Kinds that are logged only when asked for by name.
VERBOSE = ("schedule", "tick")

SUB_BITS = 6
OCTAVES = 38
NR_BUCKETS = (OCTAVES + 1) << SUB_BITS
WAKEUP_HIST, SAMPLE_HIST = 0, 1
#: Two histograms over all groups come after those of the labels.
DETECTION_HIST, OVERRUN_HIST = 0, 1


@internal
def log_event(s, kind, cpu, a, b):
    """Append one record to the log, when this kind is asked for; count it when the log is full."""
    if (s.sys_log_mask[0] >> kind) & 1 == 0:
        return
    n = s.sys_log_n[0]
    if n >= s.sys_log_cap[0]:
        s.sys_log_dropped[0] += 1
        return
    s.log_time[n] = s.sys_now[0]
    s.log_kind[n] = kind
    s.log_cpu[n] = cpu
    s.log_a[n] = a
    s.log_b[n] = b
    s.sys_log_n[0] = n + 1


@internal
def bucket_of(value):
    """The bucket of a non-negative value in ns."""
    if value < (1 << (SUB_BITS + 1)):
        return value
    octave = 0
    rest = value >> (SUB_BITS + 1)
    while rest > 0:
        octave += 1
        rest >>= 1
    return min((octave << SUB_BITS) + (value >> octave), NR_BUCKETS - 1)


@internal
def observe(s, hist, value):
    """Add one value (ns) to a histogram."""
    s.hist_count[hist] += 1
    s.hist_sum[hist] += value
    if value > s.hist_max[hist]:
        s.hist_max[hist] = value
    s.bucket_count[hist * NR_BUCKETS + bucket_of(value)] += 1


def bucket_edges() -> np.ndarray:
    """Lowest value of each bucket in ns, and one past the last bucket."""
    bucket = np.arange(NR_BUCKETS + 1, dtype=np.int64)
    octave = np.maximum((bucket >> SUB_BITS) - 1, 0)
    return (bucket - (octave << SUB_BITS)) << octave
