"""What the fits say about numbers that they were not made from, and where they cannot tell."""

from __future__ import annotations

import numpy as np

from ..patches_hotplug import LARGE_SYSTEMS
from .costs import UNITS
from .ladder import LadderFit, base_ramp, fit_ladder
from .leastsq import non_negative
from .published_tables import base_kernel, read_published
from .ramp import Ramp, ramp
from .shapes import like
from .topology import levels_of

INTEL, AMD = "xeon_6985p_c", "epyc_9b45"
CAPACITY, SERVERS, SCANS, THRESHOLDS = LARGE_SYSTEMS[4:]
_S, _US = 1e9, 1e3


def dl_clear_us() -> dict[str, float]:
    """Return the published dl_clear_root_domain() times without patch 6 in us.

    The mail gives a range at "~500 CPUs"; that its upper end is the Intel and its lower end the AMD machine is our
    reading.
    """
    values = {row["quantity"]: float(row["value"]) for row in read_published("hotplug_facts")}
    return {INTEL: values["dl_clear_root_domain_before_max"], AMD: values["dl_clear_root_domain_before_min"]}


def held_out() -> list[dict]:
    """Return the held-out predictions, one dictionary each.

    Keys: quantity, unit, predicted, predicted_low, predicted_high, published, tolerance (the relative error that is
    allowed: 0.3 for a component, 0.1 for a total), why.
    """
    intel, amd = fit_ladder(INTEL), fit_ladder(AMD)
    rows = [_micro(fit, name) for fit, name in ((intel, "intel"), (amd, "amd"))]
    memory = amd.unit_ns[SERVERS] / intel.unit_ns[SERVERS]
    capacity = intel.unit_ns[CAPACITY] * memory * amd.driver[CAPACITY] / _S
    why = "Intel's cost a step, times the ratio of the machines' costs a write of extra_bw"
    rows.append(_row("heldout.amd_p5_s", "s", capacity, amd.removed_s[CAPACITY], 0.3, why))
    scans = intel.unit_ns[SCANS] * amd.driver[SCANS] / _S
    rows.append(_row("heldout.amd_p7_s", "s", scans, amd.removed_s[SCANS], 0.3, "Intel's cost a step as it is"))
    final = sum(amd.rest_s.values())
    total = final + amd.removed_s[THRESHOLDS] + amd.removed_s[SERVERS] + scans + capacity
    published = final + sum(amd.removed_s[patch] for patch in LARGE_SYSTEMS[4:])
    why = "AMD's own final, patch 8 and patch 6, with patches 5 and 7 from Intel"
    rows.append(_row("heldout.amd_before_p5_total_s", "s", total, published, 0.1, why))
    return rows


def _micro(fit: LadderFit, name: str) -> dict:
    update_ns = fit.unit_ns[SERVERS]
    low, high = (n**2 * update_ns / _US for n in (480, 512))
    why = "writes of extra_bw at 480 to 512 CPUs, at the cost that the whole ramp gives"
    row = _row(f"heldout.dl_clear_us.{name}", "us", (low + high) / 2, dl_clear_us()[fit.machine], 0.3, why)
    return row | {"predicted_low": low, "predicted_high": high}


def _row(quantity, unit, predicted, published, tolerance, why):
    return {
        "quantity": quantity,
        "unit": unit,
        "predicted": predicted,
        "predicted_low": predicted,
        "predicted_high": predicted,
        "published": published,
        "tolerance": tolerance,
        "why": why,
    }


def fit_structure(fit: LadderFit, done: Ramp) -> dict:
    """Explain patches 5, 6 and 7 and the dl_clear_root_domain() time by three costs that are not negative.

    Unknown: a line of another CPU's per-CPU data (``t_pc``), a line of the heap (``t_ln``), an iteration (``t_it``).

    Returns
    -------
    dict
        ``t_pc``, ``t_ln``, ``t_it`` in ns, ``residuals`` (four relative errors, prediction minus data), ``condition``
        (of the weighted matrix).
    """
    sums = {name: done.total(name) for name in ("capacity_cores", "capacity_groups", "balance_iterations", "get_group")}
    cores, groups, balance = sums["capacity_cores"], sums["capacity_groups"], sums["balance_iterations"]
    updates, nr_cpus = fit.driver[SERVERS], done.machine.nr_cpus
    percpu = 3 * len(levels_of(done.machine).names) + 2
    rows = [
        [cores + balance, 2 * balance + cores + 2 * groups, cores + balance + 2 * groups],
        [updates, 0, updates],
        [percpu * nr_cpus * len(done.work), 2 * sums["get_group"], fit.driver[SCANS]],
        [nr_cpus**2, 0, nr_cpus**2],
    ]
    seconds = [fit.removed_s[patch] for patch in (CAPACITY, SERVERS, SCANS)]
    target = np.array([*(s * _S for s in seconds), dl_clear_us()[fit.machine] * _US])
    weighted = np.array(rows, dtype=float) / target[:, None]
    found = non_negative(weighted, np.ones(len(target)))
    names = ("t_pc", "t_ln", "t_it")
    condition = float(np.linalg.cond(weighted))
    return dict(zip(names, found.tolist())) | {"residuals": (weighted @ found - 1).tolist(), "condition": condition}


def ramp_of_size(machine: str, nr_cpus: int) -> dict[str, tuple[float, float]]:
    """Return seconds by patch and ``final`` of the ramp on a machine of that shape with `nr_cpus` CPUs.

    Each is a bracket (low, high): what the ladder cannot tell apart may be fixed or grow with the number of CPUs.
    """
    fit, here = fit_ladder(machine), base_ramp(machine)
    there = ramp(like(machine, nr_cpus), base_kernel().with_(rcu_expedited=True))
    found = {}
    for patch, count in UNITS.items():
        seconds = fit.unit_ns[patch] * there.total(count) / _S
        found[patch] = (seconds, seconds)
    fixed = len(there.work) / len(here.work)
    grown = sum(w.other_cpus for w in there.work) / sum(w.other_cpus for w in here.work)
    mtrr = LARGE_SYSTEMS[3]
    for name, seconds in ((mtrr, fit.removed_s[mtrr]), ("final", sum(fit.rest_s.values()))):
        found[name] = tuple(sorted((seconds * fixed, seconds * grown)))
    return found
