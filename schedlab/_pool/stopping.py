"""Ends of work that are not its own: what stopped it, and how threads and workers get to know."""

import contextlib


class Stopped(Exception):
    """The work was stopped from outside before it ended."""


class Failed(RuntimeError):
    """A piece of work cannot be done, or the cluster was lost; the message is one line."""


class WorkerDied(Failed):
    """Each worker that began a piece of work died of it."""


# What was stopped in this process, and what to call when it is: threads and workers of a cluster look here.
_stopped: set[str] = set()
_to_call: dict[str, set] = {}


def stop(token: str) -> None:
    """Stop all work of a pool in this process."""
    _stopped.add(token)
    for callback in list(_to_call.get(token, ())):
        callback()


def check(token: str) -> None:
    """Raise Stopped when the pool of that token was stopped."""
    if token in _stopped:
        raise Stopped


@contextlib.contextmanager
def on_stop(token: str, callback):
    """Call `callback` when the pool of that token is stopped, also when it was before."""
    callbacks = _to_call.setdefault(token, set())
    callbacks.add(callback)
    try:
        if token in _stopped:
            callback()
        yield
    finally:
        callbacks.discard(callback)
