"""Integers counted, and their weights added up, by machine code as by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.opdef import machine_code
from intaglio.ops.math import counting

WEIGHTS = (None, np.int32, np.int64, np.float32, np.float64)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 400),
    st.integers(1, 60),
    st.sampled_from(WEIGHTS),
    st.sampled_from([np.int32, np.int64]),
    st.sampled_from([None, -1]),
    st.booleans(),
)
def test_the_same_bits(seed, count, most, weighted, dtype, axis, strided) -> None:
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 50, (3, 2 * count), dtype)
    values = values[:, ::2] if strided else values[:, :count]
    weights = None if weighted is None else (draw.normal(size=values.shape) * 9).astype(weighted)

    def found() -> np.ndarray:
        lengths = {"minlength": most // 2, "maxlength": most}
        return tf.math.bincount(values, weights, **lengths, axis=axis).numpy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_code, "IN_BACKGROUND", False)
        patch.setattr(counting, "WORK_PER_COUNTED", machine_code.MIN_TOTAL_WORK)
        patch.setattr(counting, "WORK_PER_WEIGHT", machine_code.MIN_TOTAL_WORK)
        got = found()
        patch.setattr(counting, "run_loops", lambda *arguments, rows: False)
        want = found()
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("least", [4, 9])
@pytest.mark.parametrize("axis", [None, -1])
def test_a_length_that_the_integers_do_not_change_is_known(axis, least) -> None:
    @tf.function(jit_compile=True)
    def f(x):
        found = tf.math.bincount(x, minlength=least, maxlength=4, axis=axis)
        assert found.shape[-1] == 4
        return found

    x = tf.constant([[1, 5, 3], [3, 0, 9]])
    np.testing.assert_array_equal(f(x), tf.math.bincount(x, minlength=1, maxlength=4, axis=axis))
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        f(-x)


@pytest.mark.parametrize("form", ["dense", "rows", "ragged", "sparse"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "uint32", "uint64"])
def test_integers_of_other_dtypes_are_rejected(dtype, form) -> None:
    """TensorFlow 2.21 was asked: they are not cast, as floats and bools are."""
    x = tf.cast([[1, 0, 1]], dtype)
    values = {
        "dense": lambda: x,
        "rows": lambda: x,
        "ragged": lambda: tf.RaggedTensor.from_tensor(x),
        "sparse": lambda: tf.SparseTensor([[0, 0], [0, 1]], x[0, :2], [1, 2]),
    }
    axis = None if form == "dense" else -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="allowed values: int32, int64"):
        tf.math.bincount(values[form](), axis=axis)
    with pytest.raises(TypeError):
        tf.function(tf.math.bincount)(x)


@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "complex64", "int32", "int64"])
def test_others_are_counted(dtype) -> None:
    x = tf.cast([1, 0, 1], dtype)
    np.testing.assert_array_equal(tf.math.bincount(x), [1, 2])
    ragged = tf.RaggedTensor.from_row_lengths(x, [3])
    np.testing.assert_array_equal(tf.math.bincount(ragged, axis=-1), [[1, 2]])
