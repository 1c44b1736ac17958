"""Random scenarios of core scheduling, and what their tests look at after each event."""

import numpy as np
from hypothesis import strategies as st
from random_scenarios import FOREVER, MS, Scenario

import schedlab as sl

RELEASES = ("6.12", "6.18", "6.19", "7.2")
PUSHES = ("push-recheck", "push-skip-core-pick", "push-skip-delayed", "push-by-quality")
BALANCES = ("lb-force-idle-source", "lb-force-idle-destination", "lb-keep-cookies-together", "wake-cookie-check")
NO_PICK = -2


# ---- drawing ---------------------------------------------------------------------------------------------------------


@st.composite
def kernels(draw, patches=None, releases=RELEASES, balances=("simple", "kernel")):
    kernel = sl.Kernel.version(draw(st.sampled_from(releases)), hz=draw(st.sampled_from((250, 1000))))
    kernel = kernel.with_(balance=draw(st.sampled_from(balances)), skew_tick=draw(st.booleans()))
    if patches is None:
        patches = ["core-tree-sorted"] if draw(st.booleans()) else []
        if draw(st.booleans()):
            patches += ["force-idle-push", *(p for p in PUSHES if draw(st.integers(0, 3)) == 0)]
        if kernel.balance == "kernel":
            patches += [p for p in BALANCES if draw(st.integers(0, 3)) == 0]
    return kernel.with_patch(*patches)


naps = st.one_of(st.integers(50_000, 9 * MS), st.sampled_from((MS, 4 * MS)))


@st.composite
def tasks(draw, nr_cpus, paths=("/",)):
    made = []
    for k in range(draw(st.integers(3, 14))):
        program = FOREVER
        if draw(st.integers(0, 2)):
            program = sl.repeat(None, sl.run(draw(naps)), sl.sleep(draw(naps)))
        cpus = tuple(draw(st.sets(st.integers(0, nr_cpus - 1), min_size=1))) if draw(st.integers(0, 2)) == 0 else None
        extra = {"nice": draw(st.sampled_from((0, 0, 5, -5))), "start_ns": draw(st.sampled_from((0, 0, MS, 5_432_101)))}
        cookie = draw(st.sampled_from((0, 1, 1, 2, 2, 3)))
        made.append(sl.Task(f"t{k}", program, draw(st.sampled_from(paths)), cookie=cookie, cpus=cpus, **extra))
    return made


