"""The State extension alone: if a new numba breaks it, this says so before anything else does."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from kernels import add_to_field

from schedlab._jit import TESTED_NUMBA
from schedlab.engine.state import FIELDS, State


def test_numba__is_a_tested_version():
    minor = ".".join(numba.__version__.split(".")[:2])
    assert minor in TESTED_NUMBA, f"numba {numba.__version__}: the State extension was tested with {TESTED_NUMBA}"


def test_state__compiled_code_reads_and_writes_the_arrays():
    state = State(se=5)
    state["se_vruntime"][:] = 10
    assert add_to_field(state.address, 5) == 5 * 10 + 10
    assert state["se_vruntime"].tolist() == [10, 11, 12, 13, 14]
    assert (state["se_deadline"] == 0).all()


def test_state__unknown_record_is_named():
    with pytest.raises(ValueError, match="record=tasks"):
        State(tasks=3)


def test_state__is_not_pickled():
    import pickle

    with pytest.raises(TypeError, match="save the Run"):
        pickle.dumps(State())


def test_fields__names_are_unique_over_records():
    names = [f"{record}_{name}" for record, fields in FIELDS.items() for name in fields]
    assert len(names) == len(set(names))


def test_debug_build__index_out_of_range_is_caught(tmp_path):
    code = (
        "from kernels import add_to_field\n"
        "from schedlab.engine.state import State\n"
        "state = State(se=3)\n"
        "try:\n    add_to_field(state.address, 4)\n"
        "except IndexError as error:\n    print('caught', error)\n"
    )
    env = os.environ | {"SCHEDLAB_DEBUG": "1", "SCHEDLAB_CACHE_DIR": str(tmp_path)}
    folder = os.path.dirname(__file__)
    done = subprocess.run([sys.executable, "-c", code], env=env, cwd=folder, capture_output=True, text=True)
    assert "caught" in done.stdout and "se_vruntime" in done.stdout, done.stderr


def test_state__header_follows_lengths():
    state = State(se=7, task=2)
    lengths = dict(zip(FIELDS, state.header[1::2], strict=True))
    assert lengths["se"] == 7 and lengths["task"] == 2 and lengths["sys"] == 1
    assert np.array_equal(state.header[0::2], [state.arrays[record].ctypes.data for record in FIELDS])
