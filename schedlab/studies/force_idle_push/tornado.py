"""What the result depends on: one thing at a time changed, for the baseline and with the push."""

import pandas as pd

from ...machine import Machine
from ...workloads.hypervisor import Hwlat
from .measure import measure_all
from .scenario import Scenario
from .statistics import mean_interval, ratio_interval

#: What is changed, and to what: (factor, setting).
SETTINGS = (
    ("start of the windows", "all at once"),
    ("start of the windows", "1 ms apart"),
    ("guests begin", "where fork puts them"),
    ("tracer", "round-robin"),
    ("HZ", "1000"),
    ("HZ", "100"),
    ("base slice", "1.4 ms"),
    ("base slice", "5.6 ms"),
    ("VMM burst", "half"),
    ("VMM burst", "double"),
    ("VMM thread's cookie", "its own"),
    ("VMM thread's cookie", "none"),
    ("numbering of siblings", "adjacent"),
    ("last-level caches", "4"),
    ("a cgroup each guest", "yes"),
    ("steal on force idle", "off"),
    ("kernel row", "6.19"),
)
#: A quick run takes each fourth of them.
QUICK_STEP = 4
VARIANTS = ("baseline", "push")
#: Runs of each setting, at most.
MOST_RUNS = 5


def df_tornado(scenario: Scenario, runs: pd.DataFrame, *, progress: bool = True) -> pd.DataFrame:
    """Return the noise of baseline and push under each setting of SETTINGS, one at a time; quick: under some.

    Parameters
    ----------
    scenario : Scenario
    runs : pandas.DataFrame
        From `df_runs`: the scenario as it is.

    Returns
    -------
    pandas.DataFrame
        factor, setting ("as is" in the first row), and for each variant n_max, n_max_low, n_max_high, n_sum (percent),
        named after it ("push_n_max"); push_over_baseline, ratio_low, ratio_high (of N_max).
    """
    count = min(scenario.runs, MOST_RUNS)
    settings = SETTINGS[::QUICK_STEP] if scenario.quick else SETTINGS
    cells = [(*setting, variant) for setting in settings for variant in VARIANTS]
    rows = measure_all(
        (_case(scenario, *cell) | {"seed": scenario.seed + k} for cell in cells for k in range(count)), progress
    )
    found = {cell: rows[k * count : (k + 1) * count] for k, cell in enumerate(cells)}
    table = [_row("", "as is", {v: runs[runs["variant"] == v].to_dict("records") for v in VARIANTS})]
    table += [_row(*setting, {v: found[(*setting, v)] for v in VARIANTS}) for setting in settings]
    return pd.DataFrame(table)


def _row(factor, setting, rows):
    row = {"factor": factor, "setting": setting}
    values = {variant: [one["n_max"] for one in rows[variant]] for variant in VARIANTS}
    for variant in VARIANTS:
        names = (f"{variant}_n_max", f"{variant}_n_max_low", f"{variant}_n_max_high")
        row |= dict(zip(names, mean_interval(values[variant])))
        row[f"{variant}_n_sum"] = sum(one["n_sum"] for one in rows[variant]) / len(rows[variant])
    found = ratio_interval(values["push"], values["baseline"])
    return row | dict(zip(("push_over_baseline", "ratio_low", "ratio_high"), found))


def _case(scenario, factor, setting, variant):
    """Return the arguments of `measure` under one setting."""
    kernel, machine, options = scenario.kernel_with(variant), scenario.machine, {}
    if factor == "HZ":
        kernel = kernel.with_(hz=int(setting))
    elif factor == "base slice":  # of the machine: scaled by the number of CPUs
        slice_ns = round(float(setting.split()[0]) * 1e6 / kernel.scaling_factor(machine.nr_cpus))
        kernel = kernel.with_(base_slice_ns=slice_ns)
    elif factor == "VMM burst":
        options["vmm_burst"] = f"{scenario.vmm_burst_us * (2 if setting == 'double' else 0.5)}us"
    elif factor == "VMM thread's cookie":
        options["vmm_cookie"] = {"its own": "own", "none": "none"}[setting]
    elif factor == "numbering of siblings":
        machine = Machine.uniform(machine.nr_cpus, 2, smt_throughput=machine.smt_throughput)
    elif factor == "last-level caches":
        more = dict(nr_llcs=int(setting), numbering="split", smt_throughput=machine.smt_throughput)
        machine = Machine.uniform(machine.nr_cpus, 2, **more)
    elif factor == "start of the windows":
        options["start_gap"] = {"all at once": 0, "1 ms apart": "1ms"}[setting]
    elif factor == "guests begin":
        options["packed"] = False
    elif factor == "a cgroup each guest":
        options["cgroups"] = True
    elif factor == "tracer":
        options["hwlat"] = Hwlat(mode="round-robin")
    elif factor == "steal on force idle":
        kernel = kernel.with_patch("no-force-idle-steal")
    elif factor == "kernel row":
        tunables = dict(hz=kernel.hz, balance="kernel")
        own = type(kernel).version(setting, **tunables)
        kernel = own.with_patch(*(kernel.patches - own.patches))
    work = scenario.workload(machine=machine, **options)
    hwlat = options.get("hwlat") or Hwlat(start_gap=options.get("start_gap"))
    return dict(machine=machine, kernel=kernel, workload=work, seconds=scenario.seconds, hwlat=hwlat)
