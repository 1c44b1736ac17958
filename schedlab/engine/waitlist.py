"""Lists of tasks that wait for a name, a barrier or a channel. A task is on one at a time."""

from __future__ import annotations

from schedlab._jit import internal


@internal
def add_waiter(s, sync, task, last_first):
    """Put a task on a name's list of waiters: at the tail, or (last first) at the head."""
    s.task_wait_next[task] = -1
    if s.sync_nr_waiting[sync] == 0:
        s.sync_head[sync] = task
        s.sync_tail[sync] = task
    elif last_first:
        s.task_wait_next[task] = s.sync_head[sync]
        s.sync_head[sync] = task
    else:
        s.task_wait_next[s.sync_tail[sync]] = task
        s.sync_tail[sync] = task
    s.sync_nr_waiting[sync] += 1


@internal
def take_waiter(s, sync):
    """Take the first waiter off the list."""
    task = s.sync_head[sync]
    s.sync_head[sync] = s.task_wait_next[task]
    s.sync_nr_waiting[sync] -= 1
    return task
