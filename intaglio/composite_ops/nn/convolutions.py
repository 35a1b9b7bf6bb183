"""Convolutions of `tf.nn`.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/convolution and its neighbours.
Filters have the shape (window..., channels in, channels out); "NHWC" images the shape
(batch, height, width, channels).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.shapes import Dims, as_dims
from intaglio.composite_ops.nn import layouts
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor

LAYOUTS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


@dispatchable
def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Every window's inner product with every filter, for a batch of images.

    The batch may have more than one dimension. `strides` and `dilations` are a number, one for each spatial dimension, or one for each
    dimension; `padding` is "SAME", "VALID" or four pairs of explicit paddings. If the
    filters are narrower than the input, channels form groups. Raises ValueError in graphs
    and InvalidArgumentError eagerly for shapes that do not fit.

    https://www.tensorflow.org/api_docs/python/tf/nn/conv2d

    >>> tf.nn.conv2d(
    ...     tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), 1, "VALID"
    ... ).numpy().ravel()
    array([4., 4., 4., 4.], dtype=float32)
    """
    padding, ends = layouts.explicit(padding)
    data_format = data_format or "NHWC"
    channels = layouts.channel_index(data_format, 2)

    def convolve(images: Any) -> Tensor:
        return raw.Conv2D(
            images,
            filters,
            strides=layouts.sequence(strides, 2, channels, "strides"),
            padding=padding,
            explicit_paddings=ends,
            data_format=data_format,
            dilations=layouts.sequence(dilations, 2, channels, "dilations"),
            name=name,
        )

    return _of_batches(input, 2, convolve)


def _of_batches(input: Any, spatial: int, convolve: Callable[[Any], Tensor]) -> Tensor:
    """The convolution of inputs that have more than one dimension before the spatial ones and channels."""
    dims = _dims_of(input)
    if dims is None or len(dims) <= spatial + 2:
        return convolve(input)
    return of_flat_batch(input, spatial + 1, convolve)


def of_flat_batch(input: Any, inner_rank: int, function: Callable[[Tensor], Any]) -> Tensor:
    """A function of inputs with one batch dimension, of an input that has any number of them.

    The last `inner_rank` dimensions stay; those before them become one, which the function's result keeps.
    """
    x = convert.to_tensor(input)
    whole = raw.Shape(x)
    inner = raw.ConcatV2([np.array([-1], np.int32), whole[-inner_rank:]], np.int32(0))
    flat = raw.Reshape(x, inner)
    if x.dims is not None:
        flat.set_shape([None, *x.dims[-inner_rank:]])
    result = convert.to_tensor(function(flat))
    sizes = [whole[:-inner_rank], raw.Shape(result)[1:]]
    found = raw.Reshape(result, raw.ConcatV2(sizes, np.int32(0)))
    if x.dims is not None and result.dims is not None:
        found.set_shape([*x.dims[:-inner_rank], *result.dims[1:]])
    return found


def _dims_of(value: Any) -> Dims:
    """The shape of what becomes a tensor, None if that is unknown."""
    if isinstance(value, Tensor):
        return value.dims
    if isinstance(value, (list, tuple)):
        return convert.to_tensor(value).dims
    return as_dims(getattr(value, "shape", None))


