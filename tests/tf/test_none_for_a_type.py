"""None for a dtype, or for another attribute of an op, is what the op has without it.

TensorFlow 2.21 was asked for each of the dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

X = [1.0, 2.0, 2.0]
M = [[1.0, 2.0], [3.0, 4.0]]
I = [1, 2, 2]
PIXEL = np.zeros((1, 1, 1), np.uint8)

CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "argmax": (lambda: tf.argmax(X, output_type=None), "int64"),
    "argmin": (lambda: tf.argmin(M, 0, None), "int64"),
    "histogram_fixed_width": (
        lambda: tf.histogram_fixed_width(X, [0.0, 3.0], 3, dtype=None),
        "int32",
    ),
    "histogram_fixed_width_bins": (
        lambda: tf.histogram_fixed_width_bins(X, [0.0, 3.0], 3, dtype=None),
        "int32",
    ),
    "lu": (lambda: tf.linalg.lu(M, None)[1], "int32"),
    "bincount": (lambda: tf.math.bincount(I, dtype=None), "int32"),
    "confusion_matrix": (lambda: tf.math.confusion_matrix(I, I, dtype=None), "int64"),
    "sobol_sample": (lambda: tf.math.sobol_sample(2, 2, dtype=None), "float32"),
    "top_k": (lambda: tf.math.top_k(X, 2, index_type=None)[1], "int32"),
    "ragged.constant": (
        lambda: tf.ragged.constant([[1], [2, 3]], row_splits_dtype=None).row_splits,
        "int32",
    ),
    "poisson": (lambda: tf.random.poisson([2], 1.0, dtype=None), "int64"),
    "stateless_binomial": (
        lambda: tf.random.stateless_binomial([2], (1, 2), 3.0, 0.5, output_dtype=None),
        "int64",
    ),
    "stateless_categorical": (
        lambda: tf.random.stateless_categorical(M, 3, (1, 2), dtype=None),
        "int64",
    ),
    "stateless_normal": (lambda: tf.random.stateless_normal([2], (1, 2), dtype=None), "float32"),
    "stateless_truncated_normal": (
        lambda: tf.random.stateless_truncated_normal([2], (1, 2), dtype=None),
        "float32",
    ),
    "searchsorted": (lambda: tf.searchsorted(X, X, out_type=None), "int32"),
    "sequence_mask": (lambda: tf.sequence_mask([1, 2], dtype=None), "bool"),
    "shape_n": (lambda: tf.shape_n([X], out_type=None)[0], "int32"),
    "to_number": (lambda: tf.strings.to_number("1", out_type=None), "float32"),
    "unique": (lambda: tf.unique(I, None)[1], "int32"),
    "unique_with_counts": (lambda: tf.unique_with_counts(I, None)[1], "int32"),
    "max_pool_with_argmax": (
        lambda: tf.nn.max_pool_with_argmax(
            tf.reshape(M, [1, 2, 2, 1]), 2, 2, "SAME", output_dtype=None
        )[1],
        "int64",
    ),
    "decode_png": (lambda: tf.io.decode_png(tf.io.encode_png(PIXEL), dtype=None), "uint8"),
    "dequantize": (
        lambda: tf.quantization.dequantize(tf.constant([1], tf.quint8), 0.0, 1.0, dtype=None),
        "float32",
    ),
    "Generator.normal": (
        lambda: tf.random.Generator.from_seed(1).normal([2], dtype=None),
        "float32",
    ),
    "Counter": (lambda: next(iter(tf.data.experimental.Counter(dtype=None))), "int32"),
}


@pytest.mark.parametrize("name", CASES)
def test_dtypes(name: str):
    call, expected = CASES[name]
    assert call().dtype.name == expected


def test_none_is_the_default_of_every_attribute():
    given = tf.raw_ops.MatMul(a=M, b=M, transpose_a=None, transpose_b=True, name=None)
    np.testing.assert_array_equal(given, tf.matmul(M, M, transpose_b=True))
    x = tf.zeros([1, 2, 2, 1])
    pooled = tf.raw_ops.MaxPool(
        input=x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID", data_format=None
    )
    assert pooled.shape == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.random.normal([2], dtype=None),
        lambda: tf.cast(X, None),
        lambda: tf.zeros([2], None),
        lambda: tf.eye(2, dtype=None),
    ],
)
def test_other_functions_want_a_type(call: Callable[[], Any]):
    with pytest.raises(TypeError):
        call()
