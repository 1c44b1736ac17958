"""Texts for the tests of the trace readers."""

HEADER = "# tracer: nop\n#\n"


def switch(time, cpu, prev, nxt, state="S", flags="d..2.", names=None):
    """One line of sched_switch; prev and nxt are pids."""
    names = names or {}
    prev_name, next_name = names.get(prev, f"task{prev}"), names.get(nxt, f"task{nxt}")
    return (
        f"{'task':>16}-{prev:<7} [{cpu:03d}] {flags} {time:12.6f}: sched_switch: prev_comm={prev_name} prev_pid={prev} "
        f"prev_prio=120 prev_state={state} ==> next_comm={next_name} next_pid={nxt} next_prio=120\n"
    )


def wakeup(time, cpu, pid, flags="d.h1.", success="", event="sched_wakeup", curr=0, target=None):
    target = cpu if target is None else target
    return (
        f"{'<idle>':>16}-{curr:<7} [{cpu:03d}] {flags} {time:12.6f}: {event}: comm=task{pid} pid={pid} prio=120"
        f"{success} target_cpu={target:03d}\n"
    )
