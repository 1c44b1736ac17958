"""The combined study's texts, and the whole notebook, quick: it explains itself and leaves the same bytes twice."""

import pandas as pd
import pytest
from test_combined import synthetic
from whole_report import digests, make_report

from schedlab.report.pages import predictions, read_comparison
from schedlab.studies import combined as study
from schedlab.studies.combined.text import signed
from schedlab.tables import write_comparison

STUDY = "combined"


def product_of_two(on):
    return 100 + 10 * ("throttle" in on) - 4 * (("throttle" in on) and ("walks" in on))


def test_signed():
    assert [signed(x, 1) for x in (12.34, -0.06, 0.04)] == ["+12.3", "\N{MINUS SIGN}0.1", "0.0"]


def test_interactions__a_sentence_for_each_that_is_not_zero():
    text = study.say_interactions(study.df_interactions(synthetic(product_of_two)))
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) == len(study.RESPONSES) and all("*throttle* and *walks*" in line for line in lines)
    assert "throttle makes +10.00 CPUs without walks and +6.00 CPUs with it" in lines[0]
    assert lines[0].endswith("Together they do worse than the sum of each.")
    assert text.startswith("5 of 75 intervals exclude 0; about 4 would by chance")


def test_interactions__none_is_said():
    text = study.say_interactions(study.df_interactions(synthetic(lambda on: 1.0 + len(on))))
    assert text.count("no interaction is told apart from 0") == len(study.RESPONSES)


def test_steps__sum_and_together():
    runs = synthetic(product_of_two)
    head, _, first, *_ = study.say_steps(study.df_steps(runs), runs).splitlines()
    assert head.startswith("Of the 60 intervals (95 %) of a factor alone or left out, 15 exclude 0; about 3 would")
    assert "100.00 CPUs at base, 106.00 with all (+6.00" in first and "the six alone sum up to +10.00 (" in first
    assert "Alone, these make a difference: throttle (+10.00)." in first
    assert "Left out of all, these make a difference: throttle (\N{MINUS SIGN}6.00), walks (+4.00)." in first


def test_why__speed_is_work_over_time():
    runs = synthetic(lambda on: 12.0 + ("interleave" in on)).assign(
        batch_cpus=16.0, forced_idle_cpus=1.5, pushes=7, ramps_ms=100.0, violations=0, throttle_irq_off_max_us=99.0
    )
    text = study.say_why(runs)
    assert "0.750 and 0.812" in text and "7 pushes a run" in text and "broken in no run" in text


def test_scope__a_quick_run_says_so():
    full, quick = (study.say_scope(study.Scope.of(seeds=6, quick=quick)) for quick in (False, True))
    assert "A quick run" in quick and "A quick run" not in full and "80 kernels, 6 seeds each, 480 runs" in full


def test_comparison__context_alone_and_the_index_takes_it(tmp_path):
    comparison = study.compare(synthetic(product_of_two)).table()
    assert set(comparison["role"]) == {"context"} and comparison["published"].isna().all()
    write_comparison(comparison, tmp_path)
    rows = read_comparison(tmp_path)
    assert len(rows) == 10 and predictions(rows) == {"count": 0, "agree": 0}


@pytest.mark.slow
def test_report__quick_is_whole_and_the_same_bytes_twice(tmp_path):
    first, second = (make_report(STUDY, tmp_path / seed, seed) for seed in ("1", "2"))
    found = digests(first)
    assert found == digests(second)
    assert len([name for name in found if name.endswith(".svg")]) == 4
    assert set(pd.read_csv(first / "comparison.csv")["role"]) == {"context"}
    page = (first / "report.html").read_text()
    assert "A quick run" in page and "What is not modelled" in page
