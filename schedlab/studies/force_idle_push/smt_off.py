"""When does core scheduling beat SMT off? Guests on one host three ways, over load."""

import pandas as pd

from ...durations import exponential
from ...machine import Machine
from ...simulate import simulate
from ...steps import mark, repeat, run, sample, sleep
from ...units import NS_PER_MS, NS_PER_S
from ...workload import Task, Workload
from .._threads import in_threads
from .scenario import PUSH, Scenario

CORES = 8
#: Throughput of a core with two busy threads, as assumed for every x86 machine here.
SMT_GAIN = 1.25
#: The host: with SMT and no cookies, with core scheduling, with core scheduling and the push, without SMT.
HOSTS = ("SMT on", "core scheduling", "core scheduling + push", "SMT off")
#: Guests: of two virtual CPUs, which may share a core, or of one, which never may.
GUESTS = {"guests of 2 vCPUs": 2, "guests of 1 vCPU": 1}
#: A request is work of this mean at full speed (exponential), ms.
REQUEST_MS = 2.0
#: Demand over what the cores can do without SMT; 2 is busy virtual CPUs on all threads.
LOADS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
QUICK_LOADS = (0.25, 0.75, 1.25, 2.0)
RUNS, SECONDS, QUICK_RUNS, QUICK_SECONDS = 3, 10, 1, 4


