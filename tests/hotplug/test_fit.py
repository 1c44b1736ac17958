"""The fits against the published numbers, and the predictions that were held out (fact sheet A.7, G)."""

import pytest

from schedlab.hotplug import hotplug, ramp
from schedlab.hotplug.fit import MODELS, cost_table, fit_operations, guest_walks, machines_with_costs
from schedlab.hotplug.heldout import AMD, INTEL, fit_structure, held_out, ramp_of_size
from schedlab.hotplug.ladder import base_ramp, fit_ladder
from schedlab.hotplug.published_tables import base_kernel, read_published
from schedlab.hotplug.shapes import with_nodes
from schedlab.machine import Machine
from schedlab.patches_hotplug import LARGE_SYSTEMS, SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC

KERNEL = base_kernel()

# ---- series A --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "parameters", "rmse_ms", "max_percent"),
    [
        ("M0b", 4, 6.61, 32.6),
        ("M0", 5, 6.65, 33.0),
        ("M3", 5, 2.27, 12.7),
        ("M1b", 6, 1.63, 9.1),
        ("M1", 7, 0.63, 4.7),
        ("M2", 9, 0.0, 0.0),
    ],
)
def test_operations_fit__error_of_each_model(model, parameters, rmse_ms, max_percent):
    fit = fit_operations(model)
    assert fit.nr_parameters == parameters and len(fit.rows) == 9
    assert fit.rmse_ms == pytest.approx(rmse_ms, abs=0.02)
    assert 100 * fit.max_relative_error == pytest.approx(max_percent, abs=0.1)


def test_operations_fit__recommended_model():
    fit = fit_operations("M1")
    assert fit.max_relative_error < 0.05
    assert fit.clear_ns["partition"] == pytest.approx(20.0, abs=0.1)
    assert fit.resync_ns["partition"] == pytest.approx(26.0, abs=0.1)
    assert list(fit.factor.values()) == pytest.approx([1, 2.75, 2.21], abs=0.01)
    assert list(fit.fixed_ms.values()) == pytest.approx([1.21, 13.1, 12.7], abs=0.02)
    assert set(MODELS) == {"M0b", "M0", "M3", "M1b", "M1", "M2"}


def test_operations_fit__two_rebuilds_are_refuted_by_the_counts():
    walks = guest_walks()
    # one rebuild: 62 of 63 attaches of an online clear; two would be 124
    assert walks["online", "base"] == (62, 0, 63) and walks["offline", "base"] == (63, 1, 62)


def test_operations_fit__each_number_by_hotplug_itself():
    """The nine predictions come out of `hotplug` at the guest's own table."""
    machine, found = Machine.load("vm-32cpu"), {}
    kernels = {
        "base": KERNEL,
        "patch1": KERNEL.with_patch(SKIP_OFFLINE_WALKS),
        "patch1+2": KERNEL.with_patch(SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC),
    }
    for name, kernel in kernels.items():
        off = hotplug(machine, kernel, "offline 31", groups=4001)
        on = hotplug(machine, kernel, "online 31", state=off.state)
        switch = hotplug(machine, kernel, "partition 28-31", groups=4001)
        found |= {("cpu_offline", name): off, ("cpu_online", name): on, ("partition_root", name): switch}
    for row in read_published("rebuild_operations"):
        predicted = found[row["operation"], row["kernel"]].total_ns / 1e6
        assert predicted == pytest.approx(float(row["median_ms"]), rel=0.05)


def test_irq_off__of_an_attach_call():
    """The published median is 188 us; the maximum of 938 us is not explained: all calls of the model are alike."""
    machine = Machine.load("vm-32cpu")
    base = hotplug(machine, KERNEL, "partition 28-31", groups=4001)
    assert base.irq_off_max_ns == pytest.approx(188e3, rel=0.02)
    both = KERNEL.with_patch(SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC)
    for groups in (1, 4001, 10_001):
        assert hotplug(machine, both, "partition 28-31", groups=groups).irq_off_max_ns == 2000
    # in hotplug the CPU that goes still walks all groups
    assert hotplug(machine, both, "offline 31", groups=4001).irq_off_max_ns > 300e3


# ---- series B --------------------------------------------------------------------------------------------------------

UNITS = {
    INTEL: (114.2e6, 60.75e6, 15_570, 5.05e6, 46.2, 19.03, 5.05, 1563),
    AMD: (0, 0, 0, 1.51e6, 11.0, 5.52, 4.49, 305),
}


