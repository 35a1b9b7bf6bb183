"""`tf.conv2d_backprop_input_v2` and `tf.conv2d_backprop_filter_v2`: gradients as functions.

Follows https://www.tensorflow.org/api_docs/python/tf/conv2d_backprop_input_v2.
"""

from __future__ import annotations

from typing import Any

from intaglio.op import raw
from intaglio.op.tensor import Tensor


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

    https://www.tensorflow.org/api_docs/python/tf/conv2d_backprop_input_v2
    """
    return raw.Conv2DBackpropInputV2(
        input, filter, out_backprop, strides=strides, padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit_paddings,
        data_format=data_format, dilations=dilations, name=name,
    )  # fmt: skip


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

    https://www.tensorflow.org/api_docs/python/tf/conv2d_backprop_filter_v2
    """
    return raw.Conv2DBackpropFilterV2(
        input, filter, out_backprop, strides=strides, padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit_paddings,
        data_format=data_format, dilations=dilations, name=name,
    )  # fmt: skip
