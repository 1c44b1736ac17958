"""A guest's output folder as recordings in the one form."""

import gzip
import re
from pathlib import Path
from statistics import mean, median

from . import form, ftrace
from .scenarios import COOKIES, LEVELS, NESTED, PAIR_LIMIT

#: How long the scripts' programs run unless SECS says otherwise.
_SECONDS = {"scn_a.sh": 10.0, "scn_b.sh": 4.0, "scn_d.sh": 3.0}
_CALL = re.compile(r"([\d.]+) us +\| +(\w+)\(\);")


def recordings(folder: Path, run: dict) -> list[dict]:
    """Return the recordings of one boot.

    Parameters
    ----------
    folder : pathlib.Path
        Output of one of the scripts: ``a.k1.r1.cpustat``, ``d.*.trace.gz``, ``c.part.1000``, ...
    run : dict
        run (its name), kernel, release, script, virtual_time, sched_features, base_slice_ns, cpu_siblings, hz.
    """
    kernel = {
        "version": ".".join(_version_of(run)),
        "build": run["kernel"],
        "hz": run["hz"] or 250,
        "features": run["sched_features"],
        "base_slice_ns": run["base_slice_ns"],
        "cgroup": "v2",
    }
    machine = {"cpus": len(run["cpu_siblings"]), "siblings": _siblings(run["cpu_siblings"]), "is": "QEMU guest"}
    shared = {"how": f"{run['script']} {' '.join(run['variables'])}", "clock": run["virtual_time"], "run": run["run"]}
    kinds = {"scn_a.sh": _pairs, "scn_b.sh": _cookies, "scn_c.sh": _rebuilds, "scn_d.sh": _nested}
    asked = [v.partition("=")[2].strip("'\"") for v in run["variables"] if v.startswith("SECS=")]
    secs = float(asked[-1]) if asked else _SECONDS.get(run["script"], 0.0)
    return [one | shared for one in kinds[run["script"]](folder, run["run"], kernel, machine, secs)]


def _version_of(run):
    text = run["kernel"] if "6.1.0-" in run["release"] else run["release"]
    return re.search(r"(\d+)\.(\d+)\.(\d+)", text).groups()


def _siblings(lines):
    sets = {}
    for line in lines:
        cpu, smt = re.match(r"cpu(\d+) smt=(\S+)", line).groups()
        sets.setdefault(smt, []).append(int(cpu))
    return sorted(sets.values())


def _events(path):
    return list(ftrace.lines(gzip.open(path, "rt", errors="replace").read())) if path.exists() else []


def _measured(stats):
    names = {"nr_periods", "nr_throttled", "throttled_usec", "nr_bursts", "burst_usec", "usage_usec"}
    return {group: {k.replace("usec", "us"): v for k, v in row.items() if k in names} for group, row in stats.items()}


def _pairs(folder, run, kernel, machine, secs):
    found = []
    for stat in sorted(folder.glob("a.k*.cpustat")):
        case = stat.name.removesuffix(".cpustat")
        threads = re.search(r"k(\d+)", case)[1]
        outs = {name: (folder / f"{case}.{name}.txt").read_text() for name in "AB"}
        programs = [form.program(f"busy -N {n} -n {threads} -t {secs:g}", out, f"/{n}") for n, out in outs.items()]
        groups = [{"path": f"/{n}", "quota_us": PAIR_LIMIT[0], "period_us": PAIR_LIMIT[1], "burst_us": 0} for n in "AB"]
        events = _events(folder / f"{case}.trace.gz")
        lead = min(p["start_ns"] for p in programs) / 1000 - events[0][0]
        what = f"two groups 25/100 ms, {threads} busy threads each, B some 40 ms after A"
        measured = _measured(form.cpu_stat(stat.read_text()))
        args = f"{run}/{case}", what, kernel, machine, groups, programs, measured, events
        found.append(form.quota_recording(*args, lead_us=lead, tick_phase_us=0))
    scan = _events(folder / "scan.trace.gz")
    timers = ftrace.timer_expiries(scan)
    phases = sorted(round(times[0] % 100_000, 1) for times in timers.values())
    what = "fresh groups 5/100 ms, one busy thread each, started 7 ms apart: phase of each first expiry"
    scan_of = {"name": f"{run}/scan", "kind": "phases", "what": what, "kernel": kernel, "machine": machine}
    return [*found, scan_of | {"period_us": 100_000, "phases_us": phases}]


