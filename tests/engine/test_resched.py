"""A CPU that was asked to reschedule by another one, and reschedules by itself before the interrupt arrives."""

import schedlab as sl


def test_resched_curr__exit_while_interrupt_on_its_way():
    kernel = sl.Kernel.version("6.1", costs=sl.Costs(ipi_ns=3_000))
    tasks = (
        sl.Task("waiter", (sl.wait("go"), sl.run("1ms")), cpus=1),
        sl.Task("leaver", sl.run("10ms"), cpus=1, start_ns="1ms"),
        sl.Task("waker", (sl.run("10999us"), sl.wake("go")), cpus=0),
    )
    run = sl.simulate(sl.Machine.uniform(2), kernel, sl.Workload(tasks=tasks), "20ms", log=True)
    log = run.switches()
    # asked at 10.999 ms, told at 11.002 ms, but the leaver exits at 11 ms
    assert log[log["prev"] == "leaver"]["time_ns"].tolist() == [11_000_000]
    assert run.tasks().set_index("name").loc["waiter", "end_ns"] == 12_000_000


def test_resched_interrupt__a_lazy_request_counts_though_it_comes_for_nothing():
    """Asked at 1 ms for its task's cookie, the CPU reschedules at 1.05 ms by itself; told to at 1.15 ms all the same.

    The interrupt interrupts user work, so that the lazy request of the wake-up at 1.1 ms counts, before the tick.
    """
    kernel = sl.Kernel.version("6.18", hz=100, costs=sl.Costs(ipi_ns=150_000))
    tasks = (
        sl.Task("waiter", (sl.wait("go"), sl.run("1ms")), cpus=1, slice_us=100),
        sl.Task("yielder", (sl.run("1050us"), sl.yield_(), sl.run("20ms")), cpus=1),
        sl.Task("waker", (sl.run("1100us"), sl.wake("go")), cpus=0),
    )
    workload = sl.Workload(tasks=tasks, events=(sl.SetCookie("1ms", "yielder", 0),))
    log = sl.simulate(sl.Machine.uniform(2), kernel, workload, "20ms", log=True).switches()
    assert log[log["next"] == "waiter"]["time_ns"].tolist() == [0, 1_150_000]
