"""How far the engine's inner loop is from C: one kernel in numba over the engine's own parts, and limit.c by hand.

Tasks of three weights run for exponential times and sleep; each CPU has an EEVDF queue and a tick, and charges local
runtime in slices of 5 ms. The kernel calls the engine's queue (events), treap (tree), charge (update_curr) and pick
through its State; limit.c does the same over the same records. Both roll a checksum over the key (time and source) of
every event, and must agree.
"""

import argparse
import ctypes
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numba
import numpy as np

from schedlab._jit import entry, internal
from schedlab.durations import TABLES, load_tables
from schedlab.engine.eevdf import NICE_0, eevdf_dequeue, eevdf_enqueue, pick_eevdf, place_entity, update_entity_lag
from schedlab.engine.entity import update_curr
from schedlab.engine.events import MAX_TIME, SOURCE_BITS, SOURCE_MASK, first_key, levels, set_timer
from schedlab.engine.resched import clear_need_resched, next_resched, resched_curr
from schedlab.engine.rng import RUN, SLEEP, TABLE, TABLE_SIZE, draw, mix
from schedlab.engine.runtime import NO_QUOTA
from schedlab.engine.state import DTYPES, FIELDS, NEVER, State, as_state

HERE = Path(__file__).parent
AIM = 1.5
FLAGS = "-O3 -march=native -fwrapv -ffp-contract=off"
#: CPUs of the machines that are compared, with 8 tasks a CPU.
SIZES = (2, 16, 64, 512)
TASKS_PER_CPU = 8
RUN_NS, SLEEP_NS = 1_000_000, 8_000_000
TICK_NS, BASE_SLICE_NS, BANDWIDTH_SLICE_NS = 4_000_000, 2_800_000, 5_000_000
WEIGHTS = (1024, 820, 1277)
EXPONENTIAL = TABLES.index("exponential")


# ---- the kernel ------------------------------------------------------------------------------------------------------


@internal
def put_prev(s, q, e):
    """The running task goes back into the tree."""
    eevdf_enqueue(s, q, e)
    s.rq_curr[q] = -1


@internal
def set_next(s, q, e):
    """A task leaves the tree and runs."""
    eevdf_dequeue(s, q, e)
    s.se_vlag[e] = s.se_deadline[e]
    s.se_exec_start[e] = s.sys_now[0]
    s.se_prev_sum_exec[e] = s.se_sum_exec[e]
    s.rq_curr[q] = e


@internal
def schedule(s, cpu):
    """Pick, change tasks, and set the end of the step."""
    s.sys_this_cpu[0] = cpu
    clear_need_resched(s, cpu)
    prev = s.rq_curr[cpu]
    now = s.sys_now[0]
    if prev >= 0:
        update_curr(s, cpu)
        s.task_work[prev] -= now - s.cpu_work_stamp[cpu]
    s.cpu_work_stamp[cpu] = now
    task = pick_eevdf(s, cpu, True) if s.rq_nr[cpu] > 0 else -1
    if task != prev:
        if prev >= 0:
            put_prev(s, cpu, prev)
        if task >= 0:
            set_next(s, cpu, task)
    set_timer(s, s.sys_src_cpu[0] + cpu, now + max(0, s.task_work[task]) if task >= 0 else NEVER)


@internal
def finish(s, cpu):
    """The running task's work is done: it sleeps."""
    s.sys_this_cpu[0] = cpu
    set_timer(s, s.sys_src_cpu[0] + cpu, NEVER)
    task = s.rq_curr[cpu]
    update_curr(s, cpu)
    update_entity_lag(s, cpu, task)
    s.se_on_rq[task] = 0
    s.rq_load[cpu] -= s.se_weight[task]
    s.rq_nr[cpu] -= 1
    s.rq_curr[cpu] = -1
    nap = draw(s, task, SLEEP, TABLE, EXPONENTIAL, SLEEP_NS)
    set_timer(s, s.sys_src_task[0] + task, s.sys_now[0] + nap)
    resched_curr(s, cpu)


