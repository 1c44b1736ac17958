"""Each recording in the model: as it was, and with the phases that nobody chose drawn at random."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...io.recordings import Recording, load
from ...run import Run
from ...simulate import simulate
from ...units import NS_PER_US
from .._threads import in_threads
from .rules import is_chaotic

#: A run may last this much beyond the recorded end: the last refill that lets a thread see that its time is over.
BEYOND_US = 400_000
#: How far a recorded run may begin after its timer to count as woken by it, us.
WOKEN_WITHIN_US = 3_000


@dataclass(frozen=True)
class Scenario:
    """What is compared: how many seeds for unknown phases, and the latency from a timer's expiry to the first run.

    Attributes
    ----------
    seeds : int
    seed : int
        The first.
    late_us : dict
        Latency on the host and in guests: the one cost that is fitted, on host r0 and the guest's scenario a.
    """

    seeds: int
    seed: int
    late_us: dict[str, float]
    quick: bool = False

    @classmethod
    def of(cls, *, seeds: int = 20, seed: int = 0, quick: bool = False) -> "Scenario":
        """Return the scenario, with the latencies fitted."""
        found = df_latency()
        late = found[found["used"] == "fit"].set_index("source")["median_us"].to_dict()
        return cls(min(seeds, 6) if quick else seeds, seed, late, quick)

    def seeds_of(self, recording: Recording) -> range:
        """Seeds of unknown phases: five times as many where only the distribution can be compared."""
        few = recording.is_guest and not is_chaotic(recording)
        n = self.seeds * 5 if is_chaotic(recording) else max(2, self.seeds // 4) if few else self.seeds
        return range(self.seed, self.seed + n)

    def late_of(self, recording: Recording) -> float:
        """Latency from a timer's expiry to the first run, us."""
        return self.late_us["guest" if recording.is_guest else "host"]


def is_fit(recording: Recording) -> bool:
    """Whether costs may be fitted to it: the host's repeat r0 and the guests' scenarios a and c."""
    return recording.name.endswith(".r0") if not recording.is_guest else recording.name[0] in "ac"


def df_latency() -> pd.DataFrame:
    """Return how long after its timer's expiry a throttled group runs again, measured.

    Columns: source ("host", "guest"), used ("fit": on these the model's latency is fitted; "check"), events,
    median_us, p10_us, p90_us.
    """
    delays = {}
    for one in load("quota"):
        if one.raw.get("runs_us"):
            key = "guest" if one.is_guest else "host", "fit" if is_fit(one) else "check"
            delays.setdefault(key, []).extend(_delays(one))
    rows = [(*key, len(d), *np.percentile(d, (50, 10, 90))) for key, d in sorted(delays.items(), reverse=True)]
    return pd.DataFrame(rows, columns=["source", "used", "events", "median_us", "p10_us", "p90_us"])


def _delays(one: Recording) -> list[float]:
    found = []
    for path, times in one.raw["timers_us"].items():
        below = [program["group"] for program in one.raw["programs"] if program["group"].startswith(path)]
        runs = np.concatenate([one.runs(group) for group in dict.fromkeys(below)] or [np.zeros((0, 2))])
        for time in times:
            idle = not ((runs[:, 0] <= time) & (runs[:, 1] > time)).any()
            after = runs[:, 0][runs[:, 0] > time]
            if idle and len(after) and after.min() - time < WOKEN_WITHIN_US:
                found.append(after.min() - time)
    return found


def run_as(
    scenario: Scenario, one: Recording, phases: str = "given", seed: int = 0, placement: str = "free", log=False
) -> Run:
    """Return one run of a recording.

    Tasks are placed and balanced as the kernel does it. With ``phases="unknown"`` the timer phases are drawn where the
    kernel draws them, and the start lies anywhere in a tick; before 6.4, where they are not drawn, anywhere in the
    period.
    """
    kernel = one.kernel.with_(balance="kernel", timer_late_probability=1.0, timer_late_us=scenario.late_of(one))
    shift_us = 0.0
    if phases == "unknown":
        aligned = kernel.timer_phase == "aligned"
        spread_us = max(group["period_us"] for group in one.raw["groups"]) if aligned else kernel.tick_ns / NS_PER_US
        shift_us = float(np.random.default_rng((seed, 6)).uniform(0, spread_us))
        phases = "given" if aligned else phases
    work = one.workload(phases, shift_us, placement)
    endless = any(program["kind"] == "pipe" for program in one.raw["programs"])
    length = round((end_us(one) + shift_us + (0 if endless else BEYOND_US)) * NS_PER_US)
    stop = "duration" if endless else "exit"
    return simulate(one.machine, kernel, work, length, seed=seed, stop=stop, log=log)


def end_us(one: Recording) -> float:
    """When the recorded programs ended, us. Pipes print no end: it is the last expiry that the trace shows."""
    ends = [program["end_us"] for program in one.raw["programs"] if "end_us" in program]
    expiries = [times[-1] + 1 for times in one.raw.get("timers_us", {}).values()]
    asked = [program["start_us"] + 1e6 * program["secs"] for program in one.raw["programs"]]
    return max(ends or expiries or asked)


