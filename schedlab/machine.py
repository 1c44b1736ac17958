"""Machine: CPUs, SMT cores, last-level caches and nodes, how fast a thread runs beside busy siblings, and watts."""

import dataclasses
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from . import _check, _resources
from ._html import html_table
from ._topology import check_distances, check_partition, check_within, equal_parts, parse_cpu_list, place_of

_PPM = 1_000_000
_SETS = ("cores", "llcs", "nodes", "clusters", "packages")  # fields that hold sets of CPUs
_PARTS = ("nr_llcs", "nr_nodes", "nr_packages")


@dataclass(frozen=True)
class Watts:
    """Power of a machine: ``idle_w + core_w * busy cores + thread_w * busy threads``, in watts.

    A core is busy while at least one of its threads runs a task.

    Examples
    --------
    >>> Watts(idle_w=40.0, core_w=7.0, thread_w=0.5).power(busy_cores=2, busy_threads=5)
    56.5
    """

    idle_w: float
    core_w: float
    thread_w: float

    def __post_init__(self):
        for field in ("idle_w", "core_w", "thread_w"):
            object.__setattr__(self, field, _check.real(field, getattr(self, field), 0))

    def power(self, busy_cores: float, busy_threads: float) -> float:
        """Return the power in W with that many busy cores and threads (means over time are welcome)."""
        return self.idle_w + self.core_w * busy_cores + self.thread_w * busy_threads


