"""The engine's state: one table of fields, records in numpy, one opaque pointer in compiled code.

`FIELDS` names the fields of each record; everything else follows from it. `State` owns one structured array a record
and a header of (base address, length) pairs. In compiled code `as_state(address)` gives a value with one attribute for
each field: `s.se_vruntime[e]` is a single load or store. Passing many arrays by value instead costs minutes of
compilation and two orders of magnitude at run time (numba copies 7 words an array at every call that is not inlined).

Arrays must not move while compiled code runs; nothing in the engine grows them.
"""

from __future__ import annotations

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.extending import intrinsic, lower_builtin, register_model
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature

from schedlab._jit import DEBUG

#: Record -> names of its fields. All are int64; the random streams (`rng`, `rng_sleep`) are uint64.
FIELDS: dict[str, tuple[str, ...]] = {
    # one element: clock, sizes, the kernel's switches and tunables, log cursors, error report
    "sys": (
        "now", "this_cpu", "nr_cpus", "nr_groups", "nr_tasks", "nr_alive", "nr_events", "seq",
        "eevdf", "delay_dequeue", "preempt_short", "async_unthrottle", "hrtick",
        "expire_local", "slack_pushed_back", "lifo_throttle", "scale_147_128",
        "vprot", "lag_rules_7_2", "lazy_resched", "per_task", "at_account", "update_first", "limbo_local", "local_csd",
        "offline_only", "zero_at_write",
        "core_sched", "fi_min", "core_newidle", "core_sorted", "pick_on_drain", "no_snapshot", "no_fi_tick", "unlisted",
        "push", "push_recheck", "push_skip_pick", "push_skip_delayed", "push_quality", "wake_cookie", "no_steal",
        "no_active", "balance_kernel", "lb_fi_source", "lb_fi_dest", "lb_no_split", "nr_domains", "lb_seq",
        "rd_overloaded", "nohz_next", "nr_stoppers", "nr_online",
        "tick_ns", "base_slice", "latency", "min_granularity", "wakeup_granularity", "bw_slice",
        "norm_base_slice", "norm_latency", "norm_min_granularity", "norm_wakeup_granularity",
        "switch_ns", "ipi_ns", "tick_cost_ns", "period_cost_ns", "wake_late_ns", "late_ns", "late_below",
        "distribute_ns", "walk_ns", "enqueue_ns", "irqoff_cpu", "irqoff_ns",
        "src_slack", "src_csd", "src_ipi", "src_hrtick", "src_tick", "src_cpu", "src_task", "src_ctrl", "nr_levels",
        "resched_n", "resched_min", "period_running", "prev_put", "gone_cpu", "nr_overloaded", "next_ctrl",
        "mask_words", "log_n", "log_cap", "log_high", "log_mask", "log_dropped", "error", "error_a", "error_b",
        "stop_on_exit", "hist_throttle", "limbo_warnings", "limbo_warned_at", "holds", "fi_tree",
    ),
    # event queue: `key` of every source, then of the inner levels of the 16-ary tree of minima
    "ev": ("key",),
    "lvl": ("off",),
    # one a CPU
    "cpu": (
        "curr", "need_resched", "core", "llc", "rate", "work_stamp", "mode_stamp", "tick_offset", "tasks_head",
        "tasks_tail", "busy_ns", "busy_since", "csd_head", "csd_tail", "nr_switches", "left", "active", "lazy",
        "held_until", "nr_schedules", "nr_works", "nr_served", "nr_walked", "nr_requeued", "irqoff_ns", "irqoff_max",
        "nr_irqoff",
        "core_pick", "core_sched_seq", "core_head", "idle_occupation", "forced", "forced_since", "forced_ns",
        "nr_forced", "nr_core_picks", "nr_fast_picks", "nr_steals", "nr_pushes", "nr_scanned", "nr_locked",
        "nr_core_balances", "next_balance", "nr_active_balances", "lb_skip", "lb_seen", "push_to",
    ),
    "flag": ("idle", "overloaded"),                   # one a CPU, apart from cpu so that a scan stays in few lines
    "core": (
        "first", "nr", "running", "not_idle", "busy_ns", "since", "task_seq", "pick_seq", "cookie", "fi_count",
        "fi_seq", "fi_occupation", "fi_start", "fi_started", "fi_integral",
    ),
    "llc": ("first", "nr", "nr_online", "nr_idle", "nr_overloaded", "idle_scan", "idle_cores"),
    "map": ("core_cpu", "llc_cpu"),                   # CPUs ordered by core, and by LLC then number
    "pos": ("in_llc", "in_core"),                     # a CPU's index in map_llc_cpu, and in map_core_cpu
    "rate": ("ppm",),                                 # [cpu * stride + running - 1]
    "spd": ("stride",),
    "word": ("bits",),                                # affinity masks, 32 CPUs a word
    # one a task
    "task": (
        "group", "cpu", "pc", "fetch", "mode", "spin", "work", "step_end", "stamp", "wake_time", "waking", "state",
        "mask", "wait_since", "start", "end", "user_ns", "kernel_ns", "wait_ns", "nr_switches",
        "nr_wakeups", "nr_migrations", "nr_samples", "link_next", "link_prev", "wait_next", "hist",
        "batch_time", "batch_left", "kernel_thread", "work_pending", "throttled", "limbo_next", "limbo_prev",
        "chan_phase", "chan_left", "chan_slept", "left_exec", "left_user", "left_kernel",
        "cookie", "core_next", "core_prev", "core_listed", "occupation", "forceidle_ns", "recent_used", "load",
        "load_c", "load_stamp",
    ),
    # one a task, then one a CPU (its idle task): whom it woke last, and how often that changed
    "waker": ("last", "flips", "stamp"),
    "stream": ("rng", "rng_sleep"),                   # one a task; last elements: one a group (period timer lateness)
    "loop": ("count",),                               # [task * MAX_LOOPS + depth]
    "timer": ("done",),                               # [task * MAX_TIMERS + k]: activations of its k-th timer so far
    "op": ("code", "kind", "p1", "p2", "x", "y", "z"),
    "table": ("value",),                              # inverse CDFs, 4097 entries each
    "sync": ("head", "tail", "nr_waiting", "posts", "first_post"),
    "post": ("time",),                                # [sync * MAX_POSTS + k]: when a remembered post was made
    # one a scheduling entity: tasks first, then (group, CPU) pairs in the order of `rq`
    "se": (
        "vruntime", "deadline", "vlag", "slice", "weight", "exec_start", "sum_exec", "prev_sum_exec", "on_rq", "rq",
        "left", "right", "up", "prio", "key", "min_vruntime", "min_slice", "max_slice", "custom_slice", "rel_deadline",
        "delayed", "vprot",
    ),
    # one a (group, CPU) pair: cfs_rq of group g on CPU c is g * nr_cpus + c; group 0 is the root
    "rq": (
        "nr", "h_nr", "h_nr_runnable", "load", "min_vruntime", "sum_vw", "sum_w", "curr", "root", "next", "last",
        "skip", "cpu", "tg", "runtime_enabled", "runtime_remaining", "throttled", "throttle_count", "thr_next",
        "thr_prev", "on_csd", "csd_next", "throttled_clock", "throttled_clock_self", "throttled_self_ns", "expires_seq",
        "limbo", "ungranted", "indebted",
        "fi_ref", "fi_snapshot", "fi_seq",
    ),
    # one a group
    "tg": (
        "parent", "size", "depth", "shares", "load_sum", "quota", "period", "burst", "runtime", "runtime_snap", "idle",
        "period_active", "started", "phase", "slack_started", "expires", "nr_periods", "nr_throttled",
        "throttled_ns", "nr_bursts", "burst_ns", "thr_head", "thr_tail", "timer_cpu", "slack_cpu", "charged", "expired",
        "refill_seq", "refilled", "created", "nr_marks", "nr_rethrottled", "nr_works", "overrun_ns", "overrun_max",
        "left_exec", "left_user", "left_kernel",
    ),
    "ctrl": ("at", "code", "target", "p1", "p2", "p3"),
    "hist": ("count", "sum", "max"),
    "bucket": ("count",),
    "log": ("time", "kind", "cpu", "a", "b"),
    # one a channel; `readers` and `writers` are lists of waiters in `sync`
    "chan": (
        "pipe", "per_slot", "nr_slots", "first", "used", "last_end", "messages", "truesize", "sndbuf", "readers",
        "writers", "wake_on_free", "written", "read", "writer_blocks", "reader_blocks", "writer_wakes", "reader_wakes",
        "writer_spurious", "reader_spurious",
    ),
    # scheduling domains, [level * nr_cpus + cpu], level 0 the narrowest: the place of its CPUs in `span`, and its state
    "dom": ("first", "nr", "pos", "last_balance", "interval", "failed", "imbalanced"),
    "span": ("cpu",),                                 # [level * nr_cpus + k]: CPUs by domain, then number
    "level": ("pct", "tries", "smt", "numa", "shares_llc", "prefer_sibling"),
    # one: the balance that is going on (struct lb_env); and what it finds of its own group, of the busiest, of another
    "env": (
        "level", "dst", "src", "idle", "imbalance", "migration", "all_pinned", "some_pinned", "new_dst", "active",
        "skip", "loop", "loop_max", "cpu",
    ),
    "sg": (
        "cpu", "load", "util", "runnable", "nr", "h_nr", "idle", "weight", "cores", "type", "avg_load", "smt",
        "of_core",
    ),
    # one a CPU: decayed averages of load, running and runnable (1/65536), what holds since `stamp`, in 32.8 us
    "pelt": ("load", "util", "runnable", "load_c", "util_c", "runnable_c", "stamp"),
    "decay": ("factor",),                             # 2^20 * 2^(-k/1024)
    "page": ("left",),                                # [chan * 16 + slot]: messages in a slot of a pipe
}  # fmt: skip