@pytest.mark.parametrize("name", UNITS)
def test_ladder_fit__unit_costs(name):
    fit = fit_ladder(name)
    assert list(fit.unit_ns.values()) == pytest.approx(UNITS[name], rel=0.003)


@pytest.mark.parametrize(
    ("name", "offline_ms", "online_ms", "grace_ms"), [(INTEL, 6.45, 4.13, 14.5), (AMD, 4.50, 2.11, 24.6)]
)
def test_ladder_fit__what_is_left(name, offline_ms, online_ms, grace_ms):
    fit, nr_each = fit_ladder(name), Machine.load(name).nr_cpus - 1
    assert 1e3 * fit.rest_s["offline"] / nr_each == pytest.approx(offline_ms, abs=0.01)
    assert 1e3 * fit.rest_s["online"] / nr_each == pytest.approx(online_ms, abs=0.01)
    # one offline waits for one grace period in a tight loop, one more for the first, one for the first online
    assert cost_table(name).grace_ns / 1e6 == pytest.approx(grace_ms, abs=0.1)
    assert 1e3 * fit.grace_s / nr_each == pytest.approx({INTEL: 14.55, AMD: 24.68}[name], abs=0.01)


@pytest.mark.parametrize("name", UNITS)
def test_ladder_fit__every_published_cell(name):
    """Saturated, hence calibration: least squares over all cells are within 2 % of each."""
    fit = fit_ladder(name, method="cells")
    errors = {(after, column): seconds / published - 1 for after, column, published, seconds in fit.cells()}
    assert len(errors) == {INTEL: 19, AMD: 14}[name]
    assert max(map(abs, errors.values())) < 0.02


@pytest.mark.parametrize(("name", "worst"), [(INTEL, 0.011), (AMD, 0.003)])
def test_ladder_fit__differences_give_the_totals_and_split_the_directions_worse(name, worst):
    """How patches 5 to 8 split between the directions is the counts' prediction: only totals were published."""
    errors = {(a, c): fitted / published - 1 for a, c, published, fitted in fit_ladder(name).cells()}
    assert max(abs(e) for (_, column), e in errors.items() if column == "total") == pytest.approx(worst, abs=0.001)
    assert max(map(abs, errors.values())) < 0.03
    # the mail itself: patch 4 touches online alone, yet offline differs by 2 % around it
    if name == INTEL:
        assert (18.54 - 8.69) / 9.63 - 1 == pytest.approx(0.023, abs=0.001)


@pytest.mark.parametrize("name", UNITS)
def test_ladder__of_real_ramps_is_what_the_fit_says(name):
    """Counted and priced patch by patch, the ramp gives the seconds of the fit."""
    fit, machine, table = fit_ladder(name, method="cells"), Machine.load(name), cost_table(name)
    for number in (0, 4, 6, 8):
        kernel = KERNEL.with_(rcu_expedited=True).with_patch(*LARGE_SYSTEMS[:number])
        priced = ramp(machine, kernel).priced(table)
        for direction, parts in priced.items():
            assert sum(parts.values()) / 1e9 == pytest.approx(fit.seconds(number, direction), rel=1e-6)


@pytest.mark.parametrize(("name", "seconds"), [(INTEL, 12.04), (AMD, 15.99)])
def test_ladder__without_expedited_grace_periods(name, seconds):
    priced = ramp(Machine.load(name), KERNEL.with_patch(*LARGE_SYSTEMS)).priced(cost_table(name))
    assert sum(sum(parts.values()) for parts in priced.values()) / 1e9 == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize(
    ("snc", "costs", "residuals", "condition"),
    [
        (False, (21.0, 14.3, 0.0), (-0.04, 0.11, 0.02, -0.12), 7.4),
        (True, (17.2, 14.4, 3.7), (0, 0.10, 0, -0.12), 5.0),
    ],
)
def test_structural_fit__intel(snc, costs, residuals, condition):
    machine = Machine.load(INTEL)
    done = base_ramp(with_nodes(machine, 3) if snc else machine)
    found = fit_structure(fit_ladder(INTEL, done), done)
    assert (found["t_pc"], found["t_ln"], found["t_it"]) == pytest.approx(costs, abs=0.06)
    assert found["residuals"] == pytest.approx(residuals, abs=0.006)
    assert found["condition"] == pytest.approx(condition, abs=0.1)


