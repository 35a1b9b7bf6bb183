"""Large arrays of integers are divided as floats, with the same results."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

COUNT = 5000


def _numbers(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all sizes, and such whose quotients are just below a whole number."""
    rng, info = np.random.RandomState(0), np.iinfo(dtype)
    size = np.exp2(rng.uniform(0, info.bits - 1 - (info.min < 0), (2, COUNT)))
    sign = rng.choice([-1, 1], (2, COUNT)) if info.min else 1
    x, y = (size * sign).astype(dtype)
    y[y == 0] = 1
    x[:1000] = (x[:1000] // y[:1000]) * y[:1000]
    x[:500] -= (x[:500] > 0).astype(dtype)
    x[-1], y[-1] = info.max, 1
    return x, y


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
def test_rounded_down(dtype):
    x, y = _numbers(dtype)
    np.testing.assert_array_equal(tf.constant(x) // tf.constant(y), x // y)
    np.testing.assert_array_equal(tf.constant(x) % tf.constant(y), x % y)
    assert (tf.constant(x) // y[0]).dtype == dtype


def test_the_smallest_integer():
    x, y = np.full(COUNT, -(2**31), np.int32), np.full(COUNT, 3, np.int32)
    np.testing.assert_array_equal(tf.constant(x) // tf.constant(y), x // y)
    np.testing.assert_array_equal(tf.constant(x) % tf.constant(y), x % y)


def test_by_zero():
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        _ = tf.range(COUNT) // tf.range(COUNT)
