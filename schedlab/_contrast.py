"""Two runs side by side: their counters, and the inputs in which they differ."""

import dataclasses

_NOT_COUNTERS = {"limited", "name", "group", "label", "kind", "seconds"}
_LATENCIES = ["count", "mean_us", "p50_us", "p99_us", "max_us"]


def counter_rows(a, b, everything: bool):
    """Return the counters of two runs and their differences; see `Difference.counters`."""
    import numpy as np
    import pandas as pd

    mine, theirs = _counters(a), _counters(b)
    keys = list(mine | theirs)
    table = pd.DataFrame(keys, columns=["table", "name", "counter"])
    table["a"] = np.array([mine.get(key, np.nan) for key in keys], float)
    table["b"] = np.array([theirs.get(key, np.nan) for key in keys], float)
    table["b_minus_a"] = table["b"] - table["a"]
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = 100 * table["b_minus_a"].to_numpy() / np.abs(table["a"].to_numpy())
    table["percent"] = np.where(table["b_minus_a"] == 0, 0.0, percent)
    if not everything:
        same = (table["a"] == table["b"]) | (table["a"].isna() & table["b"].isna())
        table = table[~same]
    by_size = (-table["percent"].abs().fillna(-1.0)).argsort(kind="stable")  # what one of them lacks comes last
    return table.iloc[by_size].reset_index(drop=True)


def _counters(run) -> dict[tuple[str, str, str], float]:
    """All counters of a run by (table, name of the row, counter)."""
    tasks = run.tasks()
    rows = {("run", "", "duration_ns"): run.duration_ns, ("run", "", "nr_events"): run.nr_events}
    for counter in ("nr_switches", "nr_wakeups", "nr_migrations"):
        rows["run", "", counter] = tasks[counter].sum()
    rows |= {("power", "", name): value for name, value in run.power().items() if name not in _NOT_COUNTERS}
    rows |= _flat("cpu.stat", run.cpu_stat())
    tasks["end_ns"] = tasks["end_ns"].where(tasks["end_ns"] >= 0)  # -1 is no time: it still runs
    rows |= _flat("task", tasks.set_index("name"))
    latencies = run.latencies()
    return rows | _flat("latency", latencies.set_index(latencies["label"] + " " + latencies["kind"])[_LATENCIES])


def _flat(name, table):
    counters = [column for column in table.columns if column not in _NOT_COUNTERS]
    return {(name, index, c): value for index, row in table[counters].iterrows() for c, value in row.items()}


def input_rows(a, b, everything: bool):
    """Return the inputs of two runs; see `Difference.inputs`."""
    import pandas as pd

    mine, theirs = _inputs(a), _inputs(b)
    rows = [(key, mine.get(key), theirs.get(key)) for key in mine | theirs]
    if not everything:
        rows = [row for row in rows if row[1] != row[2] and not _within_a_missing(row[0], mine, theirs)]
    return pd.DataFrame(rows, columns=["input", "a", "b"], dtype=object)


def _within_a_missing(key, mine, theirs):
    """Whether a group or task that only one of them has says it already."""
    owner = key.rpartition(" ")[0]
    return bool(owner) and (owner in mine) != (owner in theirs)


def _inputs(run) -> dict[str, object]:
    """Every input of a run by name; a set is shown sorted, a group or task also has a row of its own."""
    fields = _fields("machine", run.machine) | _fields("kernel", run.kernel)
    work = run.workload
    fields["workload.name"] = work.name
    for what, items, name in (("group", work.groups, "path"), ("task", work.tasks, "name")):
        for item in items:
            owner = f"{what} {getattr(item, name)}"
            fields[owner] = "there"
            parts = _fields("", item)
            del parts[f".{name}"]
            fields |= {f"{owner} {key[1:]}": value for key, value in parts.items()}
    known = {"name", "groups", "tasks"}
    fields |= {f"workload.{f.name}": getattr(work, f.name) for f in dataclasses.fields(work) if f.name not in known}
    return fields | {"seed": run.seed, "duration_ns": run.duration_ns}


def _fields(prefix, noun):
    rows = {}
    for field in dataclasses.fields(noun):
        value = getattr(noun, field.name)
        if dataclasses.is_dataclass(value):
            rows |= _fields(f"{prefix}.{field.name}", value)
        else:
            rows[f"{prefix}.{field.name}"] = tuple(sorted(value)) if isinstance(value, frozenset) else value
    return rows
