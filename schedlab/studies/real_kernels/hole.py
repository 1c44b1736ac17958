"""7.2's hole: a hog in an unlimited child of a limited group runs on; what was measured, and what the model says."""

import numpy as np
import pandas as pd

from ...io.recordings import load
from ...kernel import Kernel
from ...machine import Machine
from ...simulate import simulate
from ...steps import kernel as in_kernel
from ...steps import repeat, run, sleep
from ...units import NS_PER_MS
from ...workload import Group, Task, Workload
from .._threads import in_threads
from .runs import Scenario

VARIANTS = {"Nalone": "one hog", "nest33": "a hog and a task with 3.3 ms calls", "nestNN": "two hogs"}
VERSIONS = ("6.18.15", "7.2.13", "7.3.4")
QUOTA_US, PERIOD_MS, SECONDS = 10_000, 100, 10
#: Measured conditions, and whether the model's counterpart has another task on the CPU.
CONDITIONS = {"as it comes": True, "CPU kept free": False}
HOUSEKEEPING = "50us each 512 ms"


def workload(variant: str, housekeeping: bool) -> Workload:
    """Return the tasks in /A/B under A's quota, and with `housekeeping` one of 50 us each 512 ms in the root group."""
    hogs = 2 if variant == "nestNN" else 1
    tasks = [Task(f"N{k}", repeat(None, run("100s")), group="/A/B", start_ns=1000 * k) for k in range(hogs)]
    if variant == "nest33":
        # two system calls with 2 us of user mode in between
        tasks.append(
            Task("P", repeat(None, in_kernel("3300us"), run("2us"), sleep("1ms")), group="/A/B", start_ns=5000)
        )
    if housekeeping:
        tasks.append(Task("kthread", repeat(None, run("50us"), sleep("512ms")), start_ns="300ms"))
    return Workload((Group("/A", quota_us=QUOTA_US), Group("/A/B")), tuple(tasks), name=variant)


def longest_ms(usage_ms, window_ms: int = PERIOD_MS) -> float:
    """Return the CPU time in ms of the longest row of windows that are full to 90 % (a burst), 0 without one."""
    best = now = 0.0
    for used in usage_ms:
        now = now + min(used, window_ms) if used >= 0.9 * window_ms else 0.0
        best = max(best, now)
    return best


def df_measured() -> pd.DataFrame:
    """Return one row a measured run: version, hrtick, variant, condition, repeat, share_percent, longest_ms."""
    rows = []
    for one in load("hole"):
        raw = one.raw
        share = 100 * one.measured["/A"]["usage_us"] / raw["wall_us"]
        head = (
            raw["kernel"]["version"],
            "HRTICK" in raw["kernel"]["features"],
            raw["variant"],
            raw["condition"],
            raw["repeat"],
        )
        rows.append((*head, share, longest_ms(raw["usage_ms"])))
    columns = ["version", "hrtick", "variant", "condition", "repeat", "share_percent", "longest_ms"]
    return pd.DataFrame(rows, columns=columns)


def _model(version: str, variant: str, housekeeping: bool, seed: int):
    kernel = Kernel.version(version, base_slice_ns=1_400_000)
    done = simulate(Machine.uniform(1), kernel, workload(variant, housekeeping), f"{SECONDS}s", seed=seed, log="switch")
    share = 100 * done.cpu_stat().loc["/A", "usage_usec"] / (SECONDS * 1e6)
    return share, longest_ms(windows_ms(done))


def windows_ms(done) -> np.ndarray:
    """Return A's CPU time in each window of 100 ms, ms."""
    spans = done.spans()
    mine = spans[spans["group"] == "/A/B"][["start_ns", "end_ns"]].to_numpy() / NS_PER_MS
    edges = np.arange(0, SECONDS * 1000, PERIOD_MS)

    # cumulated run time at each edge
    def until(t):
        return np.minimum(np.maximum(t - mine[:, 0], 0), mine[:, 1] - mine[:, 0]).sum()

    return np.diff([until(t) for t in (*edges, SECONDS * 1000)])


def df_model(scenario: Scenario, versions=("6.18", "7.2", "7.3")) -> pd.DataFrame:
    """Return one row a run of the model: version, variant, condition, seed, share_percent, longest_ms."""
    seeds = range(scenario.seed, scenario.seed + max(3, scenario.seeds // 3))
    jobs = [(v, variant, c, s) for v in versions for variant in VARIANTS for c in CONDITIONS for s in seeds]
    found = in_threads(lambda job: _model(job[0], job[1], CONDITIONS[job[2]], job[3]), jobs)
    columns = ["version", "variant", "condition", "seed", "share_percent", "longest_ms"]
    return pd.DataFrame([(*job, *values) for job, values in zip(jobs, found)], columns=columns)


def df_windows(scenario: Scenario, variant: str = "nestNN") -> pd.DataFrame:
    """Return CPU time per window of 100 ms of one measured run a version and of the model: side, window, usage_ms."""
    rows = []
    for one in load("hole"):
        raw = one.raw
        if (raw["variant"], raw["condition"], raw["repeat"]) == (variant, "as it comes", 1):
            if raw["kernel"]["version"] in VERSIONS and ("HRTICK" in raw["kernel"]["features"]) == (
                raw["kernel"]["version"] != "6.18.15"
            ):
                rows += [(raw["kernel"]["version"], k, used) for k, used in enumerate(raw["usage_ms"])]
    for version in ("6.18", "7.2"):
        kernel = Kernel.version(version, base_slice_ns=1_400_000)
        work = workload(variant, housekeeping=True)
        done = simulate(Machine.uniform(1), kernel, work, f"{SECONDS}s", seed=scenario.seed, log="switch")
        rows += [(f"model {version}", k, used) for k, used in enumerate(windows_ms(done))]
    return pd.DataFrame(rows, columns=["side", "window", "usage_ms"])