def test_structural_fit__amd():
    found = fit_structure(fit_ladder(AMD), base_ramp(AMD))
    assert (found["t_pc"], found["t_ln"], found["t_it"]) == pytest.approx((1.9, 3.1, 4.2), abs=0.06)
    assert found["residuals"] == pytest.approx((0, 0.10, 0, -0.12), abs=0.006)


def test_identifiability__snc_on_and_off_fit_alike():
    machine, residuals = Machine.load(INTEL), []
    for done in (base_ramp(machine), base_ramp(with_nodes(machine, 3))):
        residuals.append(max(abs(r) for r in fit_structure(fit_ladder(INTEL, done), done)["residuals"]))
    assert abs(residuals[0] - residuals[1]) < 0.02


# ---- held out --------------------------------------------------------------------------------------------------------


def test_held_out__components_within_30_percent_and_totals_within_10():
    found = {row["quantity"]: row for row in held_out()}
    errors = {name: row["predicted"] / row["published"] - 1 for name, row in found.items()}
    assert errors == pytest.approx(
        {
            "heldout.dl_clear_us.intel": -0.148,
            "heldout.dl_clear_us.amd": -0.244,
            "heldout.amd_p5_s": 0.222,
            "heldout.amd_p7_s": 0.124,
            "heldout.amd_before_p5_total_s": 0.082,
        },
        abs=0.001,
    )
    assert all(abs(errors[name]) <= row["tolerance"] for name, row in found.items())
    low, high = (found["heldout.dl_clear_us.intel"][f"predicted_{end}"] for end in ("low", "high"))
    assert (low, high) == pytest.approx((4390, 4990), rel=0.01)


def test_held_out__scans_scaled_as_memory_is_rejected():
    intel, amd = fit_ladder(INTEL), fit_ladder(AMD)
    ratio = amd.unit_ns["linear-dl-server-accounting"] / intel.unit_ns["linear-dl-server-accounting"]
    scans = "skip-covered-group-scans"
    wrong = intel.unit_ns[scans] * ratio * amd.driver[scans] / 1e9
    assert wrong / amd.removed_s[scans] - 1 == pytest.approx(-0.67, abs=0.01)


@pytest.mark.parametrize(
    ("name", "nr_cpus", "expected"),
    [
        (INTEL, 128, dict(p3=(0.13, 0.13), p4=(0.17, 0.64), p5=(0.18, 0.18), p6=(0.05, 0.05), final=(0.36, 1.34))),
        (INTEL, 256, dict(p3=(0.51, 0.51), p4=(0.69, 1.29), p5=(1.42, 1.42), p6=(0.43, 0.43), final=(1.44, 2.70))),
        (INTEL, 480, dict(p3=(1.79, 1.79), p4=(2.42, 2.42), p5=(9.34, 9.34), p6=(2.81, 2.81), final=(5.07, 5.07))),
        (AMD, 128, dict(p3=(0, 0), p4=(0.05, 0.19), p5=(0.04, 0.04), p6=(0.02, 0.02), final=(0.21, 0.84))),
        (AMD, 256, dict(p3=(0, 0), p4=(0.19, 0.38), p5=(0.30, 0.30), p6=(0.12, 0.12), final=(0.84, 1.69))),
        (AMD, 1024, dict(p3=(0, 0), p4=(1.54, 3.08), p5=(18.9, 18.9), p6=(7.9, 7.9), final=(6.8, 13.5))),
    ],
)
def test_ramp_of_size__brackets(name, nr_cpus, expected):
    found = ramp_of_size(name, nr_cpus)
    by_number = {f"p{number}": found[patch] for number, patch in enumerate(LARGE_SYSTEMS, 1)} | {
        "final": found["final"]
    }
    for key, bracket in expected.items():
        assert by_number[key] == pytest.approx(bracket, abs=0.006, rel=0.006), key


# ---- tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vm-32cpu", INTEL, AMD])
def test_cost_table__says_how_each_number_was_obtained(name):
    table = cost_table(name)
    assert name in machines_with_costs() and table.machine == name
    for field in (
        "fixed_ns",
        "clear_ns",
        "resync_ns",
        "locality",
        "unthrottle_share",
        "fuse_phi",
        "attach_ns",
        "grace_ns",
    ):
        assert table.how[field]
    assert table.how["fuse_phi"].startswith("assumed")
