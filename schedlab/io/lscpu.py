"""lscpu: the topology of a real machine, as a Machine."""

import json
import re
from pathlib import Path

from .. import _check
from .._topology import parse_cpu_list
from ..machine import Machine, Watts
from .source import BadFile, read_text

# lscpu does not say how much a core does with several busy threads. ASSUMED: 1.25 for two threads, as for the x86
# machines in data/machines; for more the ladder of power-8core-smt8.
_ASSUMED_LADDER = {1: (1.0,), 2: (1.0, 1.25)}
_POWER_LADDER = (1.0, 1.45, 1.625, 1.80, 1.96868, 2.13736, 2.30604, 2.47472)
_CACHES = ("l3", "l2", "l1d")


def read(path: str | Path, **options) -> Machine:
    """Return the machine whose ``lscpu -p`` or ``lscpu -J`` output is in a file; options as in `parse`.

    Examples
    --------
    >>> read("lscpu.txt", name="build host")  # doctest: +SKIP
    """
    text = read_text(path)
    try:
        return parse(text, **options)
    except ValueError as error:
        raise BadFile(path, str(error)) from None


def parse(
    text: str,
    *,
    name: str = "lscpu",
    smt_throughput: tuple[float, ...] | None = None,
    watts: Watts | None = None,
    numbering: str | None = None,
    renumber: bool = False,
) -> Machine:
    """Return the machine that the output of lscpu describes.

    ``lscpu -p`` and ``lscpu -J -e`` name each CPU's core, node and caches. The summary ``lscpu -J`` has counts
    alone, so which CPUs are siblings is concluded from the nodes or from the architecture.

    Parameters
    ----------
    text : str
        What ``lscpu -p``, ``lscpu -J`` or ``lscpu -J -e`` printed.
    name : str
    smt_throughput : tuple of float, optional
        As in Machine; lscpu does not know it, and the default is assumed: 1.25 for two threads.
    watts : Watts, optional
    numbering : {"adjacent", "split"}, optional
        For the summary alone: how siblings are numbered, as in `Machine.uniform`.
    renumber : bool
        Whether CPUs get new numbers without gaps when some are offline; without it that is an error.

    Raises
    ------
    ValueError
        When the text is not of lscpu, or CPUs are offline.

    Examples
    --------
    >>> parse("# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\\n0,0,0,0,,0,0,0,0\\n1,0,0,0,,0,0,0,0\\n").cores
    ((0, 1),)
    """
    if numbering is not None:
        _check.choice("numbering", numbering, ("adjacent", "split"))
    source = "lscpu"
    if text.lstrip().startswith("{"):
        try:
            tree = json.loads(text)
        except json.JSONDecodeError as error:
            raise _check.wrong("text", text, f"looks like JSON but is not: {error}") from None
        if "cpus" in tree:
            topology = _from_rows([_lowered(row) for row in tree["cpus"]], renumber)
        elif "lscpu" in tree:
            topology = _from_summary(_flat(tree["lscpu"]), numbering)
            source += "; numbering of siblings concluded from its summary" if numbering is None else ""
        else:
            raise _check.wrong("text", text, 'JSON of lscpu has "lscpu" or "cpus" at its top')
    else:
        topology = _from_rows(_csv_rows(text), renumber)
    threads = max(len(core) for core in topology["cores"])
    if smt_throughput is None and threads > 1:
        source += "; throughput of busy siblings assumed"
    if smt_throughput is None:
        smt_throughput = _ASSUMED_LADDER.get(threads, _POWER_LADDER[:threads])
    return Machine(name=name, **topology, smt_throughput=smt_throughput, watts=watts, source=source)


def _csv_rows(text: str) -> list[dict[str, str]]:
    """Rows of ``lscpu -p``: the last comment line names the columns."""
    header, rows = None, []
    for line in text.splitlines():
        if line.startswith("#"):
            header = [column.strip().lower() for column in line.lstrip("# ").split(",")]
        elif line.strip():
            if header is None or "cpu" not in header:
                raise _check.wrong("text", text, "output of lscpu -p, whose comment names the columns, or of lscpu -J")
            rows.append(dict(zip(header, line.strip().split(","))))
    if not rows:
        raise _check.wrong("text", text, "no CPU in it; what lscpu -p or lscpu -J printed is needed")
    return [_lowered(row) for row in rows]


