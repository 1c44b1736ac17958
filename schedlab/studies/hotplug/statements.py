"""What the mails say, and what we ourselves expected, against what the model counts: which of it holds, and how far."""

import numpy as np
import pandas as pd

from ...hotplug.heldout import INTEL
from ...hotplug.ladder import base_ramp
from ...hotplug.vmstat import threshold
from .review import df_review
from .scaling import df_exponents, df_groups, df_partitions
from .series_a import df_fits, df_irq_off, df_operations, df_walks
from .series_b import df_held_out

WALKS, REVIEW, LARGE, OURS = "series about group walks", "review", "series for large systems", "ours, before counting"
YES, PARTLY, NO = "yes", "in part", "no"


def df_statements() -> pd.DataFrame:
    """Return statements, and what of them holds in the model; every number is computed.

    Columns: by, statement, holds (yes, in part, no), found.
    """
    rows = [*_of_walks(), *_of_review(), *_of_large_systems(), *_of_ours()]
    return pd.DataFrame(rows, columns=["by", "statement", "holds", "found"])


def _of_walks():
    groups = df_groups((0, 10_000)).query("kernel == 'patch1+2'")
    grown = groups.pivot(index="cgroups", columns="operation", values="predicted_ms").diff().iloc[-1]
    off = groups.query("cgroups == 10_000 and operation == 'cpu_offline'")["irq_off_us"].item()
    yield (
        WALKS,
        "once both patches are in, the times do not depend on the number of groups",
        PARTLY,
        f"from 0 to 10,000 cgroups a partition switch grows by {grown['partition_root']:.2f} ms, an offline by "
        f"{grown['cpu_offline']:.2f} ms, an online by {grown['cpu_online']:.2f} ms: the CPU that goes or comes still "
        f"walks the groups, with interrupts off for {off:.0f} us",
    )
    walks = df_walks().query("kernel == 'base' and operation == 'partition_root'").iloc[0]
    irq = df_irq_off().set_index(["kernel", "statistic"])
    median, longest = irq.loc[("base", "median")], irq.loc[("base", "max")]
    yield (
        WALKS,
        "each rebuild turns interrupts off on each CPU, for nearly a millisecond at worst",
        PARTLY,
        f"interrupts are off on the CPU that rebuilds, {walks['rq_attach_root']} times "
        f"{median['predicted_us']:.0f} us a partition switch; another CPU waits only if it wants its run queue's lock. "
        f"The longest published call, {longest['published_us']:.0f} us, is not explained",
    )
    yield (
        WALKS,
        "rq_online_fair() sees no difference between a rebuild and a CPU that comes up",
        YES,
        "the rebuild's own rq_attach_root() puts the coming CPU online; the explicit call finds it online",
    )


def _of_review():
    ms = df_operations().query("operation == 'partition_root'").set_index("kernel")["predicted_ms"]
    yield (
        REVIEW,
        "the two walks can be one loop",
        PARTLY,
        f"takes a partition switch from {ms['base']:.1f} to {ms['V1a']:.1f} ms with an assumed share; at best it "
        f"saves what patch 1 saves ({ms['patch1']:.1f} ms), and both patches leave {ms['patch1+2']:.1f} ms",
    )
    review = df_review()
    broken = review[review["violation"] != ""]
    assert set(broken["kernel"]) == {"V2-naive"}
    yield (
        REVIEW,
        "a boolean, set in rq_attach_root() and in sched_set_rq_online() and _offline(), does",
        PARTLY,
        f"costs the same as both patches ({ms['V2']:.2f} ms) without a new field, if the coming CPU goes online "
        f"*before* the rebuild; in the order of today it breaks invariant 11 in {len(broken)} of "
        f"{review['trace'].nunique()} traces",
    )


def _of_large_systems():
    powers = df_exponents().query("to_cpus == 1024").set_index("count")["exponent"]
    done = base_ramp(INTEL)
    words, updates = done.counts("capacity_words", "offline"), done.counts("dl_updates", "offline")
    left = np.arange(len(words), 0, -1)  # CPUs in the domains after each operation
    two, half = (_power(words, left, *ends) for ends in ((60, 119), (240, 479)))
    yield (
        LARGE,
        "group capacities are O(N^3)",
        PARTLY,
        f"power {powers['capacity_words']:.2f} of N in mask words when the machine doubles, but "
        f"{powers['capacity_cores']:.2f} in loop steps",
    )
    yield (
        OURS,
        "on one machine, whose masks keep their width, these loops grow with the square of the CPUs that are online",
        PARTLY,
        f"from 60 to 119 CPUs with power {two:.2f}, from 240 to 479 with {half:.2f}: in the order of the mail the "
        "first threads go first and every core stays",
    )
    largest = updates[left == 479].item() / 479**2
    yield (
        LARGE,
        "three O(N^2) walks over deadline servers",
        YES,
        f"power {powers['dl_updates']:.2f}; in sum {largest:.2f} N^2 updates a rebuild",
    )
    small, big = ([threshold(n, mb) for n in (64, 128, 256, 512)] for mb in (2048, 16_384))
    yield (
        LARGE,
        "vmstat thresholds are clamped from 64 CPUs on",
        PARTLY,
        f"zones of 16 GB have {big[0]} from 64 CPUs on; a zone of 2 GB goes on from {small[0]} to {small[-1]} at 512",
    )
    held = df_held_out().set_index("quantity")
    intel, amd = (held.loc[f"heldout.dl_clear_us.{name}"] for name in ("intel", "amd"))
    yield (
        LARGE,
        "dl_clear_root_domain() takes 1.8 to 5.5 ms at about 500 CPUs",
        PARTLY,
        f"what patch 6 takes off the whole ramp implies {amd['predicted'] / 1e3:.1f} and "
        f"{intel['predicted'] / 1e3:.1f} ms, {-amd['error_percent']:.0f} and {-intel['error_percent']:.0f} % less; "
        "which end is which machine is our reading",
    )


def _power(counts, left, small, large):
    few, many = (counts[left == n].item() for n in (small, large))
    return np.log(many / few) / np.log(large / small)


def _of_ours():
    parts = df_partitions().set_index("partitions")
    most = parts.index[-1]
    by = parts.iloc[0] / parts.iloc[-1]
    yield (
        OURS,
        "p equal partitions divide the walks of a hotplug operation by p, scans and server updates by p squared",
        PARTLY,
        f"with p = {most}, walks by {by['group_visits']:.1f} and scans by {by['span_scan']:.0f}, but server updates by "
        f"{by['dl_updates']:.0f} in place of {most**2}: the accounting goes over *every* root domain, also those that "
        "did not change",
    )
    calls = df_walks().query("kernel == 'base' and operation == 'cpu_offline'")["rq_attach_root"].item()
    twice = df_fits().set_index("model").loc["M3", "max_error_percent"]
    yield (
        OURS,
        "hotplug is slower than a partition switch because it rebuilds twice",
        NO,
        f"one rebuild, {calls} calls in place of {2 * calls}; the fit with two is {twice:.1f} % off besides",
    )
