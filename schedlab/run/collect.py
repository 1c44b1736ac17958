"""The tables of a run out of the engine's state; intervals that are still open are closed in the copy."""

import numpy as np

#: What is counted for a channel.
CHANNEL_COUNTERS = (
    "written", "read", "writer_blocks", "reader_blocks", "writer_wakes", "reader_wakes", "writer_spurious",
    "reader_spurious",
)  # fmt: skip


def collect(state, kernel, workload) -> dict:
    """Return what the engine's state says of a run, by the names of Run's fields."""
    now, nr_tasks = int(state["sys_now"][0]), len(workload.tasks)
    task_table = _task_table(state, nr_tasks, now)
    open_cores = np.where(state["core_running"] > 0, now - state["core_since"], 0)
    open_cpus = np.where(state["cpu_curr"] >= 0, now - state["cpu_busy_since"], 0)
    return dict(
        duration_ns=now,
        nr_events=int(state["sys_nr_events"][0]),
        core_busy_ns=int((state["core_busy_ns"] + open_cores).sum()),
        thread_busy_ns=int((state["cpu_busy_ns"] + open_cpus).sum()),
        groups=_group_table(state, task_table),
        task_table=task_table,
        hists=state.arrays["hist"].copy(),
        cpu_table=_cpu_table(state),
        throttle_table=_throttle_table(state),
        limbo_warnings=int(state["sys_limbo_warnings"][0]),
        limbo_warned_at=int(state["sys_limbo_warned_at"][0]),
        buckets=_used_buckets(state),
        channel_table=_channel_table(state, len(workload.channels)),
        core_table=_core_table(state, now) if workload.core_scheduling or kernel.balance == "kernel" else None,
        cookie_table=_cookie_table(state, nr_tasks, now) if workload.core_scheduling else None,
    )


def _used_buckets(state):
    """A copy of the histograms; those without a value stay untouched (and so cost no memory)."""
    buckets = state["bucket_count"].reshape(len(state["hist_count"]), -1)
    copy = np.zeros_like(buckets)
    used = state["hist_count"] > 0
    copy[used] = buckets[used]
    return copy


def _channel_table(state, nr_channels):
    """Counters of the channels, None when there are none."""
    if nr_channels == 0:
        return None
    table = np.zeros(nr_channels, [(name, "i8") for name in CHANNEL_COUNTERS])
    for name in CHANNEL_COUNTERS:
        table[name] = state[f"chan_{name}"]
    return table


def _task_table(state, nr_tasks, now):
    names = (
        "start_ns", "end_ns", "exec_ns", "user_ns", "kernel_ns", "wait_ns", "nr_switches", "nr_wakeups",
        "nr_migrations", "nr_samples",
    )  # fmt: skip
    table = np.zeros(nr_tasks, [(name, "i8") for name in names])
    task = state.arrays["task"][:nr_tasks]
    for name in ("user_ns", "kernel_ns", "wait_ns", "nr_switches", "nr_wakeups", "nr_migrations", "nr_samples"):
        table[name] = task[name]
    table["start_ns"], table["end_ns"] = task["start"], task["end"]
    table["exec_ns"] = state["se_sum_exec"][:nr_tasks]
    running = [(cpu, t) for cpu, t in enumerate(state["cpu_curr"]) if t >= 0]
    for cpu, t in running:
        table["exec_ns"][t] += now - state["se_exec_start"][t]
        mode = "kernel_ns" if task["mode"][t] else "user_ns"
        table[mode][t] += now - state["cpu_mode_stamp"][cpu]
    waiting = (state["se_on_rq"][:nr_tasks] != 0) & (state["se_delayed"][:nr_tasks] == 0)
    waiting[[t for _, t in running]] = False
    table["wait_ns"] += np.where(waiting, now - task["wait_since"], 0)
    return table


def _counters(records, fields):
    """Fields of the engine's records, by the names that a run has for them."""
    table = np.zeros(len(records), [(name, "i8") for name in fields])
    for name, field in fields.items():
        table[name] = records[field]
    return table


def _cpu_table(state):
    sources = {
        "nr_schedules": "nr_schedules",
        "nr_switches": "nr_switches",
        "nr_works": "nr_works",
        "nr_served": "nr_served",
        "nr_walked": "nr_walked",
        "nr_requeued": "nr_requeued",
        "nr_irqoff": "nr_irqoff",
        "irqoff_ns": "irqoff_ns",
        "irqoff_max_ns": "irqoff_max",
    }
    return _counters(state.arrays["cpu"], sources)


def _core_table(state, now):
    cpu = state.arrays["cpu"]
    names = (
        "nr_core_picks", "nr_fast_picks", "nr_core_balances", "nr_steals", "nr_pushes", "nr_scanned", "nr_locked",
        "nr_active_balances",
    )  # fmt: skip
    table = np.zeros(len(cpu), [(name, "i8") for name in ("forced_idle_ns", "nr_forced_idle", *names)])
    table["forced_idle_ns"] = cpu["forced_ns"] + np.where(cpu["forced"] != 0, now - cpu["forced_since"], 0)
    table["nr_forced_idle"] = cpu["nr_forced"]
    for name in names:
        table[name] = cpu[name]
    return table


def _cookie_table(state, nr_tasks, now):
    """The charges to tasks; those of force idle that is going on are closed in the copy."""
    table = np.zeros(nr_tasks, [("cookie", "i8"), ("forceidle_ns", "i8")])
    table["cookie"] = state["task_cookie"][:nr_tasks]
    table["forceidle_ns"] = state["task_forceidle_ns"][:nr_tasks]
    core = state.arrays["core"]
    for c, (task, k) in enumerate(zip(state["cpu_curr"], state["cpu_core"], strict=True)):
        pick = int(state["cpu_core_pick"][c])
        task = pick if pick != -2 else int(task)
        if core["fi_started"][k] and task >= 0:
            delta, count = now - int(core["fi_start"][k]), int(core["fi_count"][k])
            table["forceidle_ns"][task] += delta * count // max(1, int(core["fi_occupation"][k]))
    return table


def _throttle_table(state):
    sources = {
        "nr_throttles": "nr_marks",
        "nr_rethrottled": "nr_rethrottled",
        "nr_works": "nr_works",
        "overrun_ns": "overrun_ns",
        "overrun_max_ns": "overrun_max",
    }
    return _counters(state.arrays["tg"], sources)


def _group_table(state, task_table):
    names = (
        "usage_ns", "user_ns", "system_ns", "nr_periods", "nr_throttled", "throttled_ns", "nr_bursts", "burst_ns",
        "local_throttled_ns", "limited",
    )  # fmt: skip
    tg = state.arrays["tg"]
    table = np.zeros(len(tg), [(name, "i8") for name in names])
    for name in ("nr_periods", "nr_throttled", "throttled_ns", "nr_bursts", "burst_ns"):
        table[name] = tg[name]
    table["limited"] = tg["quota"] >= 0
    np.add.at(table["local_throttled_ns"], state["rq_tg"], state["rq_throttled_self_ns"])
    group = state["task_group"][: len(task_table)]
    for name, column, left in (
        ("usage_ns", "exec_ns", "left_exec"),
        ("user_ns", "user_ns", "left_user"),
        ("system_ns", "kernel_ns", "left_kernel"),
    ):  # what a task used before it moved to another group stays with the old one
        np.add.at(table[name], group, task_table[column] - state["task_" + left][: len(task_table)])
        table[name] += tg[left]
        for g in range(len(tg) - 1, 0, -1):  # children come after their parent
            table[name][tg["parent"][g]] += table[name][g]
    return table
