"""How the kernel, trace-cmd and perf spell the fields of each event: patterns, and the columns that they fill."""

from .trace import EXIT, FORK, MARK, MIGRATE, RUNTIME, SWITCH, TIMER, WAKEUP, WAKEUP_NEW, WAKING

_PID, _PRIO, _CPU = rb"(\d{1,9})", rb"(-?\d{1,4})", rb"(\d{1,5})"
_REST = rb"(?: +(.*))?$"
# A name holds anything, so each pattern ties the fields after it down: the last place that fits is it. The ways that
# come first are for names without a space: the same result, much faster.
_WORD = rb"([^ ]*+)"
_WAKE = (
    ("name", "pid", "prio", "target_cpu"),
    rb"comm=" + _WORD + rb" pid=" + _PID + rb" prio=" + _PRIO + rb"(?: success=\d+)? target_cpu=" + _CPU + _REST,
    rb"comm=(.*) pid=" + _PID + rb" prio=" + _PRIO + rb"(?: success=\d+)? target_cpu=" + _CPU + _REST,
    rb"(.*):" + _PID + rb" \[" + _PRIO + rb"\](?: success=\d+)? CPU:" + _CPU + _REST,
)
_EXITS = (("name", "pid", "prio"), rb"comm=(.*) pid=" + _PID + rb" prio=" + _PRIO + _REST)
#: Event -> its fields in the columns' names, and the ways to write them. The last group is what else there is.
BODIES = {
    SWITCH: (
        ("name", "pid", "prio", "state", "next_name", "next_pid", "next_prio"),
        rb"prev_comm=" + _WORD + rb" prev_pid=" + _PID + rb" prev_prio=" + _PRIO + rb" prev_state=(\S++) ==> next_comm="
        + _WORD + rb" next_pid=" + _PID + rb" next_prio=" + _PRIO + _REST,
        rb"prev_comm=(.*) prev_pid=" + _PID + rb" prev_prio=" + _PRIO + rb" prev_state=(\S+) ==> next_comm=(.*)"
        rb" next_pid=" + _PID + rb" next_prio=" + _PRIO + _REST,
        rb"(.*):" + _PID + rb" \[" + _PRIO + rb"\] (\S+) ==> (.*):" + _PID + rb" \[" + _PRIO + rb"\]" + _REST,
    ),
    WAKING: _WAKE,
    WAKEUP: _WAKE,
    WAKEUP_NEW: _WAKE,
    MIGRATE: (
        ("name", "pid", "prio", "value", "target_cpu"),
        rb"comm=(.*) pid=" + _PID + rb" prio=" + _PRIO + rb" orig_cpu=" + _CPU + rb" dest_cpu=" + _CPU + _REST,
    ),
    RUNTIME: (
        ("name", "pid", "value"),
        rb"comm=" + _WORD + rb" pid=" + _PID + rb" runtime=(\d{1,18}) \[ns\](?: vruntime=\d+ \[ns\])?" + _REST,
        rb"comm=(.*) pid=" + _PID + rb" runtime=(\d{1,18}) \[ns\](?: vruntime=\d+ \[ns\])?" + _REST,
    ),
    FORK: (
        ("name", "pid", "next_name", "next_pid"),
        rb"comm=(.*) pid=" + _PID + rb" child_comm=(.*) child_pid=" + _PID + _REST,
    ),
    EXIT: _EXITS,
    TIMER: (
        ("name", "next_name", "value"),
        rb"hrtimer=(\S+) function=(\S+)(?: softexpires=\d+)? now=(\d{1,18})(?: +ns)?" + _REST,
    ),
    MARK: (("pid", "name", "value"), rb"C\|" + _PID + rb"\|(.*)\|(-?\d{1,18})" + _REST),
}  # fmt: skip
