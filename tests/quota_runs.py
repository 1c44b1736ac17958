"""What the tests of bandwidth control share: hogs under a quota, who ran when, and when what happened."""

import schedlab as sl

MS = 1_000_000
#: Work that outlasts every test.
FOREVER = sl.run("9000s")
#: One kernel for each policy and way of placing tasks; all throttle whole queues.
RELEASES = ("6.1", "6.6", "6.12")


def limited(quota_ms, *, period_ms=100, burst_ms=0, phase_ms=0, path="/g"):
    """A group with a limit; its timer fires at phase + k * period."""
    return sl.Group(
        path,
        quota_us=quota_ms * 1000,
        period_us=period_ms * 1000,
        burst_us=burst_ms * 1000,
        phase_us=phase_ms * 1000,
    )


def hogs(nr, group, release="6.12", hz=1000, *, periods, start_ms=0, patches=(), **tunables):
    """Run a user-mode hog pinned to each of `nr` CPUs, all in `group`, for so many periods.

    The run goes on for 1 ns after the last period, so that its boundary is counted.
    """
    tasks = [sl.Task(f"hog{c}", FOREVER, group=group.path, cpus=c, start_ns=start_ms * MS) for c in range(nr)]
    kernel = sl.Kernel.version(release, hz=hz, **tunables).with_patch(*patches)
    until = start_ms * MS + periods * group.period_us * 1000 + 1
    return sl.simulate(sl.Machine.uniform(nr), kernel, sl.Workload((group,), tasks), until, log=True)


def windows(run, cpu=None):
    """Intervals (cpu, task, from, to) in ns in which a CPU (or each) ran a task."""
    begun, found = {}, []
    switches = run.events().query("kind == 'switch'")[["time_ns", "cpu", "a", "b"]]
    for time, c, prev, following in switches.values.tolist():
        if cpu not in (None, c):
            continue
        if prev >= 0:
            found.append((c, prev, begun.pop(c)[0], time))
        if following >= 0:
            begun[c] = time, following
    return found + [(c, task, start, run.duration_ns) for c, (start, task) in begun.items()]


def usage_ms(run, nr, *, period_ms=100, begin_ms=0, cpu=None):
    """CPU time in ms that was used (on a CPU, or on all) in each of `nr` periods."""
    ran = windows(run, cpu)
    used = []
    for k in range(nr):
        low = (begin_ms + k * period_ms) * MS
        high = low + period_ms * MS
        used.append(sum(max(0, min(end, high) - max(start, low)) for _, _, start, end in ran) / MS)
    return used


def times_ms(run, kind, cpu=None):
    """Times in ms of the events of one kind (on one CPU, or on all)."""
    events = run.events()
    chosen = events["kind"] == kind
    if cpu is not None:
        chosen &= events["cpu"] == cpu
    return (events.loc[chosen, "time_ns"] / MS).tolist()


def stat(run, path="/g"):
    """One group's cpu.stat as a dict."""
    return run.cpu_stat().loc[path].to_dict()


def samples_ms(run, task=0):
    """What the sample() steps of one task recorded, in ms."""
    events = run.events()
    return (events.loc[(events["kind"] == "sample") & (events["a"] == task), "b"] / MS).tolist()
