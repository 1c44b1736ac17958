"""A hypervisor's host: what its measure of noise counts, and that the push takes nothing away."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import schedlab as sl
from schedlab.workloads import hypervisor as hv

MS = 1_000_000
HOST = sl.Machine.uniform(16, 2)
LOG = ("switch", "block", "wake", "start")


@st.composite
def hosts(draw):
    """Three guests of four virtual CPUs on eight CPUs: more than fit without noise."""
    tracer = hv.Hwlat(
        width=draw(st.sampled_from(("10ms", "25ms"))),
        window="60ms",
        threshold=draw(st.sampled_from(("100us", "1ms"))),
        mode=draw(st.sampled_from(("per-cpu", "round-robin"))),
    )
    burst = draw(st.sampled_from(("200us", "1ms")))
    work = hv.hypervisor(3, 4, hwlat_vms=draw(st.sampled_from((1, 2))), hwlat=tracer, vmm_burst=burst)
    kernel = sl.Kernel.version(draw(st.sampled_from(("6.18", "7.2"))), hz=draw(st.sampled_from((250, 1000))))
    kernel = kernel.with_(balance=draw(st.sampled_from(("simple", "kernel"))))
    return kernel, work, tracer, draw(st.integers(0, 9))


def gaps_of(run, task, begin, end):
    """Times off the CPU between `begin`, where the task comes on it, and `end`, from its stretches on CPUs."""
    spans = run.spans().sort_values("start_ns")
    mine = spans[(spans["task"] == task) & (spans["start_ns"] >= begin) & (spans["start_ns"] < end)]
    gaps = np.append(mine["start_ns"].to_numpy()[1:], end) - mine["end_ns"].to_numpy()
    return gaps[gaps > 0]


@settings(max_examples=12)
@given(hosts())
def test_g18__gaps_in_the_windows(host):
    """A window's count, longest and sum are those of the gaps above the threshold; N_max is at most N_sum."""
    kernel, work, tracer, seed = host
    run = sl.simulate(sl.Machine.uniform(8, 2), kernel, work, "600ms", seed=seed, log=LOG)
    table, noise = hv.windows(run, tracer), hv.noise(run, tracer)
    assert 0 <= noise["n_max"] <= noise["n_sum"]
    events = run.events()
    blocks = events[events["kind"] == "block"]
    number = {task.name: k for k, task in enumerate(work.tasks)}
    assert len(table)
    for row in table.itertuples():
        mine = blocks[blocks["a"] == number[row.task]]["time_ns"]
        end = mine[mine >= row.start_ns + tracer.width_ns].min()
        gaps = gaps_of(run, row.task, row.start_ns, end)
        counted = gaps[gaps > tracer.threshold_ns]
        assert (row.count, row.sum_ns, row.max_ns) == (len(counted), counted.sum(), counted.max(initial=0))
        last = gaps.max(initial=0)
        assert tracer.width_ns <= end - row.start_ns <= tracer.width_ns + last


@pytest.mark.parametrize("balance", ["simple", "kernel"])
def test_g18__a_guest_alone_has_no_noise(balance):
    """One guest, no VMM thread, a CPU for each virtual CPU: nothing is ever in the way."""
    tracer = hv.Hwlat(width="10ms", window="30ms")
    work = hv.hypervisor(1, 8, hwlat=tracer, vmm_period=None)
    run = sl.simulate(sl.Machine.uniform(8, 2), sl.Kernel.version("6.18", balance=balance), work, "1s", log=LOG)
    noise = hv.noise(run, tracer)
    assert noise["windows"] > 200 and noise["n_max"] == noise["n_sum"] == noise["gaps_per_s"] == 0


def test_g17__the_push_costs_nothing():
    """The same seeds with the push: no less work of the guests that compute (0.1 %), no more forced idle time."""
    tracer, base = hv.Hwlat(width="30ms", window="90ms"), sl.Kernel.version("6.18", hz=250, balance="kernel")
    work = hv.hypervisor(4, 4, hwlat=tracer, packed_on=HOST)
    done, idle = [], []
    for patches in (("wake-cookie-check",), ("wake-cookie-check", "force-idle-push")):
        runs = [sl.simulate(HOST, base.with_patch(*patches), work, "3s", seed=seed) for seed in range(6)]
        done.append(np.mean([hv.stress_throughput(run) for run in runs]))
        idle.append(np.mean([run.core_table["forced_idle_ns"].sum() for run in runs]))
    assert done[1] >= 0.999 * done[0]
    assert idle[1] <= idle[0]
