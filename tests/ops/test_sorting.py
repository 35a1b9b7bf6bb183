"""Orders and distinct elements: what is sorted as integers is what elements one by one give."""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest

from intaglio import tf
from intaglio.ops.array import grouping, sorting

RNG = np.random.RandomState(5)
DTYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ml_dtypes.bfloat16]
SHAPES = [(0,), (1,), (2, 5), (3, 0), (0, 3), (100,), (2, 3, 50), (2, 5000)]
SPECIAL = {"few": [0.0, -0.0, 1, 2], "missing": [np.nan, -np.nan, np.inf, -np.inf, 0, 1, -1]}


def drawn(dtype, shape, kind):
    """Numbers of a dtype: of its whole range, or special ones, of which many are equal."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        if kind != "all":
            return RNG.choice(np.array([0, 1, 2], dtype), shape)
        return np.frombuffer(RNG.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
    if kind == "all":
        return RNG.uniform(-100, 100, shape).astype(dtype)
    return RNG.choice(SPECIAL[kind], shape).astype(dtype)


def in_order(row):
    """The indices of a row's elements from large to small, NaN last, the first of equals first."""

    def compare(i, j):
        x, y = row[i], row[j]
        if np.isnan(x) or np.isnan(y):
            return int(np.isnan(x)) - int(np.isnan(y)) or i - j
        return i - j if x == y else 1 if x < y else -1

    return sorted(range(len(row)), key=functools.cmp_to_key(compare))


@pytest.mark.parametrize("kind", ["all", "few", "missing"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_largest_come_first(dtype, kind):
    for shape in SHAPES[:-1]:
        x = drawn(dtype, shape, kind)
        rows = [in_order(row.tolist()) for row in x.reshape(-1, shape[-1])] if x.size else []
        expected = np.array(rows, np.int64).reshape(shape)
        np.testing.assert_array_equal(sorting.descending(x), expected)
        for k in {1, 2, shape[-1] // 5, shape[-1] // 9} & set(range(1, shape[-1] + 1)):
            values, order = sorting.largest(x, k)
            np.testing.assert_array_equal(order, expected[..., :k])
            chosen = np.take_along_axis(x, expected[..., :k], -1)
            # NumPy does not know that a NaN of bfloat16 is one.
            np.testing.assert_array_equal(values.astype("f8"), chosen.astype("f8"))


@pytest.mark.parametrize("kind", ["all", "few"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_few_of_long_rows(dtype, kind):
    x = drawn(dtype, SHAPES[-1], kind)
    for k in (2, 100):
        np.testing.assert_array_equal(sorting.largest(x, k)[1], sorting.descending(x)[..., :k])


@pytest.mark.parametrize("kind", ["all", "few", "missing"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 70])
def test_distinct_elements_in_the_order_of_their_first_occurrence(dtype, kind, size):
    x = drawn(dtype, (size,), kind)
    first, which, count = grouping.distinct(x)
    seen: dict[object, int] = {}
    expected = [seen.setdefault(item, len(seen)) for item in x.tolist()]
    np.testing.assert_array_equal(which, expected)
    np.testing.assert_array_equal(count, np.bincount(np.array(expected, int), minlength=len(seen)))
    np.testing.assert_array_equal(first, [expected.index(i) for i in range(len(seen))])


@pytest.mark.parametrize("is_max", [True, False])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("k", [0, 1, 3, 40])
def test_approximate_top_k_is_the_stable_order(is_max, axis, k):
    x = np.random.RandomState(k).choice(
        np.array([0.0, -0.0, 1.0, -2.5, 7.0, np.inf, -np.inf, np.nan], np.float32), (50, 45)
    )
    found = tf.raw_ops.ApproxTopK(input=x, k=k, reduction_dimension=axis, is_max_k=is_max)
    order = np.argsort(-x if is_max else x, axis=axis, kind="stable").take(range(k), axis)
    np.testing.assert_array_equal(found.indices.numpy(), order)
    np.testing.assert_array_equal(found.values.numpy(), np.take_along_axis(x, order, axis))
