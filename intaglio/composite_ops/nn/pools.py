"""Pooling functions of `tf.nn`.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/max_pool and its neighbours.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import dtypes
from intaglio.composite_ops.nn import layouts
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of every window of a batch of images.

    `ksize` and `strides` are a number, one for each spatial dimension, or one for each
    dimension; `padding` is "VALID", "SAME" or four pairs of explicit paddings.

    https://www.tensorflow.org/api_docs/python/tf/nn/max_pool2d

    >>> tf.nn.max_pool2d(
    ...     tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1]), 2, 1, "VALID"
    ... ).numpy().ravel()
    array([4.], dtype=float32)
    """
    return _max_2d(input, ksize, strides, padding, data_format, name or "MaxPool2d")


def _max_2d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str, name: str
) -> Tensor:
    channels = layouts.channel_index(data_format, 2)
    ksize = layouts.sequence(ksize, 2, channels, "ksize")
    strides = layouts.sequence(strides, 2, channels, "strides")
    padding, ends = layouts.explicit(padding)
    if ends and (ksize[0] != 1 or ksize[channels] != 1):
        raise ValueError(
            "Nonspatial pooling is not supported with explicit padding. "
            f"Received: ksize={ksize}, padding={padding}"
        )
    return raw.MaxPool(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        explicit_paddings=ends,
        data_format=data_format,
        name=name,
    )


@dispatchable
def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of every window of a batch of sequences.

    https://www.tensorflow.org/api_docs/python/tf/nn/max_pool1d

    >>> tf.nn.max_pool1d(
    ...     tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1]), 2, 1, "VALID"
    ... ).numpy().ravel()
    array([2., 3., 4.], dtype=float32)
    """
    if isinstance(padding, (list, tuple)):
        padding = [*padding[:1], [0, 0], *padding[1:]]
    with door.level().scoped(name or "MaxPool1d") as scope:
        image, layout, axis = _as_image(input, data_format)
        pooled = _max_2d(
            image,
            _with_one(ksize, data_format, "ksize"),
            _with_one(strides, data_format, "strides"),
            padding,
            layout,
            scope or "MaxPool1d",
        )
        return raw.Squeeze(pooled, axis=[axis], name="Squeeze")


def _as_image(input: Any, data_format: str) -> tuple[Tensor, str, int]:
    """A batch of sequences as images of height 1, their layout, the axis added."""
    first = layouts.channel_index(data_format, 1) == 1
    axis = 2 if first else 1
    return raw.ExpandDims(input, axis), "NCHW" if first else "NHWC", axis


def _with_one(value: Any, data_format: str, name: str) -> list[int]:
    channels = layouts.channel_index(data_format, 1)
    numbers = layouts.sequence(value, 1, channels, name)
    at = 2 if channels == 1 else 1
    return [*numbers[:at], 1, *numbers[at:]]


@dispatchable
def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of every window of a batch of volumes.

    https://www.tensorflow.org/api_docs/python/tf/nn/max_pool3d

    >>> tf.nn.max_pool3d(tf.ones([1, 4, 4, 4, 2]), 2, 2, "VALID").shape
    TensorShape([1, 2, 2, 2, 2])
    """
    channels = layouts.channel_index(data_format, 3)
    return raw.MaxPool3D(
        input,
        ksize=layouts.sequence(ksize, 3, channels, "ksize"),
        strides=layouts.sequence(strides, 3, channels, "strides"),
        padding=padding,
        data_format=data_format,
        name=name,
    )


@dispatchable
def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The maximum of every window, for 1 to 3 spatial dimensions.

    Raises ValueError if the number of dimensions is unknown or another.

    https://www.tensorflow.org/api_docs/python/tf/nn/max_pool

    >>> tf.nn.max_pool(
    ...     tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1]), 2, 2, "VALID"
    ... ).numpy().ravel()
    array([2., 4.], dtype=float32)
    """
    n = _spatial_rank(input, data_format)
    pool = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}[n]
    layout = data_format or {1: "NWC", 2: "NHWC", 3: "NDHWC"}[n]
    return pool(input, ksize, strides, padding, layout, name)


def _spatial_rank(input: Any, data_format: str | None) -> int:
    if data_format is not None:
        if data_format not in ("NWC", "NCW", "NHWC", "NCHW", "NCHW_VECT_C", "NDHWC", "NCDHW"):
            raise ValueError(
                f"`data_format` must be one of NWC, NCW, NHWC, NCHW, NDHWC, NCDHW. Received: {data_format}"
            )
        return len(data_format.removesuffix("_VECT_C")) - 2
    dims = convert.to_tensor(input).dims
    n = None if dims is None else len(dims) - 2
    if n is None:
        raise ValueError(
            "`input` must have a static shape or `data_format` must be given. "
            "Received: input.shape=<unknown> and data_format=None"
        )
    if not 1 <= n <= 3:
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={dims} of rank {n + 2}."
        )
    return n


@dispatchable
def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    output_dtype: Any = dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> Any:
    """(output, argmax): the maximum of every window and its index in the flat image.

    Raises ValueError for a data format other than "NHWC".

    With `include_batch_in_index` the index counts through the images of the batch.

    https://www.tensorflow.org/api_docs/python/tf/nn/max_pool_with_argmax

    >>> [
    ...     x.numpy().ravel().tolist()
    ...     for x in tf.nn.max_pool_with_argmax(
    ...         tf.reshape([1.0, 4.0, 3.0, 2.0], [1, 2, 2, 1]), 2, 1, "VALID"
    ...     )
    ... ]
    [[4.0], [1]]
    """
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other than 'NHWC' are not supported. Received: data_format={data_format}"
        )
    return raw.MaxPoolWithArgmax(
        input,
        ksize=layouts.sequence(ksize, 2, 3, "ksize"),
        strides=layouts.sequence(strides, 2, 3, "strides"),
        padding=padding,
        Targmax=output_dtype,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


@dispatchable
def avg_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of every window of a batch of images; padding does not count.

    https://www.tensorflow.org/api_docs/python/tf/nn/avg_pool2d

    >>> tf.nn.avg_pool2d(
    ...     tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1]), 2, 1, "SAME"
    ... ).numpy().ravel()
    array([2.5, 3. , 3.5, 4. ], dtype=float32)
    """
    return _avg_2d(input, ksize, strides, padding, data_format, name or "AvgPool2D")


