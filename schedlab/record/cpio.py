"""A newc cpio archive: what a kernel takes as its initramfs."""

MODES = {"dir": 0o040755, "program": 0o100755, "file": 0o100644}


def archive(entries: list[tuple[str, str, bytes]]) -> bytes:
    """Return an archive of (name, kind, bytes), kinds "dir", "program" and "file"; the same bytes each time.

    Examples
    --------
    >>> archive([("init", "program", b"#!/bin/sh")])[:6]
    b'070701'
    """
    packed = b"".join(_entry(k + 1, *entry) for k, entry in enumerate(entries))
    packed += _entry(0, "TRAILER!!!", None, b"")
    return packed + b"\0" * (-len(packed) % 512)


def _entry(inode, name, kind, content):
    fields = [inode, MODES.get(kind, 0), 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + "".join(f"{field:08X}" for field in fields).encode() + name.encode() + b"\0"
    head += b"\0" * (-len(head) % 4)
    return head + content + b"\0" * (-len(content) % 4)
