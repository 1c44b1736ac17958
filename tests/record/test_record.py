"""Recording: the form from traces and outputs; what is missing is said; opt-in, a kernel is booted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from schedlab.io import recordings
from schedlab.record import form, ftrace, guest, host
from schedlab.record.cpio import archive
from schedlab.record.tools import Missing, check_out

SWITCH = "prev_comm=slA.0 prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=swapper/0 next_pid=0 next_prio=120"
HEAD = "  slA.0-7  [000] d..2. "
TRACE = f"""# tracer: nop
{HEAD} 10.000100: hrtimer_expire_entry: hrtimer=00ab function=sched_cfs_period_timer now=10000100000
     sl-7  [000] d..2.  10.001000: sched_stat_runtime: comm=sl pid=7 runtime=900000 [ns]
{HEAD} 10.004000: sched_stat_runtime: comm=slA.0 pid=7 runtime=3000000 [ns]
{HEAD} 10.050000: sched_switch: {SWITCH}
{HEAD} 10.101000: sched_stat_runtime: comm=slA.0 pid=7 runtime=900000 [ns]
{HEAD} 10.100100: hrtimer_expire_entry: hrtimer=00ab function=sched_cfs_period_timer now=10100100000
{HEAD} 10.100200: hrtimer_expire_entry: hrtimer=00cd function=tick_sched_timer now=10100200000
"""


def test_ftrace__runs_are_whole_whatever_the_thread_was_called():
    runs = ftrace.runs_charged(ftrace.lines(TRACE))
    assert [(cpu, name, round(a), round(b)) for cpu, name, a, b in runs] == [
        (0, "slA.0", 10_000_100, 10_004_000), (0, "slA.0", 10_100_100, 10_101_000),
    ]  # fmt: skip


def test_ftrace__timers_are_those_of_the_bandwidth():
    assert ftrace.timer_expiries(ftrace.lines(TRACE)) == {"00ab": [10_000_100.0, 10_100_100.0]}


def test_form__program_from_command_and_output():
    one = form.program(
        "sl busy -N A -n 4 -t 3 -c 0,1", "busy A threads=4 wall_ms=3000.1 cpu_ms=761.0 start_ns=5 end_ns=9", "/A"
    )
    assert (one["kind"], one["threads"], one["secs"], one["cpus"]) == ("busy", 4, 3.0, [0, 1])
    assert (one["cpu_ms"], one["start_ns"], one["name"]) == (761.0, 5, "A")


def test_form__timer_goes_to_the_tightest_group():
    groups = [dict(path="/a", quota_us=50, period_us=100), dict(path="/a/b", quota_us=20, period_us=100)]
    programs = [dict(group="/a/b", name="x", secs=1e-3)]
    runs = [(0, "x.0", 10.0 + 100 * k, 30.0 + 100 * k) for k in range(10)]
    timers = {"1": [5.0 + 100 * k for k in range(10)], "2": [50.0 + 100 * k for k in range(10)]}
    assert form._timers_of(groups, programs, runs, {k: [t for t in v] for k, v in timers.items()}).keys() == {"/a/b"}


def test_form__same_recordings_same_bytes(tmp_path):
    one = {"name": "n", "kind": "phases", "what": "w", "phases_us": [1.0]}
    for name in ("a", "b"):
        form.write(tmp_path / f"{name}.jsonl.gz", [one])
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert recordings.read(tmp_path / "a.jsonl.gz")[0].raw == one


def test_cpio__is_newc_and_padded():
    packed = archive([("init", "program", b"x")])
    assert packed.startswith(b"070701") and b"TRAILER!!!" in packed and len(packed) % 512 == 0


def test_guest__what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    said = guest.missing(tmp_path / "vmlinuz", "qemu-none")
    assert any("qemu-none is not installed" in line for line in said) and any("no such file" in line for line in said)
    with pytest.raises(Missing, match="qemu-none is not installed"):
        guest.record(tmp_path / "vmlinuz", "d", tmp_path / "x.jsonl.gz", qemu="qemu-none")


def test_host__scenarios_are_well_formed():
    for groups, programs in host.SCENARIOS.values():
        assert all(group in groups for _, group, _ in programs)
        assert all(form.program(options, "", "/A")["kind"] in ("busy", "per") for _, _, options in programs)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["record", "guest", "--kernel", "none", "--scenario", "z"], "schedlab: scenario='z': one of a, b, c, d, hole"),
        (["record", "guest", "--kernel", "/none/vmlinuz"], "kernel=/none/vmlinuz: no such file"),
        (["record", "host", "i_2thr"], "schedlab: scenario='i_2thr': one of i_1thr_pin"),
    ],
)
def test_cli__a_mistake_is_one_line(arguments, line):
    done = subprocess.run([sys.executable, "-m", "schedlab.cli", *arguments], capture_output=True, text=True)
    assert done.returncode == 2 and line in done.stderr and len(done.stderr.strip().splitlines()) == 1


# ------------------------------------------------------------------ opt-in: SCHEDLAB_REALKERNEL=1


@pytest.mark.slow
def test_real_kernel__nested_quotas_again(tmp_path):
    """Boot the image that SCHEDLAB_KERNEL names, or the one in /boot, and record nested quotas."""
    if os.environ.get("SCHEDLAB_REALKERNEL") != "1":
        pytest.skip("boots a kernel in QEMU; SCHEDLAB_REALKERNEL=1 (and SCHEDLAB_KERNEL=IMAGE) asks for it")
    named = os.environ.get("SCHEDLAB_KERNEL")
    image = Path(named) if named else next(iter(sorted(Path("/boot").glob("vmlinuz-*"))), None)
    said = guest.missing(image)
    if said:
        pytest.skip("; ".join(said))
    found = guest.record(image, "d", tmp_path / "d.jsonl.gz", variables=("SECS=2",))
    (one,) = [each for each in recordings.read(tmp_path / "d.jsonl.gz") if "busy2_60_40_25" in each.name]
    assert len(found) == 6
    row = one.measured["/L1/L2/L3"]
    assert row["nr_throttled"] >= row["nr_periods"] - 4 and one.measured["/L1"]["nr_throttled"] == 0
    assert abs(row["usage_us"] / (25_000 * len(one.raw["timers_us"]["/L1/L2/L3"])) - 1) < 0.06


def test_check_out__told_before_anything_is_recorded(tmp_path):
    with pytest.raises(Missing, match="no folder"):
        check_out(tmp_path / "no" / "x.gz")
    with pytest.raises(Missing, match="is a directory"):
        check_out(tmp_path)
    check_out(tmp_path / "x.gz")


def test_host__programs_end_with_an_interrupt(tmp_path, monkeypatch):
    class Interrupted(subprocess.Popen):
        def communicate(self, *_, **__):
            started.append(self)
            raise KeyboardInterrupt

    started = []
    monkeypatch.setattr(host.subprocess, "Popen", Interrupted)
    program = tmp_path / "sleeps"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    with pytest.raises(KeyboardInterrupt):
        host._run(host.Cgroups(), program, [(0, "A", "busy")])
    assert [each.poll() for each in started] == [-9]
