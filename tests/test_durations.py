import hashlib
import math
from decimal import Decimal
from statistics import NormalDist

import numpy as np
import pytest

from schedlab import durations
from schedlab.durations import constant, exponential, lognormal, uniform

TOP = (1 << 64) - 1


def test_build_tables__gives_the_shipped_bytes():
    assert durations.build_tables().encode() == durations._FILE.read_bytes()


def test_build_tables__calls_no_libm(monkeypatch):
    # what another platform could round otherwise is made unusable
    for name in ("exp", "log", "sqrt", "erf", "pow"):
        monkeypatch.setattr(math, name, None)
    for name in ("exp", "log", "sqrt"):
        monkeypatch.setattr(np, name, None)
    assert durations._newton(Decimal(0), Decimal("0.5"), Decimal(1)) == 0
    assert len(durations.build_tables().splitlines()) == 4098


def test_load_tables__golden_digest():
    tables = durations.load_tables()
    assert tables.shape == (5, 4097) and tables.dtype == np.int64 and not tables.flags.writeable
    assert hashlib.sha256(tables.astype("<i8").tobytes()).hexdigest()[:16] == "8dfc0859a707bf85"
    assert (np.diff(tables, axis=1) > 0).all() and (tables >= 0).all()


def test_load_tables__entries_are_quantiles():
    tables = durations.load_tables()
    normal = NormalDist()
    for i in (1, 17, 2048, 4000, 4095):
        assert tables[0, i] == pytest.approx(-math.log1p(-i / 4096) * 2**20, abs=0.51)
        for row, sigma in enumerate((0.25, 0.5, 1.0, 1.5), start=1):
            assert tables[row, i] == pytest.approx(math.exp(sigma * normal.inv_cdf(i / 4096)) * 2**20, rel=1e-9, abs=1)


def test_load_tables__means_are_exact():
    means = (durations.load_tables()[:, 1:] + durations.load_tables()[:, :-1]).mean(axis=1) / 2 / 2**20
    expected = [1.0] + [math.exp(s * s / 2) for s in (0.25, 0.5, 1.0, 1.5)]
    assert means == pytest.approx(expected, rel=1e-6)


def test_draw__edges():
    assert constant("5ms").draw(TOP) == 5_000_000 and constant(0).draw(0) == 0
    assert exponential("1ms").draw(0) == 1
    assert 0 < exponential("1ms").longest_ns - exponential("1ms").draw(TOP) < 500
    assert lognormal("2ms", 1.0).draw(1 << 63) == 2_000_000
    assert uniform(10, 13).draw(0) == 10 and uniform(10, 13).draw(TOP) == 13
    assert uniform(5, 5).draw(123) == 5 and uniform(0, 0).draw(7) == 1


def test_draw__means_of_random_bits():
    rng = np.random.default_rng(1)
    bits = [int(u) for u in rng.integers(0, TOP, 20_000, dtype=np.uint64, endpoint=True)]
    for duration, mean in (
        (exponential("1ms"), 1e6),
        (uniform("1ms", "3ms"), 2e6),
        (lognormal("1ms", 0.5), 1e6 * math.exp(0.125)),
    ):
        assert sum(map(duration.draw, bits)) / len(bits) == pytest.approx(mean, rel=0.03)


def test_draw__fits_64_bits():
    longest = (1 << 63) // int(durations.load_tables()[4, -1])
    table = durations.load_tables()[lognormal(longest, 1.5).table]
    assert longest * int(table[-1]) < 1 << 63
    with pytest.raises(ValueError, match="median=.*64 bits"):
        lognormal(longest + 1, 1.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: constant(-1), "duration=-1: a duration is not negative"),
        (lambda: constant(1.5), "duration=1.5"),
        (lambda: constant("5"), "duration='5'"),
        (lambda: exponential(0), "mean=0: 1 ns"),
        (lambda: exponential(exponential(5)), "mean=.*a fixed time"),
        (lambda: uniform(5, 4), "high=4: at least low=5"),
        (lambda: lognormal("1ms", 0.7), "sigma=0.7: one of 0.25, 0.5, 1.0, 1.5"),
    ],
)
def test_durations__refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
