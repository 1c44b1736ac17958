"""What the recorded programs do, as tasks: busy loops by the wall clock, periodic jobs, and pipes."""

import math

from ..channels import Channel, read, write
from ..steps import repeat, run, spin, timer
from ..units import NS_PER_US
from ..workload import Task

#: A pipe's two ends cost this much of a hop in the model; all of a hop's measured CPU time is user work otherwise.
PIPE_CALL_NS = 1_000


def tasks_of(programs: list[dict], usage_us: dict[str, int]) -> tuple[Task, ...]:
    """Return the tasks of all programs; ``usage_us`` is the measured CPU time of each group, for the pipes."""
    makers = {"busy": _busy, "per": _periodic, "pipe": _pipes}
    return tuple(task for program in programs for task in makers[program["kind"]](program, usage_us))


def channels_of(programs: list[dict]) -> tuple[Channel, ...]:
    """Return the pipes: two a pair."""
    pairs = [(p["name"], k) for p in programs if p["kind"] == "pipe" for k in range(p["threads"])]
    return tuple(Channel(f"{name}.{k}.{way}", datasize=1) for name, k in pairs for way in ("there", "back"))


def _place(program, thread):
    cpus = program.get("cpus")
    return {"group": program["group"], "cpus": None if not cpus else (cpus[thread % len(cpus)],)}


def _start(program):
    return round(program["start_us"] * NS_PER_US)


def _busy(program, _):
    """Threads that loop until the wall clock says so; they start together, one after the other."""
    length = round(1e9 * program["secs"])
    return [
        Task(f"{program['name']}.{k}", spin(length), start_ns=_start(program) + 1000 * k, **_place(program, k))
        for k in range(program["threads"])
    ]


def _periodic(program, _):
    """Threads with a job each period. The jobs' CPU time is the measured sum, shared out as the program drew sizes."""
    jobs = int(program["jobs"]) // program["threads"]
    measured_ns = round(1e6 * program["cpu_ms"])
    tasks = []
    sizes = [_sizes(program.get("seed", 0), k, jobs) for k in range(program["threads"])]
    whole = sum(map(sum, sizes))
    period_ns = program["period_us"] * NS_PER_US
    for k, mine in enumerate(sizes):
        steps = []
        for size in mine:
            steps += [timer(period_ns), run(max(1, round(measured_ns * size / whole)))]
        program_of = tuple(steps) if program.get("seed") else repeat(jobs, *steps[:2])
        tasks.append(Task(f"{program['name']}.{k}", program_of, start_ns=_start(program), **_place(program, k)))
    return tasks


def _sizes(seed: int, thread: int, jobs: int) -> list[float]:
    """Sizes of the jobs relative to the nominal: all 1, or exponential as erand48() draws them.

    erand48 is the linear congruential generator X' = 0x5DEECE66D X + 11 mod 2**48 (POSIX); the program seeds it with
    the 16-bit words (seed, thread, 42), lowest first.
    """
    if not seed:
        return [1.0] * jobs
    x = seed | thread << 16 | 42 << 32
    sizes = []
    for _ in range(jobs):
        x = (0x5DEECE66D * x + 11) % (1 << 48)
        sizes.append(-math.log(1 - x / (1 << 48)))
    return sizes


def _pipes(program, usage_us):
    """Pairs of processes that pass a byte to and fro. A hop's work is measured CPU time over measured hops."""
    measured = usage_us.get(program["group"])
    hops = 2 * program["roundtrips"]
    hop_ns = round(1000 * measured / hops) if measured else program["work_us"] * NS_PER_US
    work = run(max(1, hop_ns - 2 * PIPE_CALL_NS))
    tasks = []
    for k in range(program["threads"]):
        there, back = (f"{program['name']}.{k}.{way}" for way in ("there", "back"))
        ends = (
            (write(there, PIPE_CALL_NS), read(back, PIPE_CALL_NS)),
            (read(there, PIPE_CALL_NS), write(back, PIPE_CALL_NS)),
        )
        for side, (first, second) in enumerate(ends):
            steps = (work, first, second) if side == 0 else (first, work, second)
            name = f"{program['name']}.{2 * k + side}"
            tasks.append(Task(name, repeat(None, *steps), start_ns=_start(program), **_place(program, 2 * k + side)))
    return tasks
