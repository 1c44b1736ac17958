"""The stress-ng job in one and in two groups: time, power and energy, by the phases of the groups' timers."""

import numpy as np
import pandas as pd

from ...phases import group_phases
from ...simulate import Simulation
from ...units import NS_PER_MS, NS_PER_S, NS_PER_US, to_ns
from ...workloads import stress_ng
from .._threads import in_threads
from .scenario import PHASES, Scenario

#: A job that has not ended by then is refused.
LONGEST = "7200s"
#: Phases of the tick over which fixed timer phases are averaged, and in a quick run.
TICKS, QUICK_TICKS = 10, 4


def df_stress_runs(scenario: Scenario) -> pd.DataFrame:
    """Return every run of the job: one group, and two groups under each rule for the timers' phases.

    Random phases are drawn anew in each run, as a new cgroup draws its own; the other rules are run with the tick at
    several phases (see `Scenario.kernels`).

    Returns
    -------
    pandas.DataFrame
        groups (how many run together), phases (rule), seed, tick_offset_us, phase_ms (timer of the second group after
        that of the first; missing for one group), time_s (until the last worker of the last group is done), power_w
        (mean socket power while all workers run), busy_cores, busy_threads (means over the same time),
        energy_j_per_job (of the whole run, a group).
    """
    count = QUICK_TICKS if scenario.quick else TICKS
    cases = []
    for phase in scenario.phases:
        fixed = [(phase, kernel, scenario.seed) for kernel in scenario.kernels(phase, count)]
        drawn = [(phase, scenario.kernel_with(phase), scenario.seed + k) for k in range(scenario.seeds)]
        if phase in ("aligned", "random"):
            cases += [(1, *case) for case in (fixed if phase == "aligned" else drawn[:count])]
        cases += [(2, *case) for case in (drawn if phase == "random" else fixed)]
    return pd.DataFrame(in_threads(lambda case: run_job(scenario, *case), cases))


