"""The host of the study: machine, groups, tasks, and CPUs that come and go with the load."""

from __future__ import annotations

from ...durations import exponential
from ...machine import Machine, Watts
from ...steps import repeat, run, sample, sleep, timer
from ...units import NS_PER_MS
from ...workload import Group, Task, Workload

#: 16 cores of 2 threads. Watts are ASSUMED: 60 idle, 6 a busy core and 1 more for each busy thread.
CPUS, SMT = 32, 2
WATTS = Watts(idle_w=60.0, core_w=6.0, thread_w=1.0)
#: cgroups of the host without the root group; those of the workload are among them, the rest are idle.
CGROUPS = 4000
#: Tenants: a limited group each, sandboxes below it, some of them active. Their tasks share a cookie.
TENANTS, SANDBOXES, ACTIVE, TASKS = 4, 248, 6, 2
TENANT_QUOTA_US, SANDBOX_QUOTA_US = 450_000, 100_000
#: Guests: a limited group and a cookie each; their virtual CPUs compute once a cycle.
VMS, VCPUS, VM_QUOTA_US, VM_WORK = 3, 4, 300_000, "250ms"
#: Tasks of the host's own service that must answer at once: no cookie, no limit, a group of more weight.
FRONT, FRONT_WEIGHT, FRONT_SLICE_US = 16, 1000, 500
#: A batch task's operation, ns of work at speed 1.
OPERATION_NS = NS_PER_MS
#: The load's cycle: guests compute from its middle on.
CYCLE_MS = 2000


def machine() -> Machine:
    """Return the host's machine: topology and watts are assumed."""
    return Machine.uniform(
        CPUS, SMT, numbering="split", name="sandbox-host", watts=WATTS, not_hotplugged=(0,), description="16 cores x 2"
    )


def workload() -> Workload:
    """Return groups and tasks without hotplug."""
    groups, tasks = [], []
    for t in range(TENANTS):
        path = f"/t{t}"
        groups.append(Group(path, quota_us=TENANT_QUOTA_US, cookie=1 + t))
        for k in range(SANDBOXES):
            groups.append(Group(f"{path}/s{k}", quota_us=SANDBOX_QUOTA_US if k < ACTIVE else None))
        program = repeat(None, repeat(5, run(OPERATION_NS), sample()), sleep(exponential("2ms")))
        tasks += [
            Task(f"t{t}-s{k}-{n}", program, group=f"{path}/s{k}", label="batch")
            for k in range(ACTIVE)
            for n in range(TASKS)
        ]
    for v in range(VMS):
        path = f"/vm{v}"
        groups.append(Group(path, quota_us=VM_QUOTA_US, cookie=1 + TENANTS + v))
        program = repeat(None, timer(f"{CYCLE_MS}ms", f"{CYCLE_MS // 2}ms"), run(VM_WORK))
        tasks += [Task(f"vm{v}-{n}", program, group=path, label="vm") for n in range(VCPUS)]
    program = repeat(None, sleep(exponential("1ms")), run(exponential("100us")))
    groups.append(Group("/front", weight=FRONT_WEIGHT))
    tasks += [Task(f"front{n}", program, group="/front", slice_us=FRONT_SLICE_US, label="front") for n in range(FRONT)]
    return Workload(tuple(groups), tuple(tasks), name="sandbox host")
