"""Grace periods of sequences of operations (fact sheet A.5, L.2, L.3 and I.6, I.24)."""

import pytest

from schedlab.hotplug import Pace, ramp
from schedlab.hotplug.grace import GracePeriods, RcuSync
from schedlab.hotplug.published_tables import base_kernel
from schedlab.machine import Machine
from schedlab.patches_hotplug import EXPEDITE, SKIP_NODE_LOCK

G, L, M = 1.0, 3.0, 7


def waits(kind, work, *, grace=G, callback=L, gap=0, **more):
    periods = GracePeriods(Pace(work=work, gap=gap, grace=grace, callback=callback), **more)
    return [getattr(periods, kind)() for _ in range(M)]


@pytest.mark.parametrize("work", [0.1, 1, 2.5, 50])
def test_offlines_back_to_back__one_each_and_one(work):
    assert sum(waits("offline", work)) == M + 1


@pytest.mark.parametrize(("work", "expected"), [(50, M + 1), (0.5, 2), (2.5, 3)])
def test_onlines_back_to_back__depend_on_their_length(work, expected):
    assert sum(waits("online", work)) == expected


def test_onlines_back_to_back__callback_sooner_than_a_grace_period():
    assert sum(waits("online", 50, callback=0.5)) == 2 * M


def test_isolated_operations__two_each():
    assert waits("offline", 1, gap=1000) == [2] * M
    assert waits("online", 1, gap=1000) == [2] * M
    assert waits("online", 1, gap=1000, skip_node_lock=True) == [1] * M


def test_rcu_sync__transitions():
    pace, sync = Pace(work=0, gap=0, grace=G, callback=L), RcuSync()
    assert sync.enter(0, pace) and sync.state == "passed"
    sync.exit(0, pace)
    assert sync.state == "exit" and not sync.enter(1, pace)
    sync.exit(2, pace)
    assert sync.state == "replay" and not sync.enter(2.5, pace)
    sync.exit(2.6, pace)
    # the callback of time 3 finds no writer in replay, and queues again; that of time 6 makes it idle
    assert not sync.enter(5.9, pace) and sync.state == "exit"
    sync.exit(5.95, pace)
    assert sync.enter(20, pace)


def test_rcu_sync__callback_finds_a_writer():
    pace, sync = Pace(work=0, gap=0, grace=G, callback=L), RcuSync()
    sync.enter(0, pace)
    sync.exit(0, pace)
    sync.enter(1, pace)
    sync.exit(10, pace)
    assert sync.state == "exit" and sync.callback_at == 13


def test_ramp__grace_periods_do_not_depend_on_their_being_expedited():
    machine, counts = Machine.uniform(16), []
    for kernel in (base_kernel(), base_kernel().with_(rcu_expedited=True), base_kernel().with_patch(EXPEDITE)):
        done = ramp(machine, kernel)
        counts.append([done.total("grace_periods", kind) for kind in ("offline", "online")])
    # tight loop: m + 1 offline, and online the one of the memory lock, which was idle
    assert counts == [[16, 1]] * 3
    slow = ramp(machine, base_kernel(), pace=Pace.slow_loop())
    assert [slow.total("grace_periods", kind) for kind in ("offline", "online")] == [16, 15]
    isolated = ramp(machine, base_kernel().with_patch(SKIP_NODE_LOCK), pace=Pace.isolated())
    assert [isolated.total("grace_periods", kind) for kind in ("offline", "online")] == [30, 15]
