import pytest

from schedlab.steps import ALL, KernelSection, Sample, Sleep, Spin, Wait, Wake
from schedlab.workloads.schbench import schbench


def test_schbench__classic_loops():
    job = schbench(message_threads=2, threads=3, wake_cost_ns=700)
    assert len(job.tasks) == 8
    message, worker = job.tasks[0].program[0].steps, job.tasks[1].program[0].steps
    assert [type(step) for step in message] == [Wake, Wait, Sleep]
    assert (message[0].n, message[0].cost_ns) == (ALL, 700)
    nap = message[2].duration
    assert (nap.low_ns, nap.high_ns) == (30_000_000, 37_499_999)
    assert [type(step) for step in worker] == [Spin, Wake, Wait, Sample]
    assert worker[1].name == message[1].name and worker[1].keep == 1
    assert worker[2].name == message[0].name and worker[2].order == "lifo"
    assert job.tasks[5].program[0].steps[1].name != worker[1].name


def test_schbench__worker_pays_for_posting_itself():
    worker = schbench(post_cost_ns=900).tasks[1].program[0].steps
    assert [type(step) for step in worker] == [Spin, KernelSection, Wake, Wait, Sample]
    assert worker[1].duration.low_ns == 900
    with pytest.raises(ValueError, match="^post_cost_ns=-1"):
        schbench(post_cost_ns=-1)


def test_schbench__message_thread_that_computes():
    message = schbench(message_cputime_us=500).tasks[0].program[0].steps
    assert message[2].duration.low_ns == 500_000


@pytest.mark.parametrize(
    ("options", "batch", "pause_ns", "turns"),
    [
        # the two published runs of the burst patch (fact sheet F6, F7)
        (dict(threads=30, rps=500, cputime_us=10_000), 20, 40_000_000, 3),
        (dict(threads=3, rps=10, cputime_us=80_000), 2, 200_000_000, 3),
        (dict(threads=1, rps=100), 1, 10_000_000, 1),
    ],
)
def test_schbench__requests_in_turn(options, batch, pause_ns, turns):
    job = schbench(message_threads=1, **options)
    dispatcher = job.tasks[0].program[0].steps
    sleeps = [step for step in dispatcher if isinstance(step, Sleep)]
    wakes = [step.name for step in dispatcher if isinstance(step, Wake)]
    assert len(sleeps) == turns and {step.duration.low_ns for step in sleeps} == {pause_ns}
    assert len(wakes) == batch * turns
    threads = options["threads"]
    assert wakes == [f"schbench-m0:w{k % threads}" for k in range(len(wakes))] and len(wakes) % threads == 0
    assert all(step.keep == 9 for step in dispatcher if isinstance(step, Wake))
    wait, spin, sample = job.tasks[1].program[0].steps
    assert wait.name == "schbench-m0:w0" and sample.offset_ns == spin.duration.low_ns


def test_schbench__requests_are_shared_by_the_message_threads():
    job = schbench(message_threads=2, threads=3, rps=20)
    assert job.tasks[0].program[0].steps[2].duration.low_ns == 200_000_000


@pytest.mark.parametrize("field", ["message_threads", "threads", "sleeptime_us", "cputime_us"])
def test_schbench__refused(field):
    with pytest.raises(ValueError, match=f"^{field}=0: at least 1"):
        schbench(**{field: 0})
