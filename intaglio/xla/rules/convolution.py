"""Convolutions, their gradients, pooling and normalisation of batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from intaglio.opdef import late, raw
from intaglio.ops.nn import windows
from intaglio.xla import target
from intaglio.xla.registry import xla
from intaglio.xla.values import Untraceable, known

_SPATIAL = "012"


class _Layout:
    """How the dimensions of images and windows of an op are ordered."""

    def __init__(self, rank: int, data_format: str, strides: Sequence[int]) -> None:
        self.first = windows.channels_first(data_format)
        self.data_format = data_format
        space = _SPATIAL[:rank]
        self.images = f"NC{space}" if self.first else f"N{space}C"
        self.numbers = (self.images, f"{space}IO", self.images)
        self.strides = windows.spatial(tuple(strides), data_format)

    def sizes(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The spatial sizes of images of a shape."""
        return tuple(shape[2:] if self.first else shape[1:-1])

    def channels(self, shape: Sequence[int]) -> int:
        """The number of channels."""
        return shape[1] if self.first else shape[-1]


def _convolution(
    shape: Sequence[int],
    filters: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit: Sequence[int],
    data_format: str,
    dilations: Sequence[int],
    groups: int = 0,
) -> Any:
    """The function of images and filters of these shapes that is their convolution."""
    if 0 in filters:
        raise Untraceable("it has no filters")
    rank = len(filters) - 2
    layout = _Layout(rank, data_format, strides)
    steps = windows.spatial(tuple(dilations), data_format) if dilations else (1,) * rank
    ends = windows.spatial_ends(tuple(explicit), data_format) if explicit else ()
    sizes = layout.sizes(shape)
    axes = windows.axes(sizes, tuple(filters[:rank]), layout.strides, steps, padding, ends)
    groups = groups or layout.channels(shape) // max(filters[-2], 1) or 1

    def run(x: Any, w: Any) -> Any:
        padding = [(a.before, a.after) for a in axes]
        if x.dtype.kind in "iu" and not target.is_host():  # GPUs convolve floats alone
            return _of_integers(x, w, layout, padding, steps, groups)
        return lax.conv_general_dilated(
            x,
            w,
            window_strides=layout.strides,
            padding=padding,
            rhs_dilation=steps,
            dimension_numbers=layout.numbers,
            feature_group_count=groups,
        )

    return run


def _of_integers(
    x: Any,
    w: Any,
    layout: _Layout,
    padding: Sequence[tuple[int, int]],
    steps: Sequence[int],
    groups: int,
) -> Any:
    """A convolution as the sum of a product of matrices for each element of the windows."""
    if layout.first:
        x = jnp.moveaxis(x, 1, -1)
    x = lax.pad(x, np.zeros((), x.dtype), [(0, 0, 0), *[(a, b, 0) for a, b in padding], (0, 0, 0)])
    window, channels = w.shape[:-2], w.shape[-2]
    sizes = [
        (d - (k - 1) * step - 1) // stride + 1
        for d, k, step, stride in zip(x.shape[1:-1], window, steps, layout.strides, strict=True)
    ]
    total: Any = 0
    for at in np.ndindex(*window):
        begin = [i * step for i, step in zip(at, steps, strict=True)]
        end = [b + (n - 1) * s + 1 for b, n, s in zip(begin, sizes, layout.strides, strict=True)]
        limits = (x.shape[0], *end, x.shape[-1])
        part = lax.slice(x, (0, *begin, 0), limits, (1, *layout.strides, 1))
        part = part.reshape(*part.shape[:-1], groups, channels)
        weights = w[at].reshape(channels, groups, -1)
        total = total + jnp.einsum("...gc,cgo->...go", part, weights)
    result = total.reshape(*total.shape[:-2], -1)
    return jnp.moveaxis(result, -1, 1) if layout.first else result


def _wide(run: Any, of_products: bool = True) -> Any:
    """16-bit floats are added up in float32, and rounded once. Accelerators add products so by themselves."""

    def computed(*arrays: Any) -> Any:
        dtype = np.dtype(arrays[0].dtype)
        if dtype.itemsize != 2 or dtype.kind in "iu" or (of_products and not target.is_host()):
            return run(*[jnp.asarray(a) for a in arrays])
        return run(*[jnp.asarray(a).astype(np.float32) for a in arrays]).astype(dtype)

    return computed


