"""Integers at the limits of their dtypes: results were asked of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


def in_all_modes(function, *arguments):
    modes: list[Any] = [function, tf.function(function), tf.function(function, jit_compile=True)]
    return [mode(*arguments).numpy() for mode in modes]


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8"])
def test_means_of_the_least_integer_are_negative(dtype: str) -> None:
    least = np.iinfo(dtype).min
    x = tf.constant([least, 0], dtype)
    for found in in_all_modes(tf.reduce_mean, x):
        assert found == least // 2
    for found in in_all_modes(lambda x: tf.math.segment_mean(x, [0, 0]), x):
        assert found == [least // 2]


def test_means_are_rounded_towards_zero() -> None:
    for found in in_all_modes(tf.reduce_mean, tf.constant([[-7, 0, 0], [0, 0, 7]])):
        assert found == 0
    for found in in_all_modes(lambda x: tf.reduce_mean(x, 1), tf.constant([[-7, 0], [0, 7]])):
        np.testing.assert_array_equal(found, [-3, 3])


def test_sparse_quotients_of_the_least_integer() -> None:
    x = tf.sparse.from_dense(tf.constant([-128, 0, -7], tf.int8))
    found = tf.raw_ops.SparseDenseCwiseDiv(
        sp_indices=x.indices,
        sp_values=x.values,
        sp_shape=x.dense_shape,
        dense=tf.constant([2, 1, -2], tf.int8),
    )
    np.testing.assert_array_equal(found, [-64, 3])


@given(st.sampled_from(DTYPES), st.data())
@settings(max_examples=150, deadline=None)
def test_insertion_points_do_not_wrap_around(dtype: str, data: st.DataObject) -> None:
    info = np.iinfo(dtype)
    numbers = st.one_of(
        st.integers(info.min, info.max),
        st.integers(max(info.min, -3), 6),
        st.integers(info.max - 4, info.max),
    )
    row = np.sort(np.array(data.draw(st.lists(numbers, max_size=6)), dtype))
    values = np.array(data.draw(st.lists(numbers, max_size=9)), dtype)
    if data.draw(st.booleans()):
        values = np.sort(values)
    elif data.draw(st.booleans()):  # a range
        first = data.draw(st.integers(info.min, info.max - 8))
        values = np.array([first + i for i in range(8)], dtype)
    for side in ("left", "right"):
        found = tf.searchsorted(row, values, side=side)
        np.testing.assert_array_equal(found, np.searchsorted(row, values, side))


def test_masks_of_lengths_of_any_dtype() -> None:
    mask = [[True, True, True, False], [False] * 4]
    for dtype in (tf.uint8, tf.int8, tf.int64, tf.uint32):
        np.testing.assert_array_equal(tf.sequence_mask(tf.constant([3, 0], dtype), 4), mask)
    np.testing.assert_array_equal(tf.sequence_mask([1.5], 3), [[True, False, False]])


def test_rows_without_elements_are_scattered() -> None:
    v = tf.Variable(tf.zeros([2, 0]))
    rows = tf.IndexedSlices(tf.zeros([3, 0]), tf.constant([0, 0, 1]))
    assert v.scatter_add(rows).shape == (2, 0)
    assert v.scatter_mul(rows).shape == (2, 0)
