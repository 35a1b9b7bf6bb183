"""Kernels by taps: convolutions of numbers that are not all finite are sums over the taps on images.

The reference is `ops/nn/convolution_by_taps.py`, of which TensorFlow 2.21's answers were compared: of float32 and
bfloat16 padding is not multiplied, of float16 and float64 it is, forwards and in filter gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base.dtypes import bfloat16
from intaglio.native.kernels import col2im, selection, tap_convolution
from intaglio.native.kernels.sequence import Chain
from intaglio.opdef import short_floats
from intaglio.ops.nn import convolution_by_taps as by_taps
from intaglio.ops.nn.convolution import plan_of

Array = np.ndarray[Any, Any]
VALUES = [np.inf, -np.inf, np.nan]
DTYPES = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), bfloat16.numpy]


@st.composite
def convolutions(draw: st.DrawFn) -> dict[str, Any]:
    """Shapes of images and filters, and how windows slide."""
    dims = draw(st.sampled_from([2, 2, 2, 3]))
    groups = draw(st.sampled_from([1, 1, 1, 2, 4]))
    inner, each = (draw(st.sampled_from([1, 2, 5, 8, 17])) for _ in range(2))
    window = [draw(st.integers(1, 4)) for _ in range(dims)]
    stride = draw(st.integers(1, 3))
    dilation = 1 if stride > 1 else draw(st.integers(1, 2))
    sizes = [draw(st.integers((k - 1) * dilation + 1, 9)) for k in window]
    padding = draw(st.sampled_from(["SAME", "VALID", "EXPLICIT"] if dims == 2 else ["SAME"]))
    ends = [draw(st.integers(0, 2)) for _ in range(2 * dims)] if padding == "EXPLICIT" else []
    plan = plan_of(
        dims + 2,
        (1, *(stride,) * dims, 1),
        padding,
        "NHWC" if dims == 2 else "NDHWC",
        (1, *(dilation,) * dims, 1),
        (0, 0, *ends, 0, 0) if ends else (),
    )
    x = (draw(st.integers(1, 3)), *sizes, groups * inner)
    filters = (*window, inner, groups * each)
    along = plan.axes(sizes, window)
    return {"x": x, "filters": filters, "along": along, "groups": groups}


def _geometry(c: dict[str, Any]) -> Any:
    dense = (*c["filters"][:-2], c["x"][-1], c["filters"][-1])
    g = selection.geometry(c["x"], dense, c["along"])
    assert g is not None
    return g._replace(channel_groups=c["groups"])


def _arrays(c: dict[str, Any], dtype: Any, draw: Any) -> tuple[Array, Array, Array]:
    """Images, filters and gradients, some of which have a number that is not finite."""
    rng = np.random.default_rng(draw.draw(st.integers(0, 1000)))
    out = (c["x"][0], *[a.out for a in c["along"]], c["filters"][-1])
    arrays = [rng.integers(-4, 5, shape).astype(dtype) for shape in (c["x"], c["filters"], out)]
    for array in arrays:
        for _ in range(draw.draw(st.integers(0, 2))):
            at = draw.draw(st.integers(0, array.size - 1))
            array.reshape(-1)[at] = draw.draw(st.sampled_from(VALUES))
    return arrays[0], arrays[1], arrays[2]


def _expected(name: str, c: dict[str, Any], a: Array, b: Array) -> Array:
    zeros = by_taps.multiplies_padding(a.dtype)
    wide, also = (short_floats.widened(x) for x in (a, b))
    with np.errstate(all="ignore"):
        if name == "forward":
            result = by_taps.forward(wide, also, c["along"], zeros)
        elif name == "input_gradient":
            result = by_taps.by_input(also, wide, c["along"], c["x"][-1])
        else:
            inner = c["filters"][-2]
            result = by_taps.filter_gradient(wide, also, c["along"], inner, zeros)
        return result.astype(a.dtype)


def _operands(name: str, arrays: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    images, filters, gradients = arrays
    pairs = {"forward": (images, filters), "input_gradient": (filters, gradients)}
    return pairs.get(name, (images, gradients))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["forward", "input_gradient", "filter_gradient"])
@settings(max_examples=40)
@given(c=convolutions(), draw=st.data())
def test_kernels_are_sums_over_taps(name: str, dtype: Any, c: dict[str, Any], draw: Any) -> None:
    a, b = _operands(name, _arrays(c, dtype, draw))
    want = _expected(name, c, a, b)
    result = np.full(want.shape, 7, dtype)
    operands = [a, b, np.zeros(b.shape[-1], dtype), result] if name == "forward" else [a, b, result]
    zeros = by_taps.multiplies_padding(dtype) and name != "input_gradient"
    for flags in (np.zeros(3, np.int64), np.array([0, 0, 1], np.int64)):
        chain = Chain(len(operands) + 1)
        numbers = range(1, len(operands) + 1)
        given_flags = tap_convolution.Flags(0, 3)
        tap_convolution.then_taps(
            chain, name, _geometry(c), given_flags, numbers, dtype, zeros=zeros
        )
        chain.returning([])(flags, *operands)
        expected = want if flags.any() else np.full_like(want, 7)
        np.testing.assert_array_equal(result.astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("prefix", ["", "doubled_"])
@pytest.mark.parametrize("name", ["forward", "input_gradient", "filter_gradient"])
@settings(max_examples=60)
@given(c=convolutions(), draw=st.data())
def test_what_is_selected_is_the_sum_over_taps(
    name: str, prefix: str, c: dict[str, Any], draw: Any
) -> None:
    a, b = _operands(name, _arrays(c, np.float64 if prefix else np.float32, draw))
    run = getattr(selection, prefix + name)(c["x"], c["filters"], c["along"])
    if run is not None:
        np.testing.assert_array_equal(run(a, b), _expected(name, c, a, b))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 3, 127, 16384, 16385, 70001])
def test_flags_say_which_part_is_not_finite(dtype: Any, size: int) -> None:
    chain = Chain(1)
    flags = tap_convolution.flags_of(chain, 0, size, dtype)
    chain.returning(flags.number)
    count = flags.length
    x = np.full(size, np.finfo(np.float32).max if dtype.itemsize == 4 else 1, dtype)
    assert count == -(-size // tap_convolution.FLAG_ELEMENTS)
    np.testing.assert_array_equal(chain(x), np.zeros(count))
    for at in {0, size // 2, size - 1}:
        for value in VALUES:
            y = x.copy()
            y[at] = value
            want = np.arange(count) == at // tap_convolution.FLAG_ELEMENTS
            np.testing.assert_array_equal(chain(y), want)


# (channels, filters, window, stride, padding): transforms, sums and products of matrices.
LAYERS = [
    (16, 32, 3, 1, "SAME"),
    (64, 32, 3, 1, "VALID"),
    (3, 8, 3, 1, "SAME"),
    (8, 16, 5, 1, "SAME"),
    (8, 8, 3, 2, "SAME"),
    (16, 24, 1, 1, "SAME"),
]
EPILOGUES = {
    "bias": lambda y: y,
    "relu": tf.nn.relu,
    "mean": lambda y: tf.nn.avg_pool2d(tf.nn.relu(y), 2, 2, "VALID"),
    "maximum": lambda y: tf.nn.max_pool2d(y, 2, 2, "VALID"),
    "relu and maximum": lambda y: tf.nn.max_pool2d(tf.nn.relu(y), 2, 2, "VALID"),
}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("epilogue", EPILOGUES)
@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_fused_layers_and_their_gradients(layer: Any, epilogue: str, value: float) -> None:
    channels, filters, window, stride, padding = layer
    rng = np.random.default_rng(5)
    images = rng.integers(-3, 4, (4, 18, 18, channels)).astype(np.float32)
    weights = rng.integers(-3, 4, (window, window, channels, filters)).astype(np.float32)

    def run(x: Any, w: Any, b: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w, b])
            y = EPILOGUES[epilogue](tf.nn.bias_add(tf.nn.conv2d(x, w, stride, padding), b))
            total = tf.reduce_sum(y * y)
        return [y, *tape.gradient(total, [x, w, b])]

    bias = np.ones(filters, np.float32)
    bad_images, bad_weights = images.copy(), weights.copy()
    bad_images[1, 5, 7, 2] = bad_weights[0, -1, 1, 3] = value
    for x, w in ((bad_images, weights), (images, bad_weights)):
        with np.errstate(all="ignore"):
            want = [np.asarray(t) for t in run(*map(tf.constant, (x, w, bias)))]
        for jit in (False, True):
            compiled = tf.function(run, jit_compile=jit)
            got = [np.asarray(t) for t in compiled(*map(tf.constant, (x, w, bias)))]
            for a, b in zip(got, want, strict=True):
                np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3 * np.abs(images).max())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rate", ["strides", "dilations"])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dims", [2, 3])
def test_padding_is_multiplied_in_all_modes_or_in_none(
    dims: int, groups: int, rate: str, dtype: Any
) -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(2, *(6,) * dims, 2 * groups)).astype(dtype)
    w = rng.normal(size=(*(3,) * dims, 2, 4)).astype(dtype)
    convolve = tf.nn.conv2d if dims == 2 else tf.nn.conv3d
    rates = [1, *(2,) * dims, 1] if dims == 3 else 2
    options = {"strides": [1] * 5 if dims == 3 else 1, "padding": "SAME"} | {rate: rates}

    def run(x: Any, w: Any, d: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = convolve(x, w, **options)
        return [y, *tape.gradient(y, [x, w], output_gradients=d)]

    for at in range(3):
        d = np.ones(convolve(x, w, **options).shape, dtype)
        operands = [x.copy(), w.copy(), d]
        operands[at].reshape(-1)[at] = np.inf
        want = [np.asarray(t, np.float64) for t in run(*map(tf.constant, operands))]
        for jit in (False, True):
            got = tf.function(run, jit_compile=jit)(*map(tf.constant, operands))
            for a, b in zip(got, want, strict=True):
                np.testing.assert_array_equal(np.isnan(np.asarray(a, np.float64)), np.isnan(b))


@pytest.mark.parametrize("value", [1.0, *VALUES])
@pytest.mark.parametrize("stride", [2, 3])
def test_windows_larger_than_a_buffer_have_input_gradients(stride: int, value: float) -> None:
    """Channels are apart from each other: a few of them are a gradient of their own."""
    rng = np.random.default_rng(0)
    size, channels = (2, 5, 4), col2im.SCRATCH_SIZE // 4 + 3
    filters = rng.standard_normal((2, 3, channels, 2)).astype(np.float32)
    shape = tf.nn.conv2d(tf.zeros((*size, 4)), filters[:, :, :4], stride, "SAME").shape
    gradients = rng.standard_normal(shape.as_list()).astype(np.float32)
    gradients[1, -1, 0, 0] = value

    def gradient(count: int) -> Any:
        return tf.raw_ops.Conv2DBackpropInput(
            input_sizes=(*size, count),
            filter=filters[:, :, -count:],
            out_backprop=gradients,
            strides=(1, stride, stride, 1),
            padding="SAME",
        )

    wide, few = gradient(channels), gradient(4)
    np.testing.assert_allclose(wide[..., -4:], few, rtol=1e-5, atol=1e-5)
