"""Softmax and cross entropies of rows against float64, and NumPy's kernels at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.kernels import softmax


def exact(x):
    """Softmax and its logarithm in float64."""
    shifted = x.astype(np.float64) - x.max(axis=-1, keepdims=True)
    total = np.exp(shifted).sum(axis=-1, keepdims=True)
    return np.exp(shifted) / total, shifted - np.log(total)


def check(shape):
    rng = np.random.default_rng(sum(shape))
    x = (rng.normal(size=shape) * 10).astype(np.float32)
    share, logarithm = exact(x)
    got = softmax.row_softmax("softmax", shape)(x)
    assert got.dtype == np.float32
    # The exponent is rounded to about 60 * 2**-24.
    np.testing.assert_allclose(got, share, rtol=2e-5, atol=1e-37)
    got = softmax.row_softmax("log_softmax", shape)(x)
    np.testing.assert_allclose(got, logarithm, rtol=1e-6, atol=4e-6)
    labels = rng.uniform(0, 1, shape).astype(np.float32)
    labels[rng.uniform(size=shape) < 0.3] = 0
    loss, gradient = softmax.cross_entropy(shape)(x, labels)
    # Each logarithm may lose what rounding the sum of the exponentials, 1 or more, lost.
    entropy, lost = -(labels * logarithm).sum(-1), 2e-7 * labels.sum(-1).max()
    np.testing.assert_allclose(loss, entropy, rtol=1e-5, atol=lost)
    np.testing.assert_allclose(gradient, share - labels, rtol=1e-5, atol=1e-6)


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 40), st.integers(1, 300))
def test_any_shape(rows, classes):
    check((rows, classes))


@pytest.mark.parametrize("shape", [(4000, 10), (3, 20_000), (5, 7, 1100)])
def test_on_several_threads(shape):
    check(shape)


@pytest.mark.parametrize("classes", [3, 64, 70])
def test_what_is_not_finite(classes):
    special = [np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45]
    x = np.zeros((2 * len(special) + 1, classes), np.float32)
    for i, value in enumerate(special):
        x[2 * i, classes - 1] = x[2 * i + 1, 0] = value
    x[-1] = -np.inf
    labels = np.zeros_like(x)
    labels[:, 1] = 1.0

    def step(x, labels):
        return (
            tf.nn.softmax(x),
            tf.nn.log_softmax(x),
            *tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=labels),
        )

    compiled = tf.function(step, jit_compile=True)(x, labels)
    for got, wanted in zip(compiled, step(x, labels), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)


def test_in_a_compiled_function():
    def step(x, labels):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.nn.softmax_cross_entropy_with_logits(labels, x)
            loss += tf.reduce_sum(tf.nn.softmax(x * 2) * tf.nn.log_softmax(x), -1)
        return loss, tape.gradient(loss, x)

    signature = [tf.TensorSpec([None, None])] * 2
    compiled = tf.function(step, jit_compile=True, input_signature=signature)
    for shape in ([5, 10], [1, 1], [64, 100]):
        x = tf.random.stateless_normal(shape, [1, 2])
        labels = tf.nn.softmax(tf.random.stateless_normal(shape, [3, 4]))
        for got, wanted in zip(compiled(x, labels), step(x, labels), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    assert "Softmax: kernel" in compiled.compile_report()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("shape", [(5, 3), (7, 100), (3000, 20)])
def test_labels_as_indices(shape, dtype):
    def step(x, labels):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)
        return loss, tape.gradient(loss, x)

    compiled = tf.function(step, jit_compile=True)
    rng = np.random.default_rng(0)
    for _ in range(2):
        x = tf.constant(rng.normal(size=shape), tf.float32)
        labels = rng.integers(0, shape[1], shape[0]).astype(dtype)
        labels[:2] = 0, shape[1] - 1
        for got, wanted in zip(compiled(x, labels), step(x, labels), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    assert "SparseSoftmaxCrossEntropyWithLogits: kernel" in compiled.compile_report()


def test_labels_outside_are_refused():
    f = tf.function(
        lambda labels, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x),
        jit_compile=True,
    )
    x = tf.zeros([2, 3])
    np.testing.assert_allclose(f([0, 2], x), np.log([3.0, 3.0]), rtol=1e-6)
    for wrong in ([0, 3], [-1, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="outside the valid"):
            f(wrong, x)


def test_what_is_left_to_numpy():
    f = tf.function(
        lambda x, y: tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=y).loss,
        jit_compile=True,
    )
    x, labels = tf.ones([3, 4]), tf.ones([1, 4])
    np.testing.assert_allclose(f(x, labels), np.full(3, 4 * np.log(4)), rtol=1e-6)
    empty = tf.function(tf.nn.softmax, jit_compile=True)
    assert empty(tf.ones([3, 0])).shape == [3, 0]
