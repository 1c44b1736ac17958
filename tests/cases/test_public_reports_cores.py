"""Public reports about core scheduling: BR20, BR21 and BR22."""

import pytest

import schedlab as sl
from schedlab.workloads.hypervisor import hypervisor


@pytest.mark.parametrize(("mode", "running", "forced"), [("off", 8, 0), ("vm", 8, 0), ("vcpu", 4, 4)])
def test_br20__cookies_of_a_hypervisor(mode, running, forced):
    """cloud-hypervisor 7747: 8 busy vCPUs on 4 cores; no cookies, one, one a vCPU: 8, 8 and 4 threads run."""
    machine = sl.Machine.uniform(8, 2)
    work = hypervisor(1, 8, hwlat_vms=0, core_scheduling=mode, vmm_period=None)
    kernel = sl.Kernel.version("6.18")
    run = sl.simulate(machine, kernel, work, "10s")
    assert run.thread_busy_ns / run.duration_ns == pytest.approx(running, abs=0.02)
    if mode != "off":
        assert run.core_table["forced_idle_ns"].sum() / run.duration_ns == pytest.approx(forced, abs=0.02)
    share = 100 * run.task_table["exec_ns"] / run.duration_ns
    if mode == "vcpu":
        assert share.sum() == pytest.approx(400, abs=2)
        pinned = sl.Workload(
            tasks=[sl.Task(t.name, t.program, cpus=k, cookie=t.cookie) for k, t in enumerate(work.tasks)]
        )
        share = 100 * sl.simulate(machine, kernel, pinned, "10s").task_table["exec_ns"] / run.duration_ns
        assert share == pytest.approx([50] * 8, abs=1)
    else:
        assert share == pytest.approx([100] * 8, abs=1)


@pytest.mark.parametrize("balance", ["simple", "kernel"])
def test_br21__cookies_beside_tasks_without(balance):
    """scx 3715: vCPUs of one cookie and mixed tasks of none must not freeze: all run, siblings never mix cookies."""
    machine = sl.Machine.uniform(16, 2)
    vcpus = [sl.Task(f"vcpu{k}", sl.repeat(None, sl.run("1s")), cookie=1) for k in range(8)]
    nap = sl.repeat(None, sl.run(sl.exponential("2ms")), sl.sleep(sl.exponential("3ms")))
    mixed = [sl.Task(f"mixed{k}", nap if k % 2 else sl.repeat(None, sl.run("1s"))) for k in range(16)]
    work = sl.Workload(tasks=vcpus + mixed)
    run = sl.simulate(machine, sl.Kernel.version("6.18", balance=balance), work, "60s", log=("switch",))
    assert run.duration_ns == 60_000_000_000
    assert (run.task_table["exec_ns"] > 0.02 * run.duration_ns).all()
    spans = run.spans()
    cookie = {task.name: work.cookie_of(task) for task in work.tasks}
    for core in machine.cores:
        pair = [spans[spans["cpu"] == cpu] for cpu in core]
        assert _overlap(pair, cookie, 0, 1) + _overlap(pair, cookie, 1, 0) == 0


def _overlap(pair, cookie, first, second):
    """Time during which one sibling runs a task of cookie `first` and the other one of `second`."""
    mine = pair[0][pair[0]["task"].map(cookie) == first][["start_ns", "end_ns"]].to_numpy()
    other = pair[1][pair[1]["task"].map(cookie) == second][["start_ns", "end_ns"]].to_numpy()
    total = i = j = 0
    while i < len(mine) and j < len(other):
        total += max(0, min(mine[i][1], other[j][1]) - max(mine[i][0], other[j][0]))
        if mine[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return total


def test_br22__core_scheduling_against_smt_off():
    """firecracker 4566: 2 cores, SMT factor 1.25. Two VMs of two vCPUs: better by the factor; four of one: equal."""
    smt, nosmt = sl.Machine.uniform(4, 2, smt_throughput=(1.0, 1.25)), sl.Machine.uniform(2)
    kernel = sl.Kernel.version("6.18", balance="kernel").with_patch("force-idle-push")

    def work_done(machine, vms, vcpus, mode):
        job = [
            sl.Task(f"vm{vm}-{k}", sl.repeat(None, sl.run("1ms"), sl.mark(), sl.sample()), label="all",
                    cookie=vm + 1 if mode == "vm" else 0)
            for vm in range(vms) for k in range(vcpus)
        ]  # fmt: skip
        return sl.simulate(machine, kernel, sl.Workload(tasks=job), "20s").task_table["nr_samples"].sum() / 20_000

    assert work_done(nosmt, 2, 2, "off") == pytest.approx(2, rel=0.01)
    assert work_done(smt, 2, 2, "vm") == pytest.approx(2 * 1.25, rel=0.02)
    assert work_done(smt, 4, 1, "vm") == pytest.approx(2, rel=0.02)