@internal
def wake(s, task):
    """A sleep ends: the task is placed and queued, and may preempt."""
    cpu = s.se_rq[task]
    s.sys_this_cpu[0] = cpu
    set_timer(s, s.sys_src_task[0] + task, NEVER)
    s.task_work[task] = draw(s, task, RUN, TABLE, EXPONENTIAL, RUN_NS)
    update_curr(s, cpu)
    place_entity(s, cpu, task, False)
    s.rq_load[cpu] += s.se_weight[task]
    s.rq_nr[cpu] += 1
    eevdf_enqueue(s, cpu, task)
    s.se_on_rq[task] = 1
    if s.rq_curr[cpu] < 0 or pick_eevdf(s, cpu, True) == task:
        resched_curr(s, cpu)


@internal
def tick(s, cpu):
    """Charge the running task."""
    s.sys_this_cpu[0] = cpu
    set_timer(s, s.sys_src_tick[0] + cpu, s.sys_now[0] + s.sys_tick_ns[0])
    update_curr(s, cpu)


@entry
def run(address, nr_events, checksum):
    """Process so many events and return the checksum rolled over them."""
    s = as_state(address)
    for _ in range(nr_events):
        key = first_key(s)
        s.sys_now[0] = key >> SOURCE_BITS
        checksum = mix(checksum ^ np.uint64(key))
        source = key & SOURCE_MASK
        if source >= s.sys_src_task[0]:
            wake(s, source - s.sys_src_task[0])
        elif source >= s.sys_src_cpu[0]:
            finish(s, source - s.sys_src_cpu[0])
        else:
            tick(s, source - s.sys_src_tick[0])
        cpu = next_resched(s)
        while cpu >= 0:
            schedule(s, cpu)
            cpu = next_resched(s)
    return checksum


# ---- what it runs on -------------------------------------------------------------------------------------------------


