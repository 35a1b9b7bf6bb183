"""Convolutions of inputs with several dimensions of examples. TensorFlow's shapes were recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

SIZES = (7, 6, 5)
FUNCTIONS = {1: tf.nn.conv1d, 2: tf.nn.conv2d, 3: tf.nn.conv3d}


def data(batch: list[int], n: int, first: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    space = [*SIZES[:n]]
    shape = [*batch, 3, *space] if first else [*batch, *space, 3]
    filters = rng.random([2] * n + [3, 2], np.float32)
    return rng.random(shape, np.float32), filters


@pytest.mark.parametrize(
    ("n", "batch", "given_arguments", "wanted"),
    [
        (1, [2, 3], {}, [2, 3, 6, 2]),
        (1, [2, 3, 2], {"dilations": 2}, [2, 3, 2, 5, 2]),
        (2, [2, 3], {"strides": 2}, [2, 3, 3, 3, 2]),
        (2, [2, 3], {"dilations": 2, "padding": "SAME"}, [2, 3, 7, 6, 2]),
        (3, [2, 3], {"dilations": 2}, [2, 3, 5, 4, 3, 2]),
        (3, [2, 3, 2], {"strides": 2}, [2, 3, 2, 3, 3, 2, 2]),
    ],
)
def test_shapes(n: int, batch: list[int], given_arguments: Any, wanted: list[int]) -> None:
    x, filters = data(batch, n)
    arguments = {"padding": "VALID", **given_arguments}
    assert tf.nn.convolution(x, filters, **arguments).shape.as_list() == wanted

    def convolve(x: Any) -> Any:
        return tf.nn.convolution(x, filters, **arguments)

    unknown = tf.TensorSpec([None] * len(x.shape))
    traced = tf.function(convolve).get_concrete_function(unknown)
    assert traced.output_shapes.as_list() == [None] * (len(wanted) - 1) + [2]
    known = tf.function(convolve).get_concrete_function(tf.constant(x))
    assert known.output_shapes.as_list() == wanted


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(1, 3),
    batch=st.lists(st.integers(0, 3), min_size=1, max_size=3),
    steps=st.integers(1, 2),
    gaps=st.integers(1, 2),
    padding=st.sampled_from(["SAME", "VALID"]),
    jit=st.sampled_from([None, True]),
)
def test_each_example_is_convolved_alone(
    n: int, batch: list[int], steps: int, gaps: int, padding: str, jit: Any
) -> None:
    """Results and gradients are those of the same examples in one dimension: eager, traced, compiled."""
    x, filters = data(batch, n)
    strides, dilations = [steps] * n, [gaps if steps == 1 else 1] * n
    function = FUNCTIONS[n]
    ones = [1, *strides, 1], [1, *dilations, 1]
    flat = x.reshape(-1, *x.shape[len(batch) :])

    def convolve(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            if n == 1:
                y = function(x, filters, strides, padding, dilations=dilations)
            else:
                y = function(x, filters, ones[0], padding, dilations=ones[1])
            loss = tf.reduce_sum(y * y)
        return y, tape.gradient(loss, x)

    wanted, wanted_gradient = convolve(tf.constant(flat))
    traced = tf.function(convolve, jit_compile=jit)
    for call in (convolve, traced):
        y, gradient = call(tf.constant(x))
        assert y.shape.as_list() == [*batch, *wanted.shape[1:]]
        np.testing.assert_allclose(np.ravel(y), np.ravel(wanted), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(
            np.ravel(gradient), np.ravel(wanted_gradient), rtol=1e-4, atol=1e-3
        )


def test_channels_first() -> None:
    """Traced only: TensorFlow's kernels for the host take channels last."""
    x, filters = data([2, 3], 1, first=True)
    y = tf.nn.conv1d(x, filters, 1, "VALID", data_format="NCW")
    last = tf.nn.conv1d(np.moveaxis(x, -2, -1), filters, 1, "VALID")
    assert y.shape.as_list() == [2, 3, 2, 6]
    np.testing.assert_allclose(np.moveaxis(y.numpy(), -2, -1), last, rtol=1e-5)


def test_nested_lists() -> None:
    x, filters = data([2, 2], 2)
    y = tf.nn.conv2d(x.tolist(), filters, 1, "SAME")
    np.testing.assert_allclose(y, tf.nn.conv2d(x, filters, 1, "SAME"), rtol=1e-5)


@pytest.mark.parametrize("n", [2, 3])
def test_too_few_dimensions(n: int) -> None:
    x, filters = data([], n)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"must be {n + 2}-dimensional"):
        tf.nn.convolution(x, filters, padding="SAME")