@dataclass(frozen=True)
class Machine:
    """The hardware that the kernel runs on.

    Parameters
    ----------
    name : str
    cores : tuple of tuple of int
        CPU numbers of each core (its SMT siblings). All CPUs are 0 .. n-1, each in one core.
    llcs, nodes : tuple of tuple of int
        CPU numbers that share a last-level cache, and that share a NUMA node. Empty: one over all CPUs.
    speed : tuple of float
        Work in ns at speed 1 that each CPU does in a ns when it is alone on its core. Empty: all 1.0.
    smt_throughput : tuple of float
        Item k-1 is the throughput of a core with k busy threads relative to one busy thread. Needed when a core
        has more than one thread.
    watts : Watts or None
        None: the machine's power is not known.
    clusters, packages : tuple of tuple of int
        CPU numbers that share an L2 cache (empty: each core has its own), and that sit in one socket (empty: a
        socket a node). A package with several nodes is what BIOSes call SNC or NPS. These and the next three fields
        matter to sched domains and hotplug alone.
    node_distances : tuple of tuple of int
        Row i, column j: the distance of node j as firmware tells it (SLIT), 10 for the node itself. Empty: 20 between
        any two nodes.
    memory_zones_mb : tuple of tuple of int
        For each node the managed memory of its zones in MB. Empty: 15 and 2048 on node 0, and 32768 on each node.
    not_hotplugged : tuple of int
        CPUs that cannot be taken offline.
    description, source : str
        What it is, and where its numbers are from.

    Raises
    ------
    ValueError
        Naming the field, the value and the rule.

    Examples
    --------
    >>> laptop = Machine(name="two", cores=((0, 1), (2, 3)), smt_throughput=(1.0, 1.25))
    >>> laptop.nr_cpus, laptop.core_of, laptop.thread_speed_ppm(0, 2)
    (4, (0, 0, 1, 1), 625000)
    """

    name: str
    cores: tuple[tuple[int, ...], ...]
    llcs: tuple[tuple[int, ...], ...] = ()
    nodes: tuple[tuple[int, ...], ...] = ()
    speed: tuple[float, ...] = ()
    smt_throughput: tuple[float, ...] = ()
    watts: Watts | None = None
    clusters: tuple[tuple[int, ...], ...] = ()
    packages: tuple[tuple[int, ...], ...] = ()
    node_distances: tuple[tuple[int, ...], ...] = ()
    memory_zones_mb: tuple[tuple[int, ...], ...] = ()
    not_hotplugged: tuple[int, ...] = ()
    description: str = ""
    source: str = ""

    def __post_init__(self):
        _check.text("name", self.name)
        for field in _SETS:
            sets = _check.sequence(field, getattr(self, field), "sets of CPUs, such as ((0, 1), (2, 3))")
            sets = tuple(_check.cpu_numbers(field, cpus) for cpus in sets)
            object.__setattr__(self, field, sets)
        if not self.cores:
            raise _check.wrong("cores", self.cores, "at least one core")
        nr_cpus = sum(len(core) for core in self.cores)
        for field in _SETS:
            check_partition(field, getattr(self, field), nr_cpus)
        for field, outer in (("llcs", self.llc_of), ("nodes", self.node_of), ("clusters", self.cluster_of)):
            check_within(field, getattr(self, field), "core", self.cores, outer)
        check_within("llcs", self.llcs, "cluster", self.clusters, self.llc_of)
        check_within("nodes", self.nodes, "cluster", self.clusters, self.node_of)
        check_within("packages", self.packages, "node", self.nodes, self.package_of)
        self._check_hotplug(nr_cpus)
        self._check_speeds(nr_cpus)
        if self.watts is not None and not isinstance(self.watts, Watts):
            raise _check.wrong("watts", self.watts, "a Watts, or None when the power is not known")

    def _check_hotplug(self, nr_cpus: int):
        object.__setattr__(self, "node_distances", check_distances(self.node_distances, self.nr_nodes))
        zones = tuple(tuple(_check.whole("memory_zones_mb", mb, 1) for mb in node) for node in self.memory_zones_mb)
        if zones and (len(zones) != self.nr_nodes or not all(zones)):
            rule = f"the zones of each of the {self.nr_nodes} nodes, at least one a node"
            raise _check.wrong("memory_zones_mb", zones, rule)
        object.__setattr__(self, "memory_zones_mb", zones)
        fixed = tuple(sorted({_check.whole("not_hotplugged", cpu, 0, nr_cpus - 1) for cpu in self.not_hotplugged}))
        object.__setattr__(self, "not_hotplugged", fixed)

    def _check_speeds(self, nr_cpus: int):
        speed = tuple(_check.real("speed", v) for v in _check.sequence("speed", self.speed, "numbers, one a CPU"))
        if speed and len(speed) != nr_cpus:
            raise _check.wrong("speed", speed, f"one number a CPU: {nr_cpus}, not {len(speed)}")
        if any(v <= 0 for v in speed):
            raise _check.wrong("speed", speed, "above 0")
        object.__setattr__(self, "speed", speed)
        ladder = _check.sequence("smt_throughput", self.smt_throughput, "numbers, such as 1.0, 1.3")
        ladder = tuple(_check.real("smt_throughput", v) for v in ladder)
        object.__setattr__(self, "smt_throughput", ladder)
        threads = self.threads_per_core
        if len(ladder) < threads and (ladder or threads > 1):
            rule = f"one number for each of 1 to {threads} busy threads of a core, such as 1.0, 1.3"
            raise _check.wrong("smt_throughput", ladder, rule)
        if ladder and ladder[0] != 1.0:
            raise _check.wrong("smt_throughput", ladder, "relative to one busy thread, so the first is 1.0")
        if any(b < a for a, b in zip(ladder, ladder[1:])):
            raise _check.wrong("smt_throughput", ladder, "a core does not get slower with more busy threads")

    @cached_property
    def nr_cpus(self) -> int:
        """Number of CPUs (hardware threads)."""
        return sum(len(core) for core in self.cores)

    @cached_property
    def threads_per_core(self) -> int:
        """Number of threads of the largest core."""
        return max(len(core) for core in self.cores)

    @cached_property
    def core_of(self) -> tuple[int, ...]:
        """Core number of each CPU."""
        return place_of(self.cores, self.nr_cpus)

    @cached_property
    def llc_of(self) -> tuple[int, ...]:
        """Number of the last-level cache of each CPU."""
        return place_of(self.llcs, self.nr_cpus)

    @cached_property
    def node_of(self) -> tuple[int, ...]:
        """Node number of each CPU."""
        return place_of(self.nodes, self.nr_cpus)

    @cached_property
    def cluster_of(self) -> tuple[int, ...]:
        """Number of the cluster (CPUs that share an L2 cache) of each CPU; without clusters each core is one."""
        return place_of(self.clusters or self.cores, self.nr_cpus)

    @cached_property
    def package_of(self) -> tuple[int, ...]:
        """Number of the package (socket) of each CPU; without packages each node is one."""
        return place_of(self.packages or self.nodes, self.nr_cpus)

    @cached_property
    def nr_llcs(self) -> int:
        """Number of last-level caches."""
        return len(self.llcs) or 1

    @cached_property
    def nr_nodes(self) -> int:
        """Number of nodes."""
        return len(self.nodes) or 1

    def siblings(self, cpu: int) -> tuple[int, ...]:
        """Return the CPUs of the core that holds `cpu`, itself among them, lowest first."""
        return self.cores[self.core_of[self._known(cpu)]]

    def thread_speed_ppm(self, cpu: int, busy: int) -> int:
        """Return the speed of `cpu` while `busy` threads of its core (itself among them) run tasks.

        Parameters
        ----------
        cpu : int
        busy : int
            1 to the number of threads of that core.

        Returns
        -------
        int
            Millionths of speed 1: ``round(1e6 * speed * smt_throughput[busy - 1] / busy)``.
        """
        core = self.siblings(cpu)
        busy = _check.whole("busy", busy, 1, len(core), f"core of CPU {cpu}: {len(core)} threads")
        throughput = self.smt_throughput[busy - 1] if self.smt_throughput else 1.0
        return _speed_ppm(self.speed[cpu] if self.speed else 1.0, throughput, busy)

    def _known(self, cpu: int) -> int:
        return _check.whole("cpu", cpu, 0, self.nr_cpus - 1, f"{self.name} has {self.nr_cpus} CPUs")

    def replace(self, **fields) -> "Machine":
        """Return a copy with other values of some fields, validated anew.

        Examples
        --------
        >>> Machine.uniform(2).replace(speed=(1.0, 0.2)).thread_speed_ppm(1, 1)
        200000
        """
        known = [f.name for f in dataclasses.fields(self)]
        for field in fields:
            _check.choice("field", field, known)
        return dataclasses.replace(self, **fields)

    @classmethod
    def load(cls, name: str) -> "Machine":
        """Return the machine of data/machines/<name>.toml.

        Parameters
        ----------
        name : str
            One of `Machine.names()`.

        Raises
        ------
        ValueError
            When there is none of that name; the nearest is offered.

        Examples
        --------
        >>> Machine.load("power-8core-smt8").nr_cpus
        64
        """
        names = cls.names()
        if name not in names:
            known = ", ".join(names)
            raise _check.wrong("machine", name, f"one of {known}{_check.nearest(name, names)}")
        return cls.from_toml(_resources.data_path("machines", f"{name}.toml").read_text(encoding="utf-8"))

    @staticmethod
    def names() -> tuple[str, ...]:
        """Return the names of the machines that ship with schedlab."""
        return tuple(sorted(path.stem for path in _resources.data_path("machines").glob("*.toml")))

    @classmethod
    def from_toml(cls, text: str) -> "Machine":
        """Return the machine that a TOML text describes.

        The text holds the fields of Machine; sets of CPUs are lists or texts such as ``"0-7,64"``. A table
        ``[topology]`` with the arguments of `Machine.uniform` stands for cores, llcs and nodes.
        """
        try:
            fields = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise _check.wrong("machine", text, f"not TOML: {error}") from None
        topology = fields.pop("topology", None)
        if "watts" in fields:
            fields["watts"] = _made(Watts, "watts", fields["watts"])
        # what hotplug costs is read by hotplug/costs.py: it is about a kernel on the machine, not about the machine
        fields.pop("hotplug_costs", None)
        for field in _SETS:
            if field in fields:
                sets = _check.sequence(field, fields[field], 'sets of CPUs, such as ["0-3", "4-7"]')
                fields[field] = tuple(parse_cpu_list(v) if isinstance(v, str) else v for v in sets)
        if topology is None:
            return _made(cls, "machine", fields)
        if not isinstance(topology, dict):
            raise _check.wrong("topology", topology, "a table: [topology]")
        for field in topology:
            _check.choice("topology", field, ("nr_cpus", "smt", *_PARTS, "numbering"))
        if "nr_cpus" not in topology:
            raise _check.wrong("topology", sorted(topology), "the field 'nr_cpus' is missing")
        return cls.uniform(**topology, **fields)

    @classmethod
    def uniform(
        cls,
        nr_cpus: int,
        smt: int = 1,
        *,
        nr_llcs: int = 1,
        nr_nodes: int = 1,
        nr_packages: int = 1,
        numbering: str = "adjacent",
        smt_throughput: tuple[float, ...] | None = None,
        name: str = "",
        **fields,
    ) -> "Machine":
        """Return a machine of equal cores.

        Parameters
        ----------
        nr_cpus : int
            Number of CPUs, a multiple of smt.
        smt : int
            Threads of a core.
        nr_llcs, nr_nodes, nr_packages : int
            How many last-level caches, nodes and packages the cores are split into, in order and in equal parts. One
            package is the default of Machine: a package a node.
        numbering : {"adjacent", "split"}
            adjacent: siblings are smt*k, smt*k + 1, ...; split: the first threads of all cores come first, then the
            second ones (CPU c and c + number of cores), as Linux numbers x86 servers.
        smt_throughput : tuple of float, optional
            As in Machine. The default adds 0.25 a thread beyond the first: a placeholder, not a measurement.
        name : str, optional
        **fields
            Further fields of Machine: speed, watts, description, source.

        Examples
        --------
        >>> Machine.uniform(4, smt=2, numbering="split").cores
        ((0, 2), (1, 3))
        """
        nr_cpus, smt = _check.whole("nr_cpus", nr_cpus, 1), _check.whole("smt", smt, 1)
        if nr_cpus % smt:
            raise _check.wrong("nr_cpus", nr_cpus, f"a multiple of smt={smt}")
        _check.choice("numbering", numbering, ("adjacent", "split"))
        nr_cores = nr_cpus // smt
        if numbering == "adjacent":
            cores = tuple(tuple(range(smt * k, smt * k + smt)) for k in range(nr_cores))
        else:
            cores = tuple(tuple(range(k, nr_cpus, nr_cores)) for k in range(nr_cores))
        if smt_throughput is None:
            smt_throughput = tuple(1 + 0.25 * k for k in range(smt))
        return cls(
            name=name or f"uniform-{nr_cpus}cpu" + (f"-smt{smt}" if smt > 1 else ""),
            cores=cores,
            llcs=equal_parts("nr_llcs", cores, nr_llcs),
            nodes=equal_parts("nr_nodes", cores, nr_nodes),
            packages=equal_parts("nr_packages", cores, nr_packages),
            smt_throughput=smt_throughput,
            **fields,
        )

    def _repr_html_(self) -> str:
        power = "not known"
        if self.watts:
            w = self.watts
            power = f"{w.idle_w:g} W idle + {w.core_w:g} W a busy core + {w.thread_w:g} W a busy thread"
        speeds = sorted(set(self.speed)) or [1.0]
        rows = [
            ("CPUs", f"{self.nr_cpus} in {len(self.cores)} cores (up to {self.threads_per_core} threads)"),
            ("last-level caches", str(self.nr_llcs)),
            ("nodes", str(self.nr_nodes)),
            ("speed", " to ".join(f"{v:g}" for v in (speeds if len(speeds) < 2 else (speeds[0], speeds[-1])))),
            ("core throughput", ", ".join(f"{v:g}" for v in self.smt_throughput) or "1"),
            ("power", power),
        ]
        rows += [(field, getattr(self, field)) for field in ("description", "source") if getattr(self, field)]
        return html_table(f"Machine {self.name}", rows)


