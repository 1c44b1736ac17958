"""A small scenario for the tests of sweeps, and what sends work elsewhere can import."""

import contextlib
import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import schedlab as sl

# Workers import this file too.
SEARCH = os.pathsep.join([str(pathlib.Path(__file__).parent), *filter(None, sys.path)])

GRID = {"quota_us": [2_000, 5_000], "hz": [250, 1000]}


def scenario(quota_us=5_000, hz=250, duration="50ms", nap="2ms"):
    """Return one group with a quota and a task that runs and sleeps at random, on one CPU."""
    program = sl.repeat(None, sl.run(sl.exponential("1ms")), sl.sleep(sl.exponential(nap)), sl.sample())
    groups = (sl.Group("/a", quota_us=quota_us, period_us=10_000),)
    work = sl.Workload(groups, (sl.Task("t", program, group="/a"),))
    return sl.Machine.uniform(1), sl.Kernel.version("6.12", hz=hz), work, duration


def digest(table):
    """Return the SHA-256 of a table's names, types and values."""
    text = f"{table.dtypes.to_dict()}\n{table.to_csv(index=False)}"
    return hashlib.sha256(text.encode()).hexdigest()


class Once:
    """A reduce that does something at one seed, once over all processes: a file says that it was done."""

    def __init__(self, seed, flag, action):
        self.seed, self.flag, self.action = seed, str(flag), action

    def __call__(self, run):
        if run.seed == self.seed:
            try:
                os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                self.action()
        return {"usage_ns": run.groups["usage_ns"][0], "events": run.nr_events}


def die():
    """End this process as the kernel's out-of-memory killer does."""
    os.kill(os.getpid(), signal.SIGKILL)


def plain(run):
    """Keep two numbers of a run."""
    return {"usage_ns": run.groups["usage_ns"][0], "events": run.nr_events}


def counted(folder, run):
    """Keep the same numbers, and leave a file a run, so that a test can count them."""
    pathlib.Path(folder, f"{time.monotonic_ns()}-{run.seed}-{run.kernel.hz}").touch()
    return plain(run)


@contextlib.contextmanager
def dask_processes(folder, nr_workers):
    """Start a scheduler and workers as an operator does, on the loopback; give the scheduler's file and process."""
    where = pathlib.Path(folder, "scheduler.json")
    common = ["--scheduler-file", str(where), "--host", "127.0.0.1", "--no-dashboard"]
    worker = ["worker", *common, "--nthreads", "1", "--no-nanny", "--death-timeout", "60"]
    started = []
    try:
        for arguments in (["scheduler", *common, "--port", "0"], *[worker] * nr_workers):
            command = [sys.executable, "-m", "dask", *arguments]
            started.append(
                subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": SEARCH})
            )
        deadline = time.monotonic() + 120
        while not (where.exists() and where.read_text().endswith("}")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield where, started[0]
    finally:
        for process in started:
            process.kill()
            process.wait()
