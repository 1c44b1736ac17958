"""Patches of core scheduling: what becomes of a CPU that is forced idle, and how balancing treats cookies."""

_PUSH = frozenset({"force-idle-push"})
_SERIES = "mail 20251127202719.963766-1 (force idle aware balancing), whose text was not found: a reading of it"

ROWS = (
    {
        "name": "force-idle-push",
        "kind": "posted",
        "title": "a CPU that is forced idle and found nothing to steal pushes a task to an idle CPU",
        "origin": "sched/core: Push tasks on force idle, Fernand Sieber, November 2025",
    },
    {
        "name": "push-recheck",
        "kind": "variant",
        "title": "the push looks again, under the locks, whether its target is idle and beside which cookie",
        "origin": "point of review: the posted patch looks before it locks (no time passes there in the model)",
        "needs": _PUSH,
    },
    {
        "name": "push-skip-core-pick",
        "kind": "variant",
        "title": "the push leaves the task that a sibling has just picked for this CPU, as a steal does",
        "origin": "point of review",
        "needs": _PUSH,
    },
    {
        "name": "push-skip-delayed",
        "kind": "variant",
        "title": "the push passes over tasks that are blocked and wait for their dequeue, as load balancing does",
        "origin": "point of review",
        "needs": _PUSH,
    },
    {
        "name": "push-by-quality",
        "kind": "own",
        "title": "the push looks for a half-idle core of the task's cookie, then for an idle core, not by CPU number",
        "origin": "proposed by nobody; for comparison",
        "needs": _PUSH,
    },
    {
        "name": "wake-cookie-check",
        "kind": "posted",
        "title": "a wake-up takes an idle CPU only where the core is idle or has the task's cookie",
        "origin": "sched/fair: Add more core cookie check in wake up fast path, Fernand Sieber, September 2025 (4/4)",
    },
    {
        "name": "lb-force-idle-source",
        "kind": "own",
        "title": "balancing of an idle CPU takes first from CPUs that are forced idle, also their only task",
        "origin": _SERIES,
    },
    {
        "name": "lb-force-idle-destination",
        "kind": "own",
        "title": "balancing takes a CPU that is forced idle for an idle one",
        "origin": _SERIES,
    },
    {
        "name": "lb-keep-cookies-together",
        "kind": "own",
        "title": "balancing, active balancing too, does not part siblings of one cookie or join unlike cookies",
        "origin": _SERIES,
    },
    {
        "name": "lb-no-active-balance",
        "kind": "own",
        "title": "balancing never has a running task moved, however often it moved nothing",
        "origin": "proposed by nobody; to see what active balancing does to cookies",
    },
    {
        "name": "no-force-idle-steal",
        "kind": "own",
        "title": "a CPU that is forced idle does not look for tasks of its core's cookie elsewhere",
        "origin": "proposed by nobody; to see what the steal does",
    },
    {
        "name": "core-tree-sorted",
        "kind": "own",
        "title": "the tree of tasks with cookies is in order at every look-up, not only at insertions",
        "origin": "RFC of Joel Fernandes, December 2021, on latency under core scheduling",
    },
    {
        "name": "core-pick-on-drain",
        "kind": "own",
        "title": "a forced-idle CPU that loses its last task picks anew, so that the count of such CPUs is right",
        "origin": "proposed by nobody; for comparison",
    },
    {
        "name": "no-forceidle-snapshot",
        "kind": "legacy",
        "title": "siblings compare vruntimes against a reference of the moment, so that the same one wins for ever",
        "origin": "undone by commit c6047c2e3af6 (5.14)",
    },
    {
        "name": "no-forceidle-tick",
        "kind": "legacy",
        "title": "a lone task opposite a forced-idle sibling is not interrupted after half a slice",
        "origin": "undone by Fix forced idle sibling starvation corner case, v6 07/16, June 2020",
    },
    {
        "name": "cookie-not-enqueued",
        "kind": "legacy",
        "title": "a queued task that is given its first cookie stays out of the tree until it is queued again",
        "origin": "5.14 to 5.19, undone by commit 91caa5ae2424",
    },
)
