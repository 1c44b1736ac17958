"""The topology in a copy of sysfs as a Machine."""

from pathlib import Path

from .._topology import parse_cpu_list
from ..machine import Machine
from .source import BadFile, read_text

_CPUS = "sys/devices/system/cpu"
_NODES = "sys/devices/system/node"
# How fast busy siblings are is not in sysfs. ASSUMED as in lscpu.
_LADDER = {1: (1.0,), 2: (1.0, 1.25)}


def _list(path: Path) -> tuple[int, ...] | None:
    if not path.is_file():
        return None
    text = read_text(path, 1 << 16).strip()
    try:
        return parse_cpu_list(text)
    except ValueError as error:
        raise BadFile(path, str(error)) from None


def machine_of(folder: Path, notes: list[str]) -> tuple[Machine, tuple[int, ...]]:
    """Return the machine, and the host's number of each of its CPUs; what did not fit goes into the notes."""
    base = folder / _CPUS
    found = sorted(int(p.parent.name[3:]) for p in base.glob("cpu[0-9]*/topology") if p.parent.name[3:].isdecimal())
    if not found:
        raise BadFile(base, "no topology of any CPU in it")
    place = {cpu: k for k, cpu in enumerate(found)}

    def sets(paths) -> tuple:
        lists = {tuple(place[cpu] for cpu in cpus if cpu in place) for cpus in map(_list, paths) if cpus}
        lists.discard(())
        covered = sorted(cpu for cpus in lists for cpu in cpus)
        return tuple(sorted(lists)) if covered == list(range(len(found))) else ()

    tops = [base / f"cpu{cpu}" for cpu in found]
    cores = sets(_either(top / "topology", "core_cpus_list", "thread_siblings_list") for top in tops)
    if not cores:
        notes.append("cores: the lists of siblings do not fit together, so each CPU is a core")
        cores = tuple((cpu,) for cpu in range(len(found)))
    llcs, nodes = sets(map(_last_cache, tops)), sets(sorted((folder / _NODES).glob("node[0-9]*/cpulist")))
    if len(found) != found[-1] + 1:
        notes.append("CPUs: some are offline, so the others have new numbers (cpu_numbers)")
    threads = max(map(len, cores))
    ladder = _LADDER.get(threads, tuple(1 + 0.25 * k for k in range(threads)))
    fields = {"name": folder.name, "cores": cores, "llcs": llcs, "smt_throughput": ladder}
    fields["source"] = "snapshot" + ("; throughput of busy siblings assumed" if threads > 1 else "")
    try:
        return Machine(nodes=nodes, **fields), tuple(found)
    except ValueError as error:
        notes.append(f"nodes and caches are left out: {error}")
        return Machine(**(fields | {"llcs": ()})), tuple(found)


def _either(folder, *names) -> Path:
    return next((folder / name for name in names if (folder / name).is_file()), folder / names[-1])


def _last_cache(top) -> Path:
    best = (-1, top / "none")
    for index in (top / "cache").glob("index[0-9]*"):
        level = index / "level"
        if level.is_file():
            text = read_text(level, 1 << 10).strip()
            if text.isascii() and text.isdecimal() and int(text) > best[0]:
                best = (int(text), index / "shared_cpu_list")
    return best[1]
