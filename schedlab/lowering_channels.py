"""Channels from the nouns to the engine's records."""

from __future__ import annotations

from .channels import PIPE_PAGES, SNDBUF_BYTES


def channel_lengths(workload) -> dict[str, int]:
    """Return the lengths of the engine's records of channels."""
    nr = max(1, len(workload.channels))
    return {"chan": nr, "page": nr * PIPE_PAGES}


def fill_channels(state, kernel, workload, first_sync: int) -> None:
    """Fill them; the lists of readers and writers are those from `first_sync` on, two a channel."""
    rows = state.arrays["chan"]
    for c, channel in enumerate(workload.channels):
        row = rows[c]
        row["pipe"] = channel.kind == "pipe"
        row["per_slot"], row["nr_slots"] = channel.messages_per_slot, channel.slots
        row["truesize"], row["sndbuf"] = channel.truesize, SNDBUF_BYTES
        row["readers"], row["writers"] = first_sync + 2 * c, first_sync + 2 * c + 1
        row["wake_on_free"] = kernel.pipe_wake_on_free
