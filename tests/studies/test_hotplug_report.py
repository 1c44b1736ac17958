"""The hotplug study's texts, and the whole notebook, quick: it explains itself and leaves the same bytes twice."""

import pandas as pd
import pytest
from whole_report import digests, make_report

from schedlab.studies import hotplug as study

STUDY = "hotplug"


def test_scope__quick_has_the_ends_and_the_smaller_servers():
    fields = dict(cgroups=[0, 1000, 4000, 8000], cpus=[8, 16, 64], sizes=[512, 128, 256], ramp_groups=[1, 4001])
    assert study.Scope.of(**fields).sizes == (128, 256, 512)
    quick = study.Scope.of(**fields, quick=True)
    assert (quick.cgroups, quick.sizes, quick.ramp_groups) == ((0, 4000, 8000), (128, 256), (1, 4001))
    assert "A quick run" in study.say_scope(quick) and "A quick run" not in study.say_scope(study.Scope.of(**fields))


@pytest.mark.parametrize(
    ("field", "values", "rule"),
    [
        ("cpus", [8, 48], r"cpus=\[8, 48\]: powers of two"),
        ("sizes", [32, 128], "sizes=32: at least 64"),
        ("cgroups", [4000], r"cgroups=\[4000\]: at least two different values"),
        ("ramp_groups", [0, 1], "ramp_groups=0: at least 1"),
    ],
)
def test_scope__refuses_in_one_line(field, values, rule):
    fields = dict(cgroups=[0, 4000], cpus=[8, 64], sizes=[64, 128], ramp_groups=[1, 4001]) | {field: values}
    with pytest.raises(ValueError, match=rule):
        study.Scope.of(**fields)


def test_shortest_traces__three_operations_and_only_the_naive_form():
    table = study.df_shortest_traces()
    broken = table[table["broken"] > 0]
    assert set(broken["kernel"]) == {"V2-naive"}
    fresh, limited = (broken[broken["begins_with_quota"] == begins].iloc[0] for begins in (False, True))
    assert (fresh["steps"], fresh["first_broken"]) == (3, "offline 3, set quota, online 3")
    assert (limited["steps"], limited["first_broken"]) == (2, "offline 3, online 3")


def test_review__the_text_shows_the_trace():
    text = study.say_review(study.df_review(), study.df_shortest_traces())
    assert text.count("stale") == 1 and "**0: stale**" in text
    assert "invariant 11: /sandbox has a quota, but runtime_enabled on CPU 3 is 0" in text


def test_fit_sizes__parameters_against_independent_numbers():
    table = study.df_fit_sizes().set_index("machine")
    assert table.loc["xeon_6985p_c", ["parameters", "numbers", "cells"]].tolist() == [10, 15, 19]
    assert table.loc["epyc_9b45", ["parameters", "numbers", "cells"]].tolist() == [7, 11, 14]
    assert "**10 parameters for 15 independent numbers**" in study.say_ladder(study.df_fit_sizes())
    assert "**7 parameters for 9 numbers**" in study.say_fits(study.df_fits(), study.df_visit_costs())


def test_transfer__those_named_before_agree_and_patch_8_does_in_neither_way():
    table = study.df_transfer()
    off = table["error_percent"].abs()
    assert (off[table["named_before"]] < 30).all() and table["named_before"].sum() == 2
    assert (off[table["patch"] == "write-changed-thresholds"] > 30).all()
    assert "Patch 8 carries over in neither way" in study.say_held_out(study.df_held_out(), table)


def test_statements__each_says_whether_it_holds():
    table = study.df_statements()
    assert set(table["holds"]) == {"yes", "in part", "no"} and (table["found"].str.len() > 20).all()
    text = study.say_statements(table)
    assert text.splitlines()[2].split("|")[3].strip() == "**no**"  # what does not hold comes first


def test_verdict__failures_are_explained():
    comparison = study.compare()
    study.check_calibration(comparison)
    text = study.say_verdict(comparison)
    assert "**7 of 8 predictions agree.**" in text and "`attach_root_us.base.max`: 938 us published" in text
    assert "not explained" not in text


@pytest.mark.slow
def test_report__quick_is_whole_and_the_same_bytes_twice(tmp_path):
    first, second = (make_report(STUDY, tmp_path / seed, seed) for seed in ("1", "2"))
    found = digests(first)
    assert found == digests(second)
    assert len([name for name in found if name.endswith(".svg")]) >= 9 and len(found) > 9 * 3 + 20
    comparison = pd.read_csv(first / "comparison.csv")
    assert set(comparison["role"]) == {"calibration", "prediction"}
    page = (first / "report.html").read_text()
    # reasons of failing rows are checked on the verdict; the page itself says of one call that it is not explained
    assert "A quick run" in page