@dispatchable
def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Every window's inner product with every filter, for a batch of sequences.

    https://www.tensorflow.org/api_docs/python/tf/nn/conv1d

    >>> tf.nn.conv1d(
    ...     tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1]), tf.ones([2, 1, 1]), 1, "VALID"
    ... ).numpy().ravel()
    array([3., 5., 7.], dtype=float32)
    """
    with door.level().scoped(name or "conv1d") as scope:
        data_format = data_format or "NWC"
        if data_format not in ("NWC", "NCW", "NCHW", "NHWC"):
            raise ValueError(
                f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}"
            )
        first = data_format.startswith("NC")
        axis = 2 if first else 1
        if isinstance(padding, (list, tuple)):
            at = 2 if first else 1
            padding = [*padding[:at], [0, 0], *padding[at:]]
        dims = _dims_of(input)
        if dims is not None and len(dims) > 3:  # several dimensions of examples
            axis += len(dims) - 3
        images = raw.ExpandDims(input, axis, name="ExpandDims")
        result = conv2d(
            images,
            raw.ExpandDims(filters, 0, name="ExpandDims"),
            [1, *_line(stride, first, "stride")],
            padding,
            "NCHW" if first else "NHWC",
            [1, *_line(dilations, first, "dilations")],
            scope or "conv1d",
        )
        return raw.Squeeze(result, axis=[axis], name="Squeeze")


def _line(value: Any, first: bool, name: str) -> list[int]:
    """The entry of the one spatial dimension."""
    numbers = layouts.sequence(value, 1, 1 if first else 2, name)
    return numbers[2:] if first else numbers[1:-1]


@dispatchable
def conv3d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Every window's inner product with every filter, for a batch of volumes.

    https://www.tensorflow.org/api_docs/python/tf/nn/conv3d

    >>> tf.nn.conv3d(
    ...     tf.ones([1, 3, 3, 3, 1]), tf.ones([2, 2, 2, 1, 4]), [1, 1, 1, 1, 1], "VALID"
    ... ).shape
    TensorShape([1, 2, 2, 2, 4])
    """
    channels = layouts.channel_index(data_format, 3)

    def convolve(volumes: Any) -> Tensor:
        return raw.Conv3D(
            volumes,
            filters,
            strides=layouts.sequence(strides, 3, channels, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=layouts.sequence(dilations, 3, channels, "dilations"),
            name=name,
        )

    return _of_batches(input, 3, convolve)


@dispatchable
def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A convolution over 1 to 3 spatial dimensions, as many as the filters have; more precede them.

    Raises ValueError if the filters' rank is unknown or another, or if both strides and
    dilations are greater than 1.

    https://www.tensorflow.org/api_docs/python/tf/nn/convolution

    >>> tf.nn.convolution(
    ...     tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 7]), padding="SAME"
    ... ).shape
    TensorShape([1, 5, 5, 7])
    """
    with door.level().scoped(name or "convolution") as scope:
        filters = convert.to_tensor(filters, name="filter")
        input = convert.to_tensor(input, dtype_hint=filters.dtype, name="input")
        n = _spatial_rank(filters, input)
        function = {1: conv1d, 2: conv2d, 3: conv3d}[n]
        layout = data_format or LAYOUTS[n]
        _check_steps(strides, dilations)
        return function(input, filters, strides, padding, layout, dilations, scope)


def _check_steps(strides: Any, dilations: Any) -> None:
    """Raises ValueError as TensorFlow does, whose kernels could do both."""
    steps, gaps = (np.ravel(1 if v is None else v) for v in (strides, dilations))
    if (steps > 1).any() and (gaps > 1).any():
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
            f"strides={strides} and dilation_rate={dilations}"
        )


def _spatial_rank(filters: Tensor, input: Tensor) -> int:
    dims = filters.dims if filters.dims is not None else input.dims
    if dims is None:
        raise ValueError("`filters` must have a known rank, or `input`; give one a static shape")
    if not 3 <= len(dims) <= 5:
        raise ValueError(
            f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={len(dims) - 2}."
        )
    return len(dims) - 2


@dispatchable
def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: Any, name: str | None = None
) -> Tensor:
    """conv2d with `rate - 1` pixels between the elements of every window.

    https://www.tensorflow.org/api_docs/python/tf/nn/atrous_conv2d

    >>> tf.nn.atrous_conv2d(tf.ones([1, 5, 5, 1]), tf.ones([2, 2, 1, 3]), 2, "VALID").shape
    TensorShape([1, 3, 3, 3])
    """
    return convolution(value, filters, None, padding, None, [rate, rate], name)


# -- transposed ------------------------------------------------------------------------


@dispatchable
def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The gradient of conv2d as a function of its own: `filters` are (h, w, out, in).

    `output_shape` is the shape of the result. Raises ValueError in graphs and
    InvalidArgumentError eagerly for shapes that do not fit.

    `padding` is that of the convolution whose gradient it is: "SAME" or "VALID".

    https://www.tensorflow.org/api_docs/python/tf/nn/conv2d_transpose

    >>> tf.nn.conv2d_transpose(
    ...     tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 3, 1]), [1, 4, 4, 3], 2
    ... ).shape
    TensorShape([1, 4, 4, 3])
    """
    with door.level().scoped(name or "conv2d_transpose") as scope:
        padding, ends = layouts.explicit(padding)
        data_format = data_format or "NHWC"
        channels = layouts.channel_index(data_format, 2)
        return raw.Conv2DBackpropInput(
            output_shape,
            filters,
            input,
            strides=layouts.sequence(strides, 2, channels, "strides"),
            padding=padding,
            explicit_paddings=ends,
            data_format=data_format,
            dilations=layouts.sequence(dilations, 2, channels, "dilations"),
            name=scope or None,
        )


