"""Selections of elements by large conditions, which are computed without branches."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import scalar

DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "uint16",
    "int64",
    "bool",
    "complex128",
    "string",
)


def numbers(dtype: str, shape: tuple[int, ...], seed: int) -> tf.Tensor:
    draw = np.random.default_rng(seed).integers(-9, 10, shape)
    if dtype == "string":
        return tf.strings.as_string(draw)
    found = tf.cast(draw, dtype)
    return -found if found.dtype.is_floating else found  # there are zeros of both signs


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (scalar.MIN_UNPREDICTABLE_ELEMENTS,), (300, 300)])
def test_both_ops_give_what_numpy_gives(dtype, shape):
    x, y = numbers(dtype, shape, 0), numbers(dtype, shape, 1)
    condition = tf.constant(np.random.default_rng(2).random(shape) < 0.5)
    wanted = np.where(condition, x.numpy(), y.numpy())
    for op, names in ((tf.raw_ops.Select, "xy"), (tf.raw_ops.SelectV2, "te")):
        found = op(condition=condition, **dict(zip(names, (x, y), strict=True))).numpy()
        assert found.dtype == wanted.dtype
        assert found.tobytes() == wanted.tobytes() if dtype != "string" else (found == wanted).all()


def test_a_vector_condition_chooses_rows():
    x, y = numbers("float32", (3000, 4), 0), numbers("float32", (3000, 4), 1)
    condition = np.random.default_rng(2).random(3000) < 0.5
    found = tf.raw_ops.Select(condition=condition, x=x, y=y)
    np.testing.assert_array_equal(found, np.where(condition[:, None], x, y))
    with pytest.raises(tf.errors.InvalidArgumentError, match="same size and shape"):
        tf.raw_ops.Select(condition=condition[:-1], x=x, y=y)


@pytest.mark.parametrize("source", ["float32", "float64", "float16"])
@pytest.mark.parametrize("target", ["int32", "int64", "uint32", "uint64", "uint8", "int8"])
def test_casts_of_large_arrays_are_those_of_small_ones(source, target):
    x = np.random.default_rng(0).standard_normal(5000) * 1e3
    x[::11], x[::13], x[::17] = np.nan, np.inf, -1e19
    x = tf.cast(tf.constant(x), source)
    parts = [tf.cast(x[at : at + 500], target) for at in range(0, 5000, 500)]
    np.testing.assert_array_equal(tf.cast(x, target), tf.concat(parts, 0))
