"""Pipes and socket pairs: how many messages they hold, and who is woken when one is written or read.

A read or write is one system call: it blocks until there is a message or room, works in the kernel for a time, and
moves its messages at the end of that section (docs/model.md, "Channels"). cf. pipe_read(), pipe_write() (fs/pipe.c) and
unix_stream_sendmsg(), unix_stream_read_generic(), unix_write_space() (net/unix/af_unix.c).
"""

from __future__ import annotations

from schedlab._jit import internal
from schedlab.engine.rng import RUN, draw
from schedlab.engine.smt import RATE_ONE
from schedlab.engine.waitlist import add_waiter, take_waiter
from schedlab.engine.wakeup import try_to_wake_up

#: task_chan_phase: in no call, blocked before the section, in the section, blocked after it.
OUTSIDE, WAITS_BEFORE, WORKS, WAITS_AFTER = range(4)
#: What `transfer` returns: the call is over, a section begins, the task blocks.
OVER, SECTION, SLEEPS = range(3)
#: Slots of a pipe in the `page` record.
PAGES = 16


@internal
def has_room(s, c, slept):
    """Whether one more message fits. A writer that has slept takes a new page: it tried to join the last one before."""
    if s.chan_pipe[c] == 0:
        return s.chan_messages[c] * s.chan_truesize[c] < s.chan_sndbuf[c]
    if s.chan_used[c] < s.chan_nr_slots[c]:
        return True
    return not slept and s.chan_last_end[c] < s.chan_per_slot[c]


@internal
def wake_readers(s, c):
    """A pipe wakes one reader (exclusive, the longest waiter), a socket all of them (the latest first)."""
    readers = s.chan_readers[c]
    while s.sync_nr_waiting[readers] > 0:
        s.chan_reader_wakes[c] += 1
        try_to_wake_up(s, take_waiter(s, readers))
        if s.chan_pipe[c] != 0:
            break


@internal
def wake_writers(s, c):
    """Likewise for writers."""
    writers = s.chan_writers[c]
    while s.sync_nr_waiting[writers] > 0:
        s.chan_writer_wakes[c] += 1
        try_to_wake_up(s, take_waiter(s, writers))
        if s.chan_pipe[c] != 0:
            break


@internal
def put_message(s, c, slept):
    """Write one message into a channel that has room, and wake whom the kernel wakes."""
    s.chan_messages[c] += 1
    s.chan_written[c] += 1
    if s.chan_pipe[c] == 0:
        wake_readers(s, c)
        return
    nr_slots = s.chan_nr_slots[c]
    used = s.chan_used[c]
    if used > 0 and not slept and s.chan_last_end[c] < s.chan_per_slot[c]:
        s.chan_last_end[c] += 1
        s.page_left[c * PAGES + (s.chan_first[c] + used - 1) % nr_slots] += 1
    else:
        s.page_left[c * PAGES + (s.chan_first[c] + used) % nr_slots] = 1
        s.chan_last_end[c] = 1
        s.chan_used[c] = used + 1
    if used == 0:
        wake_readers(s, c)
    if slept and s.chan_used[c] < nr_slots:
        wake_writers(s, c)


@internal
def get_message(s, c, slept):
    """Read one message from a channel that holds one, and wake whom the kernel wakes."""
    s.chan_messages[c] -= 1
    s.chan_read[c] += 1
    if s.chan_pipe[c] == 0:
        if 4 * s.chan_messages[c] * s.chan_truesize[c] <= s.chan_sndbuf[c]:
            wake_writers(s, c)
        return
    wakes = s.chan_used[c] == s.chan_nr_slots[c]
    first = s.chan_first[c]
    left = s.page_left[c * PAGES + first] - 1
    s.page_left[c * PAGES + first] = left
    if left == 0:
        s.chan_first[c] = (first + 1) % s.chan_nr_slots[c]
        s.chan_used[c] -= 1
    elif s.chan_wake_on_free[c] != 0:
        wakes = False
    if wakes:
        wake_writers(s, c)
    if slept and s.chan_used[c] > 0:
        wake_readers(s, c)


@internal
def is_ready(s, task, c, writes):
    """Whether a message can be moved now."""
    if writes:
        return has_room(s, c, s.task_chan_slept[task] != 0)
    return s.chan_messages[c] > 0


@internal
def sleep_on(s, task, c, writes, phase):
    """The call has to wait, for the first time or again after a wake-up in vain."""
    again = s.task_chan_phase[task] == phase
    if writes:
        s.chan_writer_blocks[c] += 1
        s.chan_writer_spurious[c] += 1 if again else 0
    else:
        s.chan_reader_blocks[c] += 1
        s.chan_reader_spurious[c] += 1 if again else 0
    s.task_chan_phase[task] = phase
    s.task_chan_slept[task] = 1
    add_waiter(s, s.chan_writers[c] if writes else s.chan_readers[c], task, s.chan_pipe[c] == 0)
    return SLEEPS


@internal
def transfer(s, task, op, writes):
    """Go on with the system call of a write or read step."""
    c = s.op_x[op]
    if s.task_chan_phase[task] == OUTSIDE:
        s.task_chan_left[task] = s.op_y[op]
        s.task_chan_slept[task] = 0
        s.task_mode[task] = 1
    if s.task_chan_phase[task] <= WAITS_BEFORE:
        if not is_ready(s, task, c, writes):
            return sleep_on(s, task, c, writes, WAITS_BEFORE)
        s.task_chan_phase[task] = WORKS
        s.task_spin[task] = 0
        cost = draw(s, task, RUN, s.op_kind[op], s.op_p1[op], s.op_p2[op])
        s.task_work[task] = cost * s.op_y[op] * RATE_ONE
        return SECTION
    left = s.task_chan_left[task]
    while s.task_chan_left[task] > 0 and is_ready(s, task, c, writes):
        slept = s.task_chan_slept[task] != 0
        s.task_chan_slept[task] = 0  # the next message is a call of its own
        s.task_chan_left[task] -= 1
        if writes:
            put_message(s, c, slept)
        else:
            get_message(s, c, slept)
    if s.task_chan_left[task] > 0:
        if s.task_chan_left[task] < left:
            s.task_chan_phase[task] = WORKS  # not in vain
        return sleep_on(s, task, c, writes, WAITS_AFTER)
    s.task_chan_phase[task] = OUTSIDE
    s.task_pc[task] += 1
    return OVER
