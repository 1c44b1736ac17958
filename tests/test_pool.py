"""stream(): batches, failures in the order of the items, and what is taken when it is stopped."""

import itertools

import pytest

from schedlab._pool import Threads, WorkerDied, stream


class LastFirst:
    """A pool of one thread that does what was submitted last first, in batches; some items kill their worker."""

    def __init__(self, batch=1, room=4, deadly=()):
        self._batch, self._room, self._deadly = batch, room, set(deadly)
        self.stopped, self.submitted = False, []

    def room(self):
        return self._room

    def batch(self):
        return self._batch

    def submit(self, function, batch):
        self.submitted.append([item for _, item in batch])
        return len(self.submitted) - 1, function

    def wait(self, futures):
        return [max(futures)]

    def result(self, future, batch):
        if self._deadly & {item for _, item in batch}:
            return [], WorkerDied(f"{batch[0][1]}")
        found = []
        for _, item in batch:
            try:
                found.append(future[1](item))
            except ValueError as error:
                return found, error
        return found, None

    def succeeded(self, future):
        return False

    def stop(self, futures):
        self.stopped = True


def odd_fails(item):
    if item % 2:
        raise ValueError(item)
    return item


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_all_items_are_taken_once(batch):
    taken = []
    stream(LastFirst(batch), lambda item: -item, range(50), lambda *pair: taken.append(pair))
    assert sorted(taken) == [(item, -item) for item in range(50)]


def test_items_are_read_only_as_far_as_there_is_room():
    items, taken = itertools.count(), []

    def take(item, result):
        taken.append(item)
        if len(taken) == 30:
            raise KeyboardInterrupt

    pool = LastFirst(batch=2, room=3)
    with pytest.raises(KeyboardInterrupt):
        stream(pool, abs, items, take)
    assert pool.stopped and next(items) <= 30 + 2 * 3


@pytest.mark.parametrize("batch", [1, 4])
def test_first_of_several_failures_is_raised_and_what_comes_before_is_taken(batch):
    taken = []
    with pytest.raises(ValueError, match="^5$"):
        stream(LastFirst(batch), odd_fails, [0, 2, 4, 5, 6, 7, 8, 9], lambda item, _: taken.append(item))
    assert {0, 2, 4} <= set(taken)


def test_batch_that_kills_its_worker_is_tried_item_by_item():
    taken, pool = [], LastFirst(batch=5, deadly=[7])
    with pytest.raises(WorkerDied, match="^7$"):
        stream(pool, abs, range(20), lambda item, _: taken.append(item))
    assert [7] in pool.submitted and set(range(7)) <= set(taken) and 7 not in taken


def test_threads__failure_is_the_first_and_the_rest_is_not_begun():
    taken = []
    with Threads(2) as pool, pytest.raises(ValueError, match="^5$"):
        stream(pool, odd_fails, [0, 2, 4, 5, *range(6, 10_000)], lambda item, _: taken.append(item))
    assert {0, 2, 4} <= set(taken) and len(taken) < 100
