"""A run in a folder: run.json and one parquet file a table, with the digest of what was computed."""

from __future__ import annotations

import json
import pathlib

import numpy as np

from ..serial import from_json, to_json
from . import TABLES, Run

_FORMAT = 2
_HEAD = (
    "seed", "duration_ns", "nr_events", "core_busy_ns", "thread_busy_ns", "kinds", "log_kinds", "log_lost",
    "limbo_warnings", "limbo_warned_at",
)  # fmt: skip


def save(run, folder) -> pathlib.Path:
    """Write the run into a folder: run.json and one parquet file a table. Returns the folder."""
    import pandas as pd

    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        array = getattr(run, name)
        if array is None:
            continue
        if name == "buckets":
            row, column = np.nonzero(array)
            array = {"hist": row, "bucket": column, "count": array[row, column]}
        else:
            array = {column: array[column] for column in array.dtype.names}
        pd.DataFrame(array).to_parquet(folder / f"{name}.parquet")
    np.savetxt(folder / "bucket_edges.csv", run.bucket_edges, fmt="%d")
    head = {name: getattr(run, name) for name in _HEAD}
    head |= {name: to_json(getattr(run, name)) for name in ("machine", "kernel", "workload")}
    text = json.dumps({"schedlab_run": _FORMAT, "digest": run.digest(), **head}, indent=1)
    (folder / "run.json").write_text(text + "\n")
    return folder


def load(folder) -> Run:
    """Read a run that `save` wrote.

    Raises
    ------
    ValueError
        When the folder holds no run, or one that was changed.
    """
    folder = pathlib.Path(folder)
    try:
        head = json.loads((folder / "run.json").read_text())
    except (OSError, ValueError) as error:
        raise _no_run(folder, f"no run.json of a saved run ({error})") from None
    if not isinstance(head, dict) or head.pop("schedlab_run", None) != _FORMAT:
        raise _no_run(folder, f"run.json is not of format {_FORMAT}")
    said = head.pop("digest", None)
    try:
        head |= {name: from_json(head[name]) for name in ("machine", "kernel", "workload")}
        head["kinds"], head["log_kinds"] = tuple(head["kinds"]), tuple(head["log_kinds"])
        run = Run(**head, **_tables(folder))
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise _no_run(folder, f"a file of it is missing or damaged ({error})".replace("\n", " ")) from None
    if run.digest() != said:
        raise _no_run(folder, "the tables do not match run.json (changed or damaged)")
    return run


def _no_run(folder, why) -> ValueError:
    return ValueError(f"folder={str(folder)!r}: {why}")


def _tables(folder) -> dict:
    import pandas as pd

    edges = np.array((folder / "bucket_edges.csv").read_text().split(), dtype=np.int64)
    tables = {"bucket_edges": edges}
    for name in TABLES:
        path = folder / f"{name}.parquet"
        found = pd.read_parquet(path) if path.exists() else None
        if name == "buckets":
            array = np.zeros((len(tables["hists"]), len(edges) - 1), np.int64)
            array[found["hist"], found["bucket"]] = found["count"]
        elif found is not None:
            rows = found.to_records(index=False)
            array = np.array(rows.tolist(), [(column, "i8") for column in rows.dtype.names])
        else:
            array = None
        tables[name] = array
    return tables
