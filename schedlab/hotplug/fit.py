"""Unit costs from the published numbers: computed here from data/published, never typed in.

`fit_operations` fits the series about group walks (nine medians of a 32-CPU guest); `ladder.fit_ladder` the series for
large systems. Both return how well they do, which is the point: the first has seven parameters for nine numbers, the
second one for each. `cost_table` makes a table of either.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .. import _check, _resources
from ..machine import Machine
from ..patches_hotplug import SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC
from .costs import OPERATIONS, CostTable
from .ladder import base_ramp, fit_ladder
from .leastsq import levenberg_marquardt
from .operations import Offline, Online, Partition
from .published_tables import base_kernel, read_published
from .state import State

#: The guest of the series: 4000 cgroups and the root group; a partition of 4 of 32 CPUs.
GUEST, GUEST_GROUPS, GUEST_PARTITION = "vm-32cpu", 4001, (28, 29, 30, 31)
_MS, _S = 1e6, 1e9


#: The kernels of rebuild_operations.csv by their patches on top.
SERIES_A = {"base": (), "patch1": (SKIP_OFFLINE_WALKS,), "patch1+2": (SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC)}


# ---- nine medians of the guest ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OperationsFit:
    """A fit of the nine medians.

    Attributes
    ----------
    model : str
    nr_parameters : int
    clear_ns, resync_ns : dict of float
        A visit, by operation and without the factor.
    factor : dict of float
        By operation.
    fixed_ms : dict of float
        By operation.
    rows : tuple of (operation, kernel, published ms, predicted ms)
    """

    model: str
    nr_parameters: int
    clear_ns: dict
    resync_ns: dict
    factor: dict
    fixed_ms: dict
    rows: tuple

    @property
    def rmse_ms(self) -> float:
        """Root of the mean squared error in ms."""
        return float(np.sqrt(np.mean([(predicted - published) ** 2 for *_, published, predicted in self.rows])))

    @property
    def max_relative_error(self) -> float:
        """Largest error relative to the published number."""
        return max(abs(predicted / published - 1) for *_, published, predicted in self.rows)

    def costs(self, operation: str, **fields) -> CostTable:
        """Return the fit's costs of one operation as a table, with further fields of CostTable such as fuse_phi."""
        return CostTable(
            machine=GUEST,
            fixed_ns={operation: self.fixed_ms[operation] * _MS},
            clear_ns=self.clear_ns[operation],
            resync_ns=self.resync_ns[operation],
            locality=self.factor,
            **fields,
        )


#: Parameters of each model beside a fixed cost an operation, and what it supposes.
MODELS = {
    "M0b": "one unit cost a visit",
    "M0": "a unit for clear and one for resync visits",
    "M3": "the same, with two rebuilds in a hotplug operation (refuted by the counts)",
    "M1b": "two units, and one factor for hotplug, whose executing CPU changes",
    "M1": "two units, and a factor for offline and one for online",
    "M2": "two units an operation: as many parameters as numbers",
}


@lru_cache(maxsize=1)
def guest_walks() -> dict:
    """Return the (clear, unthrottle, resync) walks of the nine operations by (operation, kernel)."""
    walks = {}
    for name, patches in SERIES_A.items():
        state = State(Machine.load(GUEST), base_kernel().with_patch(*patches), groups=GUEST_GROUPS)
        cpu = state.machine.nr_cpus - 1
        steps = {"offline": Offline(cpu), "online": Online(cpu), "partition": Partition(GUEST_PARTITION)}
        for operation, step in steps.items():
            counts = state.apply(step).counts
            walks[operation, name] = tuple(counts[f"{kind}_walks"] for kind in ("clear", "unthrottle", "resync"))
    return walks


def _twice(operation: str, kernel: str, walks):
    """Return the walks of a hotplug operation with two rebuilds; what the CPU itself does in hotplug happens once."""
    clear, unthrottle, resync = walks
    if operation == "partition" or kernel == "patch1+2":
        return walks
    return (2 * (clear - unthrottle) + unthrottle, unthrottle, 2 * resync)


def fit_operations(model: str = "M1") -> OperationsFit:
    """Fit one of MODELS to rebuild_operations.csv by least squares of the relative errors.

    The time of an operation is ``fixed + groups * factor * (clear * u_c + 0.5 * unthrottle * u_c + resync * u_r)``.

    Examples
    --------
    >>> round(fit_operations("M1").max_relative_error, 2)
    0.05
    """
    _check.choice("model", model, MODELS)
    published = {}
    for row in read_published("rebuild_operations"):
        operation = row["operation"].removeprefix("cpu_").removesuffix("_root")
        published[operation, row["kernel"]] = float(row["median_ms"])
    keys = list(published)
    target = np.array([published[key] for key in keys])
    walks = guest_walks()
    if model == "M3":
        walks = {key: _twice(*key, value) for key, value in walks.items()}
    clear = np.array([walks[key][0] + 0.5 * walks[key][1] for key in keys]) * GUEST_GROUPS / _MS
    resync = np.array([walks[key][2] for key in keys]) * GUEST_GROUPS / _MS
    which = np.array([OPERATIONS.index(operation) for operation, _ in keys])

    def predicted(parameters):
        units, factors, fixed = _unpacked(model, parameters)
        visits = clear * units[which, 0] + resync * units[which, 1]
        return fixed[which] + factors[which] * visits

    nr_units, nr_factors = _SHAPE[model]
    start = np.array([20.0] * nr_units + [2.0] * nr_factors + [1.0, 13.0, 13.0])
    found = levenberg_marquardt(lambda parameters: predicted(parameters) / target - 1, start)
    units, factors, fixed = _unpacked(model, found)
    by_operation = [dict(zip(OPERATIONS, column.tolist())) for column in (*units.T, factors, fixed)]
    rows = tuple((*key, ms, float(p)) for key, ms, p in zip(keys, target.tolist(), predicted(found)))
    return OperationsFit(model, len(start), *by_operation, rows)


