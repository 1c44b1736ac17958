import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.io import kubernetes as k8s


def test_cpu_max__known_values():
    assert k8s.cpu_max(500) == (50_000, 100_000) and k8s.cpu_max(None) == (None, 100_000)
    assert k8s.cpu_max(1) == (1_000, 100_000)  # the kubelet's least quota
    assert k8s.shares(250) == 256 and k8s.weight(250) == 10
    assert k8s.weight(0) == 1 and k8s.weight(256_000) == 10_000


@given(st.integers(10, 10**6))
def test_cpu_max__there_and_back(millicores):
    assert k8s.limit_millicores(*k8s.cpu_max(millicores)) == millicores


@given(st.integers(1, 10_000))
def test_weight__there_and_back(weight):
    assert k8s.weight(k8s.request_millicores(weight)) == weight


def test_wrong_values():
    with pytest.raises(ValueError, match="limit_millicores=-1"):
        k8s.cpu_max(-1)
