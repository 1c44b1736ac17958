"""Scenarios whose whole result is pinned by a digest: `python tests/engine/golden.py` writes golden.json anew.

A digest that changes is a change of the model: the commit that makes it says why.
"""

import json
import pathlib

import schedlab as sl
from schedlab.workloads import schbench, stress_ng

FILE = pathlib.Path(__file__).with_name("golden.json")


def _nested():
    nap = sl.repeat(None, sl.run(sl.exponential("3ms")), sl.sleep(sl.uniform("1ms", "9ms")), sl.kernel("20us"))
    groups = (
        sl.Group("/a", quota_us=60_000, burst_us=10_000, weight=300),
        sl.Group("/a/b", quota_us=25_000, period_us=50_000),
        sl.Group("/c", weight=50),
    )
    tasks = [sl.Task(f"nap{k}", nap, group="/a/b", start_ns=k * 1_000_003) for k in range(6)]
    tasks += [sl.Task(f"hog{k}", sl.run("9s"), group="/c", nice=5 * k) for k in range(3)]
    return sl.Workload(groups, tuple(tasks), (sl.SetCpuMax("400ms", "/a", quota_us=30_000),))


def scenarios():
    """Name -> a Run."""
    small = sl.Machine.uniform(4, 2, smt_throughput=(1.0, 1.3))
    power = sl.Machine.load("power-8core-smt8")
    runs = {}
    for release in ("6.1", "6.4", "6.6", "6.12"):
        kernel = sl.Kernel.version(release, costs=sl.Costs(context_switch_ns=1_500, ipi_ns=2_000))
        runs[f"nested.{release}"] = sl.simulate(small, kernel, _nested(), "1s", seed=3, log=True)
    pair = stress_ng.in_groups(2, quota_us=1_600_000, cpu_ops=2_000)
    random = sl.Kernel.version("6.1").with_patch("interleave-timers")
    runs["stress_ng.pair"] = sl.simulate(power, random, pair, "60s", seed=1, stop="exit")
    bench = schbench.schbench(threads=8, wake_cost_ns=2_000, group=sl.Group("/cg1", quota_us=400_000))
    runs["schbench.6.12"] = sl.simulate(power, sl.Kernel.version("6.12"), bench, "2s", seed=2)
    return runs


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: run.digest() for name, run in scenarios().items()}, indent=1) + "\n")
