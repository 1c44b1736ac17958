import pytest

from schedlab import units


@pytest.mark.parametrize(
    ("call", "value", "expected"),
    [
        (units.us, 1, 1_000),
        (units.us, 0.0004, 0),
        (units.us, 2.5, 2_500),
        (units.ms, 2.3, 2_300_000),
        (units.ms, 0.1, 100_000),
        (units.s, 27.6, 27_600_000_000),
        (units.s, -1, -1_000_000_000),
        (units.s, 10**9, 10**18),
    ],
)
def test_scaled__value(call, value, expected):
    result = call(value)
    assert result == expected and type(result) is int


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "3", True, None, [1]])
def test_scaled__refused(value):
    with pytest.raises(ValueError, match=r"^ms\("):
        units.ms(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("150ms", 150_000_000),
        ("10s", 10**10),
        ("250us", 250_000),
        ("5ns", 5),
        (" 0.5 us ", 500),
        ("1e3ms", 10**9),
        ("1_000us", 1_000_000),
        ("2.8ms", 2_800_000),
        (7, 7),
        ("-1ms", -1_000_000),
    ],
)
def test_to_ns__value(value, expected):
    assert units.to_ns(value) == expected


@pytest.mark.parametrize("value", ["5", "ms", "5 min", "0.5ns", "nanms", "", 1.0, True, None])
def test_to_ns__refused(value):
    with pytest.raises(ValueError, match="150ms|whole number of nanoseconds"):
        units.to_ns(value)