def workload(vcpus: int, load: float, cookies: bool) -> Workload:
    """Return as many virtual CPUs as there are threads, in guests of `vcpus`, with requests and pauses between them."""
    nr = 2 * CORES
    busy = load * CORES / nr  # of each virtual CPU, if it ran at full speed
    work = run(exponential(round(REQUEST_MS * NS_PER_MS)))
    pause = [sleep(exponential(round(REQUEST_MS * NS_PER_MS * (1 - busy) / busy)))] if busy < 1 else []
    program = repeat(None, *pause, mark(), work, sample())
    tasks = [
        Task(f"vm{k // vcpus}-vcpu{k % vcpus}", program, label="requests", cookie=k // vcpus + 1 if cookies else 0)
        for k in range(nr)
    ]
    return Workload(tasks=tasks, name=f"{nr // vcpus} VMs x {vcpus} vCPUs, load {load:g}")


def df_smt_off(scenario: Scenario, *, progress: bool = True) -> pd.DataFrame:
    """Return throughput and response time over load on each of HOSTS.

    Returns
    -------
    pandas.DataFrame
        guests, host, load (demand over what the cores do without SMT), requests_per_s, response_ms (mean, from the
        wake-up to the end of the request), wait_ms (mean time from the wake-up to running), forced_idle_cpus,
        of_smt_off (throughput over that without SMT), response_of_smt_off (likewise).
    """
    loads, count = (QUICK_LOADS, QUICK_RUNS) if scenario.quick else (LOADS, RUNS)
    seconds = QUICK_SECONDS if scenario.quick else SECONDS
    cells = [(guests, host, load) for guests in GUESTS for host in HOSTS for load in loads]
    cases = [(*cell, scenario.seed + k) for cell in cells for k in range(count)]
    rows = in_threads(lambda case: _one(scenario, *case, seconds), cases, progress=progress)
    table = pd.DataFrame(rows).groupby(["guests", "host", "load"], sort=False).mean().reset_index()
    off = table[table["host"] == "SMT off"].set_index(["guests", "load"])
    keys = pd.MultiIndex.from_frame(table[["guests", "load"]])
    for name, column in (("of_smt_off", "requests_per_s"), ("response_of_smt_off", "response_ms")):
        table[name] = table[column].to_numpy() / off[column].loc[keys].to_numpy()
    return table


def _one(scenario, guests, host, load, seed, seconds):
    machine = Machine.uniform(CORES) if host == "SMT off" else Machine.uniform(
        2 * CORES, 2, smt_throughput=(1.0, SMT_GAIN)
    )  # fmt: skip
    kernel = scenario.kernel.with_patch(PUSH) if host.endswith("push") else scenario.kernel
    work = workload(GUESTS[guests], load, cookies=host.startswith("core"))
    ran = simulate(machine, kernel, work, seconds * NS_PER_S, seed=seed)
    late = ran.latencies().set_index("kind")
    waited = late["mean_us"].get("wakeup", 0.0) / 1000 if load < 2 else 0.0
    forced = float(ran.core_table["forced_idle_ns"].sum() / ran.duration_ns)
    return {
        "guests": guests,
        "host": host,
        "load": load,
        "requests_per_s": late.loc["sample", "count"] / seconds,
        "response_ms": waited + late.loc["sample", "mean_us"] / 1000,
        "wait_ms": waited,
        "forced_idle_cpus": forced,
    }


def df_crossover(table: pd.DataFrame) -> pd.DataFrame:
    """Return from which load on each host does more than SMT off, and answers sooner.

    Linear between the loads that were run; missing where it never has.

    Parameters
    ----------
    table : pandas.DataFrame
        From `df_smt_off`.

    Returns
    -------
    pandas.DataFrame
        guests, host, at_full_load (throughput over SMT off with busy virtual CPUs), more_throughput_from,
        less_response_from (loads), at_half (response time over SMT off at the lowest load).
    """
    rows = []
    for (guests, host), part in table.groupby(["guests", "host"], sort=False):
        if host == "SMT off":
            continue
        part = part.sort_values("load")
        loads = part["load"].to_numpy()
        rows.append(
            {
                "guests": guests,
                "host": host,
                "at_full_load": float(part["of_smt_off"].iloc[-1]),
                "more_throughput_from": crossing(loads, part["of_smt_off"].to_numpy() - 1.005),
                "less_response_from": crossing(loads, 1 - part["response_of_smt_off"].to_numpy()),
                "response_at_lowest": float(part["response_of_smt_off"].iloc[0]),
            }
        )
    return pd.DataFrame(rows)


def crossing(x, y) -> float:
    """Return the x from which on y stays above 0, linear between the points; nan where it does not.

    Examples
    --------
    >>> crossing([0.0, 1.0, 2.0], [-1.0, -1.0, 1.0]), crossing([0.0, 1.0], [1.0, 2.0])
    (1.5, 0.0)
    """
    if y[-1] <= 0:
        return float("nan")
    k = len(y) - 1
    while k > 0 and y[k - 1] > 0:
        k -= 1
    if k == 0:
        return float(x[0])
    return float(x[k - 1] + (x[k] - x[k - 1]) * -y[k - 1] / (y[k] - y[k - 1]))


#: Two questions from public reports: busy virtual CPUs and their cookies, as (cores, guests, virtual CPUs, cookies).
BUSY = {
    "no cookies": (4, 8, 1, "off"),
    "a cookie a guest": (4, 1, 8, "vm"),
    "a cookie a virtual CPU": (4, 1, 8, "vcpu"),
    "2 guests of 2": (2, 2, 2, "vm"),
    "4 guests of 1": (2, 4, 1, "vm"),
}


def df_busy(kernel) -> pd.DataFrame:
    """Return what busy virtual CPUs get under each layout of BUSY, push included, and without SMT.

    Returns
    -------
    pandas.DataFrame
        layout, cores, vcpus, running (threads, mean), forced_idle (siblings, mean), thread_percent (of the time that
        the threads had: mean share of a virtual CPU), of_smt_off (work done, over the same without SMT).
    """
    rows = []
    for layout, (cores, vms, vcpus, cookies) in BUSY.items():
        ran = _busy(Machine.uniform(2 * cores, 2, smt_throughput=(1.0, SMT_GAIN)), kernel, vms, vcpus, cookies)
        alone = _busy(Machine.uniform(cores), kernel, vms, vcpus, "off")
        share = ran.task_table["exec_ns"] / ran.duration_ns
        forced = ran.core_table["forced_idle_ns"].sum() / ran.duration_ns if ran.core_table is not None else 0.0
        done = ran.task_table["nr_samples"].sum() / alone.task_table["nr_samples"].sum()
        row = (layout, cores, vms * vcpus, ran.thread_busy_ns / ran.duration_ns, forced, 100 * share.mean(), done)
        rows.append(row)
    names = ["layout", "cores", "vcpus", "running", "forced_idle", "thread_percent", "of_smt_off"]
    return pd.DataFrame(rows, columns=names)


def _busy(machine, kernel, vms, vcpus, cookies):
    program = repeat(None, run("1ms"), mark(), sample())
    number = {"off": lambda vm, k: 0, "vm": lambda vm, k: vm + 1, "vcpu": lambda vm, k: vm * vcpus + k + 1}[cookies]
    tasks = [
        Task(f"vm{vm}-vcpu{k}", program, cookie=number(vm, k), label="busy") for vm in range(vms) for k in range(vcpus)
    ]
    return simulate(machine, kernel.with_patch(PUSH), Workload(tasks=tasks), "20s")
