"""Dilated windows: an op on the blocks of its input.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/with_space_to_batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import int32
from intaglio.composite_ops.array.space_paddings import required_space_to_batch_paddings
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Callable[..., Any],
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Any:
    """`op(input, num_spatial_dims, padding)` with its windows dilated by `dilation_rate`.

    With rates of 1 that is the call itself. Else `op` gets each block of the input as an example
    of its own and `"VALID"`, and the blocks are put together again. For `"SAME"` the windows'
    `filter_shape` is needed. `spatial_dims` are ascending dimensions from 1 on; the default is
    those behind the batch, or for a `data_format` that begins with NC, behind the channels.
    Raises ValueError for other arguments.

    >>> def pool(x, num_spatial_dims, padding):
    ...     return tf.nn.max_pool2d(x, 2, 1, padding)
    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> tf.nn.with_space_to_batch(image, [2, 2], "VALID", pool)[0, ..., 0].numpy()
    array([[10., 11.],
           [14., 15.]], dtype=float32)
    """
    x = convert.to_tensor(input)
    rates = np.asarray(convert.to_tensor(dilation_rate, int32))
    if rates.ndim != 1 or not rates.size:
        raise ValueError(
            f"`dilation_rate.shape` must be rank 1 and not empty. Received: {rates.shape}"
        )
    if (rates < 1).any():
        raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={rates}")
    indices = _spatial_indices(len(rates), spatial_dims, data_format)
    if (rates == 1).all():
        return op(x, num_spatial_dims=len(rates), padding=padding)
    base = _base_paddings(padding, filter_shape, rates)
    shape = raw.GatherV2(raw.Shape(x), np.asarray(indices, np.int32), np.int32(0))
    paddings, crops = required_space_to_batch_paddings(shape, rates, base)
    blocks = np.ones(max(indices), np.int32)
    blocks[[p - 1 for p in indices]] = rates
    parts = raw.SpaceToBatchND(x, blocks, _for_all_dims(paddings, indices))
    done = op(parts, num_spatial_dims=len(rates), padding="VALID")
    return raw.BatchToSpaceND(done, blocks, _for_all_dims(crops, indices))


def _spatial_indices(
    count: int, spatial_dims: Sequence[int] | None, data_format: str | None
) -> list[int]:
    """The spatial dimensions."""
    if spatial_dims is None:
        first = 2 if data_format is not None and data_format.startswith("NC") else 1
        return list(range(first, first + count))
    indices = [int(d) for d in spatial_dims]
    if indices != sorted(set(indices)) or indices[0] < 1:
        raise ValueError(
            "`spatial_dims` must be a monotonically increasing sequence of positive integers. "
            f"Received: spatial_dims={indices}"
        )
    if len(indices) != count:
        raise ValueError(
            f"`spatial_dims` has {len(indices)} elements and `dilation_rate` {count}: give one "
            "rate for each dimension."
        )
    return indices


def _base_paddings(padding: str, filter_shape: Any, rates: np.ndarray) -> Any:
    """The padding of the input that windows of `filter_shape` need."""
    if padding == "VALID":
        return np.zeros((len(rates), 2), np.int32)
    if padding != "SAME":
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
    if filter_shape is None:
        raise ValueError(
            "`filter_shape` must be specified for `padding='SAME'`. "
            f"Received: filter_shape={filter_shape} and padding={padding}"
        )
    window = np.asarray(convert.to_tensor(filter_shape, int32))[: len(rates)]
    extra = window + (window - 1) * (rates - 1) - 1
    return np.stack([extra // 2, extra - extra // 2], axis=1).astype(np.int32)


def _for_all_dims(pairs: Tensor, indices: Sequence[int]) -> Any:
    """Pairs of the spatial dimensions, with none for those between them."""
    at = np.asarray([[p - 1] for p in indices], np.int32)
    return raw.ScatterNd(at, pairs, np.asarray([max(indices), 2], np.int32))


__all__ = ["with_space_to_batch"]