@xla(raw.Conv2D)
def _conv2d(input, filter, strides, padding, explicit_paddings, data_format, dilations) -> Any:
    run = _convolution(
        input.shape, filter.shape, strides, padding, explicit_paddings, data_format, dilations
    )
    return _wide(run)(input, filter)


@xla(late.Conv)
def _conv(
    input, filter, strides, padding, explicit_paddings, data_format, dilations, batch_dims, groups
) -> Any:
    if batch_dims != 1:
        raise Untraceable("several dimensions of examples")
    form = "NCHW" if data_format == "CHANNELS_FIRST" else "NHWC"
    options = (strides, padding, explicit_paddings, form, dilations, groups)
    return _wide(_convolution(input.shape, filter.shape, *options))(input, filter)


@xla(raw.Conv3D)
def _conv3d(input, filter, strides, padding, data_format, dilations) -> Any:
    run = _convolution(input.shape, filter.shape, strides, padding, (), data_format, dilations)
    return _wide(run)(input, filter)


def _input_gradient(shape: Any, filter: Any, dy: Any, *options: Any) -> Any:
    run = _convolution(shape, filter.shape, *options)

    def transposed(w: Any, d: Any) -> Any:
        images = jax.ShapeDtypeStruct(tuple(shape), d.dtype)
        return jax.linear_transpose(lambda x: run(x, w), images)(d)[0]

    return _wide(transposed)(filter, dy)


def _filter_gradient(x: Any, shape: Any, dy: Any, *options: Any) -> Any:
    run = _convolution(x.shape, shape, *options)

    def transposed(images: Any, d: Any) -> Any:
        filters = jax.ShapeDtypeStruct(tuple(shape), d.dtype)
        return jax.linear_transpose(lambda w: run(images, w), filters)(d)[0]

    return _wide(transposed)(x, dy)


def _dims(sizes: Any) -> tuple[int, ...]:
    return tuple(known(sizes, "the sizes of a gradient").tolist())


@xla(raw.Conv2DBackpropInput)
def _conv2d_input(
    input_sizes, filter, out_backprop, strides, padding, explicit_paddings, data_format, dilations
) -> Any:
    options = (strides, padding, explicit_paddings, data_format, dilations)
    shape = _dims(input_sizes)
    if len(shape) == 2:  # TensorFlow takes the spatial sizes alone
        layout = _Layout(2, data_format, strides)
        depth, batch = filter.shape[2], out_backprop.shape[0]
        shape = (batch, depth, *shape) if layout.first else (batch, *shape, depth)
    return _input_gradient(shape, filter, out_backprop, *options)


@xla(raw.Conv2DBackpropFilter)
def _conv2d_filter(
    input, filter_sizes, out_backprop, strides, padding, explicit_paddings, data_format, dilations
) -> Any:
    options = (strides, padding, explicit_paddings, data_format, dilations)
    return _filter_gradient(input, _dims(filter_sizes), out_backprop, *options)


@xla(raw.Conv3DBackpropInputV2)
def _conv3d_input(
    input_sizes, filter, out_backprop, strides, padding, data_format, dilations
) -> Any:
    options = (strides, padding, (), data_format, dilations)
    return _input_gradient(_dims(input_sizes), filter, out_backprop, *options)


@xla(raw.Conv3DBackpropFilterV2)
def _conv3d_filter(
    input, filter_sizes, out_backprop, strides, padding, data_format, dilations
) -> Any:
    options = (strides, padding, (), data_format, dilations)
    return _filter_gradient(input, _dims(filter_sizes), out_backprop, *options)


# -- one filter for each channel ---------------------------------------------------------------


def _depthwise(shape: Any, filters: Any, *options: Any) -> Any:
    rows, columns, channels, multiplier = filters
    inner = (rows, columns, 1, channels * multiplier)
    run = _convolution(shape, inner, *options, groups=channels)
    return lambda x, w: run(x, w.reshape(inner))


@xla(raw.DepthwiseConv2dNative)
def _depthwise_conv(
    input, filter, strides, padding, explicit_paddings, data_format, dilations
) -> Any:
    options = (strides, padding, explicit_paddings, data_format, dilations)
    return _wide(_depthwise(input.shape, filter.shape, *options))(input, filter)