def _nested(folder, run, kernel, machine, secs):
    found = []
    for case, (limits, command) in NESTED.items():
        stat = folder / f"d.{case}.cpustat"
        if not stat.exists():
            continue
        groups = [dict(path=p, quota_us=q, period_us=t, burst_us=0) for p, (q, t) in zip(LEVELS, limits)]
        one = form.program(f"{command} -t {secs:g}", (folder / f"d.{case}.txt").read_text(), LEVELS[-1])
        measured = _measured(form.cpu_stat(stat.read_text()))
        events = _events(folder / f"d.{case}.trace.gz")
        what = "three nested quotas, " + command
        args = f"{run}/{case}", what, kernel, machine, groups, [one], measured, events
        found.append(form.quota_recording(*args, tick_phase_us=0))
    return found


def _cookies(folder, run, kernel, machine, secs):
    found = []
    for case, (cpus_x, cpus_y, nr_x, nr_y, cookie) in COOKIES.items():
        stats = form.cpu_stat((folder / f"b.{case}.cpustat").read_text())
        measured = {
            group: {"usage_us": row["usage_usec"], "force_idle_us": row["core_sched.force_idle_usec"]}
            for group, row in stats.items()
        }
        both = zip("XY", (cpus_x, cpus_y), (nr_x, nr_y))
        programs = [dict(kind="busy", group=f"/{n}", threads=nr, cpus=cpus, cookie=cookie) for n, cpus, nr in both]
        what = f"core scheduling, {nr_x} against {nr_y} busy threads, {'a cookie each' if cookie else 'no cookies'}"
        head = {"name": f"{run}/{case}", "kind": "cookies", "what": what, "kernel": kernel, "machine": machine}
        found.append(head | {"programs": programs, "secs": secs, "measured": measured})
    return found


def _rebuilds(folder, run, kernel, machine, secs):
    points = []
    for part in sorted(folder.glob("c.part.*"), key=lambda path: int(path.suffix[1:])):
        groups = int(part.suffix[1:])
        row = {"groups": groups}
        for file, names in ((part, ("root", "member")), (folder / f"c.hp.{groups}", ("offline", "online"))):
            pairs = [[int(n) for n in line.split()] for line in file.read_text().splitlines()]
            row |= {f"{name}_ns": median(pair[k] for pair in pairs) for k, name in enumerate(names)}
        graph = folder / f"c.fgraph.{groups}.gz"
        row |= _calls(gzip.open(graph, "rt").read()) if graph.exists() else {}
        points.append(row)
    what = "cpuset partition root<->member of 2 CPUs and hotplug of the last CPU over the number of cpu cgroups"
    head = {"name": f"{run}/rebuild", "kind": "rebuild", "what": what, "kernel": kernel, "machine": machine}
    return [head | {"patched": "p12" in run, "points": points}]


def _calls(graph):
    """Count rq_attach_root() calls before and after the mark, and take the median of each walk's ns."""
    before, _, after = graph.partition("MARK")
    calls = {
        f"attaches_{name}": len(re.findall(r"rq_attach_root\(\)", part))
        for name, part in (("partition", before), ("hotplug", after))
    }
    for function in ("rq_online_fair", "rq_offline_fair"):
        times = [1000 * float(us) for us, name in _CALL.findall(graph) if name == function]
        if times:
            calls[f"{function}_ns"] = median(times)
            calls[f"{function}_mean_ns"] = round(mean(times), 1)
    return calls
