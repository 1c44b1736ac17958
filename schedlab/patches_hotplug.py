"""The patches of CPU hotplug and domain rebuilds, as rows of PATCHES; hotplug/mechanisms.py reads them in one place.

Two posted series: "Cut per-group work from sched domain rebuilds" (Qiliang Yuan, November 2026; walks over all task
groups) and "Speed up CPU hotplug on large systems" v2 (Pasha Tatashin, October 2026; eight patches, in any subset),
what the review of the first proposed in its place, and what 6.12 lacks.
"""

SKIP_OFFLINE_WALKS = "skip-offline-walks-of-active-cpus"
SKIP_VALID_RESYNC = "skip-runtime-resync-while-valid"
FUSE_REBUILD = "fuse-rebuild-walks"
FUSE_DYING = "fuse-dying-cpu-walks"
HOTPLUG_ONLY = "walk-groups-on-hotplug-only"
HOTPLUG_ONLY_NAIVE = "walk-groups-on-hotplug-only-naive"

#: The eight patches of the series for large systems, in its order.
LARGE_SYSTEMS = (
    "no-wbinvd-in-trampoline",
    "no-wbinvd-before-mwait",
    "one-peer-cmci-rediscover",
    "skip-mtrr-rendezvous",
    "cache-group-capacity",
    "linear-dl-server-accounting",
    "skip-covered-group-scans",
    "write-changed-thresholds",
)
#: What 6.18 has and 6.12 lacks; with these, and "unthrottle-offline-only", 6.12 rebuilds its domains as 6.18 does.
LINEAR_SPAN_CHECK, SERVERS_IN_ACCOUNTING = "linear-span-check", "dl-servers-in-accounting"
REBUILD_OF_6_18 = frozenset({"unthrottle-offline-only", LINEAR_SPAN_CHECK, SERVERS_IN_ACCOUNTING})
EXPEDITE = "expedite-hotplug-grace-periods"
SKIP_NODE_LOCK = "skip-node-online-lock"

_WALKS = "mail of Qiliang Yuan, 12 November 2026, patch"
_LARGE = "mail of Pasha Tatashin, 18 October 2026 (v2), patch"
_REVIEW = "Peter Zijlstra's answer to the series of 12 November 2026, spelled out"

# Ways to be rid of the walks of rebuilds: each stands in the others' place.
_WAYS = ({SKIP_OFFLINE_WALKS, SKIP_VALID_RESYNC}, {FUSE_REBUILD}, {HOTPLUG_ONLY}, {HOTPLUG_ONLY_NAIVE})


def _other_ways(name: str) -> frozenset[str]:
    if not any(name in way for way in _WAYS):
        return frozenset()
    return frozenset().union(*(way for way in _WAYS if name not in way))


def _row(kind, name, title, origin, **more) -> dict:
    return dict(name=name, kind=kind, title=title, origin=origin, excludes=_other_ways(name), **more)


_LARGE_TITLES = (
    "a starting CPU does not flush all caches",
    "a dead CPU does not flush a cache that a CPU online shares",
    "one CPU in place of all looks for orphaned CMCI banks",
    "no rendezvous of all CPUs where a CPU's MTRRs are right already",
    "weight and cores of a sched group are counted once a group",
    "the servers' bandwidth is added up once a rebuild",
    "sched groups are found without a scan of every CPU",
    "vmstat thresholds are written where they change",
)

#: Fields of `schedlab.patches.Patch`, one row a patch. `merged` is the first of the releases read (6.12, 6.18, 7.2).
ROWS: tuple[dict, ...] = (
    _row("posted", SKIP_OFFLINE_WALKS, "a CPU that stays active does no per-group work going offline", f"{_WALKS} 1"),
    _row(
        "posted",
        SKIP_VALID_RESYNC,
        "a run queue remembers that runtime_enabled of its groups is up to date",
        f"{_WALKS} 2",
        needs=frozenset({SKIP_OFFLINE_WALKS}),
    ),
    _row("variant", FUSE_REBUILD, "the two walks of an rq_attach_root() call become one loop", _REVIEW),
    _row("variant", FUSE_DYING, "the two walks of the CPU that goes down become one loop", _REVIEW),
    _row("variant", HOTPLUG_ONLY, "hotplug alone walks the groups, for a coming CPU before the rebuild", _REVIEW),
    _row("variant", HOTPLUG_ONLY_NAIVE, "the same in the old order: a coming CPU is not walked; broken", _REVIEW),
    *(
        _row("posted", name, title, f"{_LARGE} {number}")
        for number, (name, title) in enumerate(zip(LARGE_SYSTEMS, _LARGE_TITLES, strict=True), 1)
    ),
    _row("posted", EXPEDITE, "hotplug waits for expedited grace periods", "mail of V. Chourasia, January 2026"),
    _row(
        "mainline",
        LINEAR_SPAN_CHECK,
        "topology_span_sane() looks at each CPU, not at each pair",
        "rework by S. Wahl; 6.12.117 lacks it",
        merged="6.18",
    ),
    _row(
        "mainline",
        SERVERS_IN_ACCOUNTING,
        "dl_clear_root_domain() adds the servers' bandwidth again",
        "read in 6.18.15; 6.12.117 lacks it",
        merged="6.18",
    ),
    _row(
        "own",
        SKIP_NODE_LOCK,
        "no memory-hotplug lock, hence no grace period for it, where the CPU's node is online",
        "proposed by nobody; for comparison",
    ),
)