@st.composite
def machines(draw):
    smt = draw(st.sampled_from((2, 2, 2, 4)))
    nr_cpus = draw(st.sampled_from((4, 8)))
    return sl.Machine.uniform(
        nr_cpus,
        smt,
        numbering=draw(st.sampled_from(("adjacent", "split"))),
        nr_llcs=draw(st.sampled_from((1, nr_cpus // 4))),
    )


@st.composite
def scenarios(draw, patches=None, flat=False, **kernel):
    """Four or eight CPUs, two or four threads a core; three cookies and none, affinities, sleeps, groups."""
    machine = draw(machines())
    groups = () if flat else draw(st.sampled_from(((), ("/a", "/a/b"))))
    quota_us = draw(st.sampled_from((None, None, 15_000)))
    made = [sl.Group(path, quota_us=quota_us if path == "/a" else None, period_us=20_000) for path in groups]
    work = draw(tasks(machine.nr_cpus, ("/", *groups)))
    events = [sl.SetCookie(draw(st.integers(0, 50 * MS)), work[0].name, draw(st.integers(1, 3)))]
    linux = draw(kernels(patches, **kernel))
    return Scenario(machine, linux, sl.Workload(made, work, events), draw(st.integers(0, 9)), 40 * MS)


@st.composite
def hotplug(draw, nr_cpus):
    """CPUs that go offline within 30 ms, some of which come back; one stays."""
    events = []
    for cpu in draw(st.sets(st.integers(0, nr_cpus - 1), min_size=1, max_size=min(4, nr_cpus - 1))):
        at = draw(st.one_of(st.integers(0, 30 * MS), st.sampled_from((4 * MS, 8 * MS, 12 * MS))))
        events.append(sl.SetCpuOnline(at, cpu, online=False))
        if draw(st.integers(0, 2)):
            events.append(sl.SetCpuOnline(at + draw(st.integers(1, 20 * MS)), cpu, online=True))
    return events


@st.composite
def holds(draw, nr_cpus):
    """CPUs that are held for up to 5 ms, one or several times."""
    found = draw(
        st.lists(st.tuples(st.integers(0, 35 * MS), st.integers(0, nr_cpus - 1), naps), min_size=1, max_size=6)
    )
    return [sl.HoldCpu(at, cpu, min(length, 5 * MS)) for at, cpu, length in found]


@st.composite
def disturbed(draw, offline, held, **more):
    """The scenarios above with hotplug, with held CPUs, or with both."""
    scenario = draw(scenarios(**more))
    nr_cpus = scenario.machine.nr_cpus
    events = (draw(hotplug(nr_cpus)) if offline else []) + (draw(holds(nr_cpus)) if held else [])
    work = scenario.workload.replace(events=(*scenario.workload.events, *events))
    return Scenario(scenario.machine, scenario.kernel, work, scenario.seed, scenario.until_ns)


@st.composite
def plain(draw, cookie, pinned=False):
    """Scenarios whose tasks all have one cookie, without groups; each may be pinned to a CPU."""
    drawn = draw(tasks(8))
    cpus = {t.name: (k % 8,) if pinned else t.cpus for k, t in enumerate(drawn)}
    made = [sl.Task(t.name, t.program, cpus=cpus[t.name], start_ns=t.start_ns, cookie=cookie) for t in drawn]
    return Scenario(
        sl.Machine.uniform(8, 2), draw(kernels()), sl.Workload(tasks=made), draw(st.integers(0, 9)), 40 * MS
    )


# ---- looking ---------------------------------------------------------------------------------------------------------


def cores(probe):
    return [np.array(core) for core in probe.sim.machine.cores]


def queued(state, cpu):
    """Tasks of the list of cookies of a CPU, in order."""
    found, task = [], int(state["cpu_core_head"][cpu])
    while task >= 0:
        found.append(task)
        task = int(state["task_core_next"][task])
    return found


def may_run(probe, task, cpu):
    """Whether the task's affinity at the start holds the CPU."""
    cpus = probe.sim.workload.tasks[task].cpus
    return cpus is None or cpu in cpus


def check_siblings(probe, skip=()):
    """G1, G2, G5, G6: siblings run the core's cookie alone, and none idles that has a task of it (but for cookie 0).

    `skip`: CPUs that have not yet heard of a pick. A core that runs nothing and has nothing queued has cookie 0. A task
    that waits and is given a cookie is looked at by the next pick only (sched_core_update_cookie() asks for none).
    """
    state, cookie = probe.state, probe.state["task_cookie"]
    names = [task.name for task in probe.sim.workload.tasks]
    given = {names.index(e.task) for e in probe.sim.workload.events if isinstance(e, sl.SetCookie)}
    for k, core in enumerate(cores(probe)):
        if any(cpu in skip for cpu in core):
            continue
        running = [int(probe.curr[c]) for c in core if probe.curr[c] >= 0]
        assert {int(cookie[t]) for t in running} <= {int(state["core_cookie"][k])}
        if not running and not state["rq_h_nr"][core].any():
            assert state["core_cookie"][k] == 0
        if state["core_cookie"][k] == 0:
            continue
        stale = given if state["core_task_seq"][k] != state["core_pick_seq"][k] else ()
        for c in core[probe.curr[core] < 0]:
            for t in queued(state, c):
                if t in stale:
                    continue
                throttled = state["rq_throttle_count"][state["task_group"][t] * probe.nr_cpus + c]
                assert cookie[t] != state["core_cookie"][k] or throttled


def check_lists(probe):
    """G8: who is queued, has a cookie and is not delayed is in the list of cookies of its CPU; lists are by cookie.

    Every task that is queued is in the list of tasks of its CPU, once; who runs does so there, and nowhere else.
    """
    state, n = probe.state, probe.nr_tasks
    on_rq = state["se_on_rq"][:n] != 0
    want = (on_rq | (state["task_throttled"][:n] != 0)) & (state["task_cookie"][:n] != 0)
    want &= state["se_delayed"][:n] == 0
    found = {t: c for c in range(probe.nr_cpus) for t in queued(state, c)}
    assert {int(t): int(state["task_cpu"][t]) for t in np.flatnonzero(want)} == found
    for c in range(probe.nr_cpus):
        assert (np.diff(state["task_cookie"][queued(state, c)]) >= 0).all()
    assert (state["task_core_listed"][:n] == want).all()
    placed = []
    for c in range(probe.nr_cpus):
        task = int(state["cpu_tasks_head"][c])
        while task >= 0:
            placed.append((task, c))
            task = int(state["task_link_next"][task])
    assert sorted(placed) == [(t, state["task_cpu"][t]) for t in np.flatnonzero(on_rq)]
    running = probe.curr[probe.curr >= 0]
    assert len(set(running)) == len(running)
    assert (state["task_cpu"][running] == np.flatnonzero(probe.curr >= 0)).all()
    if len(probe.sim.workload.group_paths) == 1:
        assert state["rq_h_nr"][: probe.nr_cpus].sum() == on_rq.sum()


def check_accounting(sim):
    """G7: what tasks are charged is the integral of the count, within the rounding; busy and forced idle fit in."""
    charged, integral = sim.state["task_forceidle_ns"].sum(), sim.state["core_fi_integral"].sum()
    flushes = sim.state["cpu_nr_core_picks"].sum() + 60 * len(sim.state["cpu_curr"])
    assert integral - 3 * flushes <= charged <= integral
    if sim.machine.threads_per_core == 2:
        assert charged == integral
    run = sim.result()
    busy = sim.state["cpu_busy_ns"] + np.where(sim.state["cpu_curr"] >= 0, sim.now - sim.state["cpu_busy_since"], 0)
    assert (busy + run.core_table["forced_idle_ns"] <= sim.now).all()
