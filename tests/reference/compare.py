"""Runs a scenario in the engine and in the plain reference, and says where they part."""

import schedlab
from schedlab import reference

CONTEXT = 12
COUNTERS = (
    "usage_usec",
    "user_usec",
    "system_usec",
    "nr_periods",
    "nr_throttled",
    "throttled_usec",
    "nr_bursts",
    "burst_usec",
    "local_throttled_usec",
)
TIMES = ("end_ns", "exec_ns", "user_ns", "kernel_ns", "nr_switches", "nr_wakeups", "nr_migrations", "nr_samples")


def differences(machine, kernel, workload, duration_ns, seed=0) -> str:
    """Return a readable account of the first difference, nothing when both agree."""
    run = schedlab.simulate(machine, kernel, workload, duration_ns, seed=seed, log=True)
    plain = reference.simulate(machine, kernel, workload, duration_ns, seed=seed)
    engine = [tuple(row) for row in run.events().itertuples(index=False, name=None)]
    where = first_difference(engine, plain.events)
    if where is not None:
        return log_around(where, engine, plain.events)
    lines = []
    # what a kernel or a group without a limit does not count is missing from the engine's table
    stat = run.cpu_stat()
    for path, counters in plain.cpu_stat().items():
        lines += [
            f"cpu.stat {path} {name}: engine {int(stat.loc[path, name])}, reference {counters[name]}"
            for name in COUNTERS
            if stat.loc[path, name] == stat.loc[path, name] and int(stat.loc[path, name]) != counters[name]
        ]
    for row, task in zip(run.tasks().to_dict("records"), plain.tasks()):
        lines += [
            f"task {task['name']} {name}: engine {row[name]}, reference {task[name]}"
            for name in TIMES
            if row[name] != task[name]
        ]
    for row, channel in zip(run.channels().to_dict("records"), plain.channels()):
        lines += [
            f"channel {channel['channel']} {name}: engine {row[name]}, reference {value}"
            for name, value in channel.items()
            if row[name] != value
        ]
    if workload.core_scheduling:
        for what in ("forced_idle", "cookies"):
            for k, (row, plainly) in enumerate(zip(getattr(run, what)().to_dict("records"), getattr(plain, what)())):
                lines += [
                    f"{what} {k} {name}: engine {row[name]}, reference {value}"
                    for name, value in plainly.items()
                    if row[name] != value
                ]
    return "\n".join(lines)


def first_difference(engine, plain) -> int | None:
    """Return the place of the first event that differs, None when the logs are equal."""
    for place, (mine, theirs) in enumerate(zip(engine, plain)):
        if mine != theirs:
            return place
    return None if len(engine) == len(plain) else min(len(engine), len(plain))


def log_around(where, engine, plain) -> str:
    """Return the lines of both logs around a place, as a table."""
    lines = [f"event {where} differs (of {len(engine)} in the engine's log, {len(plain)} in the reference's)"]
    lines.append(f"{'':6} {'engine':<48} reference")
    for place in range(max(0, where - CONTEXT), where + CONTEXT // 2):
        mine, theirs = (text_of(log[place]) if place < len(log) else "-" for log in (engine, plain))
        mark = "  " if mine == theirs else "->"
        lines.append(f"{mark}{place:5} {mine:<48} {theirs}")
    return "\n".join(lines)


def text_of(event) -> str:
    """Return an event as a line."""
    time_ns, kind, cpu, a, b = event
    return f"{time_ns / 1e6:12.6f} ms cpu {cpu:2} {kind:<10} {a:4} {b}"
