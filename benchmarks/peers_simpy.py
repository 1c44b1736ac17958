"""The periodic tasks under global EDF in SimPy 4: what a researcher would write in an afternoon. It keeps no trace."""

import heapq
import itertools


class GlobalEdf:
    """CPUs that run the jobs with the earliest deadlines.

    A job is [deadline, number, work left, time it started at, event of its end].
    """

    def __init__(self, env, nr_cpus: int):
        self.env, self.nr_cpus = env, nr_cpus
        self.ready, self.running = [], []
        self.numbers = itertools.count()
        self.done = 0

    def task(self, period: int, work: int):
        """Release a job each period, from the first period on."""
        while True:
            yield self.env.timeout(period)
            self.release([self.env.now + period, next(self.numbers), work, 0, None])

    def release(self, job: list):
        """Run the job if a CPU is free or runs one with a later deadline."""
        if len(self.running) == self.nr_cpus:
            last = max(self.running)
            if last < job:
                heapq.heappush(self.ready, job)
                return
            self.running.remove(last)
            last[2] -= self.env.now - last[3]
            last[4] = None
            heapq.heappush(self.ready, last)
        self.start(job)

    def start(self, job: list):
        """Let a job run until its work is done or an earlier deadline comes."""
        self.running.append(job)
        job[3] = self.env.now
        job[4] = end = self.env.timeout(job[2], job)
        end.callbacks.append(self.end)

    def end(self, event):
        """A job's work is done, unless it was preempted since."""
        job = event.value
        if job[4] is not event:
            return
        self.running.remove(job)
        self.done += 1
        if self.ready:
            self.start(heapq.heappop(self.ready))


def prepare(tasks: list[tuple[int, int]], nr_cpus: int, seconds: float):
    """Return a function that runs the tasks (period and work in ns) and returns how many jobs were done.

    Raises
    ------
    ImportError
        Where SimPy 4 is not installed.
    """
    import simpy

    env = simpy.Environment()
    edf = GlobalEdf(env, nr_cpus)
    for period, work in tasks:
        env.process(edf.task(period, work))

    def run() -> int:
        env.run(until=round(seconds * 1e9))
        return edf.done

    return run
