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
