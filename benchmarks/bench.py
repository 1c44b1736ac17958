"""The engine's speed, beside two rival simulators, as ratios of medians of interleaved rounds of CPU time."""

import argparse
import gc
import platform
import random
import statistics
import sys
import time

import numba
import numpy
import peers_simpy
import peers_simso
from scenarios import Scenario, periodic_tasks, scenarios

import schedlab
from schedlab.simulate import Simulation

CPUS_OF_PEERS = 8
#: Simulated seconds of one round of a rival; schedlab simulates more of the same tasks in less time.
SIMPY_SECONDS, SIMSO_SECONDS = 2.0, 0.5
#: A shorter stretch than this many CPU seconds is not worth a reading: the round repeats the run.
LEAST_CPU_S = 0.15
#: name, key of the row, aim, floor, whether more is better
GOALS = (
    ("(a) jobs a CPU second over SimSo's", "a/simso", 800, 300, True),
    ("(a) jobs a CPU second over SimPy's", "a/simpy", 30, 12, True),
    ("(b) simulated over CPU time, 64 CPUs", "b", 30, 12, True),
    ("(c) simulated over CPU time, 512 CPUs", "c", 2, 0.8, True),
    ("(e) hackbench, 20 messages a step", "e", 0.3, 1 / 30, True),
    ("(f) hackbench, message by message", "f", 0.05, 1 / 240, True),
    ("time of an event, 512 CPUs over 16", "c/s", 2.5, 3, False),
)


class Reading:
    """What one round of one subject gave."""

    def __init__(self, cpu_s, simulated_s, events=0, jobs=0, busy=0.0, setup_s=0.0):
        self.cpu_s, self.simulated_s, self.events, self.jobs = cpu_s, simulated_s, events, jobs
        self.busy, self.setup_s = busy, setup_s


def calibrate() -> float:
    """Return how many million rounds a second this Python does of a plain loop."""
    rounds = 1_000_000
    start = time.process_time()
    total = 0
    for k in range(rounds):
        total += k & 7
    return rounds / (time.process_time() - start) / 1e6


def run_engine(scenario: Scenario, least_cpu_s: float = LEAST_CPU_S) -> Reading:
    """Run a scenario after its warm-up, again and again until enough CPU time was spent; set-up is timed apart."""
    cpu_s = simulated_ns = busy_ns = 0
    events = jobs = 0
    setups = []
    while cpu_s < least_cpu_s:
        start = time.process_time()
        sim = Simulation(scenario.machine, scenario.kernel, scenario.workload, stop_on_exit=scenario.stop_on_exit)
        setups.append(time.process_time() - start)
        warm_ns = round(scenario.warm_up_s * 1e9)
        while warm_ns and not sim.advance(warm_ns):
            pass
        before = sim.result()
        start = time.process_time()
        while not sim.advance(warm_ns + round(scenario.seconds * 1e9)):
            pass
        cpu_s += time.process_time() - start
        after = sim.result()
        simulated_ns += after.duration_ns - before.duration_ns
        busy_ns += after.thread_busy_ns - before.thread_busy_ns
        events += after.nr_events - before.nr_events
        jobs += int(after.task_table["nr_samples"].sum() - before.task_table["nr_samples"].sum())
    busy = busy_ns / simulated_ns / scenario.machine.nr_cpus
    return Reading(cpu_s, simulated_ns / 1e9, events, jobs, busy, statistics.median(setups))


def run_peer(peer, seconds: float) -> Reading:
    """Run the periodic tasks in a rival; its set-up is not timed either."""
    run = peer.prepare(periodic_tasks(), CPUS_OF_PEERS, seconds)
    start = time.process_time()
    jobs = run()
    return Reading(time.process_time() - start, seconds, jobs=jobs)


def find_subjects(with_peers: bool) -> dict:
    """Return what to measure: name -> function without arguments. Says which rival is left out."""
    subjects = {scenario.key: lambda s=scenario: run_engine(s) for scenario in scenarios()}
    peers = (("simpy", peers_simpy, SIMPY_SECONDS), ("simso", peers_simso, SIMSO_SECONDS))
    for name, peer, seconds in peers if with_peers else ():
        try:
            peer.prepare(periodic_tasks(), CPUS_OF_PEERS, seconds)
        except ImportError as problem:
            print(f"{name} is left out: {problem}")
        else:
            subjects[name] = lambda p=peer, t=seconds: run_peer(p, t)
    return subjects


def measure(subjects: dict, rounds: int) -> tuple[dict, list[float]]:
    """Run every subject once a round, in an order that changes; return the readings and the calibrations."""
    readings = {name: [] for name in subjects}
    speeds = []
    order = random.Random(0)
    for k in range(rounds):
        names = list(subjects)
        order.shuffle(names)
        for name in names:
            if sys.stderr.isatty():
                print(f"\rround {k + 1} of {rounds}: {name:<8}", end="", file=sys.stderr, flush=True)
            gc.collect()
            speeds.append(calibrate())
            readings[name].append(subjects[name]())
    if sys.stderr.isatty():
        print("\r" + " " * 40, end="\r", file=sys.stderr)
    return readings, speeds


