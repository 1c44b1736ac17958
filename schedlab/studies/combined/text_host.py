"""What the notebook says of host, kernels and ramps, and what is not modelled."""

from __future__ import annotations

import pandas as pd

from . import follow, host
from .factors import ALL, ALWAYS, FACTORS, MEANING, RELEASE, base_kernel
from .scope import Scope


def say_scope(scope: Scope) -> str:
    """Return what host, kernel and load are, and how many runs there are.

    Parameters
    ----------
    scope : Scope
    """
    machine, cells = host.machine(), scope.cells
    active = host.TENANTS * host.ACTIVE
    groups = len(host.workload().groups)
    text = (
        f"**The host.** {machine.nr_cpus} CPUs ({len(machine.cores)} cores of {host.SMT} threads) and "
        f"{host.CGROUPS:,} cgroups. {groups:,} of these are in the simulation: {host.TENANTS} limited tenants "
        f"({host.TENANT_QUOTA_US / 1e5:g} CPUs each) with {host.SANDBOXES} sandboxes each, {active} of which work "
        f"in all ({host.TASKS} batch tasks each, 1 CPU at most); {host.VMS} guests of {host.VCPUS} virtual CPUs, "
        f"{host.VM_QUOTA_US / 1e5:g} CPUs at most; {host.FRONT} front tasks of the host that wake about once in "
        "1.1 ms, work 0.1 ms and ask for slices of 0.5 ms. Each tenant and guest has a cookie of core scheduling. The "
        f"other {host.CGROUPS - groups:,} cgroups are idle and unlimited, and cost in the walks of hotplug alone; idle "
        "ones below a tenant also cost in its throttles and unthrottles.\n\n"
        f"**The load** has a cycle of {host.CYCLE_MS / 1000:g} s: in its second half the guests compute. In the first, "
        f"{len(follow.LEAVING)} CPUs (whole cores) go offline one after the other, in the second they come back, each "
        "as fast as the kernel makes it. Real hosts do this more rarely; what it holds up shrinks in proportion.\n\n"
        f"**The kernel** is the row {RELEASE} with the kernel's balancing, on which every factor can be switched: its "
        "own timer phases and per-task throttle are taken away in the base. In all of them: "
        f"{', '.join(sorted(base_kernel().patches))}. Not in one kernel with them: what CFS rows had (the old "
        "expiry and slack timers), and 7.2's own rules of lag and HRTICK.\n\n"
        f"**The runs**: {len(cells)} kernels, {scope.seeds} seeds each, {len(cells) * scope.seeds} runs of "
        f"{host.CYCLE_MS / 1000:g} s. "
    )
    if scope.quick:
        return text + (
            "*A quick run: half of the factorial (resolution VI: pairs are mixed with interactions of four alone), "
            "few seeds, and none of the other patches. Its intervals are wide.*"
        )
    return text + "The factorial is full: every combination of the six factors."


def say_factors() -> str:
    """Return the factors as a Markdown table."""
    lines = ["| factor | what it is | patches |", "|:---|:---|:---|"]
    for name, patches in FACTORS.items():
        lines.append(f"| {name} | {MEANING[name]} | {', '.join(patches)} |")
    return "\n".join(lines)


def say_patches(patches: pd.DataFrame) -> str:
    """Return what becomes of all patches of the package, and why some are left out.

    Parameters
    ----------
    patches : pandas.DataFrame
        From `df_patches`.
    """
    count = patches["here"].value_counts()
    left = patches[patches["here"] == "left out"]
    lines = [
        f"Of the {len(patches)} patches of the package {count['factor']} are in the {len(FACTORS)} factors, "
        f"{count['one at a time']} are tried one at a time, {count['always']} are in every kernel, {count['old']} are "
        f"behaviours of older kernels, and {len(left)} are left out:",
        "",
    ]
    return "\n".join(lines + [f"- {row.patch}: {row.what}" for row in left.itertuples()])


def say_follow(ramps: pd.DataFrame) -> str:
    """Return how fast CPUs follow the load.

    Parameters
    ----------
    ramps : pandas.DataFrame
        From `df_follow`.
    """
    parts = []
    for cell, mine in ramps.groupby("cell", sort=False):
        comes = mine[mine["operation"].str.startswith("online")]
        parts.append(
            f"{comes['active_ms'].iloc[-1] - comes['begin_ms'].iloc[0]:.0f} ms ({cell}; longest call "
            f"{mine['call_us'].max():.0f} us)"
        )
    rendezvous = ramps["rendezvous_us"].max()
    return (
        f"Until the {len(follow.LEAVING)} CPUs are back it takes {', '.join(parts)}. Without series B each CPU that "
        f"comes flushes its caches and keeps all CPUs for {rendezvous:.0f} us in a rendezvous. Unit costs are those "
        f"fitted to the server {follow.COSTS} (group walks: to the 32-CPU guest); what of them grows with the number "
        "of CPUs is not known, and here all of the rest and of the rendezvous does: the less dear end."
    )


def say_limits() -> str:
    """Return what is not modelled, in view of this host."""
    watts = host.WATTS
    return (
        "- Watts are assumed: "
        f"{watts.idle_w:g} W, {watts.core_w:g} more for a busy core and {watts.thread_w:g} for a busy thread. A core "
        "that is offline takes what an idle one does, so that hotplug saves no power of its own here; a CPU "
        "whose task is held up is busy. Neither frequency, idle states nor the energy of a cache flush is in it.\n"
        "- A cache flush lengthens an operation; the misses of the others that follow are not modelled.\n"
        "- The task that executes an operation takes no CPU time between its calls, and stop_machine() is not priced.\n"
        "- Interrupts off: calls and rendezvous of hotplug, and throttling's work at one price for each queue, "
        "group and level. Timers, ticks, balancing and the walks of a core's pick cost nothing.\n"
        "- The cycle is short and the load synthetic. Quotas limit CPU time, so that a patch which makes CPUs share "
        "cores less raises work and power together.\n"
        "- The force-idle-aware balancing is a reading of a series whose text was not found; "
        f"{ALWAYS[0]} is in all kernels, as where the push was measured.\n"
        f"- Throttling's follow-ups are 7.2's, here on {RELEASE}; their hole with nested limits (docs/model.md) comes "
        "along with them.\n"
        "- Nothing was published for the combination: the numbers are predictions that nobody has measured yet, and "
        f"hold for this host. Of the {len(ALL)} factors two are merged."
    )
