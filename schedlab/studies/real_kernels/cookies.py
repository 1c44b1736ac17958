"""Core scheduling on real kernels: CPU shares and force idle of two groups of busy threads, a cookie each or none."""

import numpy as np
import pandas as pd

from ...io.recordings import Recording, load
from ...kernel import Costs
from ...simulate import simulate
from ...steps import spin
from ...units import NS_PER_MS, NS_PER_S, NS_PER_US
from ...workload import Group, Task, Workload
from .._threads import in_threads
from .runs import Scenario

#: What is compared, of each group.
MEASURES = ("usage_ms", "force_idle_ms")
#: Percent of a law (T/2, 2T/3), and of the recorded time where the law is 0: the demand on one core.
FORCE_IDLE = 2.0
#: The second program of a recording is started by the shell this much after the first, us: what the guests' start
#: times say is between -1.4 and 1.4 ms.
APART_US = 1_400


def is_one_core(one: Recording) -> bool:
    """Whether all threads are bound to CPUs of one core: nothing is decided by balancing then."""
    return all(program.get("cpus") for program in one.raw["programs"])


def workload_of(one: Recording, apart_us: float = 0.0) -> Workload:
    """Return its groups, with a cookie each where they had one, and its busy threads.

    Parameters
    ----------
    one : Recording
    apart_us : float
        The second program starts that much after the first; a negative number: before.
    """
    length = round(one.raw["secs"] * NS_PER_S)
    groups, tasks = [], []
    for number, program in enumerate(one.raw["programs"]):
        groups.append(Group(program["group"], cookie=number + 1 if program["cookie"] else 0))
        start_us = max(0.0, apart_us if number else -apart_us)
        cpus = program.get("cpus") or None
        for k in range(program["threads"]):
            mine = cpus if cpus is None else (cpus[k % len(cpus)],)
            start_ns = round(start_us * NS_PER_US) + 1000 * k
            name = f"{program['group'].strip('/')}.{k}"
            tasks.append(Task(name, spin(length), group=program["group"], cpus=mine, start_ns=start_ns))
    return Workload(tuple(groups), tuple(tasks), name=one.name)


def run_as(scenario: Scenario, one: Recording, seed: int):
    """Return one run: the start lies anywhere in a tick, and the programs within APART_US of each other.

    A sibling hears of a pick after the guests' latency of an interrupt, which was fitted on scenario a.
    """
    draws = np.random.default_rng((seed, 7))
    kernel = one.kernel.with_(
        balance="kernel",
        tick_offset_us=int(draws.integers(0, one.kernel.tick_ns // NS_PER_US)),
        costs=Costs(ipi_ns=round(scenario.late_of(one) * NS_PER_US)),
    )
    work = workload_of(one, float(draws.uniform(-APART_US, APART_US)))
    return simulate(one.machine, kernel, work, round(one.raw["secs"] * NS_PER_S), seed=seed)


def outcome(run) -> dict[str, dict[str, float]]:
    """Return the measures of each group of a run, in ms."""
    table = run.tasks().set_index("name")
    idle = run.cookies()["forceidle_ns"].to_numpy() if run.workload.core_scheduling else np.zeros(len(table))
    found = {}
    for path in run.workload.group_paths[1:]:
        mine = (table["group"] == path).to_numpy()
        ran = table["exec_ns"].to_numpy()[mine].sum()
        found[path] = {"usage_ms": ran / NS_PER_MS, "force_idle_ms": idle[mine].sum() / NS_PER_MS}
    return found


def df_cookies(scenario: Scenario) -> pd.DataFrame:
    """Return CPU time and force idle of each group, measured and in the model.

    Columns: recording, one_core, seconds, group, measure, measured, mean, low, high (5 and 95 % over seeds), least,
    most; all but seconds in ms.
    """
    found = load("cookies")
    seeds = range(scenario.seed, scenario.seed + scenario.seeds)
    jobs = [(one, seed) for one in found for seed in seeds]
    drawn = {}
    for (one, _), table in zip(jobs, in_threads(lambda job: outcome(run_as(scenario, *job)), jobs), strict=True):
        drawn.setdefault(one.name, []).append(table)
    rows = []
    for one in found:
        for path, theirs in one.measured.items():
            for measure in MEASURES:
                draws = [table[path][measure] for table in drawn[one.name]]
                measured = theirs[measure.replace("_ms", "_us")] / 1000
                ends = (np.mean(draws), *np.percentile(draws, (5, 95)), min(draws), max(draws))
                rows.append((one.name, is_one_core(one), one.raw["secs"], path, measure, measured, *ends))
    columns = ["recording", "one_core", "seconds", "group", "measure", "measured", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "least", "most"])
