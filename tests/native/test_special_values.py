"""NaN and infinities in layers: what is not finite, and how, is the same eagerly, in graphs and in machine code.

TensorFlow 2.21 was asked: eagerly and in graphs, convolutions have no products of padding where there are several
channels; under XLA padding is zeros, whose products with infinite filters are NaN. Here there are none in any
mode but XLA's (docs/how-to/numbers-differ.md). The mean of a batch with an infinite element is infinite in batch
normalisation, its variance NaN, in all of TensorFlow's modes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

SPECIAL = [np.inf, -np.inf, np.nan]
# (size of the images, channels, filters, window, stride, padding, dilation)
CASES = [
    (5, 2, 3, 2, 1, "SAME", 1),
    (5, 2, 3, 3, 1, "VALID", 1),
    (17, 8, 16, 3, 1, "SAME", 1),
    (16, 16, 8, 3, 2, "SAME", 1),
    (16, 8, 8, 3, 1, "SAME", 2),
    (16, 3, 8, 7, 2, "SAME", 1),
    (12, 16, 8, 1, 1, "SAME", 1),
    (14, 32, 32, 3, 1, "SAME", 1),
]


def _kinds(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """NaN, infinity, its negative, or 0 for finite numbers."""
    return np.where(np.isfinite(array), 0, array)


def _assert_alike(function: Callable[..., Any], *arrays: np.ndarray[Any, Any]) -> Any:
    """Compares what is not finite."""
    operands = [tf.constant(a) for a in arrays]
    want = [_kinds(t.numpy()) for t in tf.nest.flatten(function(*operands))]
    for jit in (False, True):
        got = tf.nest.flatten(tf.function(function, jit_compile=jit)(*operands))
        for a, b in zip(want, got, strict=True):
            np.testing.assert_array_equal(_kinds(b.numpy()), a)
    return want


def _data(case: Any, value: float, depthwise: bool) -> tuple[Any, Any, Any, dict[str, Any]]:
    size, channels, filters, window, stride, padding, dilation = case
    rng = np.random.default_rng(7)
    images = rng.standard_normal((2, size, size, channels)).astype(np.float32)
    many = 2 if depthwise and channels < 8 else 1
    weights = rng.standard_normal((window, window, channels, many if depthwise else filters))
    strides = [1, stride, stride, 1]
    options = {"strides": strides, "padding": padding, "dilations": [1, dilation, dilation, 1]}
    return images, weights.astype(np.float32), value, options


def _with(array: np.ndarray[Any, Any], value: float, *places: tuple[int, ...]) -> Any:
    changed = array.copy()
    for place in places:
        changed[place] = value
    return changed


@pytest.mark.parametrize("value", SPECIAL)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("depthwise", [False, True])
def test_convolutions_and_their_gradients(case: Any, value: float, depthwise: bool) -> None:
    images, weights, value, options = _data(case, value, depthwise)
    name = "DepthwiseConv2dNative" if depthwise else "Conv2D"
    forward = getattr(tf.raw_ops, name)
    by_input = getattr(tf.raw_ops, f"{name}BackpropInput")
    by_filter = getattr(tf.raw_ops, f"{name}BackpropFilter")
    middle = len(images[0]) // 2
    bad_images = _with(images, value, (0, middle, 1, 0), (1, 0, 0, 1))
    last = weights.shape[0] - 1
    bad_weights = _with(weights, value, (last, 0, 1, 0))
    gradient = forward(input=images, filter=weights, **options).numpy()
    bad_gradient = _with(gradient, value, (0, 0, 1, 0), (1, -1, -1, 1))

    def run(x: Any, f: Any) -> Any:
        return forward(input=x, filter=f, **options)

    def input_gradient(f: Any, d: Any) -> Any:
        return by_input(input_sizes=images.shape, filter=f, out_backprop=d, **options)

    def filter_gradient(x: Any, d: Any) -> Any:
        return by_filter(input=x, filter_sizes=weights.shape, out_backprop=d, **options)

    _assert_alike(run, bad_images, weights)
    _assert_alike(run, images, bad_weights)
    _assert_alike(input_gradient, weights, bad_gradient)
    _assert_alike(input_gradient, bad_weights, gradient)
    _assert_alike(filter_gradient, bad_images, gradient)
    _assert_alike(filter_gradient, images, bad_gradient)


def test_padding_is_not_multiplied() -> None:
    images = tf.ones([1, 2, 2, 1])
    filters = tf.constant([[[[1.0]], [[np.inf]]]])
    for jit in (False, True):
        dense = tf.function(lambda: tf.nn.conv2d(images, filters, 1, "SAME"), jit_compile=jit)
        alone = tf.function(
            lambda: tf.nn.depthwise_conv2d(images, filters, [1] * 4, "SAME"), jit_compile=jit
        )
        for run in (dense, alone):
            np.testing.assert_array_equal(run().numpy().ravel(), [np.inf, 1.0, np.inf, 1.0])


@pytest.mark.parametrize("value", SPECIAL)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("factor", [1.0, 0.25])
@pytest.mark.parametrize("shape", [(1, 2, 3, 2), (2, 9, 9, 3), (4, 16, 16, 8)])
def test_batch_normalisation(shape: Any, value: float, training: bool, factor: float) -> None:
    rng = np.random.default_rng(3)
    channels = shape[-1]
    images = rng.standard_normal(shape).astype(np.float32)
    ones = [np.ones(channels, np.float32)] * 4

    def run(x: Any, *parameters: Any) -> Any:
        return tf.raw_ops.FusedBatchNormV3(
            x=x, scale=parameters[0], offset=parameters[1], mean=parameters[2],
            variance=parameters[3], is_training=training, exponential_avg_factor=factor,
        )[:3]  # fmt: skip

    def gradients(x: Any, *parameters: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, *parameters[:2]])
            total = tf.reduce_sum(tf.tanh(run(x, *parameters)[0]))
        return tape.gradient(total, [x, *parameters[:2]])

    for place in ((0, 0, 0, 1), (-1, -1, -1, 0)):
        bad = _with(images, value, place)
        _, mean, variance = _assert_alike(run, bad, *ones)
        _assert_alike(gradients, bad, *ones)
        if training:
            np.testing.assert_array_equal(mean[place[-1]], value)
            assert np.isnan(variance[place[-1]])
    for i in range(2):
        parameters = [*ones[:i], _with(ones[i], value, (0,)), *ones[i + 1 :]]
        _assert_alike(run, images, *parameters)
        _assert_alike(gradients, images, *parameters)