def make_state(nr_cpus: int) -> State:
    """Return the state at time 0: every task asleep, until within the first mean sleep."""
    nr_tasks = TASKS_PER_CPU * nr_cpus
    offsets, nr_keys = levels(2 * nr_cpus + nr_tasks)
    state = State(
        ev=nr_keys, lvl=len(offsets), cpu=nr_cpus, task=nr_tasks, stream=nr_tasks, table=load_tables().size,
        se=nr_tasks, rq=nr_cpus,
    )  # fmt: skip
    state["ev_key"][:] = NEVER
    state["lvl_off"][:] = offsets
    state["table_value"][:] = load_tables().ravel()
    settings = {
        "nr_cpus": nr_cpus, "nr_tasks": nr_tasks, "nr_groups": 1, "eevdf": 1, "preempt_short": 1, "tick_ns": TICK_NS,
        "base_slice": BASE_SLICE_NS, "bw_slice": BANDWIDTH_SLICE_NS, "src_tick": 0, "src_cpu": nr_cpus,
        "src_task": 2 * nr_cpus, "nr_levels": len(offsets), "resched_min": nr_cpus, "period_running": -1,
    }  # fmt: skip
    for name, value in settings.items():
        state[f"sys_{name}"][0] = value
    for name in ("curr", "root", "next", "last", "skip"):
        state[f"rq_{name}"][:] = -1
    state["rq_cpu"][:] = np.arange(nr_cpus)
    state["rq_runtime_enabled"][:] = 1
    state["tg_quota"][:] = NO_QUOTA
    state["se_rq"][:] = np.arange(nr_tasks) % nr_cpus
    state["se_weight"][:] = np.resize(WEIGHTS, nr_tasks)
    state["se_slice"][:] = BASE_SLICE_NS
    state["stream_rng"][:] = np.random.SeedSequence(1).generate_state(nr_tasks, np.uint64)
    state["stream_rng_sleep"][:] = np.random.SeedSequence(2).generate_state(nr_tasks, np.uint64)
    keys = state["ev_key"]
    for cpu in range(nr_cpus):
        keys[cpu] = (TICK_NS + cpu * TICK_NS // nr_cpus) << SOURCE_BITS | cpu
    for task in range(nr_tasks):
        source = 2 * nr_cpus + task
        keys[source] = (task * SLEEP_NS // nr_tasks) << SOURCE_BITS | source
    for below, level in zip(offsets, offsets[1:]):
        parents = (level - below) // 16
        keys[level : level + parents] = keys[below:level].reshape(-1, 16).min(axis=1)
    return state


# ---- C ---------------------------------------------------------------------------------------------------------------


def layout_header() -> str:
    """Return C declarations of the engine's records, in the layout that they have, and the constants."""
    names = {("i", 8): "int64_t", ("u", 8): "uint64_t", ("i", 4): "int32_t", ("i", 2): "int16_t", ("i", 1): "int8_t"}
    lines = ["#include <stdint.h>"]
    for record, dtype in DTYPES.items():
        lines.append("typedef struct {")
        fields = sorted((offset, name, kind) for name, (kind, offset, *_) in dtype.fields.items())
        for _, name, kind in fields:
            if kind.kind == "V":
                lines.append(f"    char {name}[{kind.itemsize}];")
            else:
                lines.append(f"    {names[kind.kind, kind.itemsize]} {name};")
        lines.append(f"}} {record}_t;")
        lines.append(f'_Static_assert(sizeof({record}_t) == {dtype.itemsize}, "{record}");')
    constants = {
        "SOURCE_BITS": SOURCE_BITS, "MAX_TIME": MAX_TIME, "NEVER": int(NEVER), "NICE_0": NICE_0,
        "TABLE_SIZE": TABLE_SIZE, "EXPONENTIAL": EXPONENTIAL, "RUN_NS": RUN_NS, "SLEEP_NS": SLEEP_NS,
    }  # fmt: skip
    lines += [f"#define {name} INT64_C({value})" for name, value in constants.items()]
    lines.append("enum { " + ", ".join(f"SLOT_{record}" for record in FIELDS) + " };")
    return "\n".join([*lines, ""])


def compile_c(folder: Path, compiler: str):
    """Compile limit.c and return its `run`, called like the kernel's."""
    (folder / "layout.h").write_text(layout_header())
    library = folder / "limit.so"
    command = [*shlex.split(compiler), *FLAGS.split(), "-shared", "-fPIC", "-I", str(folder), "-o", str(library)]
    subprocess.run([*command, str(HERE / "limit.c")], check=True)
    function = ctypes.CDLL(str(library)).run
    function.argtypes = (ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64)
    function.restype = ctypes.c_uint64
    return function


def find_compiler() -> str | None:
    """Return $CC or cc, None where there is no such program."""
    compiler = os.environ.get("CC") or "cc"
    return compiler if shutil.which(shlex.split(compiler)[0]) else None


def measure(in_c, nr_cpus: int, rounds: int, nr_events: int) -> tuple[list[float], list[float]]:
    """Advance a state by each in turns; return CPU seconds a round of numba and of C, which leave the same events."""
    states = make_state(nr_cpus), make_state(nr_cpus)
    sums = [0, 0]
    taken = [], []
    for k in range(rounds + 1):
        for which in (0, 1) if k % 2 else (1, 0):
            function = (run, in_c)[which]
            before = time.process_time()
            sums[which] = int(function(states[which].address, nr_events, np.uint64(sums[which])))
            if k > 0:  # the first round warms up
                taken[which].append(time.process_time() - before)
        if sums[0] != sums[1]:
            raise SystemExit(f"numba and C differ in the first {(k + 1) * nr_events} events: limit.c is out of date")
    return taken


def main(arguments: list[str] | None = None):
    """Measure and print."""
    parser = argparse.ArgumentParser(description="numba over C on the engine's inner loop")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each size (default 9)")
    parser.add_argument("--events", type=int, default=300_000, help="events a round (default 300000)")
    options = parser.parse_args(arguments)
    compiler = find_compiler()
    if compiler is None:
        raise SystemExit("bench-limit needs a C compiler: none is in $CC, and there is no cc")
    version = subprocess.run([*shlex.split(compiler), "--version"], capture_output=True, text=True).stdout
    print(f"Python {platform.python_version()}, numba {numba.__version__}; {version.splitlines()[0]}, {FLAGS}")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        in_c = compile_c(Path(folder), compiler)
        print(f"{'CPUs':>6}{'numba Mevents/s':>18}{'C Mevents/s':>14}{'numba over C':>15}   (time, medians)")
        for nr_cpus in SIZES:
            medians = [statistics.median(times) for times in measure(in_c, nr_cpus, options.rounds, options.events)]
            ratios.append(medians[0] / medians[1])
            speeds = [options.events / seconds / 1e6 for seconds in medians]
            print(f"{nr_cpus:>6}{speeds[0]:>18.2f}{speeds[1]:>14.2f}{ratios[-1]:>15.2f}")
    worst = max(ratios)
    print(f"the same events in both; worst ratio {worst:.2f}, aim {AIM:g}: {'met' if worst <= AIM else 'NOT MET'}")


if __name__ == "__main__":
    main()
