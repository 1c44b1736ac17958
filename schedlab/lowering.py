"""From the nouns to the engine's state: numbers groups, CPUs, tasks and event sources, and fills the records.

The order of the event sources is the order in which simultaneous events happen (docs/model.md).
"""

from __future__ import annotations

import numpy as np

from . import channels, steps
from .durations import load_tables
from .engine import program, record, rng
from .engine.events import MAX_TIME, SOURCE_BITS, SOURCE_MASK, levels
from .engine.loop import CTRL_AFFINITY, CTRL_COOKIE, CTRL_CPU_MAX, CTRL_GROUP, CTRL_HOLD, CTRL_OFFLINE, CTRL_ONLINE
from .engine.runtime import NO_QUOTA
from .engine.state import MAX_LOOPS, MAX_POSTS, MAX_TIMERS, NEVER, NEW, State
from .events import HoldCpu, SetAffinity, SetCookie, SetCpuMax, SetGroup
from .lowering_channels import channel_lengths, fill_channels
from .lowering_core import domain_lengths, fill_core
from .phases import group_phases
from .units import NS_PER_US

#: cf. sched_prio_to_weight, nice -20 to 19 (fact sheet A1).
NICE_WEIGHTS = (
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501,
    1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
)  # fmt: skip

#: Spawn keys of the random streams: (task, RUN), (task, SLEEP), (group, TIMER_LATENESS).
TIMER_LATENESS = 3
LOG_CAPACITY = 1 << 16
_UNSET_FIELDS = (
    "rq_curr", "rq_root", "rq_next", "rq_last", "rq_skip", "rq_thr_next", "rq_thr_prev", "rq_csd_next",
    "rq_limbo",
)  # fmt: skip


def group_shares(weight: int) -> int:
    """Return the shares of a cpu.weight: round(weight * 1024 / 100) (fact sheet A1)."""
    return (weight * 1024 + 50) // 100


class _Programs:
    """Compiles programs to operations; tasks with the same program share them."""

    def __init__(self, workload, masks):
        self.sync_of = {("name", name): k for k, name in enumerate(workload.wait_names)}
        first = len(self.sync_of)
        self.sync_of |= {("barrier", name): first + k for k, name in enumerate(workload.barrier_names)}
        self.first_of_channels = first + len(workload.barrier_names)
        self.channel_of = {channel.name: c for c, channel in enumerate(workload.channels)}
        self.ops: list[tuple[int, ...]] = []
        self.entry_of: dict[tuple, int] = {}
        self.masks = masks

    def entry(self, steps_: tuple) -> int:
        """The index of a program's first operation."""
        # one look-up: the hash of a long program is most of the work
        entry = self.entry_of.setdefault(steps_, len(self.ops))
        if entry == len(self.ops):
            self.timers = list(dict.fromkeys(step for step in steps.walk(steps_) if isinstance(step, steps.Timer)))
            if len(self.timers) > MAX_TIMERS:
                raise ValueError(f"program={steps_!r}: at most {MAX_TIMERS} timers of different period or offset")
            self._emit(steps_, 0)
            self._op(program.OP_EXIT)
        return entry

    def _op(self, code, kind=0, p1=0, p2=0, x=0, y=0, z=0):
        self.ops.append((code, kind, p1, p2, x, y, z))

    def _emit(self, steps_, depth):
        for step in steps_:
            self._emit_step(step, depth)

    def _emit_step(self, step, depth):
        match step:
            case steps.Run():
                self._op(program.OP_RUN, *_draw_of(step.duration))
            case steps.KernelSection():
                self._op(program.OP_KERNEL, *_draw_of(step.duration))
            case steps.Spin():
                self._op(program.OP_SPIN, *_draw_of(step.duration))
            case steps.Sleep():
                self._op(program.OP_SLEEP, *_draw_of(step.duration))
            case steps.Timer():
                self._op(program.OP_TIMER, x=step.period_ns, y=step.offset_ns, z=self.timers.index(step))
            case steps.Until():
                self._op(program.OP_UNTIL, x=step.after_ns)
            case steps.Yield():
                self._op(program.OP_YIELD)
            case steps.Wait():
                self._op(program.OP_WAIT, x=self.sync_of["name", step.name], y=step.order == "lifo")
            case steps.Wake():
                sync = self.sync_of["name", step.name]
                self._op(program.OP_WAKE, p1=step.keep, x=sync, y=step.n, z=step.cost_ns)
            case steps.Barrier():
                self._op(program.OP_BARRIER, x=self.sync_of["barrier", step.name], y=step.n)
            case steps.Affinity():
                self._op(program.OP_AFFINITY, x=self.masks(step.cpus))
            case steps.Mark():
                self._op(program.OP_MARK)
            case steps.Sample():
                self._op(program.OP_SAMPLE, x=step.offset_ns)
            case channels.Write() | channels.Read():
                code = program.OP_WRITE if isinstance(step, channels.Write) else program.OP_READ
                self._op(code, *_draw_of(step.cost), x=self.channel_of[step.channel], y=step.n)
            case steps.Repeat():
                if step.times is not None:
                    self._op(program.OP_LOOP, x=depth, y=step.times)
                target = len(self.ops)
                self._emit(step.steps, depth + 1)
                self._op(program.OP_JUMP if step.times is None else program.OP_END_LOOP, x=depth, y=target)
            case _:
                raise TypeError(f"step={step!r}: the engine does not know this step")