_UNSIGNED = {"stream_rng", "stream_rng_sleep"}
#: task_state
RUNNABLE, BLOCKED, NEW, EXITED = 0, 1, 2, 3
MAX_LOOPS = 8
MAX_POSTS = 16
MAX_TIMERS = 4
NEVER = np.int64(np.iinfo(np.int64).max)

DTYPES = {
    record: np.dtype([(name, "u8" if f"{record}_{name}" in _UNSIGNED else "i8") for name in names])
    for record, names in FIELDS.items()
}
_SLOT = {record: k for k, record in enumerate(FIELDS)}
_NUMBA = {"u": types.uint64, "i": types.int64}
_LAYOUT = {
    f"{record}_{name}": (_SLOT[record], dtype.fields[name][1], dtype.itemsize, _NUMBA[dtype.fields[name][0].kind])
    for record, dtype in DTYPES.items()
    for name in dtype.names
}


class State:
    """The arrays of one simulation and the header through which compiled code reaches them.

    Parameters
    ----------
    **lengths : int
        Number of elements of each record in `FIELDS`; a record that is not named has one.

    Attributes
    ----------
    arrays : dict of str to numpy.ndarray
        One structured array a record.
    address : int
        Address of the header: the argument of the compiled entry points. Valid while this object lives.
    """

    def __init__(self, **lengths: int):
        unknown = set(lengths) - set(FIELDS)
        if unknown:
            raise ValueError(f"record={sorted(unknown)[0]}: one of {', '.join(FIELDS)}")
        self.arrays = {record: np.zeros(max(1, lengths.get(record, 1)), DTYPES[record]) for record in FIELDS}
        pairs = [x for array in self.arrays.values() for x in (array.ctypes.data, len(array))]
        self.header = np.array(pairs, np.int64)
        self.address = self.header.ctypes.data

    def __getitem__(self, field: str) -> np.ndarray:
        """The view of one field, for example ``state["se_vruntime"]``."""
        record, name = field.split("_", 1)
        return self.arrays[record][name]

    def __reduce__(self):
        raise TypeError("a State holds addresses of this process and is not pickled: save the Run")


