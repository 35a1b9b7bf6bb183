"""`tf.conv`, and gradients as functions: `tf.conv2d_backprop_input_v2` and its sibling.

Follows https://www.tensorflow.org/api_docs/python/tf/conv2d_backprop_input_v2.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def conv2d_backprop_input_v2(
    input: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Any = (),
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of a convolution by its input, of which only the shape counts.

    `explicit_paddings` are the paddings before and after each dimension if `padding` is "EXPLICIT";
    `use_cudnn_on_gpu` has no effect.

    https://www.tensorflow.org/api_docs/python/tf/conv2d_backprop_input_v2

    >>> tf.conv2d_backprop_input_v2(
    ...     tf.ones([1, 3, 3, 2]),
    ...     tf.ones([2, 2, 2, 5]),
    ...     tf.ones([1, 2, 2, 5]),
    ...     [1, 1, 1, 1],
    ...     "VALID",
    ... ).shape
    TensorShape([1, 3, 3, 2])
    """
    return raw.Conv2DBackpropInputV2(
        input,
        filter,
        out_backprop,
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@dispatchable
def conv2d_backprop_filter_v2(
    input: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Any = (),
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of a convolution by its filters, of which only the shape counts.

    `explicit_paddings` are the paddings before and after each dimension if `padding` is "EXPLICIT";
    `use_cudnn_on_gpu` has no effect.

    https://www.tensorflow.org/api_docs/python/tf/conv2d_backprop_filter_v2

    >>> tf.conv2d_backprop_filter_v2(
    ...     tf.ones([1, 3, 3, 2]),
    ...     tf.ones([2, 2, 2, 5]),
    ...     tf.ones([1, 2, 2, 5]),
    ...     [1, 1, 1, 1],
    ...     "VALID",
    ... ).shape
    TensorShape([2, 2, 2, 5])
    """
    return raw.Conv2DBackpropFilterV2(
        input,
        filter,
        out_backprop,
        strides=strides,
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@dispatchable
def conv(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    explicit_paddings: Any = (),
    data_format: str = "CHANNELS_LAST",
    dilations: Any = (),
    batch_dims: int = 1,
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """The convolution over the last two or three dimensions before the channels.

    `input` has `batch_dims` dimensions, then the spatial ones and the channels, or the channels
    first with `data_format` "CHANNELS_FIRST"; `filter` is [*spatial, channels / groups, outputs].
    `strides` and `dilations` count the batch as one dimension, so that they have two numbers
    more than there are spatial dimensions; so do the pairs of `explicit_paddings`, for
    `padding="EXPLICIT"`. There is no gradient: `tf.nn.convolution` has one. Raises
    InvalidArgumentError for numbers that do not fit.

    https://www.tensorflow.org/api_docs/python/tf/conv

    >>> films = tf.ones([2, 7, 4, 4, 1])
    >>> tf.conv(films, tf.ones([3, 3, 1, 5]), [1, 1, 1, 1], "VALID", batch_dims=2).shape
    TensorShape([2, 7, 2, 2, 5])
    """
    return raw.Conv(
        input,
        filter,
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
        batch_dims=batch_dims,
        groups=groups,
        name=name,
    )