def usage_us(one: Recording, path: str) -> float:
    """CPU time of a group as the kernel or the programs themselves reported it; nan where neither did."""
    row = one.measured[path]
    if "usage_us" in row:
        return row["usage_us"]
    below = [p for p in one.raw["programs"] if p["group"] == path or p["group"].startswith(path + "/")]
    if not below or any("cpu_ms" not in p for p in below):
        return float("nan")
    return 1000 * sum(p["cpu_ms"] for p in below)


MEASURES = ("nr_periods", "nr_throttled", "throttled_ms", "usage_ms", "nr_bursts")


def counters(run: Run) -> dict[str, dict[str, float]]:
    """The model's counters of each group in the units of MEASURES (the raw table: cpu_stat() makes frames of it)."""
    return {
        path: {
            "nr_periods": int(row["nr_periods"]),
            "nr_throttled": int(row["nr_throttled"]),
            "throttled_ms": row["throttled_ns"] / 1e6,
            "usage_ms": row["usage_ns"] / 1e6,
            "nr_bursts": int(row["nr_bursts"]),
        }
        for path, row in zip(run.workload.group_paths, run.groups)
    }


def measured_counters(one: Recording, path: str) -> dict[str, float]:
    """The recorded counters of a group in the units of MEASURES.

    A guest's groups are made some periods before its trace begins, and those idle periods are counted too: nr_periods
    is what the trace shows where it names the group's timer, else less by as much as for the group that it names.
    """
    row = one.measured[path]
    told = one.raw.get("timers_us", {})
    before = 0
    if one.is_guest and told:
        known = next(iter(told))
        before = max(0, one.measured[known]["nr_periods"] - len(told[known]))
        own = len(told[path]) if path in told else row["nr_periods"] - before
    else:
        own = row["nr_periods"]
    return {
        "nr_periods": own,
        "nr_throttled": row["nr_throttled"],
        "throttled_ms": row["throttled_us"] / 1000,
        "usage_ms": usage_us(one, path) / 1000,
        "nr_bursts": row.get("nr_bursts", 0),
    }


def _scenario_key(one: Recording):
    """Recordings of one scenario share their runs with unknown phases; a program with measured work has its own."""
    if any(program["kind"] != "busy" for program in one.raw["programs"]) or one.raw.get("timers_us"):
        return one.name
    return (
        str(one.raw["kernel"]),
        str(one.raw["groups"]),
        str([p | {"start_us": 0, "end_us": 0, "cpu_ms": 0, "wall_ms": 0} for p in one.raw["programs"]]),
    )


def df_counters(scenario: Scenario) -> pd.DataFrame:
    """Return every counter of every group of every recording with a quota, measured and in the model.

    Columns: recording, group, measure, measured, given (model, phases as recorded; missing where none was),
    recorded_cpu (likewise, each thread on its recorded CPU), mean, low, high (over seeds of unknown phases, with 5 and
    95 % as the ends), least, most.
    """
    found = load("quota")
    keys = dict.fromkeys(_scenario_key(one) for one in found)
    first = {key: next(one for one in found if _scenario_key(one) == key) for key in keys}
    jobs = [(key, seed) for key in keys for seed in scenario.seeds_of(first[key])]
    drawn = {}
    for (key, _), table in zip(jobs, in_threads(lambda job: _all(scenario, first[job[0]], "unknown", job[1]), jobs)):
        drawn.setdefault(key, []).append(table)
    told = [one for one in found if one.timer_phases_us]
    as_was = dict(zip((one.name for one in told), in_threads(lambda one: _all(scenario, one, "given"), told)))
    loose = [one for one in told if one.is_guest and one.raw.get("runs_us")]
    pinned = dict(
        zip((one.name for one in loose), in_threads(lambda one: _all(scenario, one, "given", 0, "recorded"), loose))
    )
    rows = []
    for one in found:
        for path in one.measured:
            theirs = measured_counters(one, path)
            for measure in MEASURES:
                draws = [table[path][measure] for table in drawn[_scenario_key(one)]]
                row = [one.name, path, measure, theirs[measure]]
                row += [tables.get(one.name, {}).get(path, {}).get(measure, np.nan) for tables in (as_was, pinned)]
                rows.append((*row, np.mean(draws), *np.percentile(draws, (5, 95)), min(draws), max(draws)))
    columns = [
        "recording",
        "group",
        "measure",
        "measured",
        "given",
        "recorded_cpu",
        "mean",
        "low",
        "high",
        "least",
        "most",
    ]
    return pd.DataFrame(rows, columns=columns).astype({name: float for name in columns[3:]})


def _all(scenario, one, phases, seed=0, placement="free"):
    return counters(run_as(scenario, one, phases, seed, placement))
