"""Pipes and socket pairs worked by hand (fact sheet E1)."""

import pytest

import schedlab as sl
from schedlab import Channel, read, repeat, sleep, write

US, MS = 1_000, 1_000_000
OLD, NEW = "6.12", "6.18"
OVERHEAD = sl.Machine.uniform(4)


def kernel(release):
    """A kernel's rule for pipes; where the engine has not the rest of a row yet, on top of 6.12."""
    return sl.Kernel.version("6.12", pipe_wake_on_free=release == NEW)


def talk(tasks, channel, release=OLD, duration="1s", log=True):
    """Each task on a CPU of its own, so that nobody waits for a CPU."""
    tasks = tuple(sl.Task(name, program, cpus=k) for k, (name, program) in enumerate(tasks.items()))
    run = sl.simulate(OVERHEAD, kernel(release), sl.Workload(tasks=tasks, channels=channel), duration, log=log)
    return run, run.channels().iloc[0]


def times(run, kind, task):
    """When events of a kind befell a task, in us."""
    number = [t.name for t in run.workload.tasks].index(task)
    events = run.events()
    return [ns / US for ns in events.time_ns[(events.kind == kind) & (events.a == number)]]


PAST = sleep("10s")


@pytest.mark.parametrize(
    "kind, datasize, capacity",
    [
        ("pipe", 100, 640),
        ("pipe", 1, 65536),
        ("pipe", 2048, 32),
        ("pipe", 2049, 16),
        ("pipe", 4096, 16),
        ("pipe", 4097, 8),
        ("pipe", 12289, 4),
        ("pipe", 65536, 1),
        ("socket", 100, 278),
    ],
)
def test_capacity__writer_stops_there(kind, datasize, capacity):
    channel = Channel("p", kind, datasize)
    assert channel.capacity == capacity
    tasks = {"w": repeat(None, write("p", "1us")), "r": (PAST, read("p", "1us"))}
    _, row = talk(tasks, channel, log=False)
    assert (row.written, row.read, row.writer_blocks) == (capacity, 0, 1)


def test_section__message_arrives_at_its_end():
    tasks = {"w": write("p", "3us"), "r": (read("p", "5us"), PAST)}
    run, row = talk(tasks, Channel("p"))
    assert times(run, "block", "r") == [0, 8]  # for want of data, then for the sleep
    assert times(run, "wake", "r") == [3]
    assert run.tasks().kernel_ns.tolist() == [3 * US, 5 * US]
    assert (row.reader_blocks, row.reader_wakes, row.reader_spurious) == (1, 1, 0)


def test_pipe__only_the_write_into_an_empty_pipe_wakes():
    # three readers sleep; ten writes, the first of which finds the pipe empty, wake one; it passes the wake on
    reads = {f"r{k}": (read("p", "50us"), PAST) for k in range(3)}
    run, row = talk({"w": (sleep("1us"), repeat(10, write("p", "1us")), PAST), **reads}, Channel("p"))
    assert [times(run, "wake", name) for name in reads] == [[2], [52], [102]]
    assert (row.reader_wakes, row.reader_spurious, row.read) == (3, 0, 3)


def test_pipe__nothing_is_passed_on_when_empty():
    # two readers sleep; one message wakes the first, which leaves the pipe empty
    reads = {f"r{k}": (read("p", "5us"), PAST) for k in range(2)}
    run, row = talk({"w": (sleep("1us"), write("p", "1us"), PAST), **reads}, Channel("p"))
    assert times(run, "wake", "r0") == [2] and times(run, "wake", "r1") == []
    assert row.reader_wakes == 1


def test_pipe__writer_of_a_full_pipe_is_woken_by_every_read_to_6_12():
    # 640 messages fill it; the writer of the 641st sleeps. Forty reads empty a page; each of them wakes the writer, 39
    # times in vain.
    tasks = {"w": (repeat(641, write("p", "1us")), PAST), "r": (sleep("1ms"), repeat(40, read("p", "10us")), PAST)}
    run, row = talk(tasks, Channel("p"))
    assert times(run, "wake", "w") == [1010 + 10 * k for k in range(40)]
    assert (row.writer_blocks, row.writer_wakes, row.writer_spurious) == (40, 40, 39)
    assert row.written == 641


