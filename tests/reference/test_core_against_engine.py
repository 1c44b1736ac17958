"""Core scheduling: engine and reference leave the same log, the same forced idle times, the same counts."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from compare import differences
from core_strategies import CORE_RELEASES, core_scenarios
from test_against_engine import check_random_scenarios

import schedlab as sl
from schedlab import reference

MS = 1_000_000
CORE = sl.Machine.uniform(2, 2)


@pytest.mark.parametrize("release", CORE_RELEASES)
def test_same_log__random_cookies(release):
    check_random_scenarios(core_scenarios((release,)), 30)


@pytest.mark.slow
@pytest.mark.parametrize("release", CORE_RELEASES)
def test_same_log__many_random_cookies(release):
    check_random_scenarios(core_scenarios((release,)), 600)


def same_log(kernel, tasks, groups=(), duration_ns=60 * MS, machine=CORE, events=()):
    """Compare, and return the reference's log."""
    workload = sl.Workload(groups, tasks, events)
    found = differences(machine, kernel, workload, duration_ns)
    assert not found, found
    return reference.simulate(machine, kernel, workload, duration_ns).events


@pytest.mark.parametrize("release", CORE_RELEASES)
def test_same_log__half_slice_at_an_hrtick(release):
    """Two tasks of a group in the kernel, opposite a sibling: the group is alone on its level, its slice is over.

    By hand: two CPUs double the slice of 0.7 ms; b, the last to start, runs to the tick at 4 ms. To 6.19
    task_tick_fair() goes on to task_tick_core() at an hrtick, whose request does not wait as the lazy one of 6.18's
    slice does. 7.2's request is not lazy, and comes at the deadline: half a slice for a task's first request.
    """
    kernel = sl.Kernel.version(release, hz=250, hrtick=True)
    pair = [sl.Task(f"a{k}", sl.kernel("50ms"), "/a", cookie=1, cpus=0) for k in range(2)]
    other = sl.Task("b", sl.run("50ms"), cookie=2, cpus=1, start_ns=1)
    log = same_log(kernel, [*pair, other], [sl.Group("/a")])
    switches = [(time_ns, a, b) for time_ns, kind, cpu, a, b in log if kind == "switch" and cpu == 0]
    turn_ns = 700_000 if release == "7.2" else 1_400_000
    assert switches[2:4] == [(4 * MS, -1, 1), (4 * MS + turn_ns, 1, 0)]


@pytest.mark.parametrize("patch", ("lb-force-idle-source", "lb-keep-cookies-together"))
def test_refuses__patches_of_balancing(patch):
    tasks = [sl.Task("a", sl.run("1ms"), cookie=1)]
    kernel = sl.Kernel.version("6.18", balance="kernel").with_patch(patch)
    with pytest.raises(NotImplementedError, match=f"^the reference has no patch={patch!r}$"):
        reference.simulate(CORE, kernel, sl.Workload(tasks=tasks), MS)
