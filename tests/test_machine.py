import dataclasses
import pickle

import pytest

from schedlab.machine import Machine, Watts

TWO = dict(name="two", cores=((0, 1), (2, 3)), smt_throughput=(1.0, 1.25))


def test_machine__derived():
    machine = Machine(**TWO, nodes=((0, 1), (2, 3)))
    assert machine.nr_cpus == 4 and machine.threads_per_core == 2
    assert machine.core_of == (0, 0, 1, 1) and machine.llc_of == (0, 0, 0, 0) and machine.node_of == (0, 0, 1, 1)
    assert machine.nr_llcs == 1 and machine.nr_nodes == 2
    assert machine.siblings(2) == (2, 3)


def test_thread_speed_ppm__speed_and_siblings():
    machine = Machine(**TWO, speed=(1.0, 1.0, 0.2, 0.2))
    assert [machine.thread_speed_ppm(cpu, busy) for cpu in (0, 2) for busy in (1, 2)] == [
        1_000_000,
        625_000,
        200_000,
        125_000,
    ]


@pytest.mark.parametrize("busy", [0, 3])
def test_thread_speed_ppm__more_than_the_core_has(busy):
    with pytest.raises(ValueError, match=f"busy={busy}: .*2 threads"):
        Machine(**TWO).thread_speed_ppm(0, busy)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (dict(cores=((0, 1), (1, 2))), r"^cores=.*CPU 1 is in two"),
        (dict(cores=((0, 1), (3, 4))), r"^cores=.*CPU 2 is missing"),
        (dict(cores=()), "^cores=.*at least one"),
        (dict(cores=((0, -1),)), "^cores=-1: at least 0"),
        (dict(llcs=((0, 2), (1, 3))), r"^llcs=.*core \(0, 1\)"),
        (dict(llcs=((0, 1),)), "^llcs=.*CPU 2 is missing|^llcs=.*"),
        (dict(nodes=((0, 1), (2, 3), (4,))), "^nodes=.*CPU 4 is in no core"),
        (dict(nodes=((0, 2), (1, 3))), "^nodes="),
        (dict(speed=(1.0, 1.0)), "^speed=.*4, not 2"),
        (dict(speed=(1.0, 1.0, 0.0, 1.0)), "^speed=.*above 0"),
        (dict(speed=(1.0, 1.0, float("inf"), 1.0)), "^speed=inf: must be finite"),
        (dict(smt_throughput=()), "^smt_throughput=.*1 to 2 busy threads"),
        (dict(smt_throughput=(1.0,)), "^smt_throughput="),
        (dict(smt_throughput=(1.1, 1.3)), "^smt_throughput=.*first is 1.0"),
        (dict(smt_throughput=(1.0, 0.9)), "^smt_throughput=.*slower"),
        (dict(watts=3), "^watts=3: a Watts"),
        (dict(name=""), "^name="),
    ],
)
def test_machine__refused_in_one_line(fields, message):
    with pytest.raises(ValueError, match=message) as caught:
        Machine(**TWO | fields)
    assert "\n" not in str(caught.value)


def test_machine__single_threads_need_no_ladder():
    assert Machine("one", cores=(0, 1)).thread_speed_ppm(1, 1) == 1_000_000


def test_machine__frozen_hashable_and_copied_whole():
    machine = Machine.load("laptop-8cpu")
    with pytest.raises(dataclasses.FrozenInstanceError):
        machine.name = "other"
    assert pickle.loads(pickle.dumps(machine)) == machine and hash(machine) == hash(Machine.load("laptop-8cpu"))


def test_replace__validates_and_names_the_nearest():
    assert Machine.uniform(2).replace(speed=(1, 2)).speed == (1.0, 2.0)
    with pytest.raises(ValueError, match="did you mean 'speed'"):
        Machine.uniform(2).replace(sped=(1, 2))


@pytest.mark.parametrize(
    ("options", "cores"),
    [(dict(numbering="adjacent"), ((0, 1), (2, 3))), (dict(numbering="split"), ((0, 2), (1, 3)))],
)
def test_uniform__numbering(options, cores):
    assert Machine.uniform(4, 2, **options).cores == cores


@pytest.mark.parametrize(
    ("options", "message"),
    [(dict(nr_cpus=5), "^nr_cpus=5"), (dict(nr_cpus=8, nr_llcs=3), "^nr_llcs=3"), (dict(nr_cpus=0), "^nr_cpus=0")],
)
def test_uniform__refused(options, message):
    with pytest.raises(ValueError, match=message):
        Machine.uniform(**dict(smt=2) | options)


