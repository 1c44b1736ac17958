"""Readers and writers: what other programs left becomes a noun or a table."""

from . import lscpu, recordings

__all__ = ["lscpu", "recordings"]
