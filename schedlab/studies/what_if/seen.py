"""Latencies that a recording shows: what its tasks waited for a CPU, and how long each activation took."""

import numpy as np


def seen_latencies(spans, pids) -> dict[str, np.ndarray]:
    """Return the latencies of some tasks in a recording.

    Parameters
    ----------
    spans : pandas.DataFrame
        From `Trace.spans`.
    pids : set of int

    Returns
    -------
    dict of str to numpy.ndarray
        "wakeup": from the end of each sleep to running; "completion": to the beginning of the next sleep. Unordered,
        ns. Activations that begin before or end after what is known are left out.
    """
    mine = spans[spans["pid"].isin(pids)].sort_values(["pid", "start_ns"], kind="stable")
    wakeup, completion = [], []
    for _, rows in mine.groupby("pid"):
        woken = None  # when the activation began; None: not known
        waits, last_ns = False, None
        for state, start_ns, end_ns in zip(rows["state"].tolist(), rows["start_ns"].tolist(), rows["end_ns"].tolist()):
            if last_ns is not None and start_ns > last_ns:
                woken, waits = None, False  # of the time between nothing is known
            last_ns = end_ns
            if state == "sleeping":
                if woken is not None:
                    completion.append(start_ns - woken)
                woken, waits = end_ns, True
            elif state == "running" and waits:
                wakeup.append(start_ns - woken)
                waits = False
    return {"wakeup": np.array(wakeup, np.int64), "completion": np.array(completion, np.int64)}