@pytest.mark.parametrize(
    ("name", "nr_cpus", "nr_cores", "nr_llcs", "nr_nodes", "siblings_of_1"),
    [
        ("power-8core-smt8", 64, 8, 1, 1, tuple(range(8))),
        ("epyc-2x128-smt2", 512, 256, 32, 2, (1, 257)),
        ("hypervisor-64cpu-smt2", 64, 32, 1, 1, (1, 33)),
        ("vm-32cpu", 32, 32, 1, 1, (1,)),
        ("laptop-8cpu", 8, 4, 1, 1, (0, 1)),
    ],
)
def test_load__shipped(name, nr_cpus, nr_cores, nr_llcs, nr_nodes, siblings_of_1):
    machine = Machine.load(name)
    assert machine.name == name and machine.description and machine.source
    assert (machine.nr_cpus, len(machine.cores), machine.nr_llcs, machine.nr_nodes) == (
        nr_cpus,
        nr_cores,
        nr_llcs,
        nr_nodes,
    )
    assert machine.siblings(1) == siblings_of_1


def test_load__epyc_caches_and_nodes():
    machine = Machine.load("epyc-2x128-smt2")
    assert machine.llcs[1] == (*range(8, 16), *range(264, 272))
    assert machine.node_of[127] == machine.node_of[383] == 0 and machine.node_of[128] == machine.node_of[511] == 1


def test_load__power_agrees_with_the_calibration_it_states():
    machine = Machine.load("power-8core-smt8")
    r4, r8 = (machine.thread_speed_ppm(0, busy) for busy in (4, 8))
    assert r8 / r4 == pytest.approx(27.6 / 40.15, abs=1e-5)
    p0, p4, p8 = (machine.watts.power(cores, threads) for cores, threads in ((0, 0), (8, 32), (8, 64)))
    assert (p0 + p4) / 2 == pytest.approx(80.425, abs=0.005)
    assert (p0 + p8) / 2 == pytest.approx(91, abs=0.005)


def test_load__idle_power_is_the_mean_of_two_intercepts():
    cores = (1, 2, 4, 8)
    intercepts = [_intercept(cores, watts) for watts in ((44, 49, 60, 77), (46, 52, 65, 83.5))]
    assert Machine.load("power-8core-smt8").watts.idle_w == pytest.approx(sum(intercepts) / 2, abs=5e-4)


def _intercept(x, y):
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)
    return mean_y - slope * mean_x


def test_load__nearest_name():
    with pytest.raises(ValueError, match="did you mean 'power-8core-smt8'"):
        Machine.load("power-8core-smt-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\ncors = [[0]]', "did you mean 'cores'"),
        ('name = "x"\ncores = ["0-"]\n', "^cpus='0-'"),
        ('name = "x"\n[topology]\nnr_cpu = 2', "did you mean 'nr_cpus'"),
        ('name = "x"\ncores = [[0]]\n[watts]\nidle = 2', "did you mean 'idle_w'"),
        ('name = "x"\ncores = [[0]]\n[watts]\nidle_w = 2', "core_w"),
        ('name = "x"', "cores"),
        ("name = x", "TOML"),
    ],
)
def test_from_toml__refused(text, message):
    with pytest.raises(ValueError, match=message):
        Machine.from_toml(text)


def test_from_toml__lists_of_cpus():
    machine = Machine.from_toml('name = "x"\ncores = ["0,2", [1, 3]]\nsmt_throughput = [1, 1.3]\nllcs = ["0-3"]\n')
    assert machine.cores == ((0, 2), (1, 3)) and machine.llcs == ((0, 1, 2, 3),)


def test_watts__refused():
    with pytest.raises(ValueError, match="core_w=-1: at least 0"):
        Watts(1, -1, 1)


def test_repr_html__escaped():
    html = Machine.uniform(2).replace(name="<b>", source="a & b", watts=Watts(40, 7, 0.5))._repr_html_()
    assert "&lt;b&gt;" in html and "a &amp; b" in html and "<b>Machine" in html and "40 W idle" in html


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\ntopology = 4', "topology=4: a table"),
        ('name = "x"\n[topology]\nsmt = 2', "the field 'nr_cpus' is missing"),
        ('name = "x"\ncores = 4', "cores=4: a sequence of sets of CPUs"),
        ('name = "x"\ncores = "0-1"', "cores='0-1': a sequence of sets of CPUs"),
        ('name = "x"\ncores = ["0"]\nwatts = 4', "watts=4: a table"),
        ('name = "x"\ncores = ["0"]\nspeed = 1.0', "speed=1.0: a sequence of numbers"),
        ('name = "x"\ncores = ["0"]\nsmt_throughput = 1', "smt_throughput=1: a sequence of numbers"),
    ],
)
def test_from_toml__value_of_another_kind(text, message):
    with pytest.raises(ValueError, match=message) as problem:
        Machine.from_toml(text)
    assert "\n" not in str(problem.value)
