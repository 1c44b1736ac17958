"""Memory does not grow with the length of a run, unless the log is asked for."""

import tracemalloc

import schedlab as sl
from schedlab.simulate import Simulation


def peak_of(duration):
    nap = sl.repeat(None, sl.run(sl.exponential("1ms")), sl.sleep("1ms"), sl.mark(), sl.sample())
    tasks = tuple(sl.Task(f"t{k}", nap, label="t") for k in range(8))
    sim = Simulation(sl.Machine.uniform(4), sl.Kernel.version("6.12"), sl.Workload(tasks=tasks))
    sim.advance(1)
    tracemalloc.start()
    while not sim.advance(sl.units.to_ns(duration), max_events=20_000):
        pass
    sim.result()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory__twenty_times_longer_needs_no_more():
    peak_of("1s")
    assert peak_of("40s") <= 1.1 * peak_of("2s") + 100_000


def test_duration__two_hours_fit_and_three_do_not():
    quiet = sl.Workload(tasks=(sl.Task("t", sl.repeat(None, sl.run("1ms"), sl.sleep("10s"))),))
    run = sl.simulate(sl.Machine.uniform(1), sl.Kernel.version("6.12"), quiet, "8400s")
    assert run.duration_ns == 8_400_000_000_000
    assert run.tasks().loc[0, "nr_wakeups"] == 839
