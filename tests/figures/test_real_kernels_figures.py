"""The figures of the real kernels draw, with what their titles say."""

import pandas as pd

from schedlab.figures import real_kernels as draw
from schedlab.studies import real_kernels as study


def _title(figure):
    return figure._suptitle.get_text()


def test_phases_and_rebuild__titles():
    figure = draw.plot_phases(study.df_phase_points(), study.df_phases(draws=20))
    assert _title(figure).startswith("Before 6.4 timers expire together (R at least 0.99")
    slopes = study.df_slopes(study.df_walks())
    title = _title(draw.plot_rebuild(study.df_points(), slopes))
    assert title == "Counted walks give 4 slopes over cgroups within 1.2 %; 1 is off by 56 %"


def test_rebuild__no_recording_is_left_out_silently():
    slopes = study.df_slopes(study.df_walks())
    text = study.say_rebuild(slopes)
    assert "`c-6.1.192-sc-ic0/rebuild`" in text and "measures 172 instructions" in text and "make 76" in text
    assert slopes["noisy"].sum() == 1


def test_distributions__counts_what_lies_inside():
    row = dict(recording="host/v_burst0.r0", group="/A", measure="throttled_ms", measured=5.0, given=4.0)
    counters = pd.DataFrame(
        [row | dict(low=2.0, high=6.0, least=1.0, most=9.0), row | dict(low=6.0, high=7.0, least=6.0, most=7.0)]
    )
    assert "1 of 2 measured" in _title(draw.plot_distributions(counters))


def test_cookies__case_names_and_title():
    row = dict(
        one_core=True, seconds=3.0, measured=1498.0, mean=1500.0, low=1499.0, high=1501.0, least=1499.0, most=1501.0
    )
    rows = [
        row | dict(recording="b-7.3.4/cookie_2v1_samecore", group="/Y", measure=measure)
        for measure in ("usage_ms", "force_idle_ms")
    ]
    figure = draw.plot_cookies(pd.DataFrame(rows))
    assert "within 2.0 ms of the measured in 3 s" in _title(figure)
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["2 v 1, one core: Y"]
