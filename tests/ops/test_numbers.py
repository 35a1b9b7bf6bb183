"""Numbers read from texts: each is rounded once, by `to_number` and from comma-separated values alike."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base.dtypes import float32
from intaglio.opdef import machine_code
from intaglio.ops.text import native_strings, numbers

OVERFLOW = Fraction(2) ** 128


def _nearest(exact: Fraction) -> np.float32:
    """The float32 nearest to a number, of two equally near ones that whose last bit is 0."""
    with np.errstate(over="ignore", under="ignore"):
        near = np.float32(float(exact))

    def distance(x: Any) -> tuple[Fraction, int]:
        value = Fraction(float(x)) if np.isfinite(x) else OVERFLOW * int(np.sign(x))
        return abs(value - exact), int(x.view(np.int32)) & 1

    infinity = np.float32(np.inf)
    return min(near, np.nextafter(near, infinity), np.nextafter(near, -infinity), key=distance)


def _decimal(exact: Fraction, digits: int) -> str:
    """A number with so many digits behind the point, the last of them cut off."""
    whole = abs(exact.numerator) * 10**digits // exact.denominator
    return f"{'-' if exact < 0 else ''}{whole}e-{digits}"


@settings(max_examples=200, deadline=None)
@given(
    mantissa=st.integers(0, (1 << 24) - 1),
    exponent=st.integers(-150, 104),
    beside=st.sampled_from([-1, 0, 1]),
    digits=st.integers(20, 60),
    negative=st.booleans(),
)
def test_numbers_near_midpoints_of_two_float32(
    mantissa: int, exponent: int, beside: int, digits: int, negative: bool
) -> None:
    exact = Fraction(2 * mantissa + 1) * Fraction(2) ** (exponent - 1)
    exact *= 1 + Fraction(beside, 10**digits)
    text = _decimal(-exact if negative else exact, 250)
    want = _nearest(Fraction(text))
    assert numbers.read_one(text.encode(), float32) == want
    assert tf.strings.to_number(text).numpy() == want
    assert tf.io.decode_csv([text], [0.0])[0].numpy()[0] == want


@pytest.mark.parametrize("compiled", [False, True])
def test_many_texts(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0 if compiled else 1 << 60)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    # 16777217 is a midpoint: with more digits it is none.
    some = ["16777217", "16777217.0000000001", "16777216.9999999999", "0x1.0000010000000001", "7"]
    want = [16777216.0, 16777218.0, 16777216.0, np.float32(1 + 2.0**-23), 7.0]
    texts = some * native_strings.MIN_NATIVE_STRINGS
    np.testing.assert_array_equal(
        tf.strings.to_number(texts).numpy(), np.array(want * (len(texts) // 5), np.float32)
    )
    for column in (texts, [f'"{t}"' for t in texts]):
        found = tf.io.decode_csv(column, [[0.0]])[0].numpy()
        np.testing.assert_array_equal(found, np.array(want * (len(texts) // 5), np.float32))


@pytest.mark.parametrize(
    "text", ["0x10", "+0X1p4", "-0x1.8p1", "nan(12)", " inf", "-INFINITY", "1e999"]
)
def test_what_c_reads_is_read_from_values_between_commas(text: str) -> None:
    """TensorFlow 2.21 was asked: both ops read floats alike."""
    for dtype in (tf.float32, tf.float64):
        want = tf.strings.to_number([text], dtype)
        (got,) = tf.io.decode_csv([text], [tf.constant([], dtype)])
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("text", ["1_0", "0x", "1e", "+-1", "0b1", "nan(", "1f"])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert string"):
        tf.strings.to_number(text)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Field 0 in record 1 is not a valid float"
    ):
        tf.io.decode_csv(["1", text], [[0.0]])


def test_texts_may_have_any_number_of_digits() -> None:
    """Of more than 4300 Python reads no integer; TensorFlow 2.21 was asked."""
    zeros = "0" * 5000
    for text in (f"16777217.{zeros}", f"{zeros}16777217"):
        assert tf.strings.to_number(text).numpy() == 16777216.0
        assert tf.io.decode_csv([text], [0.0])[0].numpy()[0] == 16777216.0
    assert tf.strings.to_number(f"16777217.{zeros}1").numpy() == 16777218.0
    for dtype in (tf.int32, tf.int64):
        default = tf.constant([], dtype)
        assert tf.strings.to_number(f"-{zeros}12", dtype).numpy() == -12
        assert tf.io.decode_csv([f"-{zeros}12"], [default])[0].numpy()[0] == -12
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
            tf.strings.to_number(f"1{zeros}", dtype)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Field 0 in record 0 is not a"):
            tf.io.decode_csv([f"1{zeros}"], [default])
