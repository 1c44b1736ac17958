"""One core by hand: what two and more cookies on its two siblings get, and the schedule of a force idle."""

import pandas as pd

from ...events import SetAffinity
from ...kernel import Kernel
from ...machine import Machine
from ...simulate import simulate
from ...steps import run as work_for
from ...units import NS_PER_MS
from ...workload import Task, Workload
from .._threads import in_threads
from .scenario import PUSH

#: nice 3 has about half the weight of nice 0: 526 of 1024.
HALF = 3
_HALF_SHARE = 100 * 526 / (526 + 1024)
#: Layouts: tasks as (name, cookie, CPU, nice), the share of a CPU that each should get in percent, and for how much of
#: the time a sibling should be forced idle (worked out by hand, and by two independent programs; fact sheet F).
LAYOUTS = {
    "A1 | B2": ((("A", 1, 0, 0), ("B", 2, 1, 0)), (50, 50), 100),
    "A1 | B1 C2": ((("A", 1, 0, 0), ("B", 1, 1, 0), ("C", 2, 1, 0)), (50, 50, 50), 50),
    "A1 D2 | B1 C2": ((("A", 1, 0, 0), ("D", 2, 0, 0), ("B", 1, 1, 0), ("C", 2, 1, 0)), (50, 50, 50, 50), 0),
    "A1 D3 | B1 C2": (
        (("A", 1, 0, 0), ("D", 3, 0, 0), ("B", 1, 1, 0), ("C", 2, 1, 0)), (100 / 3,) * 4, 200 / 3,
    ),
    "A0 | B1": ((("A", 0, 0, 0), ("B", 1, 1, 0)), (50, 50), 100),
    "A1 half | B2": ((("A", 1, 0, HALF), ("B", 2, 1, 0)), (_HALF_SHARE, 100 - _HALF_SHARE), 100),
    "A1 | B2 C2": ((("A", 1, 0, 0), ("B", 2, 1, 0), ("C", 2, 1, 0)), (100 / 3,) * 3, 100),
}  # fmt: skip
#: Length of a run of the table, s.
SECONDS = 20
#: Ticks per second that are tried: the shares must not depend on them.
RATES = (250, 1000)
#: The three schedules: when tasks are let go from where they began, and what is shown, ms.
RELEASE_MS, SHOWN_MS = 22, 60


def df_micro(kernel: str = "6.18") -> pd.DataFrame:
    """Return what the model gives for each layout on one core, beside what it should.

    Returns
    -------
    pandas.DataFrame
        layout (CPU 0 | CPU 1, each task with its cookie), hz, shares and expected_shares (text, percent by task),
        largest_error (of a share, points), forced_idle and expected_forced_idle (percent of the time), core_use and
        expected_core_use (percent of two CPUs).
    """
    cases = [(layout, hz) for layout in LAYOUTS for hz in RATES]
    return pd.DataFrame(in_threads(lambda case: _micro(kernel, *case), cases))


def _micro(kernel, layout, hz):
    tasks, expected, forced = LAYOUTS[layout]
    machine = Machine.uniform(2, 2)
    work = Workload(tasks=[Task(n, work_for("1000s"), cookie=k, cpus=c, nice=nice) for n, k, c, nice in tasks])
    run = simulate(machine, Kernel.version(kernel, hz=hz), work, f"{SECONDS}s")
    shares = 100 * run.task_table["exec_ns"] / run.duration_ns
    return {
        "layout": layout,
        "hz": hz,
        "shares": _percent(tasks, shares),
        "expected_shares": _percent(tasks, expected),
        "largest_error": float(abs(shares - expected).max()),
        "forced_idle": 100 * float(run.core_table["forced_idle_ns"].sum()) / run.duration_ns,
        "expected_forced_idle": float(forced),
        "core_use": float(shares.sum() / 2),
        "expected_core_use": sum(expected) / 2,
    }


def _percent(tasks, shares):
    return " ".join(f"{task[0]} {share:.1f}" for task, share in zip(tasks, shares))


#: What is drawn: the kernel's patches, and the tasks as (name, cookie, CPU); all may go anywhere after RELEASE_MS.
SCENES = {
    "baseline": ((), (("A", 1, 0), ("B", 2, 1))),
    "steal": ((), (("A", 1, 0), ("B", 2, 1), ("C", 1, 2), ("D", 2, 2))),
    "push": ((PUSH,), (("A", 1, 0), ("B", 2, 1))),
}


def df_schedules(kernel: str = "6.18", hz: int = 250) -> pd.DataFrame:
    """Return the schedules of two cores of two siblings with forced idle marked, in three scenes.

    Tasks are pinned at first. In "baseline" and "push" the second core is idle; in "steal" two tasks of the same
    cookies wait in turn on one CPU of it.

    Returns
    -------
    pandas.DataFrame
        scene, cpu, start_ms, end_ms, what ("task", "forced idle", "steal" or "push"; the last two are instants), task,
        cookie (of the task; of the core while forced idle).
    """
    parts = [_scene(scene, kernel, hz) for scene in SCENES]
    return pd.concat(parts, ignore_index=True)


def _scene(scene, kernel, hz):
    patches, tasks = SCENES[scene]
    machine = Machine.uniform(4, 2)
    everywhere = tuple(range(machine.nr_cpus))
    work = Workload(
        tasks=[Task(name, work_for("1000s"), cookie=cookie, cpus=cpu) for name, cookie, cpu in tasks],
        events=[SetAffinity(f"{RELEASE_MS}ms", name, everywhere) for name, _, _ in tasks],
    )
    with_patches = Kernel.version(kernel, hz=hz).with_patch(*patches)
    run = simulate(machine, with_patches, work, f"{SHOWN_MS}ms", log=True)
    cookies = {name: cookie for name, cookie, _ in tasks}
    rows = [
        (s.cpu, s.start_ns / NS_PER_MS, s.end_ns / NS_PER_MS, "task", s.task, cookies[s.task])
        for s in run.spans().itertuples()
    ]
    rows += _forced(run) + _moves(run, cookies)
    table = pd.DataFrame(rows, columns=["cpu", "start_ms", "end_ms", "what", "task", "cookie"])
    table.insert(0, "scene", scene)
    return table


def _forced(run):
    """Spans during which each CPU was forced idle."""
    rows, begun = [], {}
    for record in run.log[run.log["kind"] == run.kinds.index("forced_idle")]:
        cpu = int(record["cpu"])
        if cpu in begun:
            start, cookie = begun.pop(cpu)
            rows.append((cpu, start, record["time"] / NS_PER_MS, "forced idle", "", cookie))
        if record["a"]:
            begun[cpu] = (record["time"] / NS_PER_MS, int(record["b"]))
    end = run.duration_ns / NS_PER_MS
    rows += [(cpu, start, end, "forced idle", "", cookie) for cpu, (start, cookie) in begun.items()]
    return [row for row in rows if row[2] > row[1]]


def _moves(run, cookies):
    names = [task.name for task in run.workload.tasks]
    return [
        (int(r["cpu"]), r["time"] / NS_PER_MS, r["time"] / NS_PER_MS, kind, names[r["a"]], cookies[names[r["a"]]])
        for kind in ("steal", "push")
        for r in run.log[run.log["kind"] == run.kinds.index(kind)]
    ]
