"""Greyscale dilation and erosion.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/dilation2d.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


def _only_last(data_format: str) -> None:
    if data_format != "NHWC":
        raise ValueError(
            "`data_format` values other  than 'NHWC' are not supported. "
            f"Received: data_format={data_format}"
        )


@dispatchable
def dilation2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """The greatest `input` + `filters` in each window; `filters` is [height, width, channels].

    https://www.tensorflow.org/api_docs/python/tf/nn/dilation2d

    >>> tf.nn.dilation2d(
    ...     tf.reshape([1.0, 5.0, 2.0], [1, 1, 3, 1]),
    ...     tf.zeros([1, 2, 1]),
    ...     [1, 1, 1, 1],
    ...     "VALID",
    ...     "NHWC",
    ...     [1, 1, 1, 1],
    ... ).numpy().ravel()
    array([5., 5.], dtype=float32)
    """
    _only_last(data_format)
    return raw.Dilation2D(
        input, filters, strides=strides, rates=dilations, padding=padding, name=name
    )


@dispatchable
def erosion2d(
    value: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """The least `value` - `filters` in each window, the filter rotated by 180 degrees.

    https://www.tensorflow.org/api_docs/python/tf/nn/erosion2d

    >>> tf.nn.erosion2d(
    ...     tf.reshape([1.0, 5.0, 2.0], [1, 1, 3, 1]),
    ...     tf.zeros([1, 2, 1]),
    ...     [1, 1, 1, 1],
    ...     "VALID",
    ...     "NHWC",
    ...     [1, 1, 1, 1],
    ... ).numpy().ravel()
    array([1., 2.], dtype=float32)
    """
    _only_last(data_format)
    with door.level().scoped(name or "erosion2d"):
        flipped = raw.ReverseV2(convert.to_tensor(filters), np.array([0, 1], np.int32))
        dilated = raw.Dilation2D(
            raw.Neg(value), flipped, strides=strides, rates=dilations, padding=padding
        )
        return raw.Neg(dilated)


__all__ = ["dilation2d", "erosion2d"]