@lru_cache(maxsize=4096)
def _speed_ppm(speed: float, throughput: float, busy: int) -> int:
    """Return the speed in millionths, rounded once; every simulation asks for all CPUs' speeds anew."""
    return round(_PPM * Fraction(speed) * Fraction(throughput) / busy)


def _made(noun, what: str, fields: dict):
    """Make a noun of a TOML table, with a word about a field that it does not have or that is missing."""
    known = dataclasses.fields(noun)
    if not isinstance(fields, dict):
        raise _check.wrong(what, fields, f"a table: [{what}]")
    for field in fields:
        _check.choice(what, field, [f.name for f in known])
    for field in known:
        if field.default is dataclasses.MISSING and field.name not in fields:
            raise _check.wrong(what, sorted(fields), f"the field {field.name!r} is missing")
    return noun(**fields)


@dataclass(frozen=True)
class Level:
    """A level of scheduling domains: its name (SMT, MC, PKG or NUMA) and the sets of CPUs that it balances."""

    name: str
    spans: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=64)
def levels_of(machine: Machine) -> tuple[Level, ...]:
    """Return the levels of scheduling domains that a scheduler keeps, narrowest first.

    SMT is the core, MC the last-level cache, PKG the node, NUMA the machine. A level that adds nothing is left out, as
    the kernel removes degenerate domains. (`schedlab.hotplug.topology` has the levels as built, clusters and distances
    of nodes included.)

    Examples
    --------
    >>> [level.name for level in levels_of(Machine.uniform(64, 2, nr_llcs=4))]
    ['SMT', 'MC', 'PKG']
    """
    everything = (tuple(range(machine.nr_cpus)),)
    llcs, nodes = machine.llcs or everything, machine.nodes or everything
    levels, before = [], tuple((c,) for c in everything[0])
    for name, spans in (("SMT", machine.cores), ("MC", llcs), ("PKG", nodes), ("NUMA", everything)):
        spans = tuple(sorted(tuple(sorted(span)) for span in spans))
        if spans != before:
            levels.append(Level(name, spans))
            before = spans
    return tuple(levels)