@xla(raw.DepthwiseConv2dNativeBackpropInput)
def _depthwise_input(
    input_sizes, filter, out_backprop, strides, padding, explicit_paddings, data_format, dilations
) -> Any:
    options = (strides, padding, explicit_paddings, data_format, dilations)
    shape = _dims(input_sizes)
    run = _depthwise(shape, filter.shape, *options)

    def transposed(w: Any, d: Any) -> Any:
        images = jax.ShapeDtypeStruct(shape, d.dtype)
        return jax.linear_transpose(lambda x: run(x, w), images)(d)[0]

    return _wide(transposed)(filter, out_backprop)


@xla(raw.DepthwiseConv2dNativeBackpropFilter)
def _depthwise_filter(
    input, filter_sizes, out_backprop, strides, padding, explicit_paddings, data_format, dilations
) -> Any:
    options = (strides, padding, explicit_paddings, data_format, dilations)
    shape = _dims(filter_sizes)
    run = _depthwise(input.shape, shape, *options)

    def transposed(images: Any, d: Any) -> Any:
        filters = jax.ShapeDtypeStruct(shape, d.dtype)
        return jax.linear_transpose(lambda w: run(images, w), filters)(d)[0]

    return _wide(transposed)(input, out_backprop)


# -- pooling -----------------------------------------------------------------------------------


def _pooling(shape: Any, ksize: Any, strides: Any, padding: str, explicit: Any, form: str) -> Any:
    """The windows of a pooling: sizes, strides and paddings of all dimensions, and the axes."""
    layout = _Layout(len(shape) - 2, form, strides)
    sizes = windows.spatial(tuple(ksize), form)
    ends = windows.spatial_ends(tuple(explicit), form) if explicit else ()
    ones = (1,) * len(sizes)
    axes = windows.axes(layout.sizes(shape), sizes, layout.strides, ones, padding, ends)
    return tuple(ksize), tuple(strides), _padding(axes, layout.first)


def _padding(axes: Any, first: bool) -> list[tuple[int, int]]:
    spatial = [(a.before, a.after) for a in axes]
    return [(0, 0), (0, 0), *spatial] if first else [(0, 0), *spatial, (0, 0)]


def _least(dtype: Any) -> Any:
    if jnp.issubdtype(dtype, jnp.floating):
        return np.asarray(-np.inf, dtype)
    return np.asarray(jnp.iinfo(dtype).min, dtype)


@xla(raw.MaxPool)
def _max_pool(input, ksize, strides, padding, explicit_paddings, data_format) -> Any:
    window = _pooling(input.shape, ksize, strides, padding, explicit_paddings, data_format)
    return lax.reduce_window(input, _least(input.dtype), lax.max, *window)


@xla(raw.MaxPoolGrad)
def _max_pool_gradient(
    orig_input, grad, ksize, strides, padding, explicit_paddings, data_format
) -> Any:
    window = _pooling(orig_input.shape, ksize, strides, padding, explicit_paddings, data_format)

    def pooled(x: Any) -> Any:
        return lax.reduce_window(x, _least(x.dtype), lax.max, *window)

    return jax.vjp(pooled, jnp.asarray(orig_input))[1](jnp.asarray(grad))[0]


def _average(shape: Any, dtype: Any, window: Any) -> Any:
    """The function of images whose windows have these averages; padding does not count."""
    ones = np.ones(shape, np.float32)
    zero = np.zeros((), np.float32)
    counts = lax.reduce_window(jnp.asarray(ones), zero, lax.add, *window).astype(dtype)

    def run(x: Any) -> Any:
        return lax.reduce_window(x, np.zeros((), dtype), lax.add, *window) / counts

    return run


@xla(raw.AvgPool)
def _average_pool(value, ksize, strides, padding, data_format) -> Any:
    window = _pooling(value.shape, ksize, strides, padding, (), data_format)
    return _wide(lambda x: _average(x.shape, x.dtype, window)(x), of_products=False)(value)


@xla(raw.AvgPoolGrad)
def _average_pool_gradient(orig_input_shape, grad, ksize, strides, padding, data_format) -> Any:
    shape = _dims(orig_input_shape)
    window = _pooling(shape, ksize, strides, padding, (), data_format)

    def transposed(d: Any) -> Any:
        run = _average(shape, d.dtype, window)
        return jax.linear_transpose(run, jax.ShapeDtypeStruct(shape, d.dtype))(d)[0]

    return _wide(transposed, of_products=False)(grad)