@dispatchable
def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The gradient of conv1d as a function of its own: `filters` are (w, out, in).

    `padding` is that of the convolution whose gradient it is: "SAME" or "VALID".

    https://www.tensorflow.org/api_docs/python/tf/nn/conv1d_transpose

    >>> tf.nn.conv1d_transpose(
    ...     tf.reshape([1.0, 2.0], [1, 2, 1]), tf.ones([2, 1, 1]), [1, 4, 1], 2
    ... ).numpy().ravel()
    array([1., 1., 2., 2.], dtype=float32)
    """
    with door.level().scoped(name or "conv1d_transpose") as scope:
        first = layouts.channels_first(data_format)
        axis = 2 if first else 1
        shape = convert.to_tensor(output_shape)
        one = np.asarray([1], shape.dtype.numpy)
        wide = raw.ConcatV2(
            [
                raw.StridedSlice(shape, [0], [axis], [1]),
                one,
                raw.StridedSlice(shape, [axis], [3], [1]),
            ],
            0,
        )
        result = raw.Conv2DBackpropInput(
            wide,
            raw.ExpandDims(filters, 0, name="ExpandDims"),
            raw.ExpandDims(input, axis, name="ExpandDims"),
            strides=_with_batch_and_channels(strides, first, "strides"),
            padding=padding,
            data_format="NCHW" if first else "NHWC",
            dilations=_with_batch_and_channels(dilations, first, "dilations"),
            name=scope or None,
        )
        return raw.Squeeze(result, axis=[axis], name="Squeeze")


def _with_batch_and_channels(value: Any, first: bool, name: str) -> list[int]:
    line = _line(value, first, name)
    return [1, 1, 1, *line] if first else [1, 1, *line, 1]


@dispatchable
def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The gradient of conv3d as a function of its own: `filters` are (d, h, w, out, in).

    `padding` is that of the convolution whose gradient it is: "SAME" or "VALID".

    https://www.tensorflow.org/api_docs/python/tf/nn/conv3d_transpose

    >>> tf.nn.conv3d_transpose(
    ...     tf.ones([1, 2, 2, 2, 1]), tf.ones([2, 2, 2, 3, 1]), [1, 4, 4, 4, 3], 2
    ... ).shape
    TensorShape([1, 4, 4, 4, 3])
    """
    with door.level().scoped(name or "conv3d_transpose") as scope:
        data_format = data_format or "NDHWC"
        channels = layouts.channel_index(data_format, 3)
        return raw.Conv3DBackpropInputV2(
            output_shape,
            filters,
            input,
            strides=layouts.sequence(strides, 3, channels, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=layouts.sequence(dilations, 3, channels, "dilations"),
            name=scope or None,
        )


@dispatchable
def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A transposed convolution over 1 to 3 spatial dimensions.

    Their number is that of `output_shape`'s elements less two; raises ValueError for
    another, or if it is unknown.

    `padding` is that of the convolution whose gradient it is: "SAME" or "VALID".

    https://www.tensorflow.org/api_docs/python/tf/nn/conv_transpose

    >>> tf.nn.conv_transpose(
    ...     tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 3, 1]), [1, 4, 4, 3], 2
    ... ).shape
    TensorShape([1, 4, 4, 3])
    """
    with door.level().scoped(name or "conv_transpose") as scope:
        if isinstance(output_shape, Tensor):
            dims = output_shape.dims
            if not shapes.known(dims) or len(dims) != 1:
                raise ValueError("`output_shape` must be a vector of a known length")
            n = dims[0] - 2
        elif hasattr(output_shape, "__len__"):
            n = len(output_shape) - 2
        else:
            raise ValueError(
                f"`output_shape` must be a tensor or sized collection. Received: output_shape={output_shape}"
            )
        if not 1 <= n <= 3:
            raise ValueError(
                f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape} of length {n + 2}."
            )
        function = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}[n]
        layout = data_format or LAYOUTS[n]
        return function(input, filters, output_shape, strides, padding, layout, dilations, scope)


@dispatchable
def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The gradient of atrous_conv2d as a function of its own.

    https://www.tensorflow.org/api_docs/python/tf/nn/atrous_conv2d_transpose

    >>> tf.nn.atrous_conv2d_transpose(
    ...     tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 4, 1]), [1, 5, 5, 4], 2, "VALID"
    ... ).shape
    TensorShape([1, 5, 5, 4])
    """
    return conv2d_transpose(
        value,
        filters,
        output_shape,
        1,
        padding,
        dilations=rate,
        name=name or "atrous_conv2d_transpose",
    )


