"""What is demanded of the model for each recording: the tolerances that were named with the recordings."""

from ...io.recordings import Recording

#: Percent of throttled time: pinned threads on a quiet machine with phases given, with unknown ones, on a loaded
#: machine, and threads that are not pinned.
GIVEN, UNKNOWN, LOADED, UNPINNED = 1.0, 4.0, 5.0, 5.0
#: Percent of usage over at least so many seconds, and of the mean run per period.
USAGE, USAGE_FROM_S, RUN_MEAN = 1.0, 3.0, 2.0
#: Share of periods within 0.25 ms, for one pinned thread on a quiet machine.
NEAR_SHARE = 0.6
#: Which level is throttled, or how often, is decided by phases and chance: distributions are compared.
CHAOTIC = ("periods", "iv_per10_50", "v_burst", "pipe1_nowork")
#: Two groups on one CPU: how much they overlap is decided by their phases, so that unknown phases predict no mean.
BY_PHASE = ("iii_2grp", "a.k")


def is_chaotic(one: Recording) -> bool:
    """Whether only distributions can be compared."""
    return any(part in one.name for part in CHAOTIC)


def is_tight(one: Recording, path: str) -> bool:
    """Whether the group's own limit is what stops its tasks: the one that the kernel throttled in most periods."""
    row = one.measured[path]
    return row["nr_throttled"] > 0.5 * row["nr_periods"]


def has_pipes(one: Recording) -> bool:
    """Whether its programs are pipes: how many CPUs they keep busy decides the throttled time."""
    return any(program["kind"] == "pipe" for program in one.raw["programs"])


def is_pinned(one: Recording) -> bool:
    """Whether every thread is."""
    return all(program.get("cpus") for program in one.raw["programs"])


def threads(one: Recording) -> int:
    """Most threads of a program."""
    return max(program["threads"] for program in one.raw["programs"])


def seconds(one: Recording) -> float:
    """How long its programs run."""
    return max(program["secs"] for program in one.raw["programs"])


def throttled_percent(one: Recording, phases_known: bool) -> float:
    """Tolerance of throttled time in percent."""
    if not is_pinned(one):
        return UNPINNED
    if one.is_loaded:
        return LOADED
    return GIVEN if phases_known else UNKNOWN