def _compiled(workload, nr_cpus):
    """The programs of a workload, the entry of each task, and the masks in them; remembered for other limits of it."""
    known = workload.__dict__.setdefault("_compiled", {})
    if nr_cpus not in known:
        masks = _Masks(nr_cpus)
        programs = _Programs(workload, masks)
        entries = [programs.entry(task.program) for task in workload.tasks]
        known[nr_cpus] = programs, entries, masks
    programs, entries, masks = known[nr_cpus]
    copy = _Masks(nr_cpus)
    copy.of.update(masks.of)
    return programs, entries, copy


def _draw_of(duration):
    if duration.kind == "constant":
        return rng.CONSTANT, duration.low_ns, 0
    if duration.kind == "uniform":
        return rng.UNIFORM, duration.low_ns, duration.high_ns - duration.low_ns + 1
    return rng.TABLE, duration.table, duration.low_ns


class _Masks:
    """Affinity masks by number; -1 stands for all CPUs."""

    def __init__(self, nr_cpus):
        self.nr_cpus = nr_cpus
        self.of: dict[tuple[int, ...], int] = {}

    def __call__(self, cpus) -> int:
        if cpus is None or len(cpus) == self.nr_cpus:
            return -1
        return self.of.setdefault(tuple(cpus), len(self.of))

    def words(self):
        """All masks, 32 CPUs a word."""
        per_mask = -(-self.nr_cpus // 32)
        bits = np.zeros((max(1, len(self.of)), per_mask), np.int64)
        for cpus, k in self.of.items():
            for cpu in cpus:
                bits[k, cpu >> 5] |= 1 << (cpu & 31)
        return bits.ravel()


def lower(machine, kernel, workload, seed: int, log_mask: int = 0, stop_on_exit: bool = False) -> State:
    """Build the state of a simulation at time 0.

    Parameters
    ----------
    machine, kernel, workload : Machine, Kernel, Workload
    seed : int
        Seed of the run's random streams and, where the kernel draws them, of the timers' phases.
    log_mask : int
        Bit k asks for events of kind ``record.KINDS[k]``.
    stop_on_exit : bool
        Whether the run ends when the last task has exited.

    Raises
    ------
    ValueError
        When the kernel or the machine would not take the workload, or it is larger than the engine's key holds.
    """
    workload.check(kernel)
    workload.check_machine(machine)
    nr_cpus, paths, tasks = machine.nr_cpus, workload.group_paths, workload.tasks
    nr_groups, nr_tasks = len(paths), len(tasks)
    bases = np.cumsum([nr_groups, nr_groups, nr_cpus, nr_cpus, nr_cpus, nr_cpus, nr_cpus, nr_tasks])
    nr_sources = int(bases[-1]) + 1
    if nr_sources > SOURCE_MASK:
        raise ValueError(f"tasks={nr_tasks}: with {nr_groups} groups and {nr_cpus} CPUs more than 2^20 event sources")
    programs, entries, masks = _compiled(workload, nr_cpus)
    task_masks = [masks(task.cpus) for task in tasks]
    controls = _controls(workload, masks, kernel, nr_cpus)
    offsets, nr_keys = levels(nr_sources)
    nr_pairs, nr_hists = nr_groups * nr_cpus, 2 * max(1, len(workload.labels)) + 2
    nr_syncs = max(1, programs.first_of_channels + 2 * len(workload.channels))
    margin = max(4096, 16 * nr_cpus)
    state = State(
        ev=nr_keys, lvl=len(offsets), cpu=nr_cpus, flag=nr_cpus, core=len(machine.cores), llc=machine.nr_llcs,
        map=nr_cpus, pos=nr_cpus, rate=nr_cpus * machine.threads_per_core, word=len(masks.words()),
        task=nr_tasks + 1, stream=nr_tasks + nr_groups, loop=(nr_tasks + 1) * MAX_LOOPS,
        timer=(nr_tasks + 1) * MAX_TIMERS, op=len(programs.ops) + 1, table=load_tables().size,
        sync=nr_syncs, post=nr_syncs * MAX_POSTS, se=nr_tasks + nr_pairs, rq=nr_pairs, tg=nr_groups,
        ctrl=len(controls) + 1, hist=nr_hists, bucket=nr_hists * record.NR_BUCKETS,
        log=LOG_CAPACITY + margin if log_mask else 1, **channel_lengths(workload),
        **domain_lengths(machine, nr_tasks),
    )  # fmt: skip
    state["ev_key"][:] = NEVER
    state["lvl_off"][:] = offsets
    sys = state.arrays["sys"]
    for name, base in zip(("slack", "csd", "ipi", "hrtick", "tick", "cpu", "task", "ctrl"), bases, strict=True):
        sys[f"src_{name}"] = base
    sys["nr_levels"], sys["nr_cpus"], sys["nr_groups"], sys["nr_tasks"] = len(offsets), nr_cpus, nr_groups, nr_tasks
    sys["nr_alive"], sys["stop_on_exit"], sys["period_running"] = nr_tasks, stop_on_exit, -1
    sys["gone_cpu"] = -1
    sys["hist_throttle"] = nr_hists - 2
    sys["resched_min"], sys["mask_words"] = nr_cpus, -(-nr_cpus // 32)
    sys["log_mask"], sys["log_cap"], sys["log_high"] = log_mask, len(state.arrays["log"]), LOG_CAPACITY
    _fill_kernel(sys, kernel, nr_cpus)
    _fill_machine(state, machine, kernel)
    _fill_groups(state, kernel, workload, seed)
    state["word_bits"][:] = masks.words()
    state["table_value"][:] = load_tables().ravel()
    if programs.ops:
        for column, values in zip(state.arrays["op"].dtype.names, np.array(programs.ops, np.int64).T, strict=True):
            state[f"op_{column}"][:-1] = values
    fill_channels(state, kernel, workload, programs.first_of_channels)
    _fill_tasks(state, workload, seed, entries, task_masks)
    fill_core(state, machine, kernel, workload)
    _fill_controls(state, controls)
    sys["holds"] = any(isinstance(event, HoldCpu) for event in workload.events)
    _arm_first_events(state)
    return state


#: Switches of the engine, each read in one place there, and the patch that sets it.
_PATCH_SWITCHES = {
    "expire_local": "expire-local-slices",
    "slack_pushed_back": "slack-timer-pushed-back",
    "lifo_throttle": "lifo-throttle-list",
    "scale_147_128": "period-scaling-147-128",
    "per_task": "per-task-throttle",
    "at_account": "throttle-at-account",
    "update_first": "update-curr-before-unthrottle",
    "limbo_local": "limbo-local-list",
    "local_csd": "local-csd-unthrottle",
    "offline_only": "unthrottle-offline-only",
    "zero_at_write": "zero-runtime-at-write",
}


def _fill_kernel(sys, kernel, nr_cpus):
    factor = kernel.scaling_factor(nr_cpus)
    sys["eevdf"] = kernel.policy == "eevdf"
    sys["delay_dequeue"] = kernel.delayed_dequeue
    sys["preempt_short"] = kernel.preempt_short
    sys["async_unthrottle"] = kernel.async_unthrottle
    sys["hrtick"] = kernel.hrtick
    for switch in ("vprot", "lag_rules_7_2", "lazy_resched"):
        sys[switch] = getattr(kernel, switch)
    for switch, patch in _PATCH_SWITCHES.items():
        sys[switch] = kernel.has(patch)
    sys["tick_ns"] = kernel.tick_ns
    for tunable in ("base_slice", "latency", "min_granularity", "wakeup_granularity"):
        sys[f"norm_{tunable}"] = getattr(kernel, f"{tunable}_ns")
        sys[tunable] = getattr(kernel, f"{tunable}_ns") * factor
    sys["bw_slice"] = kernel.cfs_bandwidth_slice_us * NS_PER_US
    sys["switch_ns"] = kernel.costs.context_switch_ns
    sys["ipi_ns"] = kernel.costs.ipi_ns
    sys["tick_cost_ns"] = kernel.costs.tick_ns
    sys["period_cost_ns"] = kernel.costs.period_timer_ns
    sys["distribute_ns"] = kernel.costs.distribute_ns
    sys["walk_ns"] = kernel.costs.walk_ns
    sys["enqueue_ns"] = kernel.costs.enqueue_ns
    sys["wake_late_ns"] = round(kernel.wake_late_us * NS_PER_US)
    sys["late_ns"] = round(kernel.timer_late_us * NS_PER_US)
    sys["late_below"] = round(kernel.timer_late_probability * (1 << 31)) if kernel.timer_late_us else 0


def _fill_machine(state, machine, kernel):
    nr_cpus, stride = machine.nr_cpus, machine.threads_per_core
    llcs = machine.llcs or (tuple(range(nr_cpus)),)
    cpu = state.arrays["cpu"]
    for name in ("curr", "tasks_head", "tasks_tail", "csd_head", "csd_tail", "left"):
        cpu[name] = -1
    cpu["active"] = 1
    cpu["core"], cpu["llc"] = machine.core_of, machine.llc_of
    offset = kernel.tick_offset_us * NS_PER_US
    skew = np.arange(nr_cpus) * kernel.tick_ns // (2 * nr_cpus) if kernel.skew_tick else np.zeros(nr_cpus, np.int64)
    cpu["tick_offset"] = (offset + skew) % kernel.tick_ns
    state["spd_stride"][0] = stride
    core_size = [len(core) for core in machine.cores]
    rates = np.zeros((nr_cpus, stride), np.int64)
    for c in range(nr_cpus):
        for busy in range(1, core_size[machine.core_of[c]] + 1):
            rates[c, busy - 1] = machine.thread_speed_ppm(c, busy)
    state["rate_ppm"][:] = rates.ravel()
    cpu["rate"] = rates[:, 0]
    state["flag_idle"][:] = 1
    state["core_first"][:] = np.cumsum([0, *core_size[:-1]])
    state["core_nr"][:] = core_size
    state["map_core_cpu"][:] = [c for core in machine.cores for c in core]
    llc_size = [len(llc) for llc in llcs]
    state["llc_first"][:] = np.cumsum([0, *llc_size[:-1]])
    state["llc_nr"][:] = llc_size
    state["llc_nr_online"][:] = llc_size
    state["llc_nr_idle"][:] = llc_size
    ordered = [c for llc in llcs for c in sorted(llc)]
    state["map_llc_cpu"][:] = ordered
    state["pos_in_llc"][ordered] = np.arange(nr_cpus)


def _fill_groups(state, kernel, workload, seed):
    paths, nr_cpus = workload.group_paths, int(state["sys_nr_cpus"][0])
    number = {path: g for g, path in enumerate(paths)}
    tg, rq, se = state.arrays["tg"], state.arrays["rq"], state.arrays["se"]
    nr_tasks = int(state["sys_nr_tasks"][0])
    for field in _UNSET_FIELDS:
        state[field][:] = -1
    state["rq_throttled_clock"][:] = -1
    state["rq_throttled_clock_self"][:] = -1
    rq["tg"] = np.repeat(np.arange(len(paths)), nr_cpus)
    rq["cpu"] = np.tile(np.arange(nr_cpus), len(paths))
    tg["thr_head"] = tg["thr_tail"] = -1
    tg["parent"] = -1
    tg["size"] = 1
    for g, path in enumerate(paths):
        tg["quota"][g], tg["period"][g] = NO_QUOTA, 100_000 * NS_PER_US
        tg["shares"][g] = 1024
        if g == 0:
            continue
        group = workload.group_of[path]
        parent = number[group.parent]
        tg["parent"][g], tg["depth"][g] = parent, tg["depth"][parent] + 1
        tg["shares"][g] = group_shares(group.weight)
        tg["period"][g] = group.period_us * NS_PER_US
    for g in range(len(paths) - 1, 0, -1):
        tg["size"][tg["parent"][g]] += tg["size"][g]
    pairs = slice(nr_tasks, None)
    se["weight"][pairs] = tg["shares"][rq["tg"]]
    se["rq"][pairs] = np.maximum(tg["parent"][rq["tg"]], 0) * nr_cpus + rq["cpu"]
    se["slice"][pairs] = state["sys_base_slice"][0]
    if state["sys_late_below"][0]:  # nothing else draws from a group's stream
        state["stream_rng"][nr_tasks:] = [_stream(seed, g, TIMER_LATENESS) for g in range(len(paths))]
    for g, phase in enumerate(group_phases(kernel, workload, seed)):
        tg["phase"][g] = phase
        group = workload.group_of.get(paths[g])
        if group is not None and group.quota_us is not None:
            _limit_at_start(state, g, group)


def _limit_at_start(state, g, group):
    """What tg_set_cfs_bandwidth() leaves when the limit is written at time 0."""
    tg, rq = state.arrays["tg"], state.arrays["rq"]
    quota, period = group.quota_us * NS_PER_US, group.period_us * NS_PER_US
    tg["quota"][g], tg["burst"][g] = quota, group.burst_us * NS_PER_US
    tg["runtime"][g] = tg["runtime_snap"][g] = tg["refilled"][g] = quota
    tg["refill_seq"][g] = 1
    tg["period_active"][g] = tg["started"][g] = 1
    tg["expires"][g] = tg["phase"][g] % period or period
    nr_cpus = int(state["sys_nr_cpus"][0])
    mine = slice(g * nr_cpus, (g + 1) * nr_cpus)
    rq["runtime_enabled"][mine] = 1
    if state["sys_per_task"][0] and not state["sys_zero_at_write"][0]:
        rq["runtime_remaining"][mine] = 1
        rq["expires_seq"][mine] = 1
        tg["created"][g] = nr_cpus


def _stream(seed, index, purpose):
    return np.random.SeedSequence(seed, spawn_key=(index, purpose)).generate_state(1, np.uint64)[0]


def _fill_tasks(state, workload, seed, entries, task_masks):
    tasks, se = state.arrays["task"], state.arrays["se"]
    number = {path: g for g, path in enumerate(workload.group_paths)}
    label = {name: k for k, name in enumerate(workload.labels)}
    base_slice = int(state["sys_base_slice"][0])
    for t, task in enumerate(workload.tasks):
        row = tasks[t]
        row["group"], row["pc"], row["fetch"], row["state"] = number[task.group], entries[t], 1, NEW
        row["mask"], row["start"], row["end"] = task_masks[t], task.start_ns, -1
        row["hist"] = label[task.label]
        row["kernel_thread"] = task.kernel_thread
        se["weight"][t] = NICE_WEIGHTS[task.nice + 20]
        se["slice"][t] = base_slice if task.slice_us is None else task.slice_us * NS_PER_US
        se["custom_slice"][t] = task.slice_us is not None
        se["rq"][t] = number[task.group] * int(state["sys_nr_cpus"][0])
        state["stream_rng"][t] = _stream(seed, t, rng.RUN)
        state["stream_rng_sleep"][t] = _stream(seed, t, rng.SLEEP)
    tasks["end"][len(workload.tasks) :] = -1


def _controls(workload, masks, kernel, nr_cpus):
    """Scenario events as rows (at, code, target, p1, p2, p3), in time, those of one time in the order given."""
    number = {path: g for g, path in enumerate(workload.group_paths)}
    task_number = {task.name: t for t, task in enumerate(workload.tasks)}
    limits = {group.path: (group.period_us, group.burst_us) for group in workload.groups}
    rows, online = [], nr_cpus
    for event in sorted(workload.events, key=lambda event: event.at_ns):
        if isinstance(event, SetCpuMax):
            period_us, burst_us = limits[event.group]
            period_us = period_us if event.period_us is None else event.period_us
            burst_us = burst_us if event.burst_us is None else event.burst_us
            limits[event.group] = period_us, burst_us
            quota = NO_QUOTA if event.quota_us is None else event.quota_us * NS_PER_US
            group = number[event.group]
            rows.append((event.at_ns, CTRL_CPU_MAX, group, quota, period_us * NS_PER_US, burst_us * NS_PER_US))
        elif isinstance(event, SetAffinity):
            rows.append((event.at_ns, CTRL_AFFINITY, task_number[event.task], masks(event.cpus), 0, 0))
        elif isinstance(event, SetGroup):
            rows.append((event.at_ns, CTRL_GROUP, task_number[event.task], number[event.group], 0, 0))
        elif isinstance(event, HoldCpu):
            rows.append((event.at_ns, CTRL_HOLD, event.cpu, event.duration_ns, 0, 0))
        elif isinstance(event, SetCookie):
            rows.append((event.at_ns, CTRL_COOKIE, task_number[event.task], event.cookie, 0, 0))
        else:  # the CPU that leaves or arrives counts
            factor = kernel.scaling_factor(online + event.online)
            online += 1 if event.online else -1
            rows.append((event.at_ns, CTRL_ONLINE if event.online else CTRL_OFFLINE, event.cpu, factor, 0, 0))
    return rows


def _fill_controls(state, controls):
    for k, row in enumerate(controls):
        state.arrays["ctrl"][k] = row
    state.arrays["ctrl"]["at"][len(controls)] = NEVER


def _arm_first_events(state):
    """Queue the period timers, the tasks' starts and the first scenario event, then build the tree of minima."""
    sys, keys = state.arrays["sys"][0], state["ev_key"]

    def arm(source, time):
        if time < MAX_TIME:
            keys[source] = (int(time) << SOURCE_BITS) | int(source)

    for g in range(sys["nr_groups"]):
        if state["tg_period_active"][g]:
            arm(g, state["tg_expires"][g])
    for t in range(sys["nr_tasks"]):
        arm(sys["src_task"] + t, state["task_start"][t])
    arm(sys["src_ctrl"], state["ctrl_at"][0])
    offsets = [*state["lvl_off"], len(keys)]
    for low, high, end in zip(offsets, offsets[1:], offsets[2:], strict=False):
        least = keys[low:high].reshape(-1, 16).min(axis=1)
        keys[high : high + len(least)] = least
        assert high + len(least) <= end
