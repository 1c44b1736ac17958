"""Recordings of real kernels: made in a guest or on this machine, and brought into the one form that the reader takes.

`guest` boots a kernel image in QEMU, `host` runs on this machine as root; `form` is the form, `ftrace` reads traces.
The programs that run on the recorded kernel are in ``programs``.
"""