def _lowered(row: dict) -> dict[str, str]:
    """One CPU's columns in lower case, with a column for each cache where they came as "L1d:L1i:L2:L3"."""
    fields = {}
    for key, value in row.items():
        # newer versions print numbers and truth values without quotes
        value = "" if value is None else str(value).lower()
        names, values = key.lower().split(":"), value.split(":")
        fields.update(zip(names, values) if len(names) == len(values) else [(key.lower(), value)])
    return {key: "" if value == "-" else value for key, value in fields.items()}


def _from_rows(rows: list[dict[str, str]], renumber: bool) -> dict:
    online = [row for row in rows if row.get("online", "yes") not in ("no", "n", "false")]
    if any("core" not in row for row in online) or not online:
        raise _check.wrong("text", rows[:1], "the column Core is needed: lscpu -p without a list of columns has it")
    for row in online:
        if not row.get("cpu", "").isdecimal():
            raise _check.wrong("cpu", row.get("cpu"), "a CPU number is needed")
    online.sort(key=lambda row: int(row["cpu"]))
    numbers = {row["cpu"]: k for k, row in enumerate(online)}
    gap = next((k for cpu, k in numbers.items() if int(cpu) != k), None)
    if gap is not None and not renumber:
        raise _check.wrong("cpu", gap, "is offline; bring it online, or renumber=True gives the others new numbers")
    cache = next((level for level in _CACHES if any(row.get(level) for row in online)), None)
    return {
        "cores": _sets(online, numbers, ("socket", "core")),
        "llcs": _sets(online, numbers, (cache,)) if cache else (),
        "nodes": _sets(online, numbers, ("node",)) if all(row.get("node") for row in online) else (),
    }


def _sets(rows, numbers, keys) -> tuple[tuple[int, ...], ...]:
    sets: dict[tuple, list[int]] = {}
    for row in rows:
        sets.setdefault(tuple(row.get(key, "") for key in keys), []).append(numbers[row["cpu"]])
    return tuple(tuple(cpus) for cpus in sets.values())


def _flat(entries: list[dict]) -> dict[str, str]:
    """Fields of the summary, which newer versions nest."""
    fields = {}
    for entry in entries:
        fields[entry["field"].rstrip(":").lower()] = str(entry.get("data") or "")
        fields.update(_flat(entry.get("children", [])))
    return fields


def _from_summary(fields: dict[str, str], numbering: str | None) -> dict:
    online = fields.get("on-line cpu(s) list") or f"0-{int(_count(fields, 'cpu(s)')) - 1}"
    cpus = parse_cpu_list(online)
    if cpus != tuple(range(len(cpus))):
        raise _check.wrong("cpus", online, "some are offline, and a summary does not say of which core; use lscpu -p")
    smt = _count(fields, "thread(s) per core")
    nodes = [
        value for key, value in sorted(fields.items(), key=_by_number) if re.fullmatch(r"numa node\d+ cpu\(s\)", key)
    ]
    nodes = tuple(parse_cpu_list(value) for value in nodes if value)
    if numbering is None:
        numbering = _numbering(fields, nodes, len(cpus))
    nr_cores = len(cpus) // smt
    instances = re.search(r"\((\d+) instances?\)", fields.get("l3 cache") or fields.get("l3") or "")
    nr_llcs = int(instances[1]) if instances else int(fields.get("socket(s)") or 1)
    machine = Machine.uniform(len(cpus), smt, numbering=numbering, nr_llcs=nr_llcs if nr_cores % nr_llcs == 0 else 1)
    return {"cores": machine.cores, "llcs": machine.llcs, "nodes": nodes if len(nodes) > 1 else ()}


def _numbering(fields, nodes, nr_cpus) -> str:
    # a node whose CPUs are not one range holds the first threads of its cores and, further on, the second ones
    if len(nodes) > 1:
        one_range = all(cpus[-1] - cpus[0] + 1 == len(cpus) for cpus in nodes)
        return "adjacent" if one_range else "split"
    return "split" if fields.get("architecture", "").startswith(("x86", "i686")) else "adjacent"


def _count(fields, field: str) -> int:
    if not fields.get(field, "").isdecimal():
        raise _check.wrong("text", sorted(fields), f"the field {field!r} is missing from the summary")
    return max(1, int(fields[field]))


def _by_number(item) -> tuple[int, str]:
    digits = re.search(r"\d+", item[0])
    return int(digits[0]) if digits else 0, item[0]
