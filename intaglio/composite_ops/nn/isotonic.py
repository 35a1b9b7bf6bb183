"""Isotonic regression in `tf.nn`."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, float64, int8, int16
from intaglio.opdef import raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def isotonic_regression(
    inputs: Any, decreasing: bool = True, axis: int = -1
) -> tuple[Tensor, Tensor]:
    """(output, segments): the nearest sequences that do not rise along `axis`, as least squares.

    With `decreasing=False` they do not fall. `segments` (int32) numbers the level parts of each
    sequence from 0. Both have the shape of `inputs`. Floating dtypes stay; int8 and int16 give
    float32, int32 and int64 float64. A gradient is averaged over each part.

    https://www.tensorflow.org/api_docs/python/tf/nn/isotonic_regression

    >>> output, segments = tf.nn.isotonic_regression([3.0, 1.0, 2.0, 0.5])
    >>> output.numpy(), segments.numpy()
    (array([3. , 1.5, 1.5, 0.5], dtype=float32), array([0, 1, 1, 2], dtype=int32))
    """
    x = to_tensor(inputs)
    kind = x.dtype
    if not kind.is_floating:
        kind = float32 if kind in (int8, int16) else float64
    order = _to_the_end(x, axis)
    if order is not None:
        x = raw.Transpose(x, order)
    if decreasing and order is None:
        return raw.IsotonicRegression(x, output_dtype=kind)
    if decreasing:
        output, segments = raw.IsotonicRegression(x, output_dtype=kind)
    else:
        output, segments = raw.IsotonicRegression(raw.Neg(x), output_dtype=kind)
        output = raw.Neg(output)
    if order is None:
        return output, segments
    return raw.Transpose(output, order), raw.Transpose(segments, order)


def _to_the_end(x: Tensor, axis: int) -> Any:
    """The permutation that exchanges an axis and the last; None if it is the last."""
    if axis == -1 or not x.dims:
        return None
    rank = len(x.dims)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise ValueError(f"a tensor of shape {x.shape} has no axis {axis!r}")
    order = np.arange(rank, dtype=np.int32)
    order[[axis, -1]] = order[[-1, axis]]
    return None if axis % rank == rank - 1 else order


__all__ = ["isotonic_regression"]