def test_pipe__writer_is_woken_by_the_read_that_frees_a_page_from_6_18():
    tasks = {"w": (repeat(641, write("p", "1us")), PAST), "r": (sleep("1ms"), repeat(80, read("p", "10us")), PAST)}
    run, row = talk(tasks, Channel("p"), NEW)
    assert times(run, "wake", "w") == [1400]
    # the 641st message fills the pipe again; the read that frees the next page finds nobody waiting
    assert (row.writer_blocks, row.writer_wakes, row.writer_spurious) == (1, 1, 0)


def test_rows__rule_of_pipes():
    rule = {v: sl.Kernel.version(v).pipe_wake_on_free for v in ("6.1", "6.12", "6.18", "7.2")}
    assert rule == {"6.1": False, "6.12": False, "6.18": True, "7.2": True}


def test_pipe__woken_writer_takes_a_new_page_and_passes_on():
    # two writers sleep on a full pipe of 16 pages of one message each
    big = Channel("p", datasize=4096)
    fill = repeat(16, write("p", "1us"))
    writers = {f"w{k}": (sleep(f"{100 + k}us"), write("p", "20us"), PAST) for k in range(2)}
    tasks = {"fill": (fill, PAST), **writers, "r": (sleep("1ms"), repeat(3, read("p", "5us")), PAST)}
    run, row = talk(tasks, big, NEW)
    # 1005: frees a page, wakes w0 (until 1025). 1010, 1015: the pipe is not full, no wake. 1025: w0 passes it on.
    assert times(run, "wake", "w0")[1:] == [1005] and times(run, "wake", "w1")[1:] == [1025]
    assert (row.writer_wakes, row.writer_spurious, row.written) == (2, 0, 18)


def test_pipe__woken_writer_does_not_join_the_last_page():
    # full with 640; 80 reads free two pages. The sleeper's message takes a page; a writer that never slept joins it
    tasks = {
        "w": (repeat(640, write("p", "1us")), PAST),
        "late": (sleep("800us"), write("p", "1us"), sleep("900us"), repeat(639, write("p", "1us")), PAST),
        "r": (sleep("1ms"), repeat(40, read("p", "10us")), PAST),
    }
    _, row = talk(tasks, Channel("p"), NEW)
    # 640 - 40 unread, one page with 1 of 40: 39 more fit
    assert row.written == 640 + 1 + 39 and row.writer_blocks == 2


def test_pipe__sleepers_fill_pages_badly():
    # sixteen of 17 sleepers, each woken when a page is free, take it: the pipe is full with 16 messages
    fill = repeat(640, write("p", "1us"))
    writers = tuple(sl.Task(f"w{k}", (sleep("700us"), write("p", "1us"))) for k in range(17))
    tasks = (sl.Task("fill", fill), *writers, sl.Task("r", (sleep("1ms"), repeat(640, read("p", "1us")), PAST)))
    work = sl.Workload(tasks=tasks, channels=Channel("p"))
    row = sl.simulate(sl.Machine.uniform(32), kernel(NEW), work, "1s").channels().iloc[0]
    assert (row.written, row.read) == (656, 640)


def test_socket__every_message_wakes_the_reader():
    tasks = {"w": repeat(5, write("s", "10us"), sleep("10us")), "r": (repeat(5, read("s", "1us")), PAST)}
    run, row = talk(tasks, Channel("s", "socket"))
    assert times(run, "wake", "r") == [10, 30, 50, 70, 90]
    assert (row.reader_blocks, row.reader_wakes) == (5, 5)


