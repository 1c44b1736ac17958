"""A CPU held with interrupts off: what happens there waits, worked by hand."""

import pytest

import schedlab as sl
from schedlab.hotplug import as_events

MS = 1_000_000
KERNEL = sl.Kernel.version("7.2", hz=1000)


def run_of(tasks, events, duration="20ms", nr_cpus=1, kernel=KERNEL):
    work = sl.Workload((), tasks, events)
    return sl.simulate(sl.Machine.uniform(nr_cpus), kernel, work, duration, log=True)


def test_hold__a_timer_that_expires_meanwhile_comes_at_the_end():
    """Due at 5 ms, interrupts off from 4 to 7 ms: woken at 7 ms."""
    task = sl.Task("t", (sl.mark(), sl.sleep("5ms"), sl.sample("5ms"), sl.run("1ms")))
    run = run_of((task,), (sl.HoldCpu("4ms", 0, "3ms"),))
    events = run.events()
    assert events.loc[events["kind"] == "wake", "time_ns"].tolist() == [7 * MS]
    assert events.loc[events["kind"] == "sample", "b"].tolist() == [2 * MS]


def test_hold__work_stands_still_and_is_charged():
    """10 ms of work, 3 ms held: ends at 13 ms with 13 ms of CPU time."""
    run = run_of((sl.Task("t", sl.run("10ms")),), (sl.HoldCpu("4ms", 0, "3ms"),))
    row = run.tasks().iloc[0]
    assert (row["end_ns"], row["exec_ns"]) == (13 * MS, 13 * MS)


def test_hold__holds_add_up():
    """A hold that begins during another comes after it."""
    events = (sl.HoldCpu("4ms", 0, "3ms"), sl.HoldCpu("5ms", 0, "2ms"))
    task = sl.Task("t", (sl.sleep("5ms"), sl.run("1ms")))
    assert run_of((task,), events).tasks()["end_ns"].tolist() == [10 * MS]


def test_hold__a_wakeup_from_another_cpu_waits():
    """CPU 0 wakes a task of CPU 1 at 5 ms, whose interrupts are off until 8 ms."""
    tasks = (
        sl.Task("waker", (sl.run("5ms"), sl.wake("x"), sl.run("1ms")), cpus=0),
        sl.Task("sleeper", (sl.wait("x"), sl.run("1ms")), cpus=1),
    )
    run = run_of(tasks, (sl.HoldCpu("4ms", 1, "4ms"),), nr_cpus=2)
    assert run.tasks()["end_ns"].tolist() == [6 * MS, 9 * MS]


def test_hold__the_tick_returns_to_its_grid():
    """Quota ends at a tick; that at 5 ms comes at 5.5 ms, the next at 6 ms again."""
    work = sl.Workload((), (sl.Task("t", sl.run("30ms")),), (sl.HoldCpu("4700us", 0, "800us"),))
    run = sl.simulate(sl.Machine.uniform(1), KERNEL, work, "8ms", log=("tick",))
    assert run.events()["time_ns"].tolist() == [k * MS for k in (1, 2, 3, 4)] + [5_500_000, 6 * MS, 7 * MS]


def test_as_events__holds_of_one_operation():
    """Two calls for each CPU that stays, on the executing CPU and on the one that is moved, and the change itself."""
    machine, kernel = sl.Machine.load("vm-32cpu"), sl.Kernel.version("6.12")
    events = as_events(machine, kernel, [("1s", "offline cpu 31"), ("2s", "online cpu 31")], groups=1001)
    first = [event for event in events if event.at_ns < 2 * 10**9]
    done = sl.hotplug(machine, kernel, "offline cpu 31", groups=1001)
    longest = round(done.irq_off_ns["rq_attach_root"])
    calls = [e for e in first if isinstance(e, sl.HoldCpu) and e.duration_ns == longest]
    # 32 CPUs leave their root domain, 31 join the new one; the one that goes has been walked before
    assert done.counts["rq_attach_root"] == 63 and sum(event.cpu == 0 for event in calls) == 62
    assert {event.cpu for event in calls} == set(range(31))
    assert [e for e in events if isinstance(e, sl.SetCpuOnline)] == [
        sl.SetCpuOnline("1s", 31, False),
        sl.SetCpuOnline("2s", 31, True),
    ]


def test_as_events__each_call_takes_its_own_time():
    """With both patches of the walks the coming CPU alone is walked: one long call of 63, all within the price."""
    machine, kernel = sl.Machine.load("vm-32cpu"), sl.Kernel.version("6.18")
    kernel = kernel.with_patch("skip-offline-walks-of-active-cpus", "skip-runtime-resync-while-valid")
    state = sl.hotplug(machine, kernel, "offline cpu 31", groups=1001).state
    done = sl.hotplug(machine, kernel, "online cpu 31", state=state)
    short = round(done.costs.attach_ns)
    long = [(cpu, ns) for cpu, ns in done.attach_calls if ns != short]
    assert len(done.attach_calls) == 63 and [cpu for cpu, _ in long] == [31]
    assert sum(ns - short for _, ns in done.attach_calls) == pytest.approx(done.price_ns["walks"], abs=1)
    events = as_events(machine, kernel, [("1s", "offline cpu 31"), ("2s", "online cpu 31")], groups=1001)
    held = [e.duration_ns for e in events if isinstance(e, sl.HoldCpu) and e.at_ns >= 2 * 10**9 and e.cpu == 0]
    assert sum(held) == sum(ns for _, ns in done.attach_calls)


def test_as_events__refused_in_one_line():
    with pytest.raises(ValueError, match="^machine='uniform-2cpu': has no cost table"):
        as_events(sl.Machine.uniform(2), KERNEL, [(0, "offline cpu 1")])
