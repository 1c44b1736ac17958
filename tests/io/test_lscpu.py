import json

import pytest

from schedlab.io import lscpu
from schedlab.machine import Watts

HEADER = "# The following is the parsable format, which can be fed to other\n# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n"
# 2 sockets of 2 cores of 2 threads; cpu, core, socket, node, L1d..L3
SERVER = HEADER + "\n".join(
    f"{cpu},{cpu % 4},{cpu % 4 // 2},{cpu % 4 // 2},,{cpu % 4},{cpu % 4},{cpu % 4},{cpu % 4 // 2}" for cpu in range(8)
)
SPLIT = ((0, 4), (1, 5), (2, 6), (3, 7))
HALVES = ((0, 1, 4, 5), (2, 3, 6, 7))


def test_parse__p():
    machine = lscpu.parse(SERVER, name="server", watts=Watts(1, 2, 3))
    assert machine.cores == SPLIT and machine.llcs == machine.nodes == HALVES
    assert machine.name == "server" and machine.smt_throughput == (1.0, 1.25) and machine.watts.core_w == 2
    assert "assumed" in machine.source


def test_parse__p_without_caches_or_nodes():
    machine = lscpu.parse("# CPU,Core,Socket,Node,,L1d,L1i,L2\n0,0,0,,,,,\n1,1,0,,,,,\n")
    assert machine.cores == ((0,), (1,)) and machine.llcs == () and machine.nodes == ()


def test_parse__p_last_level_is_the_second():
    machine = lscpu.parse("# CPU,Core,Socket,Node,,L1d,L1i,L2\n0,0,0,0,,0,0,0\n1,1,0,0,,1,1,0\n2,2,0,0,,2,2,1\n")
    assert machine.llcs == ((0, 1), (2,))


def test_parse__core_numbers_that_start_again_in_each_socket():
    machine = lscpu.parse("# CPU,Core,Socket,Node\n0,0,0,0\n1,0,1,1\n")
    assert machine.cores == ((0,), (1,))


def test_parse__smt8_ladder_and_own_ladder():
    text = "# CPU,Core,Socket,Node\n" + "\n".join(f"{cpu},{cpu // 8},0,0" for cpu in range(16))
    assert len(lscpu.parse(text).smt_throughput) == 8
    own = tuple(1 + 0.1 * k for k in range(8))
    assert lscpu.parse(text, smt_throughput=own).source == "lscpu"


ROW = {"node": "0", "socket": "0", "l1d:l1i:l2:l3": "0:0:0:0"}


@pytest.mark.parametrize("quoted", [True, False])
def test_parse__j_e(quoted):
    rows = [
        ROW | {"cpu": str(c) if quoted else c, "core": str(c // 2), "online": "yes" if quoted else True}
        for c in range(4)
    ]
    machine = lscpu.parse(json.dumps({"cpus": rows}))
    assert machine.cores == ((0, 1), (2, 3)) and machine.llcs == ((0, 1, 2, 3),)


def test_parse__offline():
    rows = [ROW | {"cpu": str(c), "core": str(c), "online": "no" if c == 1 else "yes"} for c in range(3)]
    rows[1] |= {"core": "-", "socket": "-", "node": "-", "l1d:l1i:l2:l3": "-"}
    text = json.dumps({"cpus": rows})
    with pytest.raises(ValueError, match="^cpu=1: is offline; .*renumber=True"):
        lscpu.parse(text)
    assert lscpu.parse(text, renumber=True).cores == ((0,), (1,))


def summary(nested=False, **fields):
    entries = [{"field": key.replace("_", " ") + ":", "data": value} for key, value in fields.items()]
    if nested:
        entries = [{"field": "Architecture:", "data": "x86_64", "children": entries}]
    return json.dumps({"lscpu": entries})


def counted(cpus, threads, **fields):
    return {"CPU(s)": str(cpus), "Thread(s)_per_core": str(threads), "Socket(s)": "1"} | fields


@pytest.mark.parametrize("nested", [True, False])
def test_parse__j_nodes_tell_the_numbering(nested):
    fields = counted(8, 2, **{"NUMA_node0_CPU(s)": "0,1,4,5", "NUMA_node1_CPU(s)": "2,3,6,7"})
    machine = lscpu.parse(summary(nested, **fields, L3="64 MiB (2 instances)"))
    assert machine.cores == SPLIT and machine.nodes == machine.llcs == HALVES
    fields |= {"NUMA_node0_CPU(s)": "0-3", "NUMA_node1_CPU(s)": "4-7"}
    assert lscpu.parse(summary(nested, **fields)).cores == ((0, 1), (2, 3), (4, 5), (6, 7))


@pytest.mark.parametrize(("architecture", "core"), [("x86_64", (0, 2)), ("ppc64le", (0, 1))])
def test_parse__j_architecture_tells_the_numbering(architecture, core):
    text = summary(**counted(4, 2), Architecture=architecture)
    assert lscpu.parse(text).cores[0] == core and "concluded" in lscpu.parse(text).source
    assert lscpu.parse(text, numbering="adjacent").cores[0] == (0, 1)


def test_parse__j_many_nodes_in_order():
    nodes = {f"NUMA_node{k}_CPU(s)": str(k) for k in reversed(range(12))}
    assert lscpu.parse(summary(**counted(12, 1), **nodes)).node_of == tuple(range(12))


def test_parse__j_offline_is_not_known_by_core():
    with pytest.raises(ValueError, match="^cpus='0-2,4': some are offline.*lscpu -p"):
        lscpu.parse(summary(**counted(5, 1), **{"On-line_CPU(s)_list": "0-2,4"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no CPU in it"),
        ("0,0,0,0", "whose comment names the columns"),
        ("# CPU,Node\n0,0", "the column Core is needed"),
        ("# CPU,Core\nx,0", "^cpu='x'"),
        ("{", "looks like JSON"),
        ('{"lshw": 1}', 'has "lscpu" or "cpus"'),
        ('{"lscpu": []}', r"the field 'cpu\(s\)' is missing"),
        ('{"cpus": []}', "column Core"),
    ],
)
def test_parse__refused_in_one_line(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        lscpu.parse(text)
    assert "\n" not in str(caught.value)


def test_read__file(tmp_path):
    path = tmp_path / "lscpu.txt"
    path.write_text(SERVER)
    assert lscpu.read(path, name="server") == lscpu.parse(SERVER, name="server")


def test_read__bad_file_is_named(tmp_path):
    (tmp_path / "x").write_text("Architecture: x86_64\n")
    with pytest.raises(ValueError, match=f"^{tmp_path / 'x'}: "):
        lscpu.read(tmp_path / "x")
    with pytest.raises(ValueError, match=f"^{tmp_path}: is a directory"):
        lscpu.read(tmp_path)
