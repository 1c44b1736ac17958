"""Recordings: the reader's nouns, phases of timers, the programs as tasks."""

import gzip
import json

import pytest

from schedlab import Kernel
from schedlab._resources import data_path
from schedlab.io import recordings
from schedlab.io._recorded_programs import _sizes, tasks_of
from schedlab.steps import Repeat, Run, Spin


def test_load__kinds_and_names():
    assert {kind: len(recordings.load(kind)) for kind in recordings.KINDS} == {
        "quota": 105, "phases": 7, "cookies": 7, "rebuild": 6, "hole": 162,
    }  # fmt: skip
    names = [one.name for one in recordings.load()]
    assert len(names) == len(set(names))


def test_load__every_quota_recording_is_a_scenario_that_its_kernel_takes():
    for one in recordings.load("quota"):
        work = one.workload()
        work.check(one.kernel)
        work.check_machine(one.machine)
        assert set(one.measured) <= set(work.group_paths)


def test_recordings__hold_no_paths_of_a_machine():
    for path in data_path("recordings").glob("*.jsonl.gz"):
        text = gzip.open(path, "rt").read()
        assert not any(path in text for path in ("/work/", "/tmp/", "/home/"))
        assert path.stat().st_size < 1_000_000


def test_kernel__as_it_reported_itself():
    (one,) = recordings.load("quota", "a-7.3.4-ic3/a.k1")
    kernel = one.kernel
    assert (kernel.release, kernel.hz, kernel.hrtick, kernel.base_slice_ns) == ("7.3", 250, True, 700_000)
    assert recordings.load("quota", "a-6.12")[0].kernel.hrtick is False
    assert recordings.load("quota", "host/i_1thr_pin.r2")[0].kernel.cgroup == "v1"


def test_timer_phases__aligned_kernels_know_those_that_the_trace_does_not_tell():
    (one,) = recordings.load("quota", "d-6.1.0-ic3/busy2_60_40_25")
    phases = one.timer_phases_us
    assert set(phases) == {"/L1", "/L1/L2", "/L1/L2/L3"} and set(one.raw["timers_us"]) == {"/L1/L2/L3"}
    # the handler is late by some 0.1 ms under emulation
    assert abs(phases["/L1"] - phases["/L1/L2/L3"]) < 1_000


@pytest.mark.parametrize(
    ("times", "phase"), [([100_010.0, 200_003.0, 300_004.0, 400_090.0], 4.0), ([99_999.0, 200_001.0, 300_000.0], 0.0)]
)
def test_phase_of(times, phase):
    assert recordings.phase_of(times, 100_000) == phase


def test_sizes__as_erand48_draws_them():
    # POSIX: X' = 0x5DEECE66D X + 11 mod 2**48; one step from (7, 0, 42) by hand
    x = (0x5DEECE66D * (7 | 42 << 32) + 11) % 2**48
    import math

    assert _sizes(7, 0, 1) == [-math.log(1 - x / 2**48)]
    assert _sizes(0, 0, 3) == [1.0, 1.0, 1.0]


def test_tasks_of__work_is_the_measured_cpu_time():
    program = dict(
        kind="per", name="p", group="/A", threads=2, secs=1.0, jobs=20, cpu_ms=100.0, period_us=100_000, start_us=10
    )
    tasks = tasks_of([program], {})
    (loop,) = tasks[0].program
    assert isinstance(loop, Repeat) and loop.times == 10 and loop.steps[1] == Run(loop.steps[1].duration)
    assert loop.steps[1].duration.low_ns == 5_000_000 and tasks[0].start_ns == 10_000
    busy = dict(kind="busy", name="b", group="/A", threads=2, secs=0.5, cpus=[1], start_us=0)
    (first, second) = tasks_of([busy], {})
    assert isinstance(first.program[0], Spin) and first.cpus == second.cpus == (1,) and second.start_ns == 1000


def test_read__line_of_an_unknown_kind(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(json.dumps({"kind": "quotas", "name": "n", "what": "w"}) + "\n")
    with pytest.raises(ValueError, match="^kind='quotas': one of quota.*did you mean 'quota'"):
        recordings.read(path)


# ------------------------------------------------------------------ from_features


def test_from_features__switches_and_slice():
    kernel = Kernel.from_features(
        "6.12.117", "PLACE_LAG NO_HRTICK NO_PREEMPT_SHORT", nr_cpus=8, base_slice_ns=2_800_000
    )
    assert (kernel.base_slice_ns, kernel.preempt_short, kernel.delayed_dequeue) == (700_000, False, True)
    assert Kernel.from_features("7.2.13", ["NO_HRTICK"], nr_cpus=2).hrtick is False


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("NO_RUN_TO_PARITY", "^features='NO_RUN_TO_PARITY': the engine always has it on"),
        ("NEXT_BUDDY", "always has it off"),
    ],
)
def test_from_features__refused(features, message):
    with pytest.raises(ValueError, match=message):
        Kernel.from_features("6.12", features, nr_cpus=2)


def test_row_7_3__says_what_it_leaves_out():
    assert "flat tree" in Kernel.version("7.3").note and "nested quotas" in Kernel.version("7.3").note
    assert Kernel.version("7.3.4").note.startswith("7.3.4 takes the row 7.3")
    assert Kernel.version("7.2").note == ""
