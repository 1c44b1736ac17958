"""Sentences about names of recordings, phases of timers and rebuilds: every number in them is computed."""

import pandas as pd

from .phases import ALIGNED_R, REJECTED


def say_names() -> str:
    """Return how the name of a recording is to be read, as Markdown."""
    return (
        "**Names.** A guest's recording is scenario, kernel, and options: `a` two limited groups with `k` busy threads "
        "each, `b` cookies of core scheduling, `c` a domain rebuild, `d` three nested quotas (`60_40_25`: ms in each "
        "100 ms, outermost first; `busy2`: two busy threads, `pipe4`: four pairs that pass a byte to and fro); "
        "`6.1.0` is Debian's own 6.1 kernel, `sc` our build with core scheduling, `p12` with both patches about group "
        "walks; `ic3` and `ic0` are 8 and 1 ns of virtual time an instruction, `smp4` four CPUs. On the host: `i` one "
        "thread, `ii` four, `iii` two groups, `iv` jobs of 4 or 10 ms, `v` random jobs without and with a burst, `vi` "
        "nested groups, `sweep` other quotas (`q`) and numbers of threads (`k`); `pin`: threads keep their CPU; `r0` a "
        "repeat with much other load (average 5 to 6), `r2` with little. The last part is the group: `A` and `B`, or "
        "`L1_L2_L3` for the innermost of three."
    )


def say_phases(scans: pd.DataFrame) -> str:
    """Return what R is, and how many scans look as the model's rule has them.

    Parameters
    ----------
    scans : pandas.DataFrame
        From `df_phases`.
    """
    aligned, drawn = scans[scans["rule"] == "aligned"], scans[scans["rule"] != "aligned"]
    outside = drawn[~drawn["measured_r"].between(drawn["model_low"], drawn["model_high"])]
    text = (
        "R is the length of the mean of unit vectors that point to each phase on a circle: 1 when all are the same, "
        "about one over the root of their number at random. Before 6.4 it is at least "
        f"{aligned['measured_r'].min():.4f} in {len(aligned)} scans (asked for: {ALIGNED_R:g}). From then on "
        f"Rayleigh's p is {drawn['rayleigh_p'].min():.2f} to {drawn['rayleigh_p'].max():.2f} in {len(drawn)} scans "
        f"(random phases are rejected below {REJECTED:g}); {len(outside)} of them "
        f"{'lies' if len(outside) == 1 else 'lie'} outside the "
        "central 95 % of the model's R"
    )
    named = ", ".join(f"{row.recording}, p = {row.rayleigh_p:.2f}" for row in outside.itertuples())
    return text + (f" ({named})." if named else ".")


def say_rebuild(slopes: pd.DataFrame) -> str:
    """Return how well counted walks give the slopes, and which recording is not held against them.

    Parameters
    ----------
    slopes : pandas.DataFrame
        From `df_slopes`.
    """
    judged, noisy = slopes[~slopes["patched"] & ~slopes["noisy"]], slopes[slopes["noisy"]]
    off = 100 * (judged["model_per_group_per_cpu"] / judged["measured_per_group_per_cpu"] - 1).abs().max()
    text = (
        f"Lines have the model's slope and go through the last point. In {len(judged)} recordings without the patches "
        f"it is off by at most {off:.1f} %. Points without groups are warm-up on Debian's kernels and left out of the "
        "measured slope."
    )
    for row in noisy.itertuples():
        text += (
            f" **Not judged:** `{row.recording}` (our build of 6.1), which measures "
            f"{row.measured_per_group_per_cpu:.0f} instructions a group and CPU where the walks in its own function "
            f"graph make {row.model_per_group_per_cpu:.0f}, and bends (R² {row.r_squared:.3f}): not explained. "
            "Debian's build of the same source has the slope of its walks."
        )
    return text
