"""The study against the published numbers."""

import pandas as pd

from ...hotplug import ramp
from ...hotplug.fit import cost_table
from ...hotplug.published_tables import base_kernel
from ...machine import Machine
from ...patches_hotplug import LARGE_SYSTEMS
from ...published import Comparison, load
from .series_a import df_irq_off, df_operations, predict_operations
from .series_b import df_fit_sizes, df_held_out, df_ladder

WALKS = "Three operations at three patch levels: fitted, seven parameters for nine numbers"
CALLS = "rq_attach_root() calls of 20 partition switches"
ATTACH = "One rq_attach_root() call: follows from the operations"
TYPICAL = "One rq_attach_root() call without walks: taken as it is"
LADDER = "The ladder of {machine}: fitted, {parameters} parameters for {numbers} independent numbers"
GRACE = "Normal grace periods: fitted, one parameter for one number a machine"
HELD_OUT = "Held out: from one machine or one measurement to another"

#: Tolerances in percent, named before: 5 for the operations (and what follows from them), 2 for the ladder.
OPERATIONS_PERCENT, LADDER_PERCENT = 5.0, 2.0


def compare() -> Comparison:
    """Return the comparison with the published numbers."""
    comparison = Comparison()
    for row in df_operations().dropna(subset=["published_ms"]).itertuples():
        name = f"rebuild_ms.{row.operation}.{row.kernel}"
        comparison.add(
            WALKS, name, "ms", row.published_ms, row.predicted_ms, role="calibration", percent=OPERATIONS_PERCENT
        )
    _add_attaches(comparison)
    for sizes in df_fit_sizes().itertuples():
        machine, claim = sizes.machine, LADDER.format(**sizes._asdict())
        for row in df_ladder(machine).itertuples():
            name = f"ladder_s.{machine}.p{row.after_patch}.{row.column}"
            published, predicted = row.published_s, row.predicted_s
            comparison.add(claim, name, "s", published, predicted, role="calibration", percent=LADDER_PERCENT)
        _add_grace(comparison, machine)
    for row in df_held_out().itertuples():
        comparison.add(HELD_OUT, row.quantity, row.unit, row.published, row.predicted, percent=row.allowed_percent)
    return comparison


def _add_attaches(comparison):
    switch = predict_operations("base")["partition_root"]
    rows = load("rebuild_attach_root")
    switches, calls = rows["partition_switches"].iloc[0], rows["calls"].iloc[0]
    name = "attach_root_calls.partition_root"
    comparison.add(CALLS, name, "", calls, switches * switch.counts["rq_attach_root"])
    for row in df_irq_off().itertuples():
        name = f"attach_root_us.{row.kernel}.{row.statistic}"
        claim, role = (TYPICAL, "calibration") if row.statistic == "typical" else (ATTACH, "prediction")
        comparison.add(claim, name, "us", row.published_us, row.predicted_us, role=role, percent=OPERATIONS_PERCENT)


def _add_grace(comparison, machine):
    kernel = base_kernel().with_patch(*LARGE_SYSTEMS)
    priced = ramp(Machine.load(machine), kernel).priced(cost_table(machine))
    seconds = sum(sum(parts.values()) for parts in priced.values()) / 1e9
    facts = load("hotplug_facts").query("machine == @machine").set_index("quantity")["value"]
    published = facts["total_all_patches_no_rcu_expedited"]
    name = f"ladder_s.{machine}.no_rcu_expedited.total"
    comparison.add(GRACE, name, "s", published, seconds, role="calibration", percent=LADDER_PERCENT)


#: What is known about predictions that fail.
WHY = {
    "attach_root_us.base.max": "all calls of a partition switch are alike in the model. One in 1280 that takes five "
    "times as long may have been interrupted by the hypervisor, have met cold lines, or have waited for a lock; the "
    "mail does not say.",
}


def df_failures(comparison: Comparison) -> pd.DataFrame:
    """Return the predictions that do not agree. Columns: quantity, unit, published, model, why."""
    failed = comparison.failures()[["quantity", "unit", "published", "model"]].reset_index(drop=True)
    return failed.assign(why=[WHY.get(quantity, "not explained") for quantity in failed["quantity"]])
