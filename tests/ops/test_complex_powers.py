"""Complex powers of zeros, infinities and NaN: the same in all modes and for arrays of all sizes.

TensorFlow 2.21 was asked: they are e ** (y log x). Here the power 0 is 1, and zeros are positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

INF, NAN = np.inf, np.nan
PARTS = [INF, -INF, NAN, -0.0, 0.0, 1.5, -2.5]
SPECIAL = [
    (a, b) for a in PARTS for b in PARTS if (a, b) == (0, 0) or not np.isfinite([a, b]).all()
]
EXPONENTS = [0, 1, 2, 3, -1, -2, 0.5, 1.5, 100]
# More than which machine code computes eagerly, too.
LARGE = 1 << 15


def _numbers(dtype: str, parts: list[tuple[float, float]]) -> Any:
    result: Any = np.zeros(len(parts), dtype)
    result.real, result.imag = np.array(parts).T
    return result


def _expected(z: Any, exponent: float) -> tuple[float, float]:
    """The parts of TensorFlow's answer."""
    if exponent == 0:
        return 1.0, 0.0
    if z == 0:
        return (0.0, 0.0) if exponent > 0 else (INF, NAN)
    if not np.isinf([z.real, z.imag]).any():
        return NAN, NAN
    return (INF, NAN) if exponent > 0 else (0.0, 0.0)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_zeros_infinities_and_nan(dtype: str, exponent: float) -> None:
    few: Any = _numbers(dtype, SPECIAL)
    want = np.array([_expected(z, exponent) for z in few])

    def scalar(x: Any) -> Any:
        return x**exponent

    def array(x: Any) -> Any:
        return tf.pow(x, tf.fill(tf.shape(x), tf.cast(exponent, x.dtype)))

    for z in (few, np.resize(few, LARGE)):
        for run in (scalar, array):
            functions = [run, tf.function(run), tf.function(run, jit_compile=True)]
            for function in functions:
                got: Any = function(tf.constant(z)).numpy()[: len(few)]
                np.testing.assert_array_equal(got.real, want[:, 0])
                np.testing.assert_array_equal(got.imag, want[:, 1])


def test_what_overflows_on_the_way_has_parts_that_are_infinite() -> None:
    got = (tf.constant([complex(-0.0, 1e30)], tf.complex64) ** 2).numpy()
    assert not np.isnan(got).any()
    assert got[0].real == -INF
    # The size of the base is out of range, too.
    x = tf.constant([complex(3e38, 3e38)], tf.complex64)
    for mode in (lambda z: z**2.5, tf.function(lambda z: z**2.5, jit_compile=True)):
        power: Any = mode(x).numpy()
        np.testing.assert_array_equal([power.real, power.imag], [[-INF], [INF]])


@pytest.mark.parametrize("imaginary", [2.5, -2.5, 0.0, 1.0])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_exponentials_that_vanish_have_signs(dtype: str, imaginary: float) -> None:
    z = _numbers(dtype, [(-INF, imaginary)] * 3)
    want: Any = np.exp(z)
    for jit in (False, True):
        got: Any = tf.function(tf.exp, jit_compile=jit)(tf.constant(z)).numpy()
        for a, b in ((got.real, want.real), (got.imag, want.imag)):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b))
