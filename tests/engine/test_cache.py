"""The cache of compiled code: an edited callee in another file must never leave old machine code running."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import schedlab
from schedlab import _jit

PACKAGE = pathlib.Path(schedlab.__file__).parent


def copy_package(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "schedlab", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "schedlab"


def run_python(tmp_path, code):
    env = os.environ | {"PYTHONPATH": str(tmp_path), "SCHEDLAB_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_digest__changes_with_any_source_that_compiled_code_reaches(tmp_path):
    package = copy_package(tmp_path)
    code = "from schedlab import _jit; print(_jit.sources_digest())"
    before = run_python(tmp_path, code)
    assert before == _jit.sources_digest()
    for edited in ("engine/runtime.py", "_jit.py"):
        path = package / edited
        path.write_text(path.read_text() + "\n# edited\n")
        after = run_python(tmp_path, code)
        assert after != before
        before = after


def test_digest__does_not_change_with_what_compiled_code_cannot_reach(tmp_path):
    package = copy_package(tmp_path)
    (package / "units.py").write_text((package / "units.py").read_text() + "\n# edited\n")
    assert run_python(tmp_path, "from schedlab import _jit; print(_jit.sources_digest())") == _jit.sources_digest()


SMALL = """
from schedlab._jit import entry
from schedlab.engine.leaf import leaf
@entry
def top(n):
    return leaf(n)
"""
LEAF = """
from schedlab._jit import internal
FACTOR = {factor}
@internal
def leaf(n):
    return n * FACTOR
"""


def test_edited_leaf__the_caller_is_compiled_anew(tmp_path):
    """The defect itself, on a small caller and callee: numba's own cache returns 20 both times."""
    package = copy_package(tmp_path)
    (package / "engine" / "top.py").write_text(SMALL)
    for factor in (10, 505, 10):
        (package / "engine" / "leaf.py").write_text(LEAF.format(factor=factor))
        assert run_python(tmp_path, "from schedlab.engine.top import top; print(top(2))") == str(2 * factor)


@pytest.mark.slow
def test_edited_constant__changes_the_simulation(tmp_path):
    """The stash that an idle cfs_rq keeps, from 1 ms to 2 ms: one leaf constant, another outcome."""
    package = copy_package(tmp_path)
    shutil.copytree(PACKAGE.parent / "data", tmp_path / "data")
    code = """
import schedlab as sl
nap = sl.repeat(None, sl.run("2ms"), sl.sleep("48ms"))
groups = (sl.Group("/a", quota_us=12_000, phase_us=0),)
tasks = tuple(sl.Task(f"t{k}", nap, group="/a", start_ns=f"{k}ms") for k in range(4))
machine, kernel = sl.Machine.uniform(4), sl.Kernel.version("6.1")
print(sl.simulate(machine, kernel, sl.Workload(groups, tasks), "1s", log=True).digest())
"""
    before = run_python(tmp_path, code)
    path = package / "engine" / "runtime.py"
    text = path.read_text()
    assert "MIN_CFS_RQ_RUNTIME = 1_000_000" in text
    path.write_text(text.replace("MIN_CFS_RQ_RUNTIME = 1_000_000", "MIN_CFS_RQ_RUNTIME = 2_000_000"))
    assert run_python(tmp_path, code) != before
