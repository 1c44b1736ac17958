"""The tables of the hotplug study: their columns are said, and the claims that the notebook makes hold."""

import re

import numpy as np
import pytest

from schedlab.studies import hotplug as study

TABLES = {
    "df_operations": (),
    "df_walks": (),
    "df_fits": (),
    "df_visit_costs": (),
    "df_irq_off": (),
    "df_exponents": (),
    "df_partitions": (),
    "df_review": (),
    "df_unit_costs": (),
    "df_identifiability": (),
    "df_fit_sizes": (),
    "df_published_ramps": (),
    "df_shortest_traces": (),
    "df_statements": (),
    "df_transfer": (),
    "df_held_out": (),
    "df_ladder": ("epyc_9b45",),
    "df_waterfall": ("epyc_9b45",),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables__columns_are_those_of_the_docstring(name):
    function = getattr(study, name)
    table = function(*TABLES[name])
    assert len(table)
    said = re.search(r"Columns: (.*?)\.(?:\s|$)", function.__doc__, re.S)[1]
    said = re.sub(r"\([^)]*\)", "", said).replace("\n", " ")
    names = [word for word in re.split(r"[ ,]+", said) if word]
    assert list(table.columns) == names


def test_operations__variants_cost_what_the_posted_patches_do():
    table = study.df_operations().pivot(index="operation", columns="kernel", values="predicted_ms")
    assert np.allclose(table["V2"], table["patch1+2"])
    assert (table["V1a"] >= table["patch1"]).all() and (table["V1b"] <= table["base"]).all()


def test_groups__times_no_longer_grow_in_a_partition_switch():
    table = study.df_groups(groups=(0, 4000)).query("operation == 'partition_root'")
    grown = table.pivot(index="cgroups", columns="kernel", values="predicted_ms").diff().iloc[-1]
    assert grown["base"] > 10 and grown["patch1+2"] == grown["V2"] == 0


def test_cpus__walks_grow_with_them():
    table = study.df_cpus(cpus=(8, 64)).query("operation == 'cpu_offline' and kernel == 'base'")
    small, large = table["walks_ms"]
    assert large / small == pytest.approx(8, rel=0.1)


def test_review__the_naive_form_alone_breaks_an_invariant():
    table = study.df_review()
    broken = table[table["violation"] != ""]
    assert set(broken["kernel"]) == {"V2-naive"} and set(broken["step"]) == {3} and len(broken) == 2


def test_both_series__each_is_worth_it_after_the_other():
    table = study.df_both_series(groups=(4001,)).set_index(["walks", "large"])["total_s"]
    assert table[True, True] < 6
    assert table[True, False] > 100 and table[False, True] > 200


def test_sizes__brackets_meet_at_the_measured_size():
    table = study.df_sizes("epyc_9b45", sizes=(512,))
    assert np.allclose(table["low_s"], table["high_s"])
    assert table.set_index("part").loc["final", "low_s"] == pytest.approx(3.38)


def test_structure__three_rows():
    assert list(study.df_structure()["nodes_a_package"]) == [1, 3, 1]


def test_lattice__every_patch_is_worth_it_after_the_others():
    table = study.df_lattice()
    assert (table["least_ms"] > 0.5).all() and (table["share_of_final_percent"] > 10).all()


def test_comparison__what_agrees_and_what_does_not():
    comparison = study.compare()
    table = comparison.table().set_index("quantity")
    calibrated = table[table["role"] == "calibration"]
    assert calibrated["agrees"].all() and len(calibrated) == 9 + 1 + 19 + 14 + 2
    predicted = table[table["role"] == "prediction"]
    assert list(predicted[predicted["agrees"] == False].index) == ["attach_root_us.base.max"]  # noqa: E712
    assert table.loc["attach_root_calls.partition_root", "model"] == 1280
    failures = study.df_failures(comparison)
    assert list(failures["quantity"]) == ["attach_root_us.base.max"] and "not explained" not in set(failures["why"])
