"""Products of integers: those of large matrices go by halves, and wrap as the others do."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from intaglio import tf
from intaglio.ops.linalg import matmul

SHAPES = [(32, 32, 32), (33, 64, 40), (128, 9, 128), (1, 2000, 3), (3, 2000, 1)]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_integers_of_every_size_wrap_alike(dtype: str, shape: tuple[int, ...]) -> None:
    rows, inner, columns = shape
    rng = np.random.default_rng(0)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    a = rng.integers(low, high, (rows, inner), dtype=dtype, endpoint=True)
    b = rng.integers(low, high, (inner, columns), dtype=dtype, endpoint=True)
    a[0], b[:, 0] = low, high  # the largest sums
    found = matmul.dot(a, b)
    assert found.dtype == a.dtype
    np.testing.assert_array_equal(found, a.dot(b))


def test_large_products_of_integers_are_the_same_eager_and_traced() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-(2**31), 2**31, (40, 40)).astype("int32") for _ in "ab")
    x, y = tf.constant(a), tf.constant(b)
    for call in (tf.matmul, tf.function(tf.matmul)):
        for _ in range(3):
            np.testing.assert_array_equal(call(x, y), a.dot(b))
            np.testing.assert_array_equal(call(x, y, transpose_a=True), a.T.dot(b))


def test_sizes_that_do_not_fit_raise_where_the_shapes_were_not_known() -> None:
    product = tf.function(tf.matmul, input_signature=[tf.TensorSpec([None, None])] * 2)
    assert product(tf.ones([2, 3]), tf.ones([3, 2])).shape == (2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="size-incompatible"):
        product(tf.ones([2, 3]), tf.ones([2, 3]))


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("dims", list(itertools.product((0, 2), (0, 3), (0, 1), (0, 4))))
def test_batches_times_one_matrix_may_be_empty(dims: tuple[int, ...], adjoint: bool) -> None:
    batch, rows, inner, columns = dims
    x = tf.ones([batch, inner, rows] if adjoint else [batch, rows, inner])
    y = tf.ones([inner, columns])

    def product(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.matmul(x, y, transpose_a=adjoint)

    want = np.full((batch, rows, columns), inner, np.float32)
    for run in (product, tf.function(product), tf.function(product, jit_compile=True)):
        np.testing.assert_array_equal(run(x, y), want)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_a_single_zero_times_a_vector_has_nan(dtype: str, special: float) -> None:
    """As all other products, and as TensorFlow, which was asked."""
    column = tf.cast(tf.constant([[special], [1.0], [-2.0], [0.0]]), dtype)
    zero = tf.zeros([1, 1], dtype)
    signature = [tf.TensorSpec([None, None], dtype)] * 2
    for run in (
        tf.matmul,
        tf.function(tf.matmul),
        tf.function(tf.matmul, input_signature=signature),
        tf.function(tf.matmul, jit_compile=True),
    ):
        for found in (run(column, zero)[:, 0], run(zero, tf.transpose(column))[0]):
            numbers = np.asarray(found).astype(np.complex128)
            assert np.isnan(numbers).tolist() == [True, False, False, False]
            assert not np.any(numbers[1:])
            assert not np.signbit(numbers.real[1:]).any()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(tf.ones([2, 3], dtype), zero)


def test_filter_gradients_of_a_single_zero_have_nan() -> None:
    x = tf.reshape(tf.constant([-np.inf, np.inf, 1.0, 2.0]), [1, 2, 1, 2])

    def gradient(x: tf.Tensor, d: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.Conv2DBackpropFilter(
            input=x, filter_sizes=[1, 2, 2, 1], out_backprop=d, strides=[1, 2, 2, 1], padding="SAME"
        )

    for run in (gradient, tf.function(gradient), tf.function(gradient, jit_compile=True)):
        found = run(x, tf.zeros([1, 1, 1, 1])).numpy().ravel()
        np.testing.assert_array_equal(found, [np.nan, np.nan, 0, 0])