def _avg_2d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str, name: str
) -> Tensor:
    channels = layouts.channel_index(data_format, 2)
    return raw.AvgPool(
        input,
        ksize=layouts.sequence(ksize, 2, channels, "ksize"),
        strides=layouts.sequence(strides, 2, channels, "strides"),
        padding=padding,
        data_format=data_format,
        name=name,
    )


@dispatchable
def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of every window of a batch of sequences; padding does not count.

    https://www.tensorflow.org/api_docs/python/tf/nn/avg_pool1d

    >>> tf.nn.avg_pool1d(
    ...     tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1]), 2, 2, "VALID"
    ... ).numpy().ravel()
    array([1.5, 3.5], dtype=float32)
    """
    with door.level().scoped(name or "AvgPool1D") as scope:
        image, layout, axis = _as_image(input, data_format)
        pooled = _avg_2d(
            image,
            _with_one(ksize, data_format, "ksize"),
            _with_one(strides, data_format, "strides"),
            padding,
            layout,
            scope or "AvgPool1D",
        )
        return raw.Squeeze(pooled, axis=[axis], name="Squeeze")


@dispatchable
def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of every window of a batch of volumes; padding does not count.

    https://www.tensorflow.org/api_docs/python/tf/nn/avg_pool3d

    >>> tf.nn.avg_pool3d(tf.ones([1, 4, 4, 4, 2]), 2, 2, "VALID").shape
    TensorShape([1, 2, 2, 2, 2])
    """
    channels = layouts.channel_index(data_format, 3)
    return raw.AvgPool3D(
        input,
        ksize=layouts.sequence(ksize, 3, channels, "ksize"),
        strides=layouts.sequence(strides, 3, channels, "strides"),
        padding=padding,
        data_format=data_format,
        name=name,
    )


@dispatchable
def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The mean of every window, for 1 to 3 spatial dimensions; padding does not count.

    Raises ValueError if the number of dimensions is unknown or another.

    https://www.tensorflow.org/api_docs/python/tf/nn/avg_pool

    >>> tf.nn.avg_pool(
    ...     tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1]), 2, 1, "VALID"
    ... ).numpy().ravel()
    array([2.5], dtype=float32)
    """
    n = _spatial_rank(input, data_format)
    pool = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}[n]
    layout = data_format or {1: "NWC", 2: "NHWC", 3: "NDHWC"}[n]
    return pool(input, ksize, strides, padding, layout, name or "AvgPool")


@dispatchable
def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The maximum ("MAX") or mean ("AVG") of every window over 1 to 3 spatial dimensions.

    `window_shape`, `strides` and `dilations` have an entry for each spatial dimension.
    Raises ValueError for another type or number of dimensions, and for strides together
    with dilations.

    `padding` is "VALID" or "SAME".

    https://www.tensorflow.org/api_docs/python/tf/nn/pool

    >>> tf.nn.pool(
    ...     tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1]), [2], "AVG", strides=[2]
    ... ).numpy().ravel()
    array([1.5, 3.5], dtype=float32)
    """
    n = len(window_shape)
    if not 1 <= n <= 3:
        raise ValueError(f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={n}.")
    functions = {
        "MAX": {1: max_pool1d, 2: max_pool2d, 3: max_pool3d},
        "AVG": {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d},
    }
    if pooling_type not in functions:
        raise ValueError(
            f"`pooling_type` must be one of 'MAX' or 'AVG'. Received: pooling_type={pooling_type}"
        )
    strides = [1] * n if strides is None else list(strides)
    dilations = [1] * n if dilations is None else list(dilations)
    dilated = any(d != 1 for d in dilations)
    if dilated and any(s != 1 for s in strides):
        raise ValueError(
            f"`strides > 1` not supported in conjunction with `dilations > 1`. Received: strides={strides} and dilations={dilations}"
        )
    layout = data_format or {1: "NWC", 2: "NHWC", 3: "NDHWC"}[n]
    function = functions[pooling_type][n]
    label = name or f"{pooling_type.lower()}_pool"
    if not dilated:
        return function(input, window_shape, strides, padding, layout, label)
    with door.level().scoped(label):
        return _dilated(function, input, window_shape, padding, layout, dilations)


def _dilated(
    function: Any, input: Any, window: Any, padding: Any, layout: str, dilations: list[int]
) -> Tensor:
    """Pools the interleaved images that the dilations make of the input one by one."""
    x = convert.to_tensor(input)
    if layout.startswith("NC"):
        raise NotImplementedError(
            "Dilated pooling with channels first: transpose the input to channels last"
        )
    if x.dims is None or None in x.dims[1:-1]:
        raise ValueError("Dilated pooling needs the static sizes of the input")
    if padding == "SAME":
        raise ValueError(
            "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. "
            f"Received: padding={padding} and dilation_rate={dilations}"
        )
    ends = [[0, -size % d] for size, d in zip(x.dims[1:-1], dilations, strict=True)]  # type: ignore[operator]  # sizes are known here
    dilated = raw.SpaceToBatchND(x, dilations, ends)
    pooled = function(dilated, window, 1, "VALID", layout)
    return raw.BatchToSpaceND(pooled, dilations, ends)
