"""schbench: message threads that wake workers, and how long the workers take to run.

The classic program of 2020 and 2021 (fact sheet E2), which is what the numbers of the timer patch were measured with,
and its requests-per-second mode (-R), which the burst patch used.
"""

from math import gcd

from .. import _check
from ..durations import uniform
from ..steps import ALL, kernel, repeat, sample, sleep, spin, wait, wake
from ..units import NS_PER_S, NS_PER_US
from ..workload import Group, Task, Workload
from ._groups import place, prefixed

# The dispatcher skips a worker that has more than 8 requests before it, so 9 are kept.
_MOST_PENDING = 9


def schbench(
    *,
    message_threads: int = 2,
    threads: int = 16,
    sleeptime_us: int = 30_000,
    cputime_us: int = 30_000,
    message_cputime_us: int = 0,
    rps: int = 0,
    group: str | Group = "/",
    wake_cost_ns: int = 0,
    post_cost_ns: int = 0,
    name: str = "schbench",
) -> Workload:
    """Return schbench in one group; the workers' wake-up latencies are samples under the label `name`.

    Parameters
    ----------
    message_threads, threads : int
        -m and -t: number of message threads, and of workers for each.
    sleeptime_us, cputime_us : int
        -s and -c: how long a message thread sleeps at least (up to a quarter more), and how long a worker spins,
        in wall-clock time.
    message_cputime_us : int
        -C of newer versions: the message thread spins that long each turn. 0: it does not, as in the classic one.
    rps : int
        -R: requests a second of all message threads together, in place of the loop above. A request that arrives is
        done when its worker has spun `cputime_us`; the sample is what that took beyond `cputime_us`.
        0: the classic mode.
    group : str or Group
    wake_cost_ns : int
        Kernel time of a message thread for each worker that it wakes.
    post_cost_ns : int
        Classic mode: kernel time of a worker each time that it is done, for its own wake-up call and for going to wait.
        At 0 a CPU gets rid of a worker whose time ran out while it was throttled in no time at all, and the first CPU
        that is unthrottled can pull one such worker after the other before the next CPU has its turn.
    name : str
        Prefix of the tasks' names, after the group.

    Examples
    --------
    >>> job = schbench(message_threads=1, threads=2, group="/a")
    >>> [task.name for task in job.tasks]
    ['a:schbench-m0', 'a:schbench-m0-w0', 'a:schbench-m0-w1']
    >>> job.labels
    ('a:schbench-message', 'a:schbench')
    """
    message_threads = _check.whole("message_threads", message_threads, 1)
    threads = _check.whole("threads", threads, 1)
    cputime_ns = _check.whole("cputime_us", cputime_us, 1) * NS_PER_US
    rps = _check.whole("rps", rps, 0)
    path, groups = place(group)
    label = prefixed(path, name)
    tasks = []
    for m in range(message_threads):
        leader = f"{label}-m{m}"
        if rps:
            programs = _requests(leader, threads, -(-rps // message_threads), cputime_ns, wake_cost_ns)
        else:
            sleep_ns = _check.whole("sleeptime_us", sleeptime_us, 1) * NS_PER_US
            chat_ns = _check.whole("message_cputime_us", message_cputime_us, 0) * NS_PER_US
            post_ns = _check.whole("post_cost_ns", post_cost_ns, 0)
            programs = _classic(leader, threads, sleep_ns, cputime_ns, chat_ns, wake_cost_ns, post_ns)
        message, *workers = programs
        tasks.append(Task(leader, message, group=path, label=f"{label}-message"))
        tasks += [Task(f"{leader}-w{w}", program, group=path, label=label) for w, program in enumerate(workers)]
    return Workload(groups=groups, tasks=tuple(tasks), name=label)


def _classic(leader, threads, sleep_ns, cputime_ns, chat_ns, wake_cost_ns, post_ns):
    """Programs of a message thread and its workers: they post themselves on its list, it wakes the list, latest first.

    A worker posts before it waits; steps without a duration take no time, so it is on the list when it is read.
    """
    waiting, posted = f"{leader}:list", f"{leader}:post"
    chat = (spin(chat_ns),) if chat_ns else ()
    post = (kernel(post_ns),) if post_ns else ()
    # usleep(sleeptime + a random number below sleeptime / 4)
    nap = sleep(uniform(sleep_ns, sleep_ns + max(0, sleep_ns // 4 - 1)))
    message = repeat(None, wake(waiting, n=ALL, cost=wake_cost_ns), wait(posted), *chat, nap)
    worker = repeat(None, spin(cputime_ns), *post, wake(posted, keep=1), wait(waiting, order="lifo"), sample())
    return [message] + [worker] * threads


def _requests(leader, threads, rps, cputime_ns, wake_cost_ns):
    """Programs of a dispatcher and its workers: it posts requests to two thirds of the workers in turn, then sleeps."""
    batch = max(1, 2 * threads // 3)
    pause_ns = NS_PER_S // -(-rps // batch)
    inboxes = [f"{leader}:w{w}" for w in range(threads)]
    steps = []
    # after so many batches the turn is at worker 0 again
    for turn in range(threads // gcd(threads, batch)):
        chosen = (inboxes[(turn * batch + i) % threads] for i in range(batch))
        steps += [wake(inbox, keep=_MOST_PENDING, cost=wake_cost_ns) for inbox in chosen]
        steps.append(sleep(pause_ns))
    workers = [repeat(None, wait(inbox), spin(cputime_ns), sample(offset=cputime_ns)) for inbox in inboxes]
    return [repeat(None, *steps), *workers]
