"""The recording of a snapshot: scheduling events by ftrace, in an instance of our own that is removed again."""

from __future__ import annotations

import os
from pathlib import Path

_TRACEFS = ("sys/kernel/tracing", "sys/kernel/debug/tracing")
_EVENTS = (
    "sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup", "sched/sched_wakeup_new",
    "sched/sched_migrate_task", "sched/sched_process_fork", "sched/sched_process_exit",
)  # fmt: skip
#: Room for a CPU's events: some 100,000 of them.
_BUFFER_KB = "16384"
_BLOCK = 1 << 20


class Recorder:
    """An ftrace instance.

    Parameters
    ----------
    root : Path
        Where the host's /sys is.

    Raises
    ------
    ValueError
        When no tracefs is mounted, or it may not be used.
    """

    def __init__(self, root: Path):
        places = [root / place for place in _TRACEFS]
        top = next((place for place in places if (place / "instances").is_dir()), None)
        if top is None:
            raise ValueError(
                "trace=True: no tracefs is mounted, or it cannot be read "
                "(as root: mount -t tracefs tracefs /sys/kernel/tracing)"
            )
        self.instance = top / "instances" / f"schedlab-{os.getpid()}"
        self._told(lambda: make_instance(self.instance))

    def start(self) -> None:
        """Record from now on, on the clock that is the same on all CPUs."""
        settings = {"tracing_on": "0", "trace_clock": "mono", "buffer_size_kb": _BUFFER_KB}
        settings |= {f"events/{event}/enable": "1" for event in _EVENTS}
        for name, value in [*settings.items(), ("tracing_on", "1")]:
            self._told(lambda name=name, value=value: (self.instance / name).write_text(value))

    def stop(self) -> None:
        """Record no more."""
        self._told(lambda: (self.instance / "tracing_on").write_text("0"))

    def save(self, path: Path) -> None:
        """Write the events as text."""

        def copy():
            with open(self.instance / "trace", "rb") as source, open(path, "wb") as target:
                while block := source.read(_BLOCK):
                    target.write(block)

        self._told(copy)

    def remove(self) -> None:
        """Remove the instance, with what it recorded."""
        try:
            (self.instance / "tracing_on").write_text("0")
            self.instance.rmdir()
        except OSError:
            pass  # a host that does not let us tidy up is none the worse for it

    def _told(self, action) -> None:
        try:
            action()
        except OSError as error:
            self.remove()
            where = error.filename or self.instance
            raise ValueError(f"trace=True: {error.strerror or error} at {where} (root is needed)") from None


def make_instance(folder: Path) -> None:
    """Make an instance: the kernel fills the folder with its files."""
    folder.mkdir()
