"""The sign of zeros: what is added to zeros is not -0, and extremes of zeros of both signs do not depend on the order.

TensorFlow 2.21 was asked: the sign of a maximum of zeros is that of the first one, of the last one, or another's,
depending on the dtype, on the shape and on what is in a full vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ops.math import exact_reduction

FLOATS = ["float32", "float64", "float16", "bfloat16"]
MODES = ({}, {"jit_compile": True})


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.complex64])
@pytest.mark.parametrize("indices", [[[1], [0]], [[1], [1]]])
def test_updates_of_minus_zero_scatter_to_zero(dtype: tf.DType, indices: list[Any]) -> None:
    def f(x: Any) -> Any:
        return tf.scatter_nd(indices, tf.cast(x, dtype), [3])

    x = tf.constant([-0.0, -0.0])
    for run in (f, tf.function(f), tf.function(f, jit_compile=True)):
        assert not np.signbit(np.real(run(x).numpy())).any()


def _signs(x: Any) -> Any:
    return np.signbit(np.asarray(tf.cast(x, tf.float64)))


def _zeros(seed: int, shape: Any, dtype: str, largest: bool) -> Any:
    """Zeros of both signs, and a few numbers on one side of them."""
    rng = np.random.default_rng(seed)
    numbers = rng.choice([0.0, -0.0, -0.0, 0.0, -2.0 if largest else 2.0], shape)
    return tf.cast(tf.constant(numbers), dtype)


def _expected(x: Any, axis: Any, largest: bool) -> Any:
    """The signs: of zeros a maximum is 0 if there is one, and a minimum -0."""
    x = np.asarray(tf.cast(x, tf.float64))
    extreme = x.max(axis) if largest else x.min(axis)
    zeros = x == 0
    some = (zeros & (np.signbit(x) != largest)).any(axis)
    return np.where(extreme == 0, some != largest, np.signbit(extreme))


@pytest.mark.parametrize("dtype", FLOATS)
@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 99),
    shape=st.lists(st.sampled_from([1, 2, 3, 8, 17, 33, 70]), min_size=1, max_size=3),
    largest=st.booleans(),
    data=st.data(),
)
def test_extremes_of_zeros_do_not_depend_on_the_order(dtype, seed, shape, largest, data) -> None:
    axis = tuple(data.draw(st.lists(st.sampled_from(range(len(shape))), unique=True, min_size=1)))
    x = _zeros(seed, shape, dtype, largest)
    reduce = tf.reduce_max if largest else tf.reduce_min

    def plain(x: Any) -> Any:
        return reduce(x, axis)

    def fused(x: Any) -> Any:
        return reduce(x * tf.constant(2, dtype), axis)

    want = _expected(x, axis, largest)
    for f in (plain, fused):
        for run in (f, *[tf.function(f, **mode) for mode in MODES]):
            np.testing.assert_array_equal(_signs(run(x)), want)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_reduction, "MIN_ELEMENTS", 1)
        np.testing.assert_array_equal(_signs(plain(x)), want)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("rows", "width"), [(5, 0), (60, 0), (40, 3), (300, 70)])
@pytest.mark.parametrize("largest", [False, True])
def test_extremes_of_segments(dtype: str, rows: int, width: int, largest: bool) -> None:
    x = _zeros(3, (rows, width) if width else rows, dtype, largest)
    numbers = np.sort(np.random.default_rng(1).integers(0, 9, rows)).astype(np.int32)
    mixed = np.roll(numbers, 3)
    name = "max" if largest else "min"
    unsorted = getattr(tf.math, f"unsorted_segment_{name}")

    def f(x: Any) -> Any:
        return [getattr(tf.math, f"segment_{name}")(x, numbers), unsorted(x, mixed, 9)]

    for run in (f, *[tf.function(f, **mode) for mode in MODES]):
        of_segments, of_mixed = run(x)
        for i in set(numbers.tolist()):
            at = _expected(tf.boolean_mask(x, numbers == i), 0, largest)
            np.testing.assert_array_equal(_signs(of_segments)[i], at)
            chosen = tf.boolean_mask(x, mixed == i)
            np.testing.assert_array_equal(_signs(of_mixed)[i], _expected(chosen, 0, largest))


@pytest.mark.parametrize("dtype", FLOATS)
def test_pooling_returns_the_first_of_equal_numbers(dtype: str) -> None:
    x = tf.reshape(_zeros(4, 4 * 9 * 11 * 3, dtype, True), [4, 9, 11, 3])

    def f(x: Any) -> Any:
        return tf.nn.max_pool2d(x, [1, 2], 1, "VALID")

    first, second = (np.asarray(tf.cast(part, tf.float64)) for part in (x[:, :, :-1], x[:, :, 1:]))
    want = np.where(second > first, second, first)
    for run in (f, *[tf.function(f, **mode) for mode in MODES]):
        found = run(x)
        np.testing.assert_array_equal(np.asarray(tf.cast(found, tf.float64)), want)
        np.testing.assert_array_equal(_signs(found), np.signbit(want))


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_of_segments_have_the_signs_of_products(dtype: str) -> None:
    x = tf.cast(tf.constant([-0.0, 2.0, 0.0, -1.0, 0.0, 0.0, -3.0, 5.0]), dtype)
    numbers = tf.constant([0, 0, 1, 1, 2, 2, 3, 3])

    def f(x: Any) -> Any:
        unsorted = tf.math.unsorted_segment_prod(x, numbers, 4)
        return tf.math.segment_prod(x, numbers), unsorted

    for run in (f, *[tf.function(f, **mode) for mode in MODES]):
        for found in run(x):
            assert np.asarray(tf.cast(found, tf.float64)).tolist() == [0, 0, 0, -15]
            assert _signs(found).tolist() == [True, True, False, True]