_SHAPE = {"M0b": (1, 0), "M0": (2, 0), "M3": (2, 0), "M1b": (2, 1), "M1": (2, 2), "M2": (6, 0)}


def _unpacked(model, parameters):
    """Return (operations, 2) units, factors and fixed costs of the three operations."""
    nr_units, nr_factors = _SHAPE[model]
    units = np.resize(parameters[:nr_units], (3, 2))  # one and two units repeat in each operation
    factors = np.ones(3)
    if nr_factors:
        factors[1:] = parameters[nr_units : nr_units + nr_factors]
    return units, factors, parameters[nr_units + nr_factors :]


# ---- cost tables -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def cost_table(machine: str) -> CostTable:
    """Return the cost table of a machine that data/machines has one for.

    What its ``[hotplug_costs]`` assumes is taken from there; the rest is fitted.

    Raises
    ------
    ValueError
        When the machine has no cost table.
    """
    known = machines_with_costs()
    if machine not in known:
        raise _check.wrong("costs", machine, f"no cost table; there is one for {', '.join(known)}")
    said = _costs_of(machine)
    how = {name: f"assumed: {text}" for name, text in said["how"].items()}
    fields = dict(said["assumed"])
    walks_from = fields.pop("walks_from", None)
    if said["fit"] == "operations":
        table = _operations_table(machine)
    else:
        table = _ladder_table(machine)
        if walks_from:
            guest = cost_table(walks_from)
            walk_fields = ("clear_ns", "resync_ns", "unthrottle_share", "locality", "attach_ns")
            fields |= {name: getattr(guest, name) for name in walk_fields}
            fields["fixed_ns"] = {"partition": guest.fixed_ns["partition"], **table.fixed_ns}
            how |= {name: f"from {walks_from}, {how['walks_from']}" for name in walk_fields}
    return table.replace(**fields, how=table.how | how)


@lru_cache(maxsize=1)
def machines_with_costs() -> tuple[str, ...]:
    """Return the names of the machines of data/machines that have a cost table."""
    return tuple(name for name in Machine.names() if _costs_of(name))


def _costs_of(machine: str) -> dict:
    text = _resources.data_path("machines", f"{machine}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text).get("hotplug_costs", {})


def _operations_table(machine: str) -> CostTable:
    fit = fit_operations("M1")
    (typical,) = (r for r in read_published("rebuild_attach_root") if r["kernel"] == "patch1+2")
    text = "fit M1 (7 parameters, 9 numbers) of rebuild_operations.csv"
    return CostTable(
        machine=machine,
        fixed_ns={name: ms * _MS for name, ms in fit.fixed_ms.items()},
        clear_ns=fit.clear_ns["partition"],
        resync_ns=fit.resync_ns["partition"],
        locality=fit.factor,
        attach_ns=float(typical["microseconds"]) * 1e3,
        how={
            "fixed_ns": f"{text}; grace periods are in it",
            **dict.fromkeys(("clear_ns", "resync_ns", "locality"), text),
            "unthrottle_share": "assumed: an unthrottle visit reads one field where a clear visit writes",
            "attach_ns": "rebuild_attach_root.csv, typical call with both patches",
            "grace_ns": "0: part of fixed_ns",
        },
    )


def _ladder_table(machine: str) -> CostTable:
    fit, done = fit_ladder(machine, method="cells"), base_ramp(machine)
    others = [work.other_cpus for work in done.work]
    nr_each = len(others) / 2
    text = "least squares over all cells of hotplug_ladder.csv, over the counted work"
    return CostTable(
        machine=machine,
        fixed_ns={kind: seconds * _S / nr_each for kind, seconds in fit.rest_s.items()},
        patch_ns=fit.unit_ns,
        mean_cpus=float(np.mean(others)),
        groups_in_fixed=1,
        grace_ns=fit.grace_s * _S / done.total("grace_periods"),
        how={
            "fixed_ns": f"{text}: what is left after patch 8; what grows with CPUs in it is not known",
            "groups_in_fixed": "assumed: the mail does not say how many groups there were; the root group at least",
            "patch_ns": text,
            "grace_ns": "hotplug_facts.csv without rcu_expedited, over the grace periods of the rcu_sync automaton",
        },
    )