def test_socket__writers_wake_at_a_quarter():
    # 278 messages of 768 bytes fill 212992; a quarter of that is 69.3 messages: the 209th read leaves 69
    tasks = {"w": (repeat(279, write("s", "1us")), PAST), "r": (sleep("1ms"), repeat(278, read("s", "10us")), PAST)}
    run, row = talk(tasks, Channel("s", "socket"))
    assert times(run, "wake", "w") == [1000 + 10 * 209]
    assert (row.writer_blocks, row.writer_wakes, row.writer_spurious) == (1, 1, 0)


def test_socket__all_are_woken_the_latest_first():
    tasks = {"w": (sleep("9us"), write("s", "1us"), PAST)}
    tasks |= {f"r{k}": (sleep(f"{k + 1}us"), read("s", "5us"), PAST) for k in range(3)}
    run, row = talk(tasks, Channel("s", "socket"))
    events = run.events()
    woken = [a for ns, kind, a in zip(events.time_ns, events.kind, events.a) if kind == "wake" and ns == 10 * US]
    assert woken == [3, 2, 1]
    # all find the message at once; one has it at the end of its section, two sleep again, not in vain at first
    assert (row.reader_wakes, row.reader_blocks, row.read) == (3, 5, 1)


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_many_messages_a_step__all_arrive_at_the_same_cost(kind):
    usage = {}
    for n in (1, 5, 20):
        tasks = {
            "w": repeat(2000 // n, write("c", "400ns", n)),
            "r": repeat(2000 // n, read("c", "500ns", n)),
        }
        run, row = talk(tasks, Channel("c", kind))
        assert (row.written, row.read) == (2000, 2000)
        usage[n] = run.tasks().kernel_ns.tolist()
    assert usage[1] == usage[5] == usage[20] == [800 * US, MS]


def test_many_messages_a_step__more_than_fit_go_bit_by_bit():
    tasks = {"w": write("c", "1us", 50), "r": repeat(50, read("c", "1us"))}
    run, row = talk(tasks, Channel("c", datasize=4096), NEW)
    assert (row.written, row.read, row.writer_spurious) == (50, 50, 0)
    assert run.tasks().end_ns.min() > 0


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Channel("c", "fifo"), "kind='fifo': one of pipe, socket"),
        (lambda: Channel(""), "name='': a non-empty name is needed"),
        (lambda: Channel("c", datasize=0), "datasize=0: at least 1"),
        (lambda: Channel("c", datasize=65537), "datasize=65537: at most 65536"),
        (lambda: write("c", 0), "cost=0: at least 1 ns"),
        (lambda: read("c", "1us", 0), "n=0: at least 1"),
        (lambda: read("c", "1s", 10_000), "n=10000: at most 9000 s of work in one step, the longest draw included"),
    ],
)
def test_refused__value(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == message


@pytest.mark.parametrize(
    "programs, message",
    [
        ([write("d", 1), read("c", 1)], "channel='d': task t0: no channel of that name"),
        ([write("c", 1)], "channel='c': task t0 would block for ever: nothing reads it"),
        ([read("c", 1)], "channel='c': task t0 would block for ever: nothing writes it"),
    ],
)
def test_refused__use(programs, message):
    tasks = tuple(sl.Task(f"t{k}", program) for k, program in enumerate(programs))
    with pytest.raises(ValueError, match=message):
        sl.Workload(tasks=tasks, channels=Channel("c"))


def test_refused__same_name_twice():
    one = sl.Workload(channels=Channel("c"))
    with pytest.raises(ValueError, match="channels='c': occurs twice"):
        one + one


def test_run__channels_are_saved(tmp_path):
    run, _ = talk({"w": write("p", "1us"), "r": read("p", "1us")}, Channel("p"))
    again = sl.Run.load(run.save(tmp_path / "run"))
    assert again.channels().equals(run.channels()) and again.digest() == run.digest()


def test_run__no_channels():
    run = sl.simulate(OVERHEAD, kernel(OLD), sl.Workload(tasks=sl.Task("t", sl.run("1ms"))), "1s")
    assert len(run.channels()) == 0
