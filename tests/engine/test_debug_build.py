"""The debug build (SCHEDLAB_DEBUG=1) stops at the first event after which G12, G13 or G14 does not hold."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

HERE = pathlib.Path(__file__).parent
PROGRAM = """
    import sys

    sys.path[:0] = [{invariants!r}]
    import hypothesis
    from hypothesis import HealthCheck, Phase, given, settings
    from test_per_task import deep

    @hypothesis.seed(1)
    @settings(max_examples=25, phases=[Phase.generate], database=None, deadline=None, derandomize=False,
              suppress_health_check=list(HealthCheck))
    @given(deep({releases!r}, costs=False))
    def check(scenario):
        scenario.run()

    check()
    from schedlab._jit import DEBUG
    from random_scenarios import Probe
    from schedlab.simulate import Simulation
    import schedlab as sl

    work = sl.Workload((sl.Group("/a", quota_us=5000),), (sl.Task("t", sl.run("1s"), group="/a"),))
    sim = Simulation(sl.Machine.uniform(1), sl.Kernel.version("6.18"), work)
    sim.state["rq_throttle_count"][1] = 7
    try:
        sim.advance(10_000_000)
    except RuntimeError as error:
        print(error)
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One compile of the debug build for all tests here."""
    return tmp_path_factory.mktemp("debug-build")


@pytest.mark.parametrize("releases", [("6.12",), ("6.18",), ("7.2",)])
def test_g12_to_g14_after_every_event_on_random_trees(releases, cache):
    program = textwrap.dedent(PROGRAM).format(invariants=str(HERE.parent / "invariants"), releases=releases)
    env = os.environ | {"SCHEDLAB_DEBUG": "1", "SCHEDLAB_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("invariant G12 does not hold at 0 ns"), done.stdout
