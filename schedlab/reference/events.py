"""The queue of events: one slot for each source, popped in the order of (time, kind, number)."""

import heapq
from enum import IntEnum


class Source(IntEnum):
    """Kinds of event sources, in the order in which simultaneous events run."""

    PERIOD = 0
    SLACK = 1
    CSD = 2
    RESCHED = 3
    HRTICK = 4
    TICK = 5
    STEP = 6
    TASK = 7
    SCENARIO = 8


class EventQueue:
    """Each (kind, number) has at most one pending time.

    A heap holds every time that was ever set; an entry counts only while it is its slot's present time.

    Examples
    --------
    >>> queue = EventQueue()
    >>> queue.set(Source.TICK, 0, 5)
    >>> queue.set(Source.PERIOD, 3, 5)
    >>> queue.pop()
    (5, <Source.PERIOD: 0>, 3)
    """

    def __init__(self):
        self._heap: list[tuple[int, Source, int]] = []
        self._time: dict[tuple[Source, int], int] = {}

    def set(self, kind: Source, number: int, time_ns: int):
        """Set the slot's time, in place of an earlier one."""
        self._time[kind, number] = time_ns
        heapq.heappush(self._heap, (time_ns, kind, number))

    def cancel(self, kind: Source, number: int):
        """Leave the slot without a time."""
        self._time.pop((kind, number), None)

    def time_of(self, kind: Source, number: int) -> int | None:
        """Return the slot's time, None when nothing is pending."""
        return self._time.get((kind, number))

    def next_time(self) -> int | None:
        """Return the time of the first pending event, None when there is none."""
        while self._heap:
            time_ns, kind, number = self._heap[0]
            if self._time.get((kind, number)) == time_ns:
                return time_ns
            heapq.heappop(self._heap)
        return None

    def pop(self) -> tuple[int, Source, int]:
        """Take out the first pending event."""
        if self.next_time() is None:
            raise IndexError("no event is pending")
        time_ns, kind, number = heapq.heappop(self._heap)
        del self._time[kind, number]
        return time_ns, kind, number
