"""Convolutions and their gradients are exactly 0 where nothing but padding is seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from intaglio import tf

# (images, filter, strides, padding, dilations) of two dimensions; explicit paddings are a list.
CASES: list[tuple[Any, ...]] = [
    ((64, 1, 16, 32), (3, 3), 1, [[4, 1], [1, 1]], 1),
    ((64, 2, 16, 32), (3, 3), 1, [[6, 0], [1, 1]], 1),
    ((64, 16, 2, 32), (3, 3), 1, [[1, 1], [0, 6]], 1),
    ((32, 16, 16, 32), (3, 3), 1, [[3, 5], [7, 3]], 1),
    ((64, 1, 1, 16), (3, 3), 1, "SAME", 1),
    ((64, 1, 12, 16), (3, 3), 1, "SAME", 1),
    ((64, 2, 12, 16), (3, 3), 1, "SAME", 1),
    ((16, 8, 8, 16), (3, 3), 1, [[4, 4], [0, 0]], 1),
    ((16, 8, 8, 16), (3, 3), 1, [[8, 0], [1, 8]], 1),
    ((64, 1, 1, 16), (3, 3), 1, [[2, 2], [2, 2]], 1),
    ((64, 1, 1, 16), (3, 3), 1, [[3, 0], [0, 3]], 1),
    ((32, 2, 2, 16), (5, 5), 1, "SAME", 1),
    ((32, 3, 3, 16), (3, 3), 1, "SAME", 4),
    ((32, 3, 3, 16), (3, 3), 2, "SAME", 1),
    ((32, 2, 7, 16), (3, 3), 3, [[3, 2], [0, 5]], 1),
    ((32, 4, 4, 16), (3, 3), 5, "SAME", 1),
    ((32, 1, 1, 3), (7, 7), 2, "SAME", 1),
    ((32, 6, 6, 64), (3, 3), 1, [[6, 6], [6, 6]], 2),
]


def _options(strides: int, padding: Any, dilations: int) -> dict[str, Any]:
    explicit = padding if isinstance(padding, str) else [[0, 0], *padding, [0, 0]]
    return {"strides": strides, "padding": explicit, "dilations": dilations}


def _given(case: tuple[Any, ...], kind: str, dtype: Any) -> tuple[tf.Tensor, tf.Tensor]:
    shape, window = case[:2]
    draw = np.random.default_rng(3)
    # Each channel by itself has one filter.
    deep = (shape[-1], 1 if kind == "depthwise" else 24)
    x, w = (1 + draw.random(dims) for dims in (shape, (*window, *deep)))
    return tf.constant(x.astype(np.float32).astype(dtype)), tf.constant(
        w.astype(np.float32).astype(dtype)
    )


def _results(case: tuple[Any, ...], kind: str, dtype: Any, compiled: bool) -> list[Any]:
    """The convolution, and its gradients by images and filters."""
    _, _, strides, padding, dilations = case
    options = _options(strides, padding, dilations)

    def run(x: tf.Tensor, w: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            if kind == "depthwise":
                steps = {"strides": [1, strides, strides, 1], "dilations": [dilations] * 2}
                y = tf.nn.depthwise_conv2d(x, w, padding=options["padding"], **steps)
            else:
                y = tf.nn.conv2d(x, w, **options)
            pattern = tf.cast(1 + tf.range(tf.size(y)) * 79 % 101, y.dtype)
            y *= tf.reshape(pattern, tf.shape(y))
        return [y, *tape.gradient(y, [x, w])]

    call = tf.function(run, jit_compile=True) if compiled else run
    return [v.numpy() for v in call(*_given(case, kind, dtype))]


@pytest.fixture(params=[False, True], ids=["", "fast"])
def fast(request: pytest.FixtureRequest) -> Iterator[None]:
    """With transforms that are exact to the last digits, and with faster ones."""
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(request.param)
    yield
    tf.config.experimental.enable_tensor_float_32_execution(before)


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("kind", ["conv2d", "depthwise"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_exactly_zero(case: tuple[Any, ...], kind: str, compiled: bool) -> None:
    if kind == "depthwise" and (not isinstance(case[3], str) or min(case[2], case[4]) > 1):
        pytest.skip("depthwise convolutions with explicit paddings are asked for by raw ops only")
    got = _results(case, kind, np.float32, compiled)
    exact = _results(case, kind, np.float64, False)
    # All numbers are positive: sums are 0 where there is nothing to add.
    for mine, right in zip(got, exact, strict=True):
        assert np.array_equal(mine == 0, right == 0)
        np.testing.assert_allclose(mine, right, rtol=2e-3)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
def test_volumes(compiled: bool) -> None:
    def run(x: tf.Tensor, w: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.conv3d(x, w, [1] * 5, "SAME")
        return tape.gradient(y, [x, w])

    draw = np.random.default_rng(4)
    x = tf.constant((1 + draw.random((16, 1, 2, 8, 8))).astype(np.float32))
    w = tf.constant((1 + draw.random((3, 3, 3, 8, 8))).astype(np.float32))
    _, by_filter = (tf.function(run, jit_compile=True) if compiled else run)(x, w)
    outside = by_filter.numpy()[[0, 2]]
    assert not outside.any()
    assert by_filter.numpy()[1].all()