def run_job(scenario: Scenario, groups: int, phase: str, kernel, seed: int, phases_us=None) -> dict:
    """Return one row of `df_stress_runs`: the job in so many groups, under a kernel that has the rule `phase`."""
    work = stress_ng.in_groups(
        groups,
        scenario.quota_us,
        scenario.period_us,
        phases_us,
        cpu=scenario.workers,
        cpu_ops=scenario.cpu_ops,
    )
    job = Simulation(scenario.machine, kernel, work, seed=seed, stop_on_exit=True)
    # whole periods in which every worker is still there, whether the kernel's shares are fair or not
    period_ns = scenario.period_us * NS_PER_US
    full_ns = max(1, int(alone_s(scenario) / 2 * NS_PER_S) // period_ns) * period_ns
    full = _advance(job, full_ns).power()
    run = _advance(job, to_ns(LONGEST))
    if not job.finished:
        raise ValueError(f"cpu_ops={scenario.cpu_ops}: the job does not end within {LONGEST} of simulated time")
    timers = group_phases(kernel, work, seed)
    return {
        "groups": groups,
        "phases": phase,
        "seed": seed,
        "tick_offset_us": kernel.tick_offset_us,
        "phase_ms": (timers[2] - timers[1]) % period_ns / NS_PER_MS if groups == 2 else np.nan,
        "time_s": run.duration_ns / NS_PER_S,
        "power_w": full["mean_w"],
        "busy_cores": full["busy_core_s"] / full["seconds"],
        "busy_threads": full["busy_thread_s"] / full["seconds"],
        "energy_j_per_job": run.power()["energy_j"] / groups,
    }


def _advance(job, until_ns):
    while not job.advance(until_ns):
        pass
    return job.result()


def df_stress(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of `df_stress_runs`, summed up.

    Returns
    -------
    pandas.DataFrame
        One row for each number of groups and rule: groups, phases, runs, time_s (mean), time_low_s, time_high_s,
        time_saved_percent (against the same number of groups aligned), power_w (mean), power_low_w, power_high_w,
        energy_j_per_job (mean), energy_saved_percent (likewise).
    """
    rows = []
    for (groups, phase), part in runs.groupby(["groups", "phases"], sort=False):
        base = runs[(runs["groups"] == groups) & (runs["phases"] == "aligned")]
        row = {"groups": groups, "phases": phase, "runs": len(part)}
        for name, unit in (("time", "s"), ("power", "w")):
            values = part[f"{name}_{unit}"]
            row |= {f"{name}_{unit}": values.mean(), f"{name}_low_{unit}": values.min()}
            row[f"{name}_high_{unit}"] = values.max()
        row["energy_j_per_job"] = part["energy_j_per_job"].mean()
        for name, column in (("time", "time_s"), ("energy", "energy_j_per_job")):
            row[f"{name}_saved_percent"] = 100 * (1 - part[column].mean() / base[column].mean())
        rows.append(row)
    order = {phase: k for k, phase in enumerate(PHASES)}
    table = pd.DataFrame(rows)
    return table.sort_values(["groups", "phases"], key=lambda c: c.map(order) if c.name == "phases" else c).reset_index(
        drop=True
    )


def df_phase_curve(scenario: Scenario) -> pd.DataFrame:
    """Return time and power of two groups against the difference between the phases of their timers.

    Returns
    -------
    pandas.DataFrame
        phase_ms (second timer after the first), time_s (mean over phases of the tick), time_low_s, time_high_s,
        by_hand_s (see `time_by_hand_s`), power_w, busy_cores, busy_threads (means), runs.
    """
    steps, count = (8, 3) if scenario.quick else (20, 6)
    phases_us = [k * scenario.period_us // steps for k in range(steps + 1)]
    kernels = scenario.kernels("aligned", count)
    cases = [(phase_us, kernel) for phase_us in phases_us for kernel in kernels]
    # a whole period later is the same phase, and a timer is armed for its first expiry after 0
    rows = in_threads(
        lambda case: run_job(scenario, 2, "aligned", case[1], scenario.seed, (0, case[0] % scenario.period_us)), cases
    )
    runs = pd.DataFrame(rows).assign(phase_ms=[phase_us / 1000 for phase_us, _ in cases])
    by_phase = runs.groupby("phase_ms")
    curve = by_phase[["time_s", "power_w", "busy_cores", "busy_threads"]].mean()
    curve.insert(1, "time_low_s", by_phase["time_s"].min())
    curve.insert(2, "time_high_s", by_phase["time_s"].max())
    one_s = np.mean([run_job(scenario, 1, "aligned", kernel, scenario.seed)["time_s"] for kernel in kernels])
    curve.insert(3, "by_hand_s", [time_by_hand_s(scenario, one_s, phase_ms) for phase_ms in curve.index])
    return curve.assign(runs=by_phase.size()).reset_index()


def overlap(scenario: Scenario, phase_ms: float) -> float:
    """Return the share of a group's run window in which the other group's is open too.

    Windows of w = `Scenario.window_share` of the period, which begin at the timers: a window overlaps the next
    one of the other group by w - d on the side where that is d later, on both sides.

    Examples
    --------
    >>> overlap(Scenario.of(), 30.0)
    0.4
    """
    window, late = scenario.window_share, phase_ms / scenario.period_ms % 1
    return round((max(0, window - late) + max(0, window - (1 - late))) / window, 12)


def _speeds(scenario):
    """Return the speed of a worker while one group runs and while two do, spread evenly over the cores."""
    machine, threads = scenario.machine, scenario.workers / len(scenario.machine.cores)
    busy = (min(machine.threads_per_core, max(1, round(n * threads))) for n in (1, 2))
    return [machine.thread_speed_ppm(0, n) / 1e6 for n in busy]


def alone_s(scenario: Scenario) -> float:
    """Return the time of one group if its workers shared the quota evenly, from one division.

    Examples
    --------
    >>> round(alone_s(Scenario.of()), 3)
    26.9
    """
    work_ns = stress_ng.work_ns(-(-scenario.cpu_ops // scenario.workers))
    return work_ns / NS_PER_S / _speeds(scenario)[0] / scenario.window_share


def time_by_hand_s(scenario: Scenario, alone_s: float, phase_ms: float) -> float:
    """Return the time of two groups from one multiplication: the check on the engine's curve (fact sheet C4).

    A worker runs at the speed r of a core half full while its group is alone, and slower by the share
    a = 1 - r_full/r while the other group runs too, which is `overlap` f of its time: ``alone_s / (1 - a * f)``.
    """
    alone, both = _speeds(scenario)
    return alone_s / (1 - (1 - both / alone) * overlap(scenario, phase_ms))


def df_published_phases(curve: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return the phase that each published interleaved run's time implies, and the power that the model has there.

    The mail gives times, not phases. The model's own curve is read backwards (both halves of it folded into one, for
    a timer 30 ms early does what one 30 ms late does); the power at that phase is then a prediction *conditional* on
    the run's time: no published watts of an interleaved run enter it.

    Parameters
    ----------
    curve : pandas.DataFrame
        From `df_phase_curve`.
    published : pandas.DataFrame
        ``published.load("bandwidth_stress_ng")``.

    Returns
    -------
    pandas.DataFrame
        run, published_time_s, phase_ms (0 to half a period), phase_low_ms, phase_high_ms (reading the curve's low and
        high edge), busy_cores, busy_threads, power_w (model), published_power_w, error_percent (model over published).
    """
    half = curve["phase_ms"].max() / 2
    folded = curve.assign(phase_ms=half - (curve["phase_ms"] - half).abs()).groupby("phase_ms").mean()
    phases = folded.index.to_numpy()

    def phase_at(times, time_s):
        falling = np.minimum.accumulate(times.to_numpy())
        return float(np.interp(time_s, falling[::-1], phases[::-1]))

    rows = []
    for run in published.query("kernel == 'interleaved' and cgroups == 2").itertuples():
        edges = [phase_at(folded[name], run.time_s) for name in ("time_low_s", "time_high_s")]
        phase = phase_at(folded["time_s"], run.time_s)
        row = {"run": run.run, "published_time_s": run.time_s, "phase_ms": phase}
        row |= {"phase_low_ms": min(edges), "phase_high_ms": max(edges)}
        for name in ("busy_cores", "busy_threads", "power_w"):
            row[name] = float(np.interp(phase, phases, folded[name]))
        row["published_power_w"] = run.power_w
        row["error_percent"] = 100 * (row["power_w"] / run.power_w - 1)
        rows.append(row)
    return pd.DataFrame(rows)