class StateType(types.Type):
    """The type of `s` in compiled code: one pointer to the header."""

    def __init__(self):
        super().__init__(name="SchedlabState")


class FieldType(types.Type):
    """The type of `s.record_field`: indexable, without a value of its own but the header entry's address."""

    def __init__(self, field):
        self.slot, self.offset, self.stride, self.kind = _LAYOUT[field]
        super().__init__(name=f"SchedlabField({field})")


register_model(StateType)(models.OpaqueModel)
register_model(FieldType)(models.OpaqueModel)
_I64 = ir.IntType(64)


@intrinsic
def as_state(typingctx, address):
    """Turn the header's address into a State value (compiled code only)."""

    def codegen(context, builder, sig, args):
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return StateType()(types.int64), codegen


@infer_getattr
class _StateFields(AttributeTemplate):
    key = StateType

    def generic_resolve(self, typ, attr):
        return FieldType(attr) if attr in _LAYOUT else None


@lower_getattr_generic(StateType)
def _lower_field(context, builder, typ, value, attr):
    header = builder.bitcast(value, _I64.as_pointer())
    return builder.bitcast(builder.gep(header, [ir.Constant(_I64, 2 * _LAYOUT[attr][0])]), cgutils.voidptr_t)


def _element(context, builder, field, entry, index):
    entry = builder.bitcast(entry, _I64.as_pointer())
    base = builder.load(entry)
    # the header is constant while compiled code runs: without this mark each access loads the base again
    base.set_metadata("invariant.load", builder.module.add_metadata([]))
    if DEBUG:
        length = builder.load(builder.gep(entry, [ir.Constant(_I64, 1)]))
        with builder.if_then(builder.icmp_unsigned(">=", index, length), likely=False):
            context.call_conv.return_user_exc(builder, IndexError, (f"{field.name}: index out of range",))
    at = builder.add(builder.mul(index, ir.Constant(_I64, field.stride)), ir.Constant(_I64, field.offset))
    pointer = builder.gep(builder.inttoptr(base, cgutils.voidptr_t), [at], inbounds=True)
    return builder.bitcast(pointer, context.get_data_type(field.kind).as_pointer())


@infer_global(operator.getitem)
class _ReadField(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 2 and isinstance(args[0], FieldType) and isinstance(args[1], types.Integer):
            return signature(args[0].kind, args[0], types.int64)


@infer_global(operator.setitem)
class _WriteField(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 3 and isinstance(args[0], FieldType) and isinstance(args[1], types.Integer):
            return signature(types.none, args[0], types.int64, args[0].kind)


@lower_builtin(operator.getitem, FieldType, types.Integer)
def _lower_read(context, builder, sig, args):
    return builder.load(_element(context, builder, sig.args[0], args[0], args[1]))


@lower_builtin(operator.setitem, FieldType, types.Integer, types.Any)
def _lower_write(context, builder, sig, args):
    builder.store(args[2], _element(context, builder, sig.args[0], args[0], args[1]))
    return context.get_dummy_value()
