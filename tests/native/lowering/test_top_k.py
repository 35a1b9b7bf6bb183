"""The largest elements of rows in machine code: ties, NaN, every algorithm."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.lowering import top_k
from intaglio.native.runtime import entry


def native(x, k):
    """What compiled code gives; its report says that it is machine code."""
    call = tf.function(lambda a: tf.math.top_k(a, k), jit_compile=True)
    made = call(tf.constant(x))
    if entry.AVAILABLE:
        assert "TopKV2: kernel" in call.compile_report()
    return made


def rows(shape, dtype):
    """Many elements that are equal, some that are not a number, both zeros."""
    x = np.random.default_rng(3).integers(-9, 9, shape).astype(dtype)
    if np.dtype(dtype).kind == "f":
        flat = x.reshape(-1)
        flat[::7] = np.nan
        flat[3::7] = -0.0
        flat[5::17] = np.inf
    return x


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u8"])
@pytest.mark.parametrize("k", [1, 5, 12, 30, 300])
def test_of_equals_the_first_comes_first_and_nan_last(dtype, k):
    x = rows((3, 300), dtype)
    found = native(x, k)
    wanted = tf.math.top_k(tf.constant(x), k)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_array_equal(found.values.numpy(), wanted.values.numpy())
    assert found.values.numpy().tobytes() == wanted.values.numpy().tobytes()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u4", "u8"])
@pytest.mark.parametrize("length", [1, 2, 3, 9, 16])
def test_short_rows_are_ranked_side_by_side(dtype, length):
    for count in (8, 37, 64):
        x = rows((count, length), dtype)
        for k in {1, (length + 1) // 2, length}:
            found = native(x, k)
            wanted = tf.math.top_k(tf.constant(x), k)
            np.testing.assert_array_equal(found.indices, wanted.indices)
            assert found.values.numpy().tobytes() == wanted.values.numpy().tobytes()


def test_rows_are_sorted_where_that_is_faster():
    assert top_k.keeps_in_order(5, 300, 4) and top_k.keeps_in_order(20, 10_000, 4)
    assert not top_k.keeps_in_order(100, 200, 4) and not top_k.keeps_in_order(100, 10_000, 4)


def test_medians_of_windows():
    def medians(x):
        p = tf.pad(x, [[1, 1], [1, 1]], "REFLECT")
        windows = [p[i : i + 50, j : j + 70] for i in range(3) for j in range(3)]
        return tf.sort(tf.stack(windows, -1), -1)[..., 4]

    x = tf.constant(np.random.default_rng(1).normal(size=(50, 70)).astype("f4"))
    traced = tf.function(medians, jit_compile=True)
    np.testing.assert_array_equal(traced(x), medians(x))


def test_extremes_of_integers_are_in_order():
    for dtype in ("i1", "i4", "i8", "u4", "u8"):
        info = np.iinfo(dtype)
        x = np.resize(np.array([0, info.min, info.max, 1, info.max - 1], dtype), 200)
        found = native(x, 200)
        assert found.values.numpy().tolist() == sorted(x.tolist(), reverse=True)


def test_large_rows_are_sorted_by_all_threads():
    x = np.random.default_rng(5).normal(size=(8, 5000)).astype("f4")
    found = native(x, 4000)
    np.testing.assert_array_equal(found.values, -np.sort(-x, axis=-1)[:, :4000])
    np.testing.assert_array_equal(np.take_along_axis(x, found.indices.numpy(), -1), found.values)


def test_sorting_is_machine_code_inside_of_a_loop():
    @tf.function(jit_compile=True)
    def medians(x):
        total = tf.zeros([4])
        for i in tf.range(10):
            total += tf.sort(x + tf.cast(i, tf.float32))[:, 2]
        return total

    x = tf.constant(np.random.default_rng(1).normal(size=(4, 5)).astype("f4"))
    wanted = np.sum([np.sort(x.numpy() + np.float32(i))[:, 2] for i in range(10)], 0)
    np.testing.assert_allclose(medians(x), wanted, rtol=1e-6)
    assert "NumPy" not in medians.compile_report()
