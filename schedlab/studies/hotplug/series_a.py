"""Group walks: three operations at each patch level and each of the reviewer's variants, and where the time goes."""

import pandas as pd

from ...hotplug import hotplug
from ...hotplug.fit import GUEST, GUEST_GROUPS, MODELS, SERIES_A, fit_operations
from ...hotplug.published_tables import base_kernel
from ...hotplug.work import WALKS
from ...machine import Machine
from ...patches_hotplug import FUSE_DYING, FUSE_REBUILD, HOTPLUG_ONLY, HOTPLUG_ONLY_NAIVE
from ...published import load

#: Patches of each level on top of the base kernel, published ones first.
LEVELS = {
    **SERIES_A,
    "V1a": (FUSE_REBUILD,),
    "V1b": (FUSE_DYING,),
    "V2": (HOTPLUG_ONLY,),
    "V2-naive": (HOTPLUG_ONLY_NAIVE,),
}
OPERATIONS = {"partition_root": "partition 28-31", "cpu_offline": "offline 31", "cpu_online": "online 31"}


def predict_operations(level: str, groups: int = GUEST_GROUPS) -> dict:
    """Return the `Prediction` of each of OPERATIONS on the guest at one of LEVELS, the online after the offline."""
    machine, kernel = Machine.load(GUEST), base_kernel().with_patch(*LEVELS[level])
    found, state = {}, None
    for name, operation in OPERATIONS.items():
        # an online needs a CPU that is offline
        begin = dict(state=state) if name == "cpu_online" else dict(groups=groups)
        found[name] = hotplug(machine, kernel, operation, **begin)
        state = found[name].state
    return found


def df_operations(groups: int = GUEST_GROUPS) -> pd.DataFrame:
    """Return times of the three operations at each level.

    Columns: kernel, operation, predicted_ms, published_ms (missing where nothing was published), walks_ms, fixed_ms,
    irq_off_us, violations (how many invariants the level violates in it). The group walks stand in `df_walks`.
    """
    published = load("rebuild_operations").set_index(["operation", "kernel"])["median_ms"]
    rows = []
    for level in LEVELS:
        for name, done in predict_operations(level, groups).items():
            known = published.get((name, level)) if groups == GUEST_GROUPS else None
            walks, fixed = (done.price_ns[part] / 1e6 for part in ("walks", "fixed"))
            irq_off = done.irq_off_max_ns / 1e3
            rows.append((level, name, done.total_ns / 1e6, known, walks, fixed, irq_off, len(done.violations)))
    columns = [
        "kernel",
        "operation",
        "predicted_ms",
        "published_ms",
        "walks_ms",
        "fixed_ms",
        "irq_off_us",
        "violations",
    ]
    return pd.DataFrame(rows, columns=columns).astype({"published_ms": float})


def df_walks() -> pd.DataFrame:
    """Return the exact counts behind `df_operations`.

    Columns: kernel, operation, rq_attach_root, clear, unthrottle, resync, fused, fused_dying (walks), group_visits.
    """
    rows = []
    for level in LEVELS:
        for name, done in predict_operations(level).items():
            walks = [done.counts[f"{kind}_walks"] for kind in WALKS]
            rows.append((level, name, done.counts["rq_attach_root"], *walks, done.counts["group_visits"]))
    return pd.DataFrame(rows, columns=["kernel", "operation", "rq_attach_root", *WALKS, "group_visits"])


def df_fits() -> pd.DataFrame:
    """Return how well each model fits the nine published medians.

    Columns: model, says, parameters, numbers (9), clear_ns, resync_ns (a visit in a partition switch), factor_offline,
    factor_online, rmse_ms, max_error_percent.
    """
    rows = []
    for model, says in MODELS.items():
        fit = fit_operations(model)
        units = fit.clear_ns["partition"], fit.resync_ns["partition"], fit.factor["offline"], fit.factor["online"]
        errors = fit.rmse_ms, 100 * fit.max_relative_error
        rows.append((model, says, fit.nr_parameters, len(fit.rows), *units, *errors))
    columns = ["model", "says", "parameters", "numbers", "clear_ns", "resync_ns", "factor_offline", "factor_online"]
    return pd.DataFrame(rows, columns=[*columns, "rmse_ms", "max_error_percent"])


def df_visit_costs() -> pd.DataFrame:
    """Return what a visit costs in each operation, from differences of published medians (no fit).

    Columns: operation, clear_ns, resync_ns, call_us (two walks).
    """
    fit = fit_operations("M2")
    rows = []
    for name in ("partition", "offline", "online"):
        clear, resync = fit.clear_ns[name], fit.resync_ns[name]
        rows.append((name, clear, resync, (clear + resync) * GUEST_GROUPS / 1e3))
    return pd.DataFrame(rows, columns=["operation", "clear_ns", "resync_ns", "call_us"])


def df_irq_off() -> pd.DataFrame:
    """Return the published times of one rq_attach_root() call beside the model's.

    Columns: kernel, statistic, published_us, predicted_us, unexplained_us.
    """
    model = {
        k: predict_operations(k)["partition_root"].irq_off_ns["rq_attach_root"] / 1e3 for k in ("base", "patch1+2")
    }
    rows = []
    for row in load("rebuild_attach_root").itertuples():
        rows.append(
            (row.kernel, row.statistic, row.microseconds, model[row.kernel], row.microseconds - model[row.kernel])
        )
    return pd.DataFrame(rows, columns=["kernel", "statistic", "published_us", "predicted_us", "unexplained_us"])