def median(readings: list[Reading], rate) -> float:
    """Return the median of a rate over the rounds."""
    return statistics.median(rate(reading) for reading in readings)


def find_ratios(readings: dict) -> dict[str, float]:
    """Return the ratios of medians by the keys of GOALS, those that were measured."""
    ratios = {key: median(readings[key], lambda r: r.simulated_s / r.cpu_s) for key in "bcef"}
    for peer in {"simpy", "simso"} & set(readings):
        jobs = [median(readings[name], lambda r: r.jobs / r.cpu_s) for name in ("a", peer)]
        ratios[f"a/{peer}"] = jobs[0] / jobs[1]
    per_event = [median(readings[key], lambda r: r.cpu_s / r.events) for key in "cs"]
    ratios["c/s"] = per_event[0] / per_event[1]
    return ratios


def verdict(ratio: float, aim: float, floor: float, more: bool) -> str:
    """Return what a ratio reaches: "aim met", "floor met" or "below the floor"."""
    if not more:
        ratio, aim, floor = -ratio, -aim, -floor
    if ratio >= aim:
        return "aim met"
    return "floor met" if ratio >= floor else "BELOW THE FLOOR"


def print_readings(readings: dict):
    """Print one line a subject."""
    titles = {scenario.key: f"({scenario.key}) {scenario.title}" for scenario in scenarios()}
    titles |= {"simpy": "    (a) in SimPy 4, global EDF", "simso": "    (a) in SimSo 0.8.5, global EDF"}
    head = ("busy", "sim s", "CPU s", "set-up s", "Mevents/s", "sim s/CPU s", "jobs/CPU s")
    print(f"\n{'medians':<52}" + "".join(f"{word:>12}" for word in head))
    for name in sorted(readings, key=lambda name: {"simpy": "a1", "simso": "a2"}.get(name, name)):
        rows = readings[name]
        cells = [
            f"{median(rows, lambda r: 100 * r.busy):.0f} %" if rows[0].busy else "",
            f"{median(rows, lambda r: r.simulated_s):.2f}",
            f"{median(rows, lambda r: r.cpu_s):.3f}",
            f"{median(rows, lambda r: r.setup_s):.2f}" if rows[0].setup_s else "",
            f"{median(rows, lambda r: r.events / r.cpu_s / 1e6):.2f}" if rows[0].events else "",
            f"{median(rows, lambda r: r.simulated_s / r.cpu_s):.4g}",
            f"{median(rows, lambda r: r.jobs / r.cpu_s):,.0f}" if rows[0].jobs else "",
        ]
        print(f"{titles[name]:<52}" + "".join(f"{cell:>12}" for cell in cells))


def print_goals(ratios: dict[str, float]):
    """Print each ratio beside its aim and floor."""
    print(f"\n{'ratios of medians':<44}{'measured':>10}{'aim':>8}{'floor':>8}")
    for title, key, aim, floor, more in GOALS:
        if key not in ratios:
            print(f"{title:<44}{'-':>10}{aim:>8g}{floor:>8g}   not measured")
            continue
        ratio = ratios[key]
        print(f"{title:<44}{ratio:>10.3g}{aim:>8g}{floor:>8g}   {verdict(ratio, aim, floor, more)}")


def main(arguments: list[str] | None = None):
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="schedlab bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each subject is run (default 5)")
    parser.add_argument("--no-peers", action="store_true", help="leave SimSo and SimPy out")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: at least 1")
    print(f"schedlab {schedlab.__version__}, Python {platform.python_version()}, numba {numba.__version__}, ", end="")
    print(f"numpy {numpy.__version__}, {platform.machine()}")
    start = time.process_time()
    run_engine(scenarios()[0], least_cpu_s=1e-9)
    print(f"first run, compilation included: {time.process_time() - start:.1f} CPU s")
    readings, speeds = measure(find_subjects(not options.no_peers), options.rounds)
    print(f"a plain Python loop: {statistics.median(speeds):.1f} million rounds a CPU second ", end="")
    print(f"({min(speeds):.1f} to {max(speeds):.1f}: the machine's own noise)")
    print("An event is one popped entry of the event queue: the end of a step, a tick, a wake-up, a refill, ...")
    print(f"All times are CPU time, medians of {options.rounds} interleaved rounds.", end="")
    print(" (s) is the load of (c) on one of its last-level caches.")
    print_readings(readings)
    print_goals(find_ratios(readings))


if __name__ == "__main__":
    main()
