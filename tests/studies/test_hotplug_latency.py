"""Latency under hotplug: what a call's time with interrupts off means for a task that waits."""

from schedlab.studies.hotplug import df_latency, say_latency


def test_latency__no_later_than_a_call_and_its_neighbour():
    """A waking waits for the call under way and, if it is unlucky, for the next: at most two."""
    table = df_latency(groups=(1001,), per_second=(1.0, 16.0), levels=("base", "V2"), quick=True, progress=False)
    assert (table["max_us"] <= 2 * table["call_us"]).all()
    by = table.set_index(["level", "per_second"])["p99.9_us"]
    assert by["base", 16.0] > by["V2", 16.0]


def test_latency__said_with_the_numbers_of_the_table():
    table = df_latency(levels=("base", "patch1+2"), quick=True, progress=False)
    worst = table.loc[table["p99.9_us"].idxmax()]
    assert f"{worst['p99.9_us']:.0f} us at base" in say_latency(table)