# -- depthwise -------------------------------------------------------------------------


@dispatchable
def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """Each channel with filters of its own: `filter` is (h, w, channels, multiplier).

    https://www.tensorflow.org/api_docs/python/tf/nn/depthwise_conv2d

    >>> tf.nn.depthwise_conv2d(
    ...     tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 3]), [1, 1, 1, 1], "VALID"
    ... ).shape
    TensorShape([1, 2, 2, 6])
    """
    with door.level().scoped(name or "depthwise") as scope:
        return _depthwise(input, filter, strides, padding, data_format, dilations, scope)


def _depthwise(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
    name: str,
) -> Tensor:
    padding, ends = layouts.explicit(padding)
    data_format = data_format or "NHWC"
    channels = layouts.channel_index(data_format, 2)
    return raw.DepthwiseConv2dNative(
        input,
        filter,
        strides=layouts.sequence(strides, 2, channels, "strides"),
        padding=padding,
        explicit_paddings=ends,
        data_format=data_format,
        dilations=layouts.sequence(dilations, 2, channels, "dilations"),
        name=name or None,
    )


@dispatchable
def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of depthwise_conv2d by its input.

    https://www.tensorflow.org/api_docs/python/tf/nn/depthwise_conv2d_backprop_input

    >>> tf.nn.depthwise_conv2d_backprop_input(
    ...     [1, 3, 3, 2],
    ...     tf.ones([2, 2, 2, 3]),
    ...     tf.ones([1, 2, 2, 6]),
    ...     [1, 1, 1, 1],
    ...     "VALID",
    ... ).shape
    TensorShape([1, 3, 3, 2])
    """
    padding, ends = layouts.explicit(padding)
    return raw.DepthwiseConv2dNativeBackpropInput(
        input_sizes,
        filter,
        out_backprop,
        strides=strides,
        padding=padding,
        explicit_paddings=ends,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@dispatchable
def depthwise_conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of depthwise_conv2d by its filters.

    https://www.tensorflow.org/api_docs/python/tf/nn/depthwise_conv2d_backprop_filter

    >>> tf.nn.depthwise_conv2d_backprop_filter(
    ...     tf.ones([1, 3, 3, 2]),
    ...     [2, 2, 2, 3],
    ...     tf.ones([1, 2, 2, 6]),
    ...     [1, 1, 1, 1],
    ...     "VALID",
    ... ).shape
    TensorShape([2, 2, 2, 3])
    """
    padding, ends = layouts.explicit(padding)
    return raw.DepthwiseConv2dNativeBackpropFilter(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        explicit_paddings=ends,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@dispatchable
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """depthwise_conv2d, then conv2d with windows of one pixel that mixes the channels.

    https://www.tensorflow.org/api_docs/python/tf/nn/separable_conv2d

    >>> tf.nn.separable_conv2d(
    ...     tf.ones([1, 3, 3, 2]),
    ...     tf.ones([2, 2, 2, 3]),
    ...     tf.ones([1, 1, 6, 5]),
    ...     [1, 1, 1, 1],
    ...     "SAME",
    ... ).shape
    TensorShape([1, 3, 3, 5])
    """
    with door.level().scoped(name or "separable_conv2d") as scope:
        depth = _depthwise(
            input, depthwise_filter, strides, padding, data_format, dilations, "depthwise"
        )
        return raw.Conv2D(
            depth,
            pointwise_filter,
            strides=[1, 1, 1, 1],
            padding="VALID",
            data_format=data_format or "NHWC",
            name=scope or None,
        )
