"""Convolutions of 16-bit floats and their gradients against those of float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.kernels import narrow_convolution, narrow_matmul

SHORT = {"bfloat16": (ml_dtypes.bfloat16, 2.0**-8), "float16": (np.float16, 2.0**-11)}
TINY = 2.0**-25
channels = st.sampled_from([1, 3, 8, 17, 32, 40])
window = st.integers(1, 5)
CONV: Any = {
    4: (tf.raw_ops.Conv2D, tf.raw_ops.Conv2DBackpropInput, tf.raw_ops.Conv2DBackpropFilter),
    5: (tf.raw_ops.Conv3D, tf.raw_ops.Conv3DBackpropInputV2, tf.raw_ops.Conv3DBackpropFilterV2),
}


def _three(x: Any, f: Any, d: Any, options: Any) -> list[Any]:
    """The convolution and its gradients."""
    forward, by_input, by_filter = CONV[len(x.shape)]
    return [
        forward(input=x, filter=f, **options),
        by_input(input_sizes=x.shape, filter=f, out_backprop=d, **options),
        by_filter(input=x, filter_sizes=f.shape, out_backprop=d, **options),
    ]


def _check(name: str, x: Any, f: Any, options: Any) -> None:
    dtype, unit = SHORT[name]
    rng = np.random.default_rng(0)
    images, filters = (rng.normal(size=s).astype(dtype) for s in (x, f))
    shape = CONV[len(x)][0](input=np.zeros(x), filter=np.zeros(f), **options).shape
    gradients = rng.normal(size=shape).astype(dtype)
    given_ = images, filters, gradients
    wide = [a.astype(np.float64) for a in given_]
    exact, bound = _three(*wide, options), _three(*map(np.abs, wide), options)

    def run(*arrays: Any) -> list[Any]:
        return _three(*arrays, options)

    for function in (run, tf.function(run, jit_compile=True)):
        for got, want, most in zip(function(*map(tf.constant, given_)), exact, bound, strict=True):
            assert got.dtype == tf.as_dtype(name)
            assert got.shape == want.shape
            lost = np.abs(got.numpy().astype(np.float64) - want)
            assert (lost <= np.maximum(unit * np.abs(want), TINY) + 2e-6 * most.numpy()).all()


@settings(deadline=None, max_examples=25)
@given(
    st.sampled_from([*SHORT]),
    st.tuples(st.integers(1, 3), st.integers(5, 19), st.integers(5, 19)),
    channels,
    channels,
    st.tuples(window, window),
    st.integers(1, 3),
    st.integers(1, 2),
    st.sampled_from(["SAME", "VALID"]),
)
def test_images(
    name: str,
    sizes: Any,
    depth: int,
    filters: int,
    window: Any,
    stride: int,
    apart: int,
    padding: str,
) -> None:
    if stride > 1:
        apart = 1
    if padding == "VALID":
        window = tuple(
            [min(w, (n - 1) // apart + 1) for w, n in zip(window, sizes[1:], strict=True)]
        )
    options = {
        "strides": [1, stride, stride, 1],
        "padding": padding,
        "dilations": [1, apart, apart, 1],
    }
    _check(name, (*sizes, depth), (*window, depth, filters), options)


@pytest.mark.parametrize("name", [*SHORT])
@pytest.mark.parametrize(
    ("x", "f"),
    [
        ((1, 9, 8, 400), (3, 3, 400, 40)),  # several blocks of a window
        ((2, 40, 33, 24), (3, 3, 24, 70)),  # several bands and groups of pixels
        ((1, 4, 4, 16), (2, 2, 16, 1100)),  # more filters than sums have room for
        ((2, 5, 9, 8, 20), (2, 3, 2, 20, 33)),  # volumes
    ],
)
def test_sizes_that_take_several_steps(name: str, x: Any, f: Any) -> None:
    _check(name, x, f, {"strides": [1] * len(x), "padding": "SAME"})


@pytest.mark.parametrize("name", [*SHORT])
def test_what_is_not_finite_reaches_only_its_windows(name: str) -> None:
    images = np.zeros((1, 7, 9, 5))
    images[0, 3, 4, 2] = np.inf
    filters = np.ones((3, 3, 5, 6))

    @tf.function(jit_compile=True)
    def convolve(x: Any, f: Any) -> Any:
        return tf.nn.conv2d(x, f, 1, "SAME")

    got = convolve(tf.cast(images, name), tf.cast(filters, name)).numpy().astype(np.float64)
    want = np.zeros((1, 7, 9, 6))
    want[0, 2:5, 3:6] = np.inf
    np.testing.assert_array_equal(got, want)


def test_more_filters_than_fit_are_left_to_float32() -> None:
    g = narrow_convolution.Geometry(1, 4, 4, 16, 4, 4, 1100, 2, 2, 1, 1, 0, 0)
    form = next(iter(narrow_matmul.FORMS.values()))
    assert narrow_convolution.forward(g, form, np.float16) is None
