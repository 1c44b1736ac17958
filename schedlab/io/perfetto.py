"""Perfetto's own format, through the protos of the package `perfetto` (the extra ``schedlab[perfetto]``)."""

from pathlib import Path

from .chrome import throttled
from .from_run import trace_of
from .trace import EXIT, MARK, MIGRATE, SWITCH, WAKEUP, WAKEUP_NEW, WAKING, Trace

# Bits of task_struct.state in prev_state, by the letter that ftrace prints; R+ is preempted (cf. TASK_REPORT_MAX).
_STATE = {"R": 0, "S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "Z": 32, "P": 64, "I": 128}
_PREEMPTED = 256
_PER_PACKET = 4096
_SEQUENCE = 1


def write(what, path) -> None:
    """Write a Trace or a Run as a native Perfetto trace, whose scheduling view ui.perfetto.dev shows.

    sched_switch, sched_waking, sched_wakeup(_new), sched_migrate_task and sched_process_exit are ftrace packets; what a
    group is throttled are a track of slices and a counter a group and CPU.

    Raises
    ------
    ValueError
        When the package is not installed.
    """
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto
    except ImportError:
        raise ValueError("perfetto: the package is not installed; pip install 'schedlab[perfetto]'") from None
    trace = what if isinstance(what, Trace) else trace_of(what)
    with open(Path(path), "wb") as file:
        for packet in _packets(trace, proto):
            message = proto.Trace()
            message.packet.append(packet)
            file.write(message.SerializeToString(deterministic=True))


def _packets(trace, proto):
    codes = trace.events["event"].cat.codes.to_numpy()
    events = trace.events.assign(code=codes)
    for cpu, mine in events[codes != MARK].groupby("cpu"):
        rows = list(mine.itertuples(index=False))
        for first in range(0, len(rows), _PER_PACKET):
            packet = proto.TracePacket(trusted_packet_sequence_id=_SEQUENCE)
            bundle = packet.ftrace_events
            bundle.cpu = int(cpu)
            for row in rows[first : first + _PER_PACKET]:
                _add(bundle, row)
            yield packet
    yield from _throttle_packets(trace, proto)


def _add(bundle, row):
    if row.code not in (SWITCH, WAKING, WAKEUP, WAKEUP_NEW, MIGRATE, EXIT):
        return
    event = bundle.event.add()
    event.timestamp, event.pid = int(row.time_ns), max(0, int(row.curr))
    if row.code == SWITCH:
        at = event.sched_switch
        at.prev_comm, at.prev_pid, at.prev_prio = row.name, row.pid, row.prio
        at.prev_state = state_bits(row.state)
        at.next_comm, at.next_pid, at.next_prio = row.next_name, row.next_pid, row.next_prio
        return
    if row.code == MIGRATE:
        at = event.sched_migrate_task
        at.orig_cpu, at.dest_cpu = int(row.value), row.target_cpu
    elif row.code == EXIT:
        at = event.sched_process_exit
    else:
        at = getattr(event, {WAKING: "sched_waking", WAKEUP: "sched_wakeup"}.get(row.code, "sched_wakeup_new"))
        at.success, at.target_cpu = 1, row.target_cpu
    at.comm, at.pid, at.prio = row.name, row.pid, row.prio


def state_bits(state: str) -> int:
    """Return prev_state as the kernel's number: letters joined by "|", "+" when it was preempted.

    Examples
    --------
    >>> state_bits("R+"), state_bits("D|K")
    (256, 2)
    """
    bits = 0
    for letter in state.rstrip("+").split("|"):
        bits |= _STATE.get(letter, 0)
    return bits | (_PREEMPTED if state.endswith("+") else 0)


def _throttle_packets(trace, proto):
    tracks: dict[str, int] = {}
    for name, start, end in throttled(trace):
        if name not in tracks:
            tracks[name] = 2 * len(tracks) + 1000
            for uuid, counter in ((tracks[name], False), (tracks[name] + 1, True)):
                packet = proto.TracePacket(trusted_packet_sequence_id=_SEQUENCE)
                packet.track_descriptor.uuid, packet.track_descriptor.name = uuid, name
                if counter:
                    packet.track_descriptor.counter.SetInParent()
                yield packet
        for time_ns, value in ((start, 1), (end, 0)):
            packet = proto.TracePacket(trusted_packet_sequence_id=_SEQUENCE, timestamp=time_ns)
            packet.track_event.track_uuid = tracks[name]
            packet.track_event.type = proto.TrackEvent.TYPE_SLICE_BEGIN if value else proto.TrackEvent.TYPE_SLICE_END
            if value:
                packet.track_event.name = "throttled"
            yield packet
            packet = proto.TracePacket(trusted_packet_sequence_id=_SEQUENCE, timestamp=time_ns)
            packet.track_event.track_uuid = tracks[name] + 1
            packet.track_event.type = proto.TrackEvent.TYPE_COUNTER
            packet.track_event.counter_value = value
            yield packet
