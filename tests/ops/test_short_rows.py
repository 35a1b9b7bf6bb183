"""Softmax and the cross entropies of many short rows, which are computed as columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ops.nn import softmax

LIMITS = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 1e-14}


def rows_of(dtype: str, rows: int, classes: int, seed: int) -> tf.Tensor:
    """Logits, with some infinities and a NaN."""
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((rows, classes)) * 4
    x[draw.random(x.shape) < 0.1] = -np.inf
    if seed % 2:
        x[seed % rows, seed % classes] = np.nan
        x[0, 0] = np.inf
    return tf.cast(tf.constant(x), dtype)


def wide(x: tf.Tensor) -> np.ndarray:
    return tf.cast(x, tf.float64).numpy()


CLASSES = st.integers(1, softmax.MAX_COLUMN + 2)
SIZES = {"classes": CLASSES, "rows": st.integers(1, 700), "seed": st.integers(0, 99)}


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("function", [tf.nn.softmax, tf.nn.log_softmax])
@settings(deadline=None, max_examples=25)
@given(**SIZES)
def test_rows_have_the_results_that_they_have_alone(function, dtype, rows, classes, seed):
    x = rows_of(dtype, rows, classes, seed)
    for logits in (x, tf.tile(x[None], [2, 1, 1])):
        found = function(logits)
        assert found.shape == logits.shape
        assert found.numpy().flags.c_contiguous
        alone = [function(x[at : at + 1]) for at in range(0, rows, 97)]
        np.testing.assert_allclose(
            wide(found).reshape(-1, classes)[:rows:97],
            wide(tf.concat(alone, 0)),
            rtol=LIMITS[dtype],
            atol=LIMITS[dtype],
        )


@pytest.mark.parametrize("dtype", LIMITS)
@settings(deadline=None, max_examples=25)
@given(**SIZES)
def test_cross_entropies_of_rows_are_those_that_they_have_alone(dtype, rows, classes, seed):
    logits, labels = rows_of(dtype, rows, classes, seed), np.arange(rows) % classes
    dense = tf.one_hot(labels, classes, dtype=dtype)
    for op, wanted in (
        (tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits, tf.constant(labels)),
        (tf.raw_ops.SoftmaxCrossEntropyWithLogits, dense),
    ):
        found = op(features=logits, labels=wanted)
        for at in range(0, rows, 97):
            part = slice(at, at + 1)
            alone = op(features=logits[part], labels=wanted[part])
            for one, each in zip(alone, found, strict=True):
                np.testing.assert_allclose(
                    wide(each[part]), wide(one), rtol=LIMITS[dtype], atol=LIMITS[dtype]
                )


def test_graphs_have_the_same_bits():
    x = rows_of("float32", 300, 10, 2)
    labels = tf.range(300) % 10
    for call in (
        tf.nn.softmax,
        tf.nn.log_softmax,
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x),
    ):
        np.testing.assert_array_equal(call(x), tf.function(call)(x))
